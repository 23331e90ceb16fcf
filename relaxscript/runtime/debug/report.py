"""The report of a profile: rows by function, lines by source, events by time.

Source: TVM `runtime.profiling.Report` for names.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any, NamedTuple

from relaxscript.errors import VMError, quantity
from relaxscript.errors.markup import box, page, table
from relaxscript.errors.notebook import live_cell

from .line_picture import line_picture
from .units import rate_text, table_text

__all__ = ["Event", "Report", "Row", "SourceLine", "SourcePlace"]


class SourcePlace(NamedTuple):
    """A line of a source; `cell` is the number of a notebook's cell, from 1."""

    file: str
    line: int
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One function: how often it ran and for how many seconds in all.

    `moved` are the bytes that it read and wrote in all, and `flops` its operations. `roof` are the
    least seconds for both. Each is None where it is not known. `places` are the lines it is from.
    """

    name: str
    count: int
    seconds: float
    moved: int | None = None
    flops: int | None = None
    roof: float | None = None
    places: tuple[SourcePlace, ...] = ()


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
    places: tuple[SourcePlace, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a source, and the seconds of what it computes.

    What is computed for several lines at once counts for each of them in equal parts.
    """

    place: SourcePlace
    text: str
    seconds: float


class Report:
    """The functions of one call, the longest first, and the seconds of the whole call.

    `events` are all calls one by one, the whole one first and the others as they ended. `lines` are
    those of the source from the first that takes time to the last.
    """

    def __init__(
        self, rows: list[Row], seconds: float, result: Any = None, events: Sequence[Event] = (),
        lines: Sequence[SourceLine] = (),
    ) -> None:  # fmt: skip
        self.rows = tuple(sorted(rows, key=lambda row: (-row.seconds, row.name)))
        self.seconds = seconds
        self.result = result
        self.events = tuple(events)
        self.lines = tuple(lines)

    def table(self) -> str:
        """The report as lines of text; speeds and places are told where any of them is known."""
        header, cells, right = self._cells()
        total = ["total", "", f"{self.seconds * 1e6:.2f}"]
        total += [""] * (len(header) - len(total))
        return table_text(header, [*cells, total], right)

    def csv(self) -> str:
        """The rows as comma-separated values with a header; what is not known is empty."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["name", "count", "seconds", "bytes", "flops", "roof_seconds"])
        writer.writerows(
            [row.name, row.count, row.seconds, row.moved, row.flops, row.roof] for row in self.rows
        )
        return out.getvalue()

    def json(self) -> str:
        """The report without the result as a JSON object, which `from_json` takes back."""
        data = {
            "seconds": self.seconds,
            "rows": [asdict(row) for row in self.rows],
            "events": [asdict(event) for event in self.events],
            "lines": [asdict(line) for line in self.lines],
        }
        return json.dumps(data)

    @classmethod
    def from_json(cls, text: str) -> Report:
        """The report that `json` wrote. Raises `VMError` (RX0608) for any other text."""
        try:
            found = json.loads(text)
            rows = [Row(**{**row, "places": _places(row)}) for row in found["rows"]]
            events = [
                Event(**{**event, "arguments": tuple(event["arguments"]), "places": _places(event)})
                for event in found.get("events", ())
            ]
            lines = [
                SourceLine(SourcePlace(*line["place"]), str(line["text"]), float(line["seconds"]))
                for line in found.get("lines", ())
            ]
            return cls(rows, float(found["seconds"]), None, events, lines)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reason = f"{type(error).__name__}: {error}"
            raise VMError(f"this is no report as JSON ({reason})", code="RX0608") from error

    def chrome_trace(self) -> str:
        """The events in the Trace Event Format, which `chrome://tracing` and Perfetto show."""
        made = [
            {
                "name": event.name, "cat": "relaxscript", "ph": "X", "pid": 0, "tid": event.thread,
                "ts": event.start * 1e6, "dur": event.seconds * 1e6, "args": _trace_args(event),
            }
            for event in self.events
        ]  # fmt: skip
        return json.dumps({"traceEvents": made, "displayTimeUnit": "ns"})

    def svg(self) -> str:
        """A picture of the source, in which each line has a bar as long as the time it takes.

        It is a document of its own, which needs no other file and suits light and dark pages.
        """
        return self._picture(whole=True)

    def _picture(self, whole: bool) -> str:
        rows = [(_line_name(line.place), line.text, line.seconds) for line in self.lines]
        return line_picture(rows, self.seconds, whole)

    def html(self) -> str:
        """The table and the picture as HTML; a function's lines say what is on them."""
        header, cells, right = self._cells()
        title = f"profile of a call that took {self.seconds * 1e6:.2f} us"
        texts = {line.place: line.text.strip() for line in self.lines}

        def hint(row: int, column: int) -> str:
            places = self.rows[row].places if header[column] == "lines" else ()
            return "\n".join(f"{_line_name(place)}: {texts.get(place, '')}" for place in places)

        shown = box(table(title, header, cells, right, hint))
        return page(shown, box(self._picture(whole=False)) if self.lines else "")

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        functions = quantity(len(self.rows), "function")
        return f"<Report of {functions}, {self.seconds * 1e6:.2f} us>"

    def _repr_html_(self) -> str:
        return self.html()

    def _cells(self) -> tuple[list[str], list[list[str]], list[int]]:
        """The header, the rows, and the columns of numbers; columns of nothing are left out."""
        columns = [
            ("function", [row.name for row in self.rows]),
            ("count", [str(row.count) for row in self.rows]),
            ("time (us)", [f"{row.seconds * 1e6:.2f}" for row in self.rows]),
            ("percent", [f"{_percent(row.seconds, self.seconds):.1f}" for row in self.rows]),
        ]
        more = [
            ("bytes/s", [_rate(row.moved, row.seconds, "B/s") for row in self.rows]),
            ("flop/s", [_rate(row.flops, row.seconds, "flop/s") for row in self.rows]),
            ("roof (%)", [_roof_cell(row) for row in self.rows]),
            ("lines", [lines_text(row.places) for row in self.rows]),
        ]
        columns += [(name, cells) for name, cells in more if any(cells)]
        header = [name for name, _ in columns]
        right = [i for i, name in enumerate(header) if name not in ("function", "lines")]
        return header, [[cells[i] for _, cells in columns] for i in range(len(self.rows))], right


def lines_text(places: Iterable[SourcePlace]) -> str:
    """The lines of places: "22, 23", with the file where there are several."""
    found = sorted(set(places), key=lambda place: (place.file, place.cell or 0, place.line))
    if len({place[::2] for place in found}) < 2:
        return ", ".join(str(place.line) for place in found)
    return ", ".join(map(_line_name, found))


def _line_name(place: SourcePlace) -> str:
    cell = "" if place.cell is None else f"[{place.cell}]"
    return f"{live_cell(place.file) or PurePath(place.file).name}{cell}:{place.line}"


def _places(found: Any) -> tuple[SourcePlace, ...]:
    return tuple([SourcePlace(*place) for place in found.get("places", ())])


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


def _rate(amount: int | None, seconds: float, noun: str) -> str:
    return rate_text(amount / seconds, noun) if amount and seconds else ""


def _roof_cell(row: Row) -> str:
    return "" if row.roof is None or not row.seconds else f"{_percent(row.roof, row.seconds):.0f}"


def _trace_args(event: Event) -> dict[str, str]:
    args = {str(number): said for number, said in enumerate(event.arguments)}
    return {**args, "lines": lines_text(event.places)} if event.places else args
