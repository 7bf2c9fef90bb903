"""The queue for online tables: wait for three others who want the same game."""

from typing import Final

from fastapi import APIRouter

from spades_lobby.problems import Problem
from spades_lobby.rest import bodies
from spades_lobby.rest.gateway import Gateway
from spades_lobby.rest.routes_people import Lobby, Player, SignedIn
from spades_lobby.tables import queueing
from spades_lobby.tables.seats import account_required
from spades_rules import PRESETS

router = APIRouter(prefix="/v1", tags=["queue"])

STAKES: Final = (10, 20, 50, 100, 200, 500, 1_000)
"""The offered stakes: any other would wait alone."""


@router.get("/queue")
async def place(gateway: Lobby, person: SignedIn) -> bodies.QueueView:
    """Where you stand. Once `seated`, watch the table."""
    return await _view(gateway, person.account_id)


@router.post("/queue")
async def enter(gateway: Lobby, person: Player, body: bodies.NewQueueing) -> bodies.QueueView:
    """Wait for a game, or change what you wait for. Sent again it keeps your place."""
    if person.guest:
        raise account_required()
    if body.ruleset not in PRESETS:
        raise Problem(422, "option_refused", "There is no rule set of this name.", field="ruleset")
    if body.stake_coins not in STAKES:
        raise Problem(422, "option_refused", f"The queue's stakes: {', '.join(map(str, STAKES))}.", field="stake_coins")
    async with gateway.engine.begin() as db:
        await queueing.enter(
            db,
            person.account_id,
            body.ruleset,
            body.stake_coins,
            body.seed_commit,
            bots_accepted=body.bots_accepted,
        )
    return await _view(gateway, person.account_id)


@router.delete("/queue", status_code=204)
async def leave(gateway: Lobby, person: Player) -> None:
    """Wait no longer; a seat that was just taken for you is given up, at no cost, while the game has not begun."""
    await gateway.matchmaker.leave(person.account_id)


async def _view(gateway: Gateway, account_id: str) -> bodies.QueueView:
    async with gateway.engine.connect() as db:
        found = await queueing.place(db, account_id)
        waiting = await queueing.waiting_with(db, found) if found is not None and found.state == "waiting" else 0
    if found is None:
        return bodies.QueueView(state="idle")
    patience_ms = gateway.settings.lobby_queue_patience_ms
    return bodies.QueueView(
        state=found.state,
        ruleset=found.ruleset,
        missed_trick_points=-PRESETS[found.ruleset].ruleset.missed_points,
        stake_coins=found.stake_coins,
        needed_coins=found.stake_coins + (found.stake_coins + 9) // 10,
        waited_ms=found.waited_ms,
        waiting=waiting,
        bots_offered=found.state == "waiting" and found.waited_ms >= patience_ms,
        bots_accepted=found.bots_accepted,
        table_id=found.table_id,
        refusal=found.refusal,
    )
