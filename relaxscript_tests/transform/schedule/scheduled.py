"""Programs to schedule, and what must hold of every schedule that is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import structural_equal
from relaxscript.ir.tir import For, ForKind, PrimFunc
from relaxscript.script import from_source, tir as T
from relaxscript.tir import Schedule, ScheduleError
from relaxscript.tir.analysis import verify_well_formed
from relaxscript.tir.stmt_functor import ir_transform, substitute


@T.prim_func
def matmul(
    A: T.Buffer((12, 8), "float32"), B: T.Buffer((8, 16), "float32"),
    C: T.Buffer((12, 16), "float32"),
):  # fmt: skip
    for i, j, k in T.grid(12, 16, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


@T.prim_func
def scale(X: T.Buffer(("n", 6), "float32"), Y: T.Buffer(("n", 6), "float32")):
    n = T.int64()
    for i, j in T.grid(n, 6):
        with T.block("scale"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] * T.float32(2)


@T.prim_func
def chain(X: T.Buffer((6, 10), "float32"), Y: T.Buffer((6, 10), "float32")):
    A = T.alloc_buffer((6, 10), "float32")
    B = T.alloc_buffer((6, 10), "float32")
    for i, j in T.grid(6, 10):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = X[vi, vj] + T.float32(1)
    for i, j in T.grid(6, 10):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(6, 10):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = B[vi, vj] - A[vi, vj]


@T.prim_func
def stencil(X: T.Buffer((10,), "float32"), Y: T.Buffer((8,), "float32")):
    A = T.alloc_buffer((10,), "float32")
    for i in range(10):
        with T.block("A"):
            vi = T.axis.spatial(10, i)
            A[vi] = X[vi] * X[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi] + A[vi + 1] + A[vi + 2]


@T.prim_func
def recurrence(X: T.Buffer((6, 6), "float32")):
    for i, j in T.grid(5, 5):
        with T.block("step"):
            vi, vj = T.axis.remap("SS", [i, j])
            X[vi + 1, vj] = X[vi, vj + 1] + T.float32(1)


def arguments(func: PrimFunc, n: int = 5, seed: int = 0) -> list[Any]:
    """Arrays of small whole numbers for the buffers of a function; variables of shapes are `n`."""
    rng = np.random.default_rng(seed)
    shapes = [
        [getattr(dim, "value", n) for dim in func.buffer_map[param].shape] for param in func.params
    ]
    dtypes = [str(func.buffer_map[param].dtype) for param in func.params]
    return [rng.integers(-4, 5, shape).astype(dtype) for shape, dtype in zip(shapes, dtypes)]


def results(run: Any, func: PrimFunc, **how: Any) -> list[Any]:
    args = arguments(func, **how)
    run(*args)
    return args


def check(func: PrimFunc, sch: Schedule, sizes: Sequence[int] = (5, 8)) -> PrimFunc:
    """The scheduled function, which computes what the function does, prints and parses back."""
    made = sch.mod["main"]
    verify_well_formed(made)
    assert structural_equal(from_source(sch.mod.script()), sch.mod)
    turned, native = in_another_order(made), compile_prim_func(made)
    for n in sizes:
        expected = results(lambda *args: evaluate(func, args), func, n=n)
        for found in (
            results(lambda *args: evaluate(made, args), func, n=n),
            results(lambda *args: evaluate(turned, args), func, n=n),
            results(native, func, n=n),
        ):
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_array_equal(a, b)
    again = Schedule(func)
    sch.trace.apply_to_schedule(again)
    assert structural_equal(again.mod, sch.mod)
    return made


def in_another_order(func: PrimFunc) -> PrimFunc:
    """The function with loops whose iterations are independent run from their ends."""

    def step(stmt: Any) -> Any:
        if not isinstance(stmt, For) or stmt.kind in (ForKind.SERIAL, ForKind.UNROLLED):
            return None
        last = stmt.min + stmt.min + stmt.extent - 1
        turned = substitute(stmt.body, {stmt.loop_var: last - stmt.loop_var})
        return stmt.replace(body=turned, kind=ForKind.SERIAL, thread_binding=None)

    return func.with_body(ir_transform(func.body, None, step))


def refused(sch: Schedule, step: Any, *words: str) -> ScheduleError:
    """The error of a step, which has changed neither the program nor the trace."""
    before, steps = sch.mod["main"], str(sch.trace)
    with pytest.raises(ScheduleError) as raised:
        step()
    assert sch.mod["main"] is before
    assert str(sch.trace) == steps
    found = raised.value.diagnostics[0]
    texts = [found.message, *(label.text for label in found.labels), *found.notes, found.help or ""]
    for word in words:
        assert any(word in text for text in texts), texts
    assert found.code == "RX0506"
    return raised.value


def body_of(func: PrimFunc) -> str:
    """The script of a function without its head and what blocks say of regions."""
    lines = func.script().partition("):\n")[2].splitlines()
    kept = [line[4:] for line in lines if "T.reads" not in line and "T.writes" not in line]
    return "\n".join(line for line in kept if "func_attr" not in line)
