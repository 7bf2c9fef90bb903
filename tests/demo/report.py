"""What a person sees of the demo: a progress line, a row a game, the figures, the checks."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from spades_replay import TableReplay, nets_told
from tests.demo.checks import BlindNils
from tests.demo.game import Played
from tests.demo.player import Manner

MIB = 1 << 20


def games_table(games: Sequence[Played], tables: Mapping[str, TableReplay], blind: Mapping[str, BlindNils]) -> Table:
    """A row a game: ruleset, people, hands, Blind Nil, score, which seats were left, stakes, payouts."""
    table = Table(title="Games", title_justify="left")
    # Of Blind Nil: hands dealt face down, bids, swaps.
    columns = (
        "#",
        "kind",
        "rules",
        "people",
        "hands",
        "blind",
        "score",
        "end",
        "left",
        "silent",
        "stake",
        "payouts",
        "s",
    )
    for name in columns:
        table.add_column(name, justify="right" if name in ("#", "hands", "stake", "s") else "left", no_wrap=True)
    for played in games:
        plan = played.plan
        table.add_row(
            str(plan.number),
            plan.kind,
            plan.ruleset,
            _people(played),
            str(played.hands),
            _blind(blind.get(played.table_id)),
            f"{played.scores[0]}–{played.scores[1]}",
            played.end_reason or "-",
            _left(tables.get(played.table_id)),
            str(sum(player.manner is Manner.SILENT for player in played.players) or "-"),
            str(plan.stake_coins or "-"),
            _payouts(played, tables.get(played.table_id)),
            f"{played.took_s:.0f}",
        )
    return table


def _people(played: Played) -> str:
    cut = sum(player.socket.reconnections for player in played.players)
    return f"{len(played.players)}" + (f" ({cut} cuts)" if cut else "")


def _blind(blind: BlindNils | None) -> str:
    return f"{len(blind.face_down)}/{len(blind.bids)}/{blind.swaps}" if blind and blind.face_down else "-"


def _left(table: TableReplay | None) -> str:
    seats = [str(seat) for seat, chair in enumerate(table.chairs if table else ()) if chair.leaver is not None]
    return f"seat {' '.join(seats)}" if seats else "-"


def _payouts(played: Played, table: TableReplay | None) -> str:
    if table is None or table.settled is None:
        return "-"
    nets = nets_told(table.settled.payouts)
    mine = [nets.get(player.account.account_id, 0) for player in played.players]
    rest = {name: nets[name] for name in ("house", "fees") if name in nets}
    return " ".join([*(f"{net:+d}" for net in mine), *(f"{name}{net:+d}" for name, net in rest.items())])


def memory_line(sizes: dict[str, int]) -> str:
    """Resident memory by process."""
    return ", ".join(f"{name} {size // MIB} MB" for name, size in sizes.items())


def percentile_ms(seconds: Sequence[float], share: float) -> float:
    """The value below which this share of them lies, in milliseconds."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1_000 if ordered else 0.0


def check_line(console: Console, name: str, faults: Sequence[str], good: str) -> bool:
    """One promise: a tick and what was seen, or a cross and what is wrong; whether it holds."""
    if not faults:
        console.print(f"[green]✓[/green] {name}: {good}")
        return True
    console.print(f"[red]✗ {name}[/red]: {len(faults)} faults")
    for fault in faults[:10]:
        console.print(f"    {fault}", markup=False)
    return False
