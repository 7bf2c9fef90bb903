"""What an account keeps for its programs and for a bad day: personal tokens, the recovery code."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from spades_lobby.people import names
from spades_lobby.people.scopes import Scope
from spades_lobby.people.store import Person, PersonalToken
from spades_lobby.problems import Problem
from spades_lobby.rest import bodies
from spades_lobby.rest.gateway import address
from spades_lobby.rest.routes_people import Lobby, Owner, remember

router = APIRouter(prefix="/v1", tags=["people"])

TokenId = Annotated[str, Path(pattern="^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", max_length=36)]


def _with_account(person: Person) -> None:
    if person.guest:
        raise Problem(403, "account_required", "That needs an account; a guest has none.")


def _shown(token: PersonalToken) -> dict[str, object]:
    return {
        "token_id": token.session,
        "label": token.label,
        "scope": token.scope.word,
        "created_ms": _ms(token.created_at.timestamp()),
        "expires_ms": None if token.expires_at is None else _ms(token.expires_at.timestamp()),
    }


def _ms(seconds: float) -> int:
    return int(seconds * 1_000)


@router.post("/me/tokens", status_code=201)
async def make_token(gateway: Lobby, person: Owner, body: bodies.NewToken) -> bodies.MadeToken:
    """Make a token for a program, which sends it as `Authorization: Bearer`. It is shown here and never again."""
    _with_account(person)
    gateway.rates.tokens(person.account_id)
    made, token = await gateway.accounts.new_personal_token(
        person, body.label, Scope[body.scope.upper()], body.expires_days
    )
    return bodies.MadeToken.model_validate({**_shown(made), "token": token})


@router.get("/me/tokens")
async def tokens(gateway: Lobby, person: Owner) -> bodies.TokenList:
    """The tokens that work, without their secret."""
    found = await gateway.accounts.personal_tokens(person)
    return bodies.TokenList(tokens=[bodies.TokenView.model_validate(_shown(token)) for token in found])


@router.delete("/me/tokens/{token_id}", status_code=204)
async def revoke_token(gateway: Lobby, person: Owner, token_id: TokenId) -> None:
    """Revoke a token; its sockets close. Logging out everywhere and a new password revoke all."""
    await gateway.accounts.revoke_personal_token(person, token_id)


@router.post("/me/recovery-code", status_code=201)
async def new_recovery_code(gateway: Lobby, person: Owner, body: bodies.PasswordCheck) -> bodies.RecoveryCode:
    """A new recovery code, shown once; the one before is worth nothing any more."""
    _with_account(person)
    gateway.rates.password(person.account_id)
    await gateway.accounts.check_password(person, body.password)
    return bodies.RecoveryCode(recovery_code=await gateway.accounts.new_recovery_code(person))


@router.post("/recoveries", status_code=201)
async def recover(request: Request, response: Response, gateway: Lobby, body: bodies.Recovery) -> bodies.Recovered:
    """Set a new password by the recovery code: used up by it, all sessions end, a new one and the next code come."""
    gateway.rates.recovery(names.skeleton(body.name), address(request))
    entered = await gateway.accounts.recover(body.name, body.recovery_code, body.new_password)
    remember(response, gateway, entered)
    assert entered.recovery_code is not None
    return bodies.Recovered(
        account_id=entered.person.account_id,
        name=entered.person.name,
        guest=False,
        token=entered.token if body.token else None,
        recovery_code=entered.recovery_code,
    )
