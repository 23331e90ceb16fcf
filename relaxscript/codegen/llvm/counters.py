"""Times that code takes itself: before and after each call of a PrimFunc by another.

Code that was compiled with the option `profile` reads the clock of the processor around each such
call. It notes the call's number and both times, as long as there is room. Other code has none of
that. The clock counts ticks, whose length is measured against that of Python.
"""

from __future__ import annotations

import ctypes
import platform
import time
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from relaxscript.errors import Span
from relaxscript.ir.relax import GlobalVar

from .engine import AS_WRITTEN, compile_text
from .ir_writer import FunctionWriter, Value

__all__ = ["SYMBOL", "CallCounters", "begin_timing", "end_timing"]

SYMBOL = "relaxscript.counters"
# So many calls are noted; behind them there is room for the last one, which others write over.
MOST = 1 << 16
# The longest that the clocks are compared, in seconds.
_LONG_ENOUGH = 5e-3
_TRIES = 20


class CallCounters:
    """The calls in some code by their numbers, and the words into which it writes their times."""

    def __init__(self) -> None:
        self.sites: list[tuple[str, Span | None]] = []
        self._words = (ctypes.c_int64 * (1 + 3 * (MOST + 1)))()
        self.address = ctypes.addressof(self._words)
        self._anchor = (0, 0.0)

    def add(self, name: str, span: Span | None) -> int:
        """The number of a call that is written."""
        self.sites.append((name, span))
        return len(self.sites) - 1

    def begin(self) -> None:
        """Forget all calls, and note what both clocks say now."""
        _clock()
        self._words[0] = 0
        self._anchor = _clock().both()

    def count(self) -> int:
        """The number of calls that are noted."""
        return min(self._words[0], MOST)

    def taken(self) -> Iterator[tuple[str, Span | None, float, float]]:
        """The calls since then: name, place, beginning by `time.perf_counter`, seconds."""
        ticks, moment = self._anchor
        length = _clock().seconds_of_a_tick
        for number in range(self.count()):
            site, start, end = self._words[1 + 3 * number : 4 + 3 * number]
            name, span = self.sites[site]
            yield name, span, moment + (start - ticks) * length, (end - start) * length


def begin_timing(asm: FunctionWriter) -> Value:
    """The clock before a call."""
    asm.sites.declare(_instruction(), f"declare i64 @{_instruction()}()")
    return asm.value("i64", f"call i64 @{_instruction()}()")


def end_timing(asm: FunctionWriter, start: Value, function: GlobalVar, span: Span | None) -> None:
    """Note a call that has ended."""
    end = asm.value("i64", f"call i64 @{_instruction()}()")
    counters = asm.sites.hooks.setdefault(SYMBOL, CallCounters())
    number = counters.add(function.name_hint, span)
    asm.sites.declare(SYMBOL, f"@{SYMBOL} = external global i64")
    asm.sites.declare("llvm.umin.i64", "declare i64 @llvm.umin.i64(i64, i64)")
    count = asm.value("i64", f"load i64, ptr @{SYMBOL}")
    asm.do(f"store {asm.value('i64', f'add {count}, 1')}, ptr @{SYMBOL}")
    row = asm.value("i64", f"call i64 @llvm.umin.i64({count}, i64 {MOST})")
    first = asm.value("i64", f"mul {row}, 3")
    for offset, word in enumerate((f"i64 {number}", start, end), 1):
        index = asm.value("i64", f"add {first}, {offset}")
        place = asm.value("ptr", f"getelementptr i64, ptr @{SYMBOL}, {index}")
        asm.do(f"store {word}, {place}")


def _instruction() -> str:
    """The instruction that reads a clock which every program may read."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64", "i386", "i686")
    return "llvm.readcyclecounter" if is_x86 else "llvm.readsteadycounter"


class _Clock(NamedTuple):
    """The function that reads the clock of code, and the length of its ticks."""

    read: ctypes._CFunctionType
    code: object
    seconds_of_a_tick: float

    def both(self) -> tuple[int, float]:
        """The times of both clocks at one moment, as near as some tries come."""
        best, found = float("inf"), (0, 0.0)
        for _ in range(_TRIES):
            before = time.perf_counter()
            ticks = self.read()
            after = time.perf_counter()
            if after - before < best:
                best, found = after - before, (ticks, (before + after) / 2)
        return found


@cache
def _clock() -> _Clock:
    """The clock of code, whose ticks are measured once, in some milliseconds."""
    name = _instruction()
    text = (
        f"declare i64 @{name}()\n"
        f"define i64 @relaxscript_clock() {{\n  %t = call i64 @{name}()\n  ret i64 %t\n}}\n"
    )
    code = compile_text(text, "relaxscript_clock", {}, AS_WRITTEN)
    read = ctypes.CFUNCTYPE(ctypes.c_int64)(code.address)
    clock = _Clock(read, code, 0.0)
    ticks, start = clock.both()
    while time.perf_counter() < start + _LONG_ENOUGH:
        pass
    later, end = clock.both()
    return clock._replace(seconds_of_a_tick=(end - start) / max(later - ticks, 1))
