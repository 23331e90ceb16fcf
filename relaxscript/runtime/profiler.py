"""Where the time of one call goes: what `VirtualMachine.profile` reports."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Recorder", "Report", "Row"]


@dataclass(frozen=True, slots=True)
class Row:
    """One packed function: how often it ran and for how many seconds in all."""

    name: str
    count: int
    seconds: float


class Report:
    """The packed functions of one call, the longest first, and the seconds of the whole call."""

    def __init__(self, rows: list[Row], seconds: float, result: Any = None) -> None:
        self.rows = tuple(sorted(rows, key=lambda row: (-row.seconds, row.name)))
        self.seconds = seconds
        self.result = result

    def table(self) -> str:
        """The report as lines of text."""
        lines = [f"{'function':<32}{'count':>8}{'time (us)':>14}{'percent':>9}"]
        for row in self.rows:
            share = 100 * row.seconds / self.seconds if self.seconds else 0.0
            lines.append(f"{row.name:<32}{row.count:>8}{row.seconds * 1e6:>14.2f}{share:>9.1f}")
        return "\n".join([*lines, f"{'total':<40}{self.seconds * 1e6:>14.2f}"])

    def csv(self) -> str:
        """The rows as comma-separated values with a header."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["name", "count", "seconds"])
        writer.writerows([row.name, row.count, row.seconds] for row in self.rows)
        return out.getvalue()

    def json(self) -> str:
        """The report as a JSON object."""
        return json.dumps({"seconds": self.seconds, "rows": [asdict(row) for row in self.rows]})

    def __str__(self) -> str:
        return self.table()


class Recorder:
    """An instrument that takes the time of every packed call."""

    def __init__(self) -> None:
        self.started: list[float] = []
        self.times: dict[str, list[float]] = {}

    def __call__(self, function: Any, name: str, before: bool, result: Any, *args: Any) -> None:
        now = time.perf_counter()
        if before:
            self.started.append(time.perf_counter())
        else:
            self.times.setdefault(name, []).append(now - self.started.pop())

    def run(self, call: Callable[[], Any]) -> Report:
        """Time `call`, during which this instrument is asked."""
        start = time.perf_counter()
        result = call()
        seconds = time.perf_counter() - start
        rows = [Row(name, len(times), sum(times)) for name, times in self.times.items()]
        return Report(rows, seconds, result)
