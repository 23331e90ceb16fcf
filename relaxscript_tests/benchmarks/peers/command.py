"""The command `python -m relaxscript_tests.benchmarks peers`, and its options."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import machine
from .chart import svg
from .environments import VARIABLE, Absence, BadOption, interpreters
from .measuring import QUICK, Bench, Effort, measured
from .report import Conditions, report
from .results import Found, load, ratios, save
from .table import MEASUREMENTS, ROWS, Measurement, Row

WORDS = "python -m relaxscript_tests.benchmarks peers"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog=WORDS, description="Ours beside its peers: ratios, as a report in Markdown."
    )
    add = made.add_argument
    add("--row", action="append", default=[], metavar="NAME", help="only this row (repeatable)")
    add(
        "--peer", action="append", default=[], metavar="NAME=PYTHON",
        help=f"the interpreter that has a peer (repeatable; also in {VARIABLE})",
    )  # fmt: skip
    add("--out", type=Path, help="write the report here, and its chart beside it as .svg")
    add("--json", type=Path, help="keep all figures here; rows that are not run are taken from it")
    add("--quick", action="store_true", help="fewer rounds: figures to look at, not to quote")
    add("--date", default="", help="the date to be told (the commit's)")
    add("--cpu", type=int, help="the processor to pin all to (the last one)")
    add("--clock", choices=("wall", "cpu"), default="wall", help="what ratios are judged by")
    add("--list", action="store_true", help="say the names of all rows")
    return made


def chosen(names: Sequence[str]) -> list[Row]:
    """The rows of these names, or all of them."""
    known = {row.name: row for row in ROWS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadOption(f"no row is called {unknown[0]}; there are {', '.join(known)}")
    return [known[name] for name in names] or list(ROWS)


def last_cpu() -> int | None:
    """The last processor that this process may use; None where processes cannot be pinned."""
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


@contextlib.contextmanager
def away_from(cpu: int | None) -> Iterator[None]:
    """Stay away from the processor that is measured on, where there is another one."""
    if cpu is None or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, (before - {cpu}) or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def run(rows: Sequence[Row], bench: Bench, kept: Path | None, clock: str) -> Found:
    """Measure what the rows need; kept figures are written after each measurement."""
    found = load(kept) if kept else {}
    needed = {row.measurement for row in rows}
    for measurement in MEASUREMENTS:
        if measurement.name not in needed:
            continue
        bench.tell(f"-- {measurement.name}: {measurement.title}")
        found[measurement.name] = measured(measurement, bench)
        of_it = [row for row in rows if row.measurement == measurement.name]
        for ratio in ratios(of_it, found, clock):
            figure = f"{ratio.figure:.3g}" if ratio.figure is not None else ratio.reason
            bench.tell(f"   {ratio.row.text}: {figure} (must {ratio.row.must:g}, {ratio.verdict})")
        if kept:
            save(kept, found)
    return found


def measurements_of(found: Found) -> list[Measurement]:
    return [measurement for measurement in MEASUREMENTS if measurement.name in found]


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    try:
        rows = chosen(options.row)
        if options.list:
            print("\n".join(row.name for row in rows))
            return 0
        known = {
            "ours": sys.executable,
            "python": sys.executable,
            **interpreters(options.peer, os.environ),
        }
    except BadOption as mistake:
        tell(str(mistake))
        return 2
    absent = [f"{peer}: {why.reason}" for peer, why in known.items() if isinstance(why, Absence)]
    for line in absent:
        tell(f"absent: {line}")
    cpu = last_cpu() if options.cpu is None else options.cpu
    before = machine.load()
    bench = Bench(known, QUICK if options.quick else Effort(), cpu, tell)
    with away_from(cpu):
        found = run(rows, bench, options.json, options.clock)
    told = [row for row in ROWS if row.measurement in found] if options.json else rows
    conditions = Conditions(
        options.date or machine.date_of_commit(),
        machine.commit(),
        WORDS + " --quick" * options.quick + " --clock cpu" * (options.clock == "cpu"),
        machine.machine(),
        "not pinned" if cpu is None else "all pinned to one processor, one after the other",
        f"{before} when begun, {machine.load()} at the end (of {os.cpu_count()})",
        absent,
    )
    all_ratios = ratios(told, found, options.clock)
    chart = options.out.with_suffix(".svg") if options.out else None
    text = report(
        conditions, all_ratios, measurements_of(found), found, chart.name if chart else ""
    )
    if chart is None:
        print(text, end="")
    else:
        options.out.write_text(text, "utf-8")
        chart.write_text(svg(all_ratios), "utf-8")
    return 0
