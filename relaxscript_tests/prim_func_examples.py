"""PrimFuncs, one for each construct, with arguments and what they must write.

Every executor is tested with all of `EXAMPLES`. An example gives the function, its arguments and
the arguments as they must be afterwards (None for those that only are read).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from relaxscript.ir import prim, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var, const
from relaxscript.ir.scalar_functions import FUNCTIONS as T
from relaxscript_tests.prim_funcs import load, loop, prim_func, store


class Example(NamedTuple):
    """A function, arguments, and what they must be after a call."""

    func: tir.PrimFunc
    args: list[Any]
    expected: list[Any]
    result: Any = None
    module: IRModule | None = None


EXAMPLES: dict[str, Callable[[], Example]] = {}


def example(make: Callable[[], Example]) -> Callable[[], Example]:
    EXAMPLES[make.__name__] = make
    return make


def f32(*shape: int) -> Any:
    return np.arange(1, 1 + int(np.prod(shape)), dtype="float32").reshape(shape)


def zeros(*shape: int, dtype: str = "float32") -> Any:
    return np.zeros(shape, dtype)


def axis(var: Var, extent: Any, kind: str = "spatial") -> tir.IterVar:
    return tir.IterVar(tir.Range(const(0, var.dtype), extent), var, kind)


def block(
    axes: list[tir.IterVar], values: list[Any], body: tir.Stmt, predicate: Any = None, **more: Any
) -> tir.BlockRealize:
    inner = tir.Block(axes, (), (), "b", body, **more)
    return tir.BlockRealize(values, const(True) if predicate is None else predicate, inner)


def reduction(m: Any, n: Any, k: Any, dtype: str = "int64") -> tir.PrimFunc:
    """A matrix product as a block with an initial value."""
    a, b, c = (tir.Buffer(x, s) for x, s in zip("ABC", ((m, k), (k, n), (m, n)), strict=True))
    i, j, r, vi, vj, vr = (Var(x, dtype) for x in ("i", "j", "k", "vi", "vj", "vk"))
    update = store(c, load(c, vi, vj) + load(a, vi, vr) * load(b, vr, vj), vi, vj)
    axes = [axis(vi, m), axis(vj, n), axis(vr, k, "reduce")]
    body = block(axes, [i, j, r], update, init=store(c, const(0.0), vi, vj))
    nest = loop(i, m, loop(j, n, loop(r, k, body)))
    return prim_func([a, b, c], nest, global_symbol="matmul")


@example
def matrix_product_of_known_shape() -> Example:
    a, b = f32(3, 4), f32(4, 2)
    return Example(reduction(3, 2, 4), [a, b, zeros(3, 2)], [None, None, a @ b])


@example
def matrix_product_of_symbolic_shape() -> Example:
    m, n, k = (Var(x, "int64") for x in "mnk")
    a, b = f32(5, 3), f32(3, 7)
    return Example(reduction(m, n, k), [a, b, zeros(5, 7)], [None, None, a @ b])


@example
def shapes_with_arithmetic() -> Example:
    n, i = Var("n", "int64"), Var("i", "int64")
    x, y = tir.Buffer("x", (n,)), tir.Buffer("y", (n * 2 + 1,))
    body = loop(i, n * 2 + 1, store(y, load(x, i // 2 % n), i))
    given = f32(3)
    wanted = given[np.arange(7) // 2 % 3]
    return Example(prim_func([x, y], body), [given, zeros(7)], [None, wanted])


@example
def loops_of_every_kind_mean_the_same() -> Example:
    x, y = tir.Buffer("x", (2, 3, 4, 8)), tir.Buffer("y", (2, 3, 4, 8))
    i, j, k, v = (Var(name) for name in "ijkv")
    body: tir.Stmt = store(y, load(x, i, j, k, v) * const(2.0), i, j, k, v)
    kinds = [(v, 8, "vectorized"), (k, 4, "unrolled"), (j, 3, "parallel"), (i, 2, "serial")]
    for var, extent, kind in kinds:
        body = loop(var, extent, body, kind)
    given = f32(2, 3, 4, 8)
    return Example(prim_func([x, y], body), [given, zeros(2, 3, 4, 8)], [None, given * 2])


@example
def loops_that_start_elsewhere_or_run_never() -> Example:
    y, i, j = tir.Buffer("y", (6,), "int32"), Var("i"), Var("j")
    some = tir.For(i, const(2), const(3), "serial", store(y, i, i))
    never = tir.For(j, const(0), const(0), "serial", store(y, const(9), j))
    wanted = np.array([0, 0, 2, 3, 4, 0], "int32")
    func = prim_func([y], tir.SeqStmt([some, never]))
    return Example(func, [zeros(6, dtype="int32")], [wanted])


@example
def a_predicate_guards_a_block() -> Example:
    y, i, j, v = tir.Buffer("y", (10,)), Var("i"), Var("j"), Var("v")
    at = i * 4 + j
    inner = block([axis(v, 10)], [at], store(y, const(1.0), v), predicate=at < 10)
    return Example(
        prim_func([y], loop(i, 3, loop(j, 4, inner))), [zeros(10)], [np.ones(10, "float32")]
    )


@example
def an_element_is_loaded_only_where_its_predicate_holds() -> Example:
    x, y, i = tir.Buffer("x", (2,)), tir.Buffer("y", (4,)), Var("i")
    # Beyond the end of `x` nothing is loaded, and what the load gives there is not used.
    held = prim.BufferLoad(x, [i], i < 2)
    body = store(y, prim.Select(i < 2, held, const(7.0)), i)
    wanted = np.array([1, 2, 7, 7], "float32")
    return Example(prim_func([x, y], loop(i, 4, body)), [f32(2), zeros(4)], [None, wanted])


@example
def init_runs_where_all_reductions_start() -> Example:
    x, y = tir.Buffer("x", (2, 3, 4), "int32"), tir.Buffer("y", (2,), "int32")
    names = [Var(n) for n in ("i", "j", "k", "a", "b", "c")]
    i, j, k, a, b, c = names
    axes = [axis(a, 2), axis(b, 3, "reduce"), axis(c, 4, "reduce")]
    update = store(y, load(y, a) + load(x, a, b, c), a)
    body = block(axes, [i, j, k], update, init=store(y, const(100), a))
    given = np.arange(24, dtype="int32").reshape(2, 3, 4)
    return Example(
        prim_func([x, y], loop(i, 2, loop(j, 3, loop(k, 4, body)))),
        [given, zeros(2, dtype="int32")],
        [None, (given.sum((1, 2)) + 100).astype("int32")],
    )


@example
def a_reduction_may_start_elsewhere() -> Example:
    y, k, v = tir.Buffer("y", (1,), "int32"), Var("k"), Var("v")
    on = tir.IterVar(tir.Range.from_min_extent(const(2), const(3)), v, "reduce")
    body = block([on], [k + 2], store(y, load(y, 0) + v, 0), init=store(y, const(10), 0))
    return Example(
        prim_func([y], loop(k, 3, body)), [np.array([7], "int32")], [np.array([19], "int32")]
    )


@example
def blocks_allocate_buffers() -> Example:
    x, y, t = tir.Buffer("x", (4,)), tir.Buffer("y", (4,)), tir.Buffer("t", (4,))
    i, j, a, b = (Var(n) for n in "ijab")
    first = loop(i, 4, block([axis(a, 4)], [i], store(t, load(x, a) + const(1.0), a)))
    second = loop(j, 4, block([axis(b, 4)], [j], store(y, load(t, 3 - b), b)))
    body = block([], [], tir.SeqStmt([first, second]), alloc_buffers=(t,))
    given = f32(4)
    return Example(prim_func([x, y], body), [given, zeros(4)], [None, (given + 1)[::-1]])


@example
def large_and_symbolic_buffers_live_on_the_heap() -> Example:
    n, i, j = (Var(x, "int64") for x in "nij")
    x, y = tir.Buffer("x", (n,)), tir.Buffer("y", (n,))
    t, big = tir.Buffer("t", (n, 2)), tir.Buffer("big", (20000,))
    first = loop(i, n, tir.SeqStmt([store(t, load(x, i), i, 1), store(big, load(x, i), i + 10000)]))
    second = loop(j, n, store(y, load(t, j, 1) + load(big, j + 10000), j))
    body = block([], [], tir.SeqStmt([first, second]), alloc_buffers=(t, big))
    given = f32(9)
    return Example(prim_func([x, y], body), [given, zeros(9)], [None, given * 2])


@example
def memory_is_allocated_anew_in_a_loop() -> Example:
    n, i, j = (Var(x, "int64") for x in "nij")
    x, y, t = (tir.Buffer(name, (n,)) for name in "xyt")
    fill = store(t, load(x, i) * const(3.0), i)
    inner = block([], [], tir.SeqStmt([fill, store(y, load(t, i), i)]), alloc_buffers=(t,))
    given = f32(5)
    return Example(prim_func([x, y], loop(i, n, inner)), [given, zeros(5)], [None, given * 3])


@example
def a_region_gets_a_name() -> Example:
    x, y = tir.Buffer("x", (6, 8)), tir.Buffer("y", (3, 4))
    s, r = Var("s", "int64"), Var("r", "int64")
    part = tir.Buffer("part", (3, 4), strides=(s, r), elem_offset=Var("o", "int64"))
    region = tir.BufferRegion(x, [tir.Range.from_min_extent(2, 3), tir.Range.from_min_extent(4, 4)])
    i, j = Var("i"), Var("j")
    copy = loop(i, 3, loop(j, 4, store(y, load(part, i, j) + tir_cast(s, "float32"), i, j)))
    body = block([], [], copy, match_buffers=(tir.MatchBufferRegion(part, region),))
    given = f32(6, 8)
    return Example(prim_func([x, y], body), [given, zeros(3, 4)], [None, given[2:5, 4:8] + 8])


@example
def a_row_gets_a_name_and_is_written() -> Example:
    x, i, j = tir.Buffer("x", (4, 5)), Var("i"), Var("j")
    n = Var("n", "int64")
    row = tir.Buffer("row", (n,))
    region = tir.BufferRegion(x, [tir.Range.from_min_extent(i, 1), tir.Range.from_min_extent(1, 3)])
    fill = loop(j, 3, store(row, tir_cast(i, "float32"), j))
    inner = block([], [], fill, match_buffers=(tir.MatchBufferRegion(row, region),))
    wanted = zeros(4, 5)
    wanted[:, 1:4] = np.arange(4)[:, None]
    return Example(prim_func([x], loop(i, 4, inner)), [zeros(4, 5)], [wanted])


def tir_cast(e: prim.PrimExpr, dtype: str) -> prim.PrimExpr:
    return prim.Cast(dtype, e)


@example
def while_and_if_and_let() -> Example:
    y, n, k = tir.Buffer("y", (2,), "int32"), Var("n"), Var("k")
    value = load(y, 0)
    odd = prim.EQ(n % 2, const(1))
    step = tir.IfThenElse(odd, store(y, n * 3 + 1, 0), store(y, n // 2, 0))
    body = tir.LetStmt(n, value, tir.SeqStmt([step, store(y, load(y, 1) + 1, 1)]))
    collatz = tir.While(prim.NE(value, const(1)), body)
    start = tir.LetStmt(k, const(27), store(y, k, 0))
    func = prim_func([y], tir.SeqStmt([start, collatz]))
    return Example(func, [zeros(2, dtype="int32")], [np.array([1, 111], "int32")])


@example
def an_if_without_else() -> Example:
    y, i = tir.Buffer("y", (5,), "int32"), Var("i")
    only = tir.IfThenElse(prim.GE(i, const(3)), store(y, const(1), i))
    return Example(
        prim_func([y], loop(i, 5, only)), [zeros(5, dtype="int32")],
        [np.array([0, 0, 0, 1, 1], "int32")],
    )  # fmt: skip


@example
def lazy_choice_protects_an_index() -> Example:
    x, y, i = tir.Buffer("x", (3,)), tir.Buffer("y", (5,)), Var("i")
    inside = prim.And(1 <= i, i < 4)
    value = T["if_then_else"](inside, load(x, i - 1), const(0.0))
    return Example(
        prim_func([x, y], loop(i, 5, store(y, value, i))),
        [f32(3), zeros(5)],
        [None, np.array([0, 1, 2, 3, 0], "float32")],
    )


@example
def lazy_choice_protects_a_division() -> Example:
    x, i = tir.Buffer("x", (5,), "int32"), Var("i")
    value = T["if_then_else"](prim.EQ(load(x, i), const(0)), const(-1), 12 // load(x, i))
    func = prim_func([x], loop(i, 5, store(x, value, i)))
    given, wanted = [0, 1, -5, 0, 12], [-1, 12, -3, -1, 1]
    return Example(func, [np.array(given, "int32")], [np.array(wanted, "int32")])


@example
def let_inside_an_expression() -> Example:
    y, i, v = tir.Buffer("y", (4,), "int32"), Var("i"), Var("v")
    body = store(y, prim.Let(v, i + 1, v * v), i)
    wanted = np.array([1, 4, 9, 16], "int32")
    return Example(prim_func([y], loop(i, 4, body)), [zeros(4, dtype="int32")], [wanted])


@example
def vectors_are_loaded_and_stored() -> Example:
    x, y, i = tir.Buffer("x", (16,)), tir.Buffer("y", (16,)), Var("i")
    run = prim.Ramp(i * 8, const(1), 8)
    value = prim.Mul(load(x, run), prim.Broadcast(const(2.0), 8))
    given = f32(16)
    return Example(
        prim_func([x, y], loop(i, 2, store(y, value, run))), [given, zeros(16)], [None, given * 2]
    )


@example
def vectors_with_steps_gather_and_scatter() -> Example:
    x, y = tir.Buffer("x", (2, 8)), tir.Buffer("y", (8,))
    some = load(x, const(1), prim.Ramp(const(1), const(2), 4))
    body = store(y, some, prim.Ramp(const(7), const(-2), 4))
    given, wanted = f32(2, 8), zeros(8)
    wanted[[7, 5, 3, 1]] = given[1, [1, 3, 5, 7]]
    return Example(prim_func([x, y], body), [given, zeros(8)], [None, wanted])


@example
def masked_vectors() -> Example:
    x, y = tir.Buffer("x", (4,)), tir.Buffer("y", (6,))
    run = prim.Ramp(const(0), const(1), 6)
    mask = prim.LT(run, prim.Broadcast(const(4), 6))
    value = prim.Add(prim.BufferLoad(x, (run,), mask), prim.Broadcast(const(1.0), 6))
    first = tir.BufferStore(y, value, (run,), prim.NE(run, prim.Broadcast(const(1), 6)))
    wanted = np.array([2, 0, 4, 5, 1, 1], "float32")
    return Example(prim_func([x, y], first), [f32(4), zeros(6)], [None, wanted])


@example
def vectors_of_every_operation() -> Example:
    x, y = tir.Buffer("x", (8,), "int32"), tir.Buffer("y", (4,), "int32")
    low, high = (load(x, prim.Ramp(const(k), const(1), 4)) for k in (0, 4))
    swapped = prim.Shuffle((low, high), [const(k) for k in (7, 0, 5, 2)])
    chosen = prim.Select(prim.LT(low, high), prim.FloorDiv(high, low), prim.FloorMod(low, high))
    bits = T["popcount"](T["shift_left"](chosen, prim.Broadcast(const(1), 4)))
    total = prim.Add(prim.Add(swapped, chosen), prim.Add(bits, T["clz"](low)))
    body = store(y, total, prim.Ramp(const(0), const(1), 4))
    given = np.array([1, -2, 3, 9, 5, 6, -7, 8], "int32")
    a, b = given[:4].astype("int64"), given[4:].astype("int64")
    c = np.where(a < b, b // a, a % b)
    count = [bin((int(v) << 1) & 0xFFFFFFFF).count("1") for v in c]
    zeros_in = [32 - (int(v) & 0xFFFFFFFF).bit_length() for v in a]
    wanted = np.array([8, 1, 6, 3]) + c + count + zeros_in
    return Example(
        prim_func([x, y], body), [given, zeros(4, dtype="int32")], [None, wanted.astype("int32")]
    )


@example
def vectors_of_functions_and_conversions() -> Example:
    x, y = tir.Buffer("x", (4,)), tir.Buffer("y", (4,), "bfloat16")
    run = prim.Ramp(const(0), const(1), 4)
    root = T["sqrt"](T["fabs"](load(x, run)))
    safe = T["if_then_else"](T["isnan"](root), prim.Broadcast(const(0.0), 4), root)
    body = store(y, prim.Cast("bfloat16x4", T["fmod"](safe, prim.Broadcast(const(1.5), 4))), run)
    given = np.array([4.0, -9.0, np.nan, 0.25], "float32")
    wanted = np.array([0.5, 0.0, 0.0, 0.5], "float32").astype(prim.DataType("bfloat16").numpy)
    return Example(prim_func([x, y], body), [given, np.zeros_like(wanted)], [None, wanted])


@example
def strides_and_offsets_are_respected() -> Example:
    s, i, j = Var("s", "int64"), Var("i"), Var("j")
    x = tir.Buffer("x", (3, 2), strides=(s, 2), elem_offset=Var("o", "int64"))
    y = tir.Buffer("y", (3, 2))
    body = loop(i, 3, loop(j, 2, store(y, load(x, i, j) + tir_cast(s, "float32"), i, j)))
    memory = f32(3, 7)
    return Example(
        prim_func([x, y], body), [memory[:, 1:5:2], zeros(3, 2)], [None, memory[:, 1:5:2] + 7]
    )


@example
def layouts_do_not_matter() -> Example:
    x, y = tir.Buffer("x", (3, 4)), tir.Buffer("y", (3, 4))
    i, j = Var("i"), Var("j")
    body = loop(i, 3, loop(j, 4, store(y, load(x, i, j) * const(2.0), i, j)))
    given = f32(4, 3).T
    return Example(prim_func([x, y], body), [given, zeros(6, 8)[::-2, ::2]], [None, given * 2])


@example
def one_memory_has_several_views() -> Example:
    data = Var("data", "handle", prim.PointerType(prim.PrimType("float32")))
    y, i = tir.Buffer("y", (3, 2)), Var("i")
    flat = tir.Buffer("flat", (6,), data=data)
    square = tir.Buffer("square", (2, 2), data=data, strides=(3, 1), elem_offset=const(1))
    fill = loop(i, 6, store(flat, tir_cast(i, "float32"), i))
    take = store(y, load(square, 1, 1), 2, 1)
    body = tir.DeclBuffer(flat, tir.DeclBuffer(square, tir.SeqStmt([fill, take])))
    func = prim_func([y], tir.Allocate(data, "float32", [const(6)], const(True), body))
    wanted = zeros(3, 2)
    wanted[2, 1] = 5
    return Example(func, [zeros(3, 2)], [wanted])


@example
def views_need_no_declaration() -> Example:
    data = Var("data", "handle", prim.PointerType(prim.PrimType("float32")))
    y, i, j = tir.Buffer("y", (6,)), Var("i"), Var("j")
    pairs, flat = tir.Buffer("p", (3, 2), data=data), tir.Buffer("f", (6,), data=data)
    fill = loop(i, 3, store(pairs, tir_cast(i, "float32"), i, 1))
    copy = loop(j, 3, store(y, load(flat, j * 2 + 1), j))
    body = tir.Allocate(data, "float32", [const(6)], const(True), tir.SeqStmt([fill, copy]))
    return Example(prim_func([y], body), [zeros(6)], [np.array([0, 1, 2, 0, 0, 0], "float32")])


@example
def a_parameter_seen_as_a_flat_buffer() -> Example:
    data = Var("data", "handle", prim.PointerType(prim.PrimType("float32")))
    x, i = tir.Buffer("x", (2, 3), data=data), Var("i")
    flat = tir.Buffer("flat", (6,), data=data)
    body = tir.DeclBuffer(flat, loop(i, 6, store(flat, load(x, i // 3, i % 3) * const(2.0), i)))
    return Example(prim_func([x], body), [f32(2, 3)], [f32(2, 3) * 2])


@example
def a_pointer_parameter() -> Example:
    data = Var("data", "handle", prim.PointerType(prim.PrimType("float32")))
    buffer, i = tir.Buffer("b", (4,), data=data), Var("i")
    body = tir.DeclBuffer(buffer, loop(i, 4, store(buffer, load(buffer, i) + const(1.0), i)))
    return Example(tir.PrimFunc([data], body), [f32(4)], [f32(4) + 1])


@example
def declared_buffers_without_memory_get_some() -> Example:
    y, t, i = tir.Buffer("y", (4,)), tir.Buffer("t", (4,)), Var("i")
    body = loop(i, 4, tir.SeqStmt([store(t, const(3.0), i), store(y, load(t, i), i)]))
    return Example(prim_func([y], tir.DeclBuffer(t, body)), [zeros(4)], [np.full(4, 3, "float32")])


@example
def constant_memory() -> Example:
    data = Var("data", "handle", prim.PointerType(prim.PrimType("int16")))
    table, y, i = tir.Buffer("t", (4,), "int16", data), tir.Buffer("y", (4,), "int16"), Var("i")
    numbers = np.array([5, -6, 7, -8], "int16")
    body = tir.DeclBuffer(table, loop(i, 4, store(y, load(table, 3 - i), i)))
    func = prim_func([y], tir.AllocateConst(data, "int16", [const(4)], numbers, body))
    return Example(func, [zeros(4, dtype="int16")], [numbers[::-1]])


@example
def a_scalar_buffer() -> Example:
    x, y = tir.Buffer("x", ()), tir.Buffer("y", ())
    body = store(y, load(x) * const(2.0))
    given = np.array(4, "float32")
    return Example(prim_func([x, y], body), [given, zeros()], [None, np.array(8, "float32")])


@example
def scalar_parameters_of_every_kind() -> Example:
    y = tir.Buffer("y", (4,), "float64")
    scalars = [Var("n", "int8"), Var("u", "uint64"), Var("x"), Var("b", "bool")]
    scalars[2] = Var("x", "float32")
    stores = [store(y, tir_cast(s, "float64"), k) for k, s in enumerate(scalars)]
    func = prim_func([y], tir.SeqStmt(stores), scalars)
    wanted = np.array([-3, 2.0**63, np.float32(0.1), 1], "float64")
    return Example(func, [zeros(4, dtype="float64"), -3, 2**63, 0.1, True], [wanted])


@example
def narrow_scalar_parameters_are_rounded() -> Example:
    y = tir.Buffer("y", (2,), "float64")
    scalars = [Var("h", "float16"), Var("b", "bfloat16")]
    stores = [store(y, tir_cast(s, "float64"), k) for k, s in enumerate(scalars)]
    func = prim_func([y], tir.SeqStmt(stores), scalars)
    bfloat16 = prim.DataType("bfloat16").numpy.type
    wanted = np.array([np.float16(0.1), bfloat16(0.1)], "float64")
    return Example(func, [zeros(2, dtype="float64"), 0.1, 0.1], [wanted])


@example
def a_scalar_parameter_is_a_dimension() -> Example:
    n, i = Var("n", "int64"), Var("i", "int64")
    y = tir.Buffer("y", (n,))
    func = prim_func([y], loop(i, n, store(y, const(1.0), i)), [n])
    return Example(func, [zeros(3), 3], [np.ones(3, "float32")])


@example
def a_value_is_returned() -> Example:
    x, i = tir.Buffer("x", (4,), "int32"), Var("i")
    found = tir.IfThenElse(load(x, i) < 0, tir.Evaluate(T["ret"](i * 10)))
    func = prim_func([x], loop(i, 4, found))
    return Example(func, [np.array([3, 1, -4, -1], "int32")], [None], 20)


@example
def a_float_is_returned() -> Example:
    x = tir.Buffer("x", (4,))
    func = prim_func([x], tir.Evaluate(T["ret"](load(x, 1) * const(0.5))))
    return Example(func, [f32(4)], [None], 1.0)


@example
def an_end_without_return() -> Example:
    x = tir.Buffer("x", (4,))
    found = tir.IfThenElse(load(x, 0) < const(0.0), tir.Evaluate(T["ret"](load(x, 0))))
    return Example(prim_func([x], found), [f32(4)], [None])


@example
def functions_of_the_module_are_called() -> Example:
    data = [Var(n, "handle", prim.PointerType(prim.PrimType("float32"))) for n in "xyt"]
    n, i, j = Var("n", "int64"), Var("i", "int64"), Var("j", "int64")
    a, b, factor = tir.Buffer("a", (n,)), tir.Buffer("b", (n,)), Var("factor", "float32")
    scale = prim_func([a, b], loop(i, n, store(b, load(a, i) * factor, i)), [factor])
    v = Var("v", "float32")
    module = IRModule({"scale": scale})
    module["square"] = tir.PrimFunc([v], tir.Evaluate(T["ret"](v * v)))
    x, y, t = (tir.Buffer(s, (6,), data=d) for s, d in zip("xyt", data, strict=True))
    run = prim.Call("void", module.get_global_var("scale"), (data[0], data[2], const(3.0)))
    square = prim.Call("float32", module.get_global_var("square"), (load(t, j),))
    body = tir.SeqStmt([tir.Evaluate(run), loop(j, 6, store(y, square, j))])
    main = prim_func([x, y], block([], [], body, alloc_buffers=(t,)))
    module["main"] = main
    return Example(main, [f32(6), zeros(6)], [None, (f32(6) * 3) ** 2], None, module)


@example
def assertions_that_hold() -> Example:
    n, i = Var("n", "int64"), Var("i", "int64")
    y = tir.Buffer("y", (n,))
    inner = loop(i, n, store(y, const(1.0), i))
    checked = tir.AssertStmt(prim.EQ(n % 2, const(0, "int64")), prim.StringImm("odd"), inner)
    return Example(prim_func([y], checked), [zeros(4)], [np.ones(4, "float32")])


@example
def hints_change_nothing() -> Example:
    y, i = tir.Buffer("y", (4,)), Var("i")
    inner = tir.AttrStmt(y, "pragma_unroll", const(1), store(y, const(2.0), i))
    guess = tir.Evaluate(T["assume"](i < 4))
    nothing = [tir.Evaluate(const(0)), tir.Evaluate(prim.StringImm("text")), guess]
    body = loop(i, 4, tir.SeqStmt([*nothing, inner]))
    return Example(prim_func([y], body), [zeros(4)], [np.full(4, 2, "float32")])


@example
def a_block_without_axes_stands_alone() -> Example:
    y = tir.Buffer("y", (1,))
    inner = tir.Block((), (), (), "root", store(y, const(2.0), 0))
    return Example(prim_func([y], inner), [zeros(1)], [np.full(1, 2, "float32")])


@example
def a_long_chain_of_statements() -> Example:
    y = tir.Buffer("y", (1,), "int32")
    variables = [Var(f"v{k}") for k in range(3000)]
    body: tir.Stmt = store(y, variables[-1], 0)
    for before, var in zip(variables[-2::-1], variables[:0:-1], strict=True):
        body = tir.LetStmt(var, before + 1, body)
    func = prim_func([y], tir.LetStmt(variables[0], const(0), body))
    return Example(func, [zeros(1, dtype="int32")], [np.array([2999], "int32")])


@example
def values_may_be_of_another_width() -> Example:
    y, i, v = tir.Buffer("y", (4,), "int32"), Var("i", "int64"), Var("v", "int32")
    body = tir.For(i, 0, 4, "serial", block([axis(v, 4)], [i], store(y, v, v)))
    return Example(prim_func([y], body), [zeros(4, dtype="int32")], [np.arange(4, dtype="int32")])


@example
def an_empty_buffer() -> Example:
    n, i = Var("n", "int64"), Var("i", "int64")
    x, y = tir.Buffer("x", (n,)), tir.Buffer("y", (1,))
    body = loop(i, n, store(y, load(x, i), 0))
    return Example(prim_func([x, y], body), [zeros(0), zeros(1)], [None, zeros(1)])


@example
def one_array_for_two_parameters() -> Example:
    x, y, i = tir.Buffer("x", (8,)), tir.Buffer("y", (8,)), Var("i")
    body = loop(i, 7, store(y, load(x, i) + const(1.0), i + 1))
    shared = zeros(8)
    return Example(prim_func([x, y], body), [shared, shared], [np.arange(8, dtype="float32")] * 2)


@example
def one_strided_array_for_two_parameters() -> Example:
    x, y, i = tir.Buffer("x", (8,)), tir.Buffer("y", (8,)), Var("i")
    body = loop(i, 7, store(y, load(x, i) + const(1.0), i + 1))
    shared = zeros(16)[::2]
    return Example(prim_func([x, y], body), [shared, shared], [np.arange(8, dtype="float32")] * 2)


def run_example(made: Example, call: Callable[..., Any]) -> None:
    """Call an executor with the arguments of an example, and look at what it wrote."""
    result = call(made)
    assert result == made.result
    assert type(result) is type(made.result)
    for arg, expected in zip(made.args, made.expected, strict=False):
        if expected is not None:
            np.testing.assert_array_equal(arg, expected)
