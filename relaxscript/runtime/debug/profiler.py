"""The profile of one call: `VirtualMachine.profile`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from relaxscript.errors import Span
from relaxscript.runtime.values import kind_of

from .report import Event, Report, Row, SourceLine, SourcePlace

if TYPE_CHECKING:
    from relaxscript.runtime.executable import Executable

    from .explanation import Explanation

__all__ = ["Amounts", "CallTimes", "ExplainsKernels", "Recorder"]

# The bytes and operations of a call, and the least seconds for them; None for what is not known.
Amounts = tuple[int | None, int | None, float | None]
_UNKNOWN: Amounts = (None, None, None)


class CallTimes(Protocol):
    """Times that the code of kernels takes itself, of the kernels that it calls."""

    def begin(self) -> None:
        """Forget what was taken so far."""

    def count(self) -> int:
        """The number of calls that were taken."""

    def taken(self) -> Iterable[tuple[str, Span | None, float, float]]:
        """The calls: name, place, when each began by `time.perf_counter`, and its seconds."""


class ExplainsKernels(Protocol):
    """The compiler's knowledge of a program, which the machine asks for."""

    def __call__(self, func_name: str | None, dims: Mapping[str, Any]) -> Explanation:
        """The explanation of what a function calls, or of all."""

    def counted(self) -> Executable | None:
        """The program with code that takes times; None where no kernel calls another."""

    def amounts(
        self, func_name: str, args: Sequence[Any]
    ) -> Callable[[str, Span | None, Any], Amounts]:
        """A function that says what is known of the calls in one call of a function."""


@dataclass(frozen=True, slots=True)
class _Call:
    """An event, with its place in the source and its arguments; None where those are not known.

    `inner` are the numbers of the first call in it that code took the time of, and the next after.
    """

    event: Event
    span: Span | None
    args: tuple[Any, ...] | None
    inner: tuple[tuple[int, int], ...] = ()


class Recorder:
    """Takes the time of every call of a packed function or kernel.

    `amounts(name, span, args)` says what is known of a call with these arguments. They are None for
    a call of which `inner` took the time.
    """

    def __init__(
        self, amounts: Callable[[str, Span | None, Any], Amounts] | None = None,
        inner: Sequence[CallTimes] = (),
    ) -> None:  # fmt: skip
        self.began = 0.0
        self.threads: dict[int, int] = {}
        self.calls: list[_Call] = []
        self._amounts = amounts
        self._inner = tuple(inner)

    def wrap(
        self, name: str, function: Callable[..., Any], span: Span | None = None
    ) -> Callable[..., Any]:
        """`function`, of which each call is recorded; one that fails leaves no trace."""

        def call(*args: Any) -> Any:
            given = tuple(map(_note, args))
            before = [inner.count() for inner in self._inner]
            start = time.perf_counter()
            result = function(*args)
            seconds = time.perf_counter() - start
            numbers = tuple([(n, inner.count()) for n, inner in zip(before, self._inner)])
            thread = self._number(threading.get_ident())
            event = Event(name, start - self.began, seconds, thread)
            self.calls.append(_Call(event, span, given, numbers))
            return result

        return call

    def _number(self, thread: int) -> int:
        return self.threads.setdefault(thread, len(self.threads))

    def run(self, name: str, call: Callable[[], Any]) -> Report:
        """Time `call` of the function `name`, in which functions are those of `wrap`."""
        self._number(threading.get_ident())
        kind_of(np.empty(0))  # numpy imports what that needs now, and not while the time runs
        self.calls = []
        for inner in self._inner:
            inner.begin()
        self.began = time.perf_counter()
        result = call()
        seconds = time.perf_counter() - self.began
        self.calls = [_described(call) for call in self.calls]
        inner_calls = [*self._inner_calls()]
        # What calls others is no row: its time is theirs. An event of it stays in the trace.
        timed = [call for call in self.calls if not any(b > a for a, b in call.inner)]
        timed += inner_calls
        calls = (*self.calls, *inner_calls)
        events = [Event(name, 0.0, seconds), *(found.event for found in calls)]
        return Report(self._rows(timed), seconds, result, events, _source_lines(timed))

    def _inner_calls(self) -> Iterator[_Call]:
        for place, inner in enumerate(self._inner):
            taken = [*inner.taken()]
            for call in self.calls:
                # Clocks agree to parts of a microsecond: what is inside is put inside.
                low, thread = call.event.start, call.event.thread
                high = low + call.event.seconds
                for name, span, began, seconds in taken[slice(*call.inner[place])]:
                    start = min(max(began - self.began, low), high)
                    length = min(seconds, high - start)
                    event = Event(name, start, length, thread, (), _places(span))
                    yield _Call(event, span, None)

    def _rows(self, calls: Iterable[_Call]) -> list[Row]:
        rows: dict[str, Row] = {}
        for call in calls:
            name, seconds = call.event.name, call.event.seconds
            known = _UNKNOWN
            if self._amounts is not None:
                sizes = None if call.args is None else tuple(map(_size, call.args))
                known = self._amounts(name, call.span, sizes)
            row = rows.get(name)
            if row is None:
                rows[name] = Row(name, 1, seconds, *known, call.event.places)
                continue
            moved, flops, roof = map(_plus, (row.moved, row.flops, row.roof), known)
            rows[name] = replace(
                row, count=row.count + 1, seconds=row.seconds + seconds, moved=moved, flops=flops,
                roof=roof, places=tuple(dict.fromkeys([*row.places, *call.event.places])),
            )  # fmt: skip
        return [*rows.values()]


def _plus(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a + b


class _Array(NamedTuple):
    """An array without its elements."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def _note(arg: Any) -> Any:
    """An argument as it is kept until a run has ended: what it is, but not its memory."""
    if type(arg) is np.ndarray:
        return _Array(arg.shape, arg.dtype)
    return arg if type(arg) is int else kind_of(arg)


def _size(note: Any) -> Any:
    """The shape of an array, or a number: what decides about bytes and operations."""
    if type(note) is _Array:
        return note.shape
    return note if type(note) is int else None


def _described(call: _Call) -> _Call:
    """A call whose event tells the place and the arguments."""
    event = replace(
        call.event, arguments=tuple(map(_words, call.args or ())), places=_places(call.span)
    )
    return replace(call, event=event)


def _words(note: Any) -> str:
    if type(note) is _Array:
        return kind_of(np.broadcast_to(np.empty((), note.dtype), note.shape))
    return note if isinstance(note, str) else kind_of(note)


def _places(span: Span | None) -> tuple[SourcePlace, ...]:
    if span is None:
        return ()
    made = [SourcePlace(one.filename, one.line, one.source.cell) for one in span.spans]
    return tuple(dict.fromkeys(made))


def _source_lines(calls: Iterable[_Call]) -> list[SourceLine]:
    """The lines of the source from the first to the last of each text, with their seconds."""
    seconds: dict[SourcePlace, float] = {}
    sources: dict[tuple[str, int | None], Any] = {}
    for call in calls:
        for place in call.event.places:
            part = call.event.seconds / len(call.event.places)
            seconds[place] = seconds.get(place, 0.0) + part
        for span in call.span.spans if call.span is not None else ():
            sources[span.filename, span.source.cell] = span.source
    lines = []
    for (file, cell), source in sources.items():
        known = [place.line for place in seconds if (place.file, place.cell) == (file, cell)]
        for number in range(min(known), max(known) + 1):
            place = SourcePlace(file, number, cell)
            lines.append(SourceLine(place, source.line(number), seconds.get(place, 0.0)))
    return lines
