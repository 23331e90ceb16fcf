"""The report: a table of all rows beside their bounds, then one table for each measurement."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .measuring import Figures
from .results import Found, Ratio
from .table import Measurement
from .workloads import WORKLOADS


class Conditions(NamedTuple):
    """What a reader has to know to judge the figures."""

    date: str
    commit: str
    command: str
    machine: Sequence[str]
    pinned: str
    load: str
    absent: Sequence[str]


def seconds(value: float) -> str:
    """Seconds with a unit, in three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table of Markdown; the first column is text, the others are figures."""
    yield "| " + " | ".join(head) + " |"
    yield "|---" + "|--:" * (len(head) - 1) + "|"
    for line in lines:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"
    yield ""


# ---------------------------------------------------------------- all rows


def summary(all_ratios: Sequence[Ratio]) -> Iterator[str]:
    head = ["row", "ours", "peer", "its time", "wall", "CPU", "rounds", "must", "aim", ""]
    head.append("best of all peers")
    yield from table(head, [line_of(ratio) for ratio in all_ratios])
    told = [f"- {ratio.row.text}: {ratio.reason}" for ratio in all_ratios if ratio.figure is None]
    if told:
        yield from ("Rows without a figure:", "", *told, "")


def line_of(ratio: Ratio) -> list[str]:
    row = ratio.row
    ours = seconds(statistics.median(ratio.ours.wall)) if ratio.ours and ratio.ours.wall else "–"
    ours = number(ratio.wall) if row.counts else ours
    peer, time = "–", "–"
    if ratio.peer is not None:
        peer, time = ratio.peer.side.label, seconds(statistics.median(ratio.peer.wall))
    spread = f"{min(ratio.rounds):.3g} – {max(ratio.rounds):.3g}" if ratio.rounds else "–"
    both = [number(ratio.wall), number(ratio.cpu)]
    if ratio.figure is not None:
        place = int(ratio.clock == "cpu")
        both[place] = f"**{both[place]}**"
    bounds = [f"{row.must:g}", f"{row.aim:g}"]
    return [row.text, ours, peer, time, *both, spread, *bounds, ratio.verdict, ratio.fastest or "–"]


# ---------------------------------------------------------------- one measurement


def details(measurement: Measurement, sides: Sequence[Figures]) -> Iterator[str]:
    yield f"### {measurement.title}"
    yield ""
    if measurement.note:
        yield from (measurement.note, "")
    workload = WORKLOADS.get(measurement.workload_of(sides[0].side))
    work = workload.work if workload else ""
    parts = list(dict.fromkeys(name for each in sides for name in (each.parts or [{}])[0]))
    counts = any(each.compilations is not None for each in sides)
    head = ["side", "median", "least", "most", "CPU", "times ours"]
    head += [f"{work}/s"] if work else []
    head += [*parts, *(["compilations"] if counts else []), "error"]
    ours = next((each for each in sides if each.wall), None)
    lines = []
    for each in sorted(
        (each for each in sides if each.wall), key=lambda e: statistics.median(e.wall)
    ):
        median = statistics.median(each.wall)
        line = [each.side.label, *map(seconds, (median, min(each.wall), max(each.wall)))]
        line += [seconds(statistics.median(each.cpu)), times_ours(each, ours)]
        line += [number(workload.amount / median)] if workload and work else []
        line += [part_of(each, part) for part in parts]
        line += [str(each.compilations) if each.compilations is not None else "–"] if counts else []
        lines.append([*line, f"{each.error:.1e}" if each.error else "–"])
    yield from table(head, lines)
    told = [f"- {each.side.label}: {each.failure}" for each in sides if each.failure]
    yield from ([*told, ""] if told else [])


def times_ours(each: Figures, ours: Figures | None) -> str:
    if ours is None or ours.side.peer != "ours":
        return "–"
    return number(statistics.median(each.wall) / statistics.median(ours.wall))


def part_of(each: Figures, part: str) -> str:
    known = [parts[part] for parts in each.parts if part in parts]
    return seconds(statistics.median(known)) if known else "–"


# ---------------------------------------------------------------- the whole


METHOD = """\
Every side of a table runs in processes of its own, pinned to one processor with one thread, and the
sides take turns: ours, a peer, the next one, and again. A figure is the median over the rounds, a
ratio that of two medians, by the wall clock and by CPU time: the bold one counts, and beside it are
the least and the largest of a round. Results were compared with numpy's in double precision before
they were timed (after it where the process is new each time): `error` is the largest difference as
a share of the largest number. "Cold" and "new process": a fresh process in which a side has
imported all it needs; load, compilation and first call count, import does not. Ours is written as a
user would write it and runs with the default options, without its cache where that is not named.
"""


def report(
    conditions: Conditions,
    all_ratios: Sequence[Ratio],
    measurements: Sequence[Measurement],
    found: Found,
    chart: str,
) -> str:
    """The whole report as Markdown."""
    lines = ["# Ours beside its peers", ""]
    lines += [f"{conditions.date}, commit {conditions.commit}: `{conditions.command}`", ""]
    lines += METHOD.splitlines()
    lines += ["", "## All rows", "", *summary(all_ratios)]
    if chart:
        lines += [f"![ratio of every row, beside its bounds]({chart})", ""]
    for section in dict.fromkeys(each.section for each in measurements):
        told = [each for each in measurements if each.section == section and found.get(each.name)]
        if told:
            lines += [f"## {section}", ""]
        for measurement in told:
            lines += details(measurement, found[measurement.name])
    lines += ["## Machine and versions", ""]
    lines += [f"- {line}" for line in conditions.machine]
    lines += [f"- {conditions.pinned}", f"- load of the machine: {conditions.load}"]
    lines += [f"- {line}" for line in versions(found)]
    lines += [f"- absent: {line}" for line in conditions.absent]
    return "\n".join(lines) + "\n"


def versions(found: Found) -> list[str]:
    """For each peer what its environment has."""
    known: dict[str, dict[str, str]] = {}
    for sides in found.values():
        for figures in sides:
            known.setdefault(figures.side.peer, {}).update(figures.versions)
    return [
        f"{peer}: " + ", ".join(f"{name} {version}" for name, version in sorted(each.items()))
        for peer, each in known.items()
        if each
    ]
