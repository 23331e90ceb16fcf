"""Sides in turns: ours, a peer, the next one, and again.

A side that fails is told, and the others go on.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from .conversation import Conversation, WorkerFailed
from .environments import PEERS, Absence
from .importing import import_times
from .table import ROWS, Measurement, Side

SIDES = f"{__package__}.sides"
FILES = {"apache-tvm": "tvm"}  # all others are named by their peer
IMPORTED = {"ours": "relaxscript", "apache-tvm": "tvm", "python": "sys"}
PACKAGES = {"ours": ("numpy", "llvmlite"), "apache-tvm": ("apache-tvm", "numpy")}


@dataclass(frozen=True)
class Effort:
    """How much of everything."""

    rounds: int = 7
    seconds: float = 0.15  # of a sample of calls
    cold: int = 7  # processes of each side
    patience: float = 10.0  # measured seconds after which a side has no further round
    all_sides: bool = True  # or only those that rows ask for
    limit: float = 240.0  # for an answer


QUICK = Effort(rounds=3, seconds=0.05, cold=3, patience=5.0, all_sides=False)


@dataclass
class Figures:
    """What was found for one side; a figure is the median of its round."""

    side: Side
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    error: float | None = None
    failure: str = ""
    compilations: int | None = None
    parts: list[dict[str, float]] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    spent: float = 0.0

    def by(self, clock: str) -> list[float]:
        return self.cpu if clock == "cpu" else self.wall

    def add(self, answer: Mapping[str, Any]) -> None:
        self.spent += sum(answer["wall"])
        self.wall.append(statistics.median(answer["wall"]))
        self.cpu.append(statistics.median(answer["cpu"]))
        if answer.get("parts"):
            self.parts.append(answer["parts"])


@dataclass(frozen=True)
class Bench:
    """Where and how it is measured."""

    interpreters: Mapping[str, str | Absence]
    effort: Effort
    cpu: int | None
    tell: Callable[[str], None]

    def python(self, side: Side) -> str:
        """The interpreter of a side; raises where its peer is absent."""
        found = self.interpreters[side.peer]
        if isinstance(found, Absence):
            raise WorkerFailed(f"absent: {found.reason}")
        return found

    def task(self, measurement: Measurement, side: Side, **more: Any) -> dict[str, Any]:
        name = FILES.get(side.peer, side.peer)
        return {
            "module": f"{SIDES}.{measurement.files}_{name}",
            "workload": measurement.workload_of(side),
            "variant": side.variant,
            "cpu": self.cpu,
            "packages": PACKAGES.get(side.peer, (*PEERS.get(side.peer, ()), "numpy")),
            **more,
        }


def measured(measurement: Measurement, bench: Bench) -> list[Figures]:
    """The figures of all sides."""
    all_figures = [Figures(side) for side in sides_of(measurement, bench.effort)]
    KINDS[measurement.kind](measurement, all_figures, bench)
    return all_figures


def sides_of(measurement: Measurement, effort: Effort) -> list[Side]:
    """All sides, or those that some row asks for."""
    rows = [row for row in ROWS if row.measurement == measurement.name]
    named = {name for row in rows for name in (row.ours, *row.peers)}
    return [side for side in measurement.sides if effort.all_sides or side.label in named]


def guarded(figures: Figures, action: Callable[[], None]) -> None:
    """Do something for a side that has not failed; what goes wrong becomes its failure."""
    if figures.failure:
        return
    try:
        action()
    except WorkerFailed as failure:
        figures.failure = str(failure)


# ---------------------------------------------------------------- many calls


def calls(measurement: Measurement, all_figures: list[Figures], bench: Bench) -> None:
    """One worker for each side, all of them alive, sampled in turns."""
    with ExitStack() as stack:
        talks: dict[Side, Conversation] = {}

        def start(figures: Figures) -> None:
            side = figures.side
            python = bench.python(side)
            talk = Conversation(python, bench.task(measurement, side), bench.effort.limit)
            talks[side] = stack.enter_context(talk)
            figures.versions = talk.ready()["versions"]
            figures.error = talk.ask("prepare")["error"]

        def sample(figures: Figures) -> None:
            figures.add(talks[figures.side].ask("sample", seconds=bench.effort.seconds))

        for figures in all_figures:
            guarded(figures, lambda figures=figures: start(figures))
        for _ in range(bench.effort.rounds):
            for figures in all_figures:
                if figures.spent < bench.effort.patience:
                    guarded(figures, lambda figures=figures: sample(figures))


# ---------------------------------------------------------------- a new process each time


def cold(measurement: Measurement, all_figures: list[Figures], bench: Bench) -> None:
    """A process for each sample; what the first imports is imported by the others beforehand."""
    with tempfile.TemporaryDirectory() as folder:
        imports: dict[Side, list[str]] = {}

        def run(figures: Figures, do: str) -> dict[str, Any]:
            side = figures.side
            task = bench.task(measurement, side, imports=imports.get(side, []))
            if side.variant == "cache":
                task["environment"] = {"RELAXSCRIPT_CACHE": folder}
            with Conversation(bench.python(side), task, bench.effort.limit) as talk:
                figures.versions = talk.ready()["versions"]
                return talk.ask(do)

        def rehearse(figures: Figures) -> None:
            answer = run(figures, "rehearse")
            imports[figures.side] = answer["imports"]
            figures.error, figures.compilations = answer["error"], answer["compilations"]

        def sample(figures: Figures) -> None:
            figures.add(run(figures, "once"))

        for figures in all_figures:
            guarded(figures, lambda figures=figures: rehearse(figures))
        for _ in range(bench.effort.cold):
            for figures in all_figures:
                if figures.spent < bench.effort.patience:
                    guarded(figures, lambda figures=figures: sample(figures))


# ---------------------------------------------------------------- imports


def imports(measurement: Measurement, all_figures: list[Figures], bench: Bench) -> None:
    """A process that imports and ends, by turns; the first of each writes bytecode."""
    with tempfile.TemporaryDirectory() as bytecode:

        def sample(figures: Figures, counts: bool) -> None:
            side = figures.side
            module = side.argument or IMPORTED.get(side.peer, side.peer)
            wall, cpu = import_times(bench.python(side), module, bytecode, bench.cpu)
            if counts:
                figures.add({"wall": [wall], "cpu": [cpu]})

        for turn, figures in itertools.product(range(2 * bench.effort.cold + 1), all_figures):
            guarded(figures, lambda figures=figures, turn=turn: sample(figures, turn > 0))


KINDS: dict[str, Callable[[Measurement, list[Figures], Bench], None]] = {
    "calls": calls,
    "cold": cold,
    "import": imports,
}
