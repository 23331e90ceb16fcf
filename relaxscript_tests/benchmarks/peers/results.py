"""What was found, as data that is kept in a file of JSON, and the ratios of it."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .environments import PEERS
from .measuring import Figures
from .table import Row, Side

Found = Mapping[str, list[Figures]]  # by the name of the measurement


@dataclass(frozen=True)
class Ratio:
    """A row with figures, or with the reason why it has none."""

    row: Row
    ours: Figures | None = None
    peer: Figures | None = None
    wall: float | None = None
    cpu: float | None = None
    rounds: tuple[float, ...] = ()
    reason: str = ""
    clock: str = "wall"
    fastest: str = ""

    @property
    def figure(self) -> float | None:
        """The ratio by the clock that was asked for."""
        return self.cpu if self.clock == "cpu" else self.wall

    @property
    def verdict(self) -> str:
        if self.figure is None:
            return "no figure"
        if self.figure <= self.row.aim:
            return "aim reached"
        return "met" if self.figure <= self.row.must else "missed"


def ratio_of(row: Row, found: Found, clock: str = "wall") -> Ratio:
    """The ratio of a row: of the medians, by the wall clock and by CPU time.

    Of several peers that one counts which is the best by the clock.
    """
    sides = {figures.side.label: figures for figures in found.get(row.measurement, [])}
    ours = sides.get(row.ours)
    if ours is None:
        return Ratio(row, reason="not measured")
    if ours.failure or not ours.wall:
        return Ratio(row, ours, reason=f"{row.ours}: {ours.failure or 'no figure'}")
    if row.counts:
        count = ours.compilations
        number = None if count is None else float(count)
        return Ratio(row, ours, None, number, number, reason="not counted", clock=clock)
    there = [sides[name] for name in row.peers if name in sides and sides[name].wall]
    if not there:
        return Ratio(row, ours, reason="; ".join(why_not(sides, name) for name in row.peers))
    peer = min(there, key=lambda figures: statistics.median(figures.by(clock)))
    return Ratio(
        row,
        ours,
        peer,
        statistics.median(ours.wall) / statistics.median(peer.wall),
        share(statistics.median(ours.cpu), statistics.median(peer.cpu)),
        tuple(mine / theirs for mine, theirs in zip(ours.by(clock), peer.by(clock)) if theirs),
        clock=clock,
        fastest=fastest_of(sides, ours, clock),
    )


def fastest_of(sides: Mapping[str, Figures], ours: Figures, clock: str) -> str:
    """The best of all peers, whether or not the row asks for it, and the ratio to it."""
    others = [each for each in sides.values() if each.wall and each.side.peer in PEERS]
    if not others:
        return ""
    best = min(others, key=lambda figures: statistics.median(figures.by(clock)))
    ratio = share(statistics.median(ours.by(clock)), statistics.median(best.by(clock)))
    return f"{best.side.label}: {ratio:.3g}" if ratio else ""


def share(ours: float, theirs: float) -> float | None:
    return ours / theirs if theirs else None


def why_not(sides: Mapping[str, Figures], name: str) -> str:
    figures = sides.get(name)
    return f"{name}: {figures.failure or 'no figure'}" if figures else f"{name}: not measured"


def ratios(rows: Iterable[Row], found: Found, clock: str = "wall") -> list[Ratio]:
    return [ratio_of(row, found, clock) for row in rows]


# ---------------------------------------------------------------- as JSON


def save(path: Path, found: Found) -> None:
    data = {name: [asdict(figures) for figures in sides] for name, sides in found.items()}
    for sides in data.values():
        for each in sides:
            each["side"] = list(each["side"])
    path.write_text(json.dumps(data, indent=1) + "\n", "utf-8")


def load(path: Path) -> dict[str, list[Figures]]:
    """What `save` has written; nothing where there is no such file."""
    if not path.exists():
        return {}
    data: dict[str, list[dict[str, Any]]] = json.loads(path.read_text("utf-8"))
    return {
        name: [Figures(**{**each, "side": Side(*each["side"])}) for each in sides]
        for name, sides in data.items()
    }
