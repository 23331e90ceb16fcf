"""The part of a buffer that a statement touches."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import numpy as np
import pytest

from relaxscript import arith
from relaxscript.ir import tir
from relaxscript.ir.prim import BufferLoad, PrimExpr, Var
from relaxscript.ir.tir import Buffer, BufferStore, For, PrimFunc
from relaxscript.script import tir as T
from relaxscript_tests import examples
from relaxscript_tests.arith.scalars import value


def shown(func: PrimFunc, which: int = 0, loads: bool = True, stores: bool = True) -> list[str]:
    buffer = func.buffer_map[func.params[which]]
    found = arith.domain_touched(func.body, buffer, loads, stores)
    return [f"{arith.format_expr(r.min)} for {arith.format_expr(r.extent)}" for r in found]


@T.prim_func
def stencil(a: T.handle, b: T.handle):
    m = T.int32()
    A = T.match_buffer(a, (100, m))
    B = T.match_buffer(b, (100, m))
    for i, j in T.grid(100, m):
        A[i, j] = B[i - 1, j + 1] + A[i - 1, j - 1]


def test_loads_and_stores_are_told_apart() -> None:
    assert shown(stencil, 0, True, False) == ["-1 for 100", "-1 for m"]
    assert shown(stencil, 0, False, True) == ["0 for 100", "0 for m"]
    assert shown(stencil, 0) == ["-1 for 101", "-1 for m + 1"]
    assert shown(stencil, 1) == ["-1 for 100", "1 for m"]


def test_nothing_is_touched_where_nothing_is_read_or_written() -> None:
    assert shown(stencil, 1, False, True) == []


def test_variables_are_followed_through_blocks_and_bindings() -> None:
    @T.prim_func
    def func(a: T.Buffer((64,), "float32"), b: T.Buffer((64,), "float32")):
        for i, j in T.grid(4, 5):
            with T.block("b"):
                vi = T.axis.spatial(32, i * 8 + j)
                with T.LetStmt(vi + 2) as k:
                    b[vi] = a[k]

    assert shown(func, 0) == ["2 for 29"]
    assert shown(func, 1) == ["0 for 29"]


def test_inner_loops_may_depend_on_outer_ones() -> None:
    @T.prim_func
    def func(a: T.Buffer((64,), "float32")):
        for i in range(4):
            for j in range(i, i * 2 + 1):
                a[i + j] = T.float32(0)

    assert shown(func) == ["0 for 10"]


def test_an_index_without_bounds_touches_the_whole_axis() -> None:
    @T.prim_func
    def func(a: T.Buffer((64,), "float32"), b: T.Buffer((8,), "int32")):
        for i in range(8):
            a[b[i]] = T.float32(0)

    assert shown(func) == ["0 for 64"]
    assert shown(func, 1) == ["0 for 8"]


def test_a_match_buffer_touches_what_it_is_of() -> None:
    @T.prim_func
    def func(a: T.Buffer((64,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                part = T.match_buffer(a[vi * 8 : vi * 8 + 4], (4,))
                part[0] = T.float32(0)

    assert shown(func) == ["0 for 28"]


def test_threads_are_loops() -> None:
    @T.prim_func
    def func(a: T.Buffer((64,), "float32")):
        x = T.env_thread("threadIdx.x")
        T.launch_thread(x, 16)
        a[x * 2] = T.float32(0)

    assert shown(func) == ["0 for 31"]


def random_index(random: Random, loops: list[Var]) -> PrimExpr:
    e: PrimExpr = loops[0] * random.randint(-3, 3)
    for v in loops[1:]:
        e = random.choice((e + v * random.randint(-3, 3), (e + v) // 2, e % 4 - v))
    return e + random.randint(-3, 3)


def test_every_element_that_is_touched_is_found(rng: np.random.Generator) -> None:
    random = Random(int(rng.integers(1 << 32)))
    for _ in range(examples(500)):
        buffer = Buffer("a", (64,), "float32")
        loops = [Var(name, "int32") for name in "ijk"[: random.randint(1, 3)]]
        sizes = [random.randint(1, 4) for _ in loops]
        first, second, third = (random_index(random, loops) for _ in range(3))
        total = BufferLoad(buffer, [first]) + BufferLoad(buffer, [second])
        stmt: tir.Stmt = BufferStore(buffer, total, [third])
        for v, size in zip(reversed(loops), reversed(sizes)):
            stmt = For(v, 0, size, "serial", stmt)
        (found,) = arith.domain_touched(stmt, buffer)
        touched = {
            value(e, dict(zip(loops, point)))
            for point in itertools.product(*map(range, sizes))
            for e in (first, second, third)
        }
        low, extent = (value(e, {}) for e in (found.min, found.extent))
        assert low is not None
        assert extent is not None
        assert touched <= {*range(low, low + extent)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, Buffer("a", (4,))), r"`domain_touched.stmt` must be a statement, not int \(3\)"),
        ((stencil.body, 3), r"`domain_touched.buffer` must be a Buffer, not int \(3\)"),
    ],
)
def test_a_wrong_argument_is_named(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        arith.domain_touched(*arguments)
