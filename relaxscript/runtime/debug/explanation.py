"""Explanations of programs: `VirtualMachine.explain`, `Executable.explain`.

    print(model.explain(n=128))

    kernel        calls  operators     lines  schedule     read      written   ...
    fused_matmul  1      matmul, relu  22-23  product      ...

The compiler makes the rows, since it knows the program; here is how they are shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from relaxscript.errors import Span, VMError, quantity
from relaxscript.errors.markup import box, hint_of, page, prose, table
from relaxscript.errors.notebook import live_cell
from relaxscript.runtime.values import kind_of

from .units import bytes_text, rate_text, seconds_text, table_text

__all__ = ["Amount", "Explanation", "KernelRow", "Roof", "check_dims", "lines_of"]


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of bytes or operations, as an expression and where sizes are known as a number."""

    text: str
    value: int | None


@dataclass(frozen=True, slots=True)
class Roof:
    """The speed of this computer, one core of it: no kernel is faster.

    `copies` are pairs: a number of bytes, and how many a second are read and written of so many.
    `flops` are operations of float32 a second. `how` says where they are from.
    """

    copies: tuple[tuple[int, float], ...]
    flops: float
    how: str

    def bytes_per_second(self, size: int) -> float:
        """The speed at which so many bytes are moved."""
        found = [rate for most, rate in self.copies if size <= most]
        return found[0] if found else self.copies[-1][1]

    def seconds(self, moved: int, flops: int, itemsize: int = 4) -> float:
        """The least time for so many bytes, and operations on floats of this size."""
        return max(self._parts(moved, flops, itemsize))

    def bound(self, moved: int, flops: int, itemsize: int = 4) -> str:
        """The longer part, "memory" or "arithmetic"."""
        by_bytes, by_flops = self._parts(moved, flops, itemsize)
        return "arithmetic" if by_flops > by_bytes else "memory"

    def _parts(self, moved: int, flops: int, itemsize: int) -> tuple[float, float]:
        return moved / self.bytes_per_second(moved), flops * (itemsize / 4) / self.flops

    def __str__(self) -> str:
        size, rate = self.copies[-1]
        small, fast = self.copies[0]
        return (
            f"{rate_text(rate, 'B/s')} for {bytes_text(size)}, "
            f"{rate_text(fast, 'B/s')} for {bytes_text(small)}, "
            f"{rate_text(self.flops, 'flop/s')} ({self.how})"
        )


@dataclass(frozen=True, slots=True)
class KernelRow:
    """A kernel, an operator or a packed function that a Relax function calls; `kind` says which.

    `calls` are the places in the function that call it on values of these sizes. `spans` are the
    source of all that it computes there. `schedule` is the rule that arranged the
    loops of a kernel, "plain" where none did, and `reason` says why. `flops` is None where nothing
    is known of them, and so are bytes. `itemsize` is the size of the widest float among the values.
    """

    function: str
    name: str
    kind: str
    calls: int
    operators: tuple[str, ...]
    spans: tuple[Span, ...]
    pattern: str
    schedule: str
    reason: str
    bytes_read: Amount | None
    bytes_written: Amount | None
    flops: Amount | None
    itemsize: int = 4

    @property
    def moved(self) -> int | None:
        """The bytes that one call reads and writes, None where they are not known."""
        if self.bytes_read is None or self.bytes_written is None:
            return None
        if self.bytes_read.value is None or self.bytes_written.value is None:
            return None
        return self.bytes_read.value + self.bytes_written.value


