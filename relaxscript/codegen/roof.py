"""The roof of this computer: how fast one core of it moves bytes and computes, at most.

Both are measured, the first time that somebody asks, in half a second: copies of three
sizes, from the first cache to memory, and vectors that are multiplied and added in registers. The
fastest of several tries counts, since whatever else the computer does only makes them slower.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

import numpy as np

from relaxscript.ir.prim import FLOAT32, Broadcast, BufferLoad, Ramp, Var, const
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import Buffer, BufferStore, LetStmt, PrimFunc, Stmt, handle_var
from relaxscript.runtime.debug.explanation import Roof
from relaxscript.transform.default_schedule.apply_default_schedule import SCHEDULE
from relaxscript.transform.default_schedule.loop_writing import (
    fused,
    in_row,
    loop,
    number,
    with_memory,
)
from relaxscript.transform.default_schedule.processor import Processor, this_processor

__all__ = ["measured_roof"]

_SIZES = (1 << 18, 1 << 23, 1 << 26)
_STEPS = 20_000
_TRIES = 4
# Longer, in seconds, than another process has a processor for itself.
_LONG_ENOUGH = 0.05


@cache
def measured_roof() -> Roof:
    """The roof, measured once in a process."""
    copies = tuple([(size, _copy_rate(size)) for size in _SIZES])
    if find_spec("llvmlite"):
        return Roof(copies, _vector_rate(this_processor()), "measured with copies and vectors")
    return Roof(copies, _product_rate(), "measured with copies and a product of numpy")


def _fastest(call: Callable[[], object], number_of_calls: int) -> float:
    """The shortest time of a call in some tries, which last long enough to outlast others."""
    call()
    times: list[float] = []
    begun = time.perf_counter()
    while len(times) < _TRIES or time.perf_counter() < begun + _LONG_ENOUGH:
        start = time.perf_counter()
        for _ in range(number_of_calls):
            call()
        times.append(time.perf_counter() - start)
    return min(times) / number_of_calls


def _copy_rate(size: int) -> float:
    """The bytes a second that are read and written where so many are touched."""
    source, target = np.ones(size // 2, "uint8"), np.zeros(size // 2, "uint8")
    return size / _fastest(lambda: np.copyto(target, source), max((1 << 22) // size, 1))


def _product_rate() -> float:
    a = np.ones((256, 256), "float32")
    return 2 * 256**3 / _fastest(lambda: a @ a, 4)


def _vector_rate(processor: Processor) -> float:
    """The operations a second of code that does nothing but multiply and add in registers."""
    from .llvm import compile_prim_funcs

    lanes, rows = processor.lanes(FLOAT32.itemsize), processor.vector_registers - 4
    kernel = compile_prim_funcs({"roof": vector_loop(lanes, rows)})["roof"]
    given, taken = np.ones(lanes, "float32"), np.zeros((rows, lanes), "float32")
    return 2 * lanes * rows * _STEPS / _fastest(lambda: kernel(given, taken), 2)


def vector_loop(lanes: int, rows: int) -> PrimFunc:
    """A function that adds a product of vectors to each of some registers, many times."""
    source = Buffer("source", (number(lanes),), FLOAT32)
    sums = Buffer("sums", (number(rows), number(lanes)), FLOAT32)
    result = Buffer("result", (number(rows), number(lanes)), FLOAT32)
    all_lanes = Ramp(number(0), number(1), lanes)
    vector = Var.make("vector", FLOAT32.with_lanes(lanes))
    zero = Broadcast(const(0.0, FLOAT32), lanes)

    def rows_of(body: Callable[[Var], Stmt]) -> Stmt:
        return loop("r", rows, body, unroll=True)

    def added(r: Var) -> Stmt:
        value = fused(vector, vector, BufferLoad(sums, (r, all_lanes)))
        return BufferStore(sums, value, (r, all_lanes))

    made = in_row(
        rows_of(lambda r: BufferStore(sums, zero, (r, all_lanes))),
        loop("step", _STEPS, lambda step: rows_of(added)),
        rows_of(lambda r: BufferStore(result, BufferLoad(sums, (r, all_lanes)), (r, all_lanes))),
    )
    body = LetStmt(vector, BufferLoad(source, (all_lanes,)), with_memory(sums, made))
    variables = handle_var("source_handle"), handle_var("result_handle")
    buffers = dict(zip(variables, (source, result)))
    return PrimFunc(variables, body, buffer_map=buffers, attrs=Attrs({SCHEDULE: "roof"}))
