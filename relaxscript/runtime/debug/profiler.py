"""The profile of one call: `VirtualMachine.profile`."""

from __future__ import annotations

import csv
import io
import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from relaxscript.errors import VMError
from relaxscript.runtime.values import kind_of

__all__ = ["Event", "Recorder", "Report", "Row"]


@dataclass(frozen=True, slots=True)
class Row:
    """One packed function: how often it ran and for how many seconds in all."""

    name: str
    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Event:
    """One call: when it began, in seconds since the report's beginning, and how long it took.

    `thread` numbers the threads in the order in which they were seen; `arguments` are described.
    """

    name: str
    start: float
    seconds: float
    thread: int = 0
    arguments: tuple[str, ...] = ()


class Report:
    """The packed functions of one call, the longest first, and the seconds of the whole call.

    `events` are all calls one by one, the whole one first and the others as they ended.
    """

    def __init__(
        self, rows: list[Row], seconds: float, result: Any = None, events: Sequence[Event] = ()
    ) -> None:
        self.rows = tuple(sorted(rows, key=lambda row: (-row.seconds, row.name)))
        self.seconds = seconds
        self.result = result
        self.events = tuple(events)

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
        """The report without the result as a JSON object, which `from_json` takes back."""
        rows, events = map(asdict, self.rows), map(asdict, self.events)
        return json.dumps({"seconds": self.seconds, "rows": [*rows], "events": [*events]})

    @classmethod
    def from_json(cls, text: str) -> Report:
        """The report that `json` wrote. Raises `VMError` (RX0608) for any other text."""
        try:
            found = json.loads(text)
            rows = [Row(**row) for row in found["rows"]]
            events = [
                Event(**{**event, "arguments": tuple(event["arguments"])})
                for event in found.get("events", ())
            ]
            return cls(rows, float(found["seconds"]), None, events)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reason = f"{type(error).__name__}: {error}"
            raise VMError(f"this is no report as JSON ({reason})", code="RX0608") from error

    def chrome_trace(self) -> str:
        """The events in the Trace Event Format, which `chrome://tracing` and Perfetto show."""
        made = [
            {
                "name": event.name, "cat": "relaxscript", "ph": "X", "pid": 0, "tid": event.thread,
                "ts": event.start * 1e6, "dur": event.seconds * 1e6,
                "args": {str(number): said for number, said in enumerate(event.arguments)},
            }
            for event in self.events
        ]  # fmt: skip
        return json.dumps({"traceEvents": made, "displayTimeUnit": "ns"})

    def __str__(self) -> str:
        return self.table()


class Recorder:
    """An instrument that takes the time of every packed call."""

    def __init__(self) -> None:
        self.began = 0.0
        # What has begun and not ended yet, for each thread: when, and with which arguments.
        self.started: dict[int, list[tuple[float, tuple[str, ...]]]] = {}
        self.events: list[Event] = []

    def __call__(self, function: Any, name: str, before: bool, result: Any, *args: Any) -> None:
        now = time.perf_counter()
        thread = threading.get_ident()
        if before:
            described = tuple(kind_of(arg) for arg in args)
            self.started.setdefault(thread, []).append((time.perf_counter(), described))
            return
        start, described = self.started[thread].pop()
        self.events.append(
            Event(name, start - self.began, now - start, self._number(thread), described)
        )

    def _number(self, thread: int) -> int:
        return list(self.started).index(thread)

    def run(self, name: str, call: Callable[[], Any]) -> Report:
        """Time `call` of the function `name`, during which this instrument is asked."""
        self.started[threading.get_ident()] = []
        kind_of(np.empty(0))  # numpy imports what that needs now, and not while the time runs
        self.began = time.perf_counter()
        result = call()
        seconds = time.perf_counter() - self.began
        counts: dict[str, list[float]] = {}
        for event in self.events:
            counts.setdefault(event.name, []).append(event.seconds)
        rows = [Row(packed, len(times), sum(times)) for packed, times in counts.items()]
        return Report(rows, seconds, result, [Event(name, 0.0, seconds), *self.events])