class Explanation:
    """The kernels of a program with what they do, and their time at the `roof` of this computer.

    `str` gives a table, a notebook shows one, `as_json` gives the data. `kernels` are the rows in
    the order of the program. `variables` are the names of the sizes that decide about them, and
    `dims` those that were given.
    """

    def __init__(
        self, kernels: Iterable[KernelRow], target: str, dims: Mapping[str, int],
        roof: Roof | None, variables: Iterable[str] = (),
    ) -> None:  # fmt: skip
        self.kernels = tuple(kernels)
        self.variables = tuple(variables)
        self.target = target
        self.dims = dict(dims)
        self.roof = roof

    def seconds(self, row: KernelRow) -> float | None:
        """The least time of all calls of a row; None where a size or the roof is not known."""
        flops = None if row.flops is None else row.flops.value
        if self.roof is None or row.moved is None or flops is None:
            return None
        return row.calls * self.roof.seconds(row.moved, flops, row.itemsize)

    def bound(self, row: KernelRow) -> str:
        """The bound of a row's time, "memory" or "arithmetic"; "" where it is not known."""
        flops = None if row.flops is None else row.flops.value
        if self.roof is None or row.moved is None or flops is None:
            return ""
        return self.roof.bound(row.moved, flops, row.itemsize)

    @property
    def total_seconds(self) -> float | None:
        """The least time of all rows together; None where that of one is not known."""
        found = [self.seconds(row) for row in self.kernels]
        known = [seconds for seconds in found if seconds is not None]
        return sum(known) if len(known) == len(found) else None

    def table(self) -> str:
        """The explanation as lines of text."""
        header, rows, right = self._cells()
        lines = [self._title(), "", table_text(header, rows, right), ""]
        lines += self._remarks()
        return "\n".join(lines).rstrip()

    def html(self) -> str:
        """The explanation as HTML: its lines say what is on them, its schedules why."""
        header, rows, right = self._cells()
        at = {name: number for number, name in enumerate(header)}

        def hint(row: int, column: int) -> str:
            if column == at["lines"]:
                return "\n".join(dict.fromkeys(map(hint_of, self.kernels[row].spans)))
            return self.kernels[row].reason if column == at["schedule"] else ""

        remarks = "".join(f"<li>{prose(line)}</li>" for line in self._remarks())
        shown = table(self._title(), header, rows, right, hint)
        return page(box(shown, f"<ul>{remarks}</ul>" if remarks else ""))

    def as_json(self) -> str:
        """The explanation as a JSON object; places are file, line, column and their ends."""
        rows = [self._data(row) for row in self.kernels]
        roof = self.roof and {
            "copies": self.roof.copies, "flops": self.roof.flops, "how": self.roof.how,
        }  # fmt: skip
        data = {"target": self.target, "dims": self.dims, "roof": roof, "kernels": rows}
        return json.dumps(data)

    def _data(self, row: KernelRow) -> dict[str, Any]:
        def amount(found: Amount | None) -> dict[str, Any] | None:
            return None if found is None else {"text": found.text, "value": found.value}

        return {
            "function": row.function, "name": row.name, "kind": row.kind, "calls": row.calls,
            "operators": row.operators, "places": [place_data(span) for span in row.spans],
            "pattern": row.pattern, "schedule": row.schedule, "reason": row.reason,
            "bytes_read": amount(row.bytes_read), "bytes_written": amount(row.bytes_written),
            "flops": amount(row.flops), "itemsize": row.itemsize, "seconds": self.seconds(row),
            "bound": self.bound(row),
        }  # fmt: skip

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<Explanation of {quantity(len(self.kernels), 'kernel')}>"

    def _repr_html_(self) -> str:
        return self.html()

    def _title(self) -> str:
        sizes = ", ".join(f"{name}={size}" for name, size in self.dims.items())
        return f"kernels for {self.target}" + (f", {sizes}" if sizes else "")

    def _cells(self) -> tuple[list[str], list[list[str]], list[int]]:
        """The header, the rows, and the columns of numbers."""
        header = ["function", "kernel", "calls", "operators", "lines", "schedule", "read"]
        header += ["written", "flops", "at the roof"]
        rows = [
            [
                row.function, row.name, str(row.calls), ", ".join(row.operators),
                lines_of(row.spans), row.schedule, _bytes_cell(row.bytes_read),
                _bytes_cell(row.bytes_written), _flops_cell(row.flops), self._time_cell(row),
            ]
            for row in self.kernels
        ]  # fmt: skip
        return header, rows, [2, 6, 7, 8, 9]

    def _time_cell(self, row: KernelRow) -> str:
        seconds = self.seconds(row)
        return "?" if seconds is None else f"{seconds_text(seconds)} ({self.bound(row)})"

    def _remarks(self) -> list[str]:
        lines = [
            f"{name}: {schedule}, {reason}"
            for name, schedule, reason in dict.fromkeys(
                (row.name, row.schedule, row.reason) for row in self.kernels if row.reason
            )
        ]
        if self.total_seconds is not None and self.kernels:
            lines.append(f"all kernels at the roof: {seconds_text(self.total_seconds)}")
        if self.roof is not None:
            lines.append(f"roof of one core: {self.roof}")
        return lines


def check_dims(dims: Mapping[str, object], known: Sequence[str]) -> dict[str, int]:
    """The sizes of shape variables that a user gives; raises `VMError` (RX0608) for others."""
    made = {}
    for name, size in dims.items():
        if name not in known:
            there = f"there are {', '.join(known)}" if known else "the program has none"
            raise VMError(f"no shape variable is called `{name}`", code="RX0608", notes=[there])
        if type(size) is not int or size < 0:
            text = f"the size `{name}` is a number from 0 on, got {kind_of(size)}"
            raise VMError(f"{text} {size!r}" if type(size) is int else text, code="RX0608")
        made[name] = size
    return made


def place_data(span: Span) -> dict[str, Any]:
    """A place as data."""
    return {
        "file": span.filename, "cell": span.source.cell, "line": span.line, "column": span.column,
        "end_line": span.end_line, "end_column": span.end_column,
    }  # fmt: skip


def lines_of(spans: Sequence[Span]) -> str:
    """The lines of some places: "22-24", with the file where there are several."""
    by_file: dict[str, set[int]] = {}
    for span in spans:
        by_file.setdefault(span.filename, set()).update(range(span.line, span.end_line + 1))
    if len(by_file) == 1:
        return _ranges(*by_file.values())
    return "; ".join(
        f"{live_cell(name) or PurePath(name).name}:{_ranges(found)}"
        for name, found in by_file.items()
    )


def _ranges(lines: set[int]) -> str:
    return ", ".join(f"{a}-{b}" if b > a else str(a) for a, b in _runs(sorted(lines)))


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The runs of numbers that follow one another, each with its first and its last."""
    start = 0
    for i, number in enumerate(numbers):
        if i + 1 == len(numbers) or numbers[i + 1] > number + 1:
            yield numbers[start], number
            start = i + 1


def _bytes_cell(amount: Amount | None) -> str:
    if amount is None:
        return "?"
    return amount.text if amount.value is None else bytes_text(amount.value)


def _flops_cell(amount: Amount | None) -> str:
    if amount is None:
        return "?"
    return amount.text if amount.value is None else rate_text(amount.value, "").rstrip()
