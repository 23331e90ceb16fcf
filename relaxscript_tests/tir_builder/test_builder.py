"""PrimFuncs that are made statement by statement are what the same scripts mean."""

from __future__ import annotations

import doctest
import weakref

import numpy as np

import relaxscript as rx
from relaxscript import tir, tir_builder
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import SeqStmt
from relaxscript.script import from_source, tir as T
from relaxscript.tir_builder import TIRBuilder, make_buffer


def check(made, expected):
    """What was made is what was expected, and prints as a script that means the same."""
    assert_structural_equal(made, expected)
    assert made.script() == expected.script()
    assert_structural_equal(from_source(made.script()), made)


def test_the_example_of_the_docstring_is_what_happens():
    example = doctest.DocTestParser().get_doctest(tir_builder.__doc__, {}, "tir_builder", None, 0)
    said = []
    failed, tried = doctest.DocTestRunner().run(example, out=said.append)
    assert (failed, tried) == (0, 8), "".join(said)


def test_blocks_loops_and_stores():
    tb = TIRBuilder("product")
    tb.func_attr({"tir.noalias": True})
    a, b = tb.param_buffer("a", (4, 3)), tb.param_buffer("b", (3, 5))
    c = tb.param_buffer("c", (4, 5))
    with tb.grid(4, 5, 3) as (i, j, k), tb.block("product") as block:
        vi, vj, vk = block.remap("SSR", [i, j, k])
        with block.init():
            tb.store(c, (vi, vj), 0.0)
        tb.store(c, (vi, vj), c[vi, vj] + a[vi, vk] * b[vk, vj])

    @T.prim_func
    def product(
        a: T.Buffer((4, 3), "float32"), b: T.Buffer((3, 5), "float32"),
        c: T.Buffer((4, 5), "float32"),
    ):  # fmt: skip
        T.func_attr({"tir.noalias": True})
        for i, j, k in T.grid(4, 5, 3):
            with T.block("product"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    c[vi, vj] = T.float32(0.0)
                c[vi, vj] = c[vi, vj] + a[vi, vk] * b[vk, vj]

    made = tb.finish()
    check(made, product)
    x, y = np.ones((4, 3), "float32"), np.ones((3, 5), "float32")
    result = np.zeros((4, 5), "float32")
    rx.jit(rx.IRModule({"product": made}))["product"](x, y, result)
    np.testing.assert_array_equal(result, x @ y)


def test_what_a_statement_begins_lasts_to_the_end_of_its_scope():
    tb = TIRBuilder("f")
    a, n = tb.param_buffer("a", (8,)), tb.param("n", "int32")
    x = tb.let("x", a[0] + 1.0)
    with tb.scope():
        tb.assert_holds(n > 0, "positive")
        p = tb.allocate("p", [4], "float32")
        e = tb.decl_buffer(make_buffer("e", (4,), data=p, is_view=True))
        tb.store(e, 0, x)
    tb.store(a, 1, x)

    @T.prim_func
    def f(a: T.Buffer((8,), "float32"), n: T.int32):
        x: T.float32 = a[0] + T.float32(1)
        with T.Assert(n > 0, "positive"):
            p = T.allocate([4], "float32")
            e = T.decl_buffer((4,), data=p)
            e[0] = x
        a[1] = x

    check(tb.finish(), f)


def test_every_kind_of_loop_and_branch():
    tb = TIRBuilder("f", private=True)
    a, n = tb.param_buffer("a", (64,), "int32"), tb.param("n")
    with tb.parallel(2, name="i") as i, tb.unroll(2, name="j") as j:
        with tb.vectorized(4, name="k") as k, tb.serial(1, n, name="m") as m:
            tb.store(a, i * 8 + j * 4 + k, m)
    with tb.thread_binding(4, thread="threadIdx.x", name="t") as t:
        tb.store(a, t, 0)
    with tb.if_(n > 3):
        with tb.then():
            tb.store(a, 0, 1)
        with tb.else_():
            tb.evaluate(n)
    with tb.while_(a[0] < 10):
        tb.store(a, 0, a[0] + 1)
    with tb.grid():
        tb.store(a, slice(0, 4), 0)

    @T.prim_func(private=True)
    def f(a: T.Buffer((64,), "int32"), n: T.int32):
        for i in T.parallel(2):
            for j in T.unroll(2):
                for k in T.vectorized(4):
                    for m in T.serial(1, n):
                        a[i * 8 + j * 4 + k] = m
        for t in T.thread_binding(4, thread="threadIdx.x"):
            a[t] = 0
        if n > 3:
            a[0] = 1
        else:
            T.evaluate(n)
        while a[0] < 10:
            a[0] = a[0] + 1
        a[0:4] = 0

    check(tb.finish(), f)


def test_loops_and_axes_have_names_of_their_own():
    tb = TIRBuilder("f")
    with tb.grid(2, 3) as (i, j), tb.serial(4) as k, tb.block("b") as b:
        first, second = b.spatial(2, i), b.reduce((0, 3), i + j)
        third, fourth = b.remap("SS", [i, k])
        tb.evaluate(first + second + third + fourth)
    assert [v.name for v in (i, j, k)] == ["i", "j", "k"]
    assert [v.name for v in (first, second, third, fourth)] == ["vi", "v", "vi_1", "vk"]
    tb.finish()


def test_blocks_say_what_they_do():
    tb = TIRBuilder("f")
    a = tb.param_buffer("a", (8, 8))
    own = tb.alloc_buffer(make_buffer("own", (8,)))
    with tb.serial(8) as i, tb.block("b") as b:
        vi = b.opaque(8, i, "vi")
        b.where(i < 6)
        b.reads(a[0:4, 2:6])
        b.writes([own[vi]])
        b.annotate({"note": "none"})
        part = tb.match_buffer(a[0:4, 2:6], make_buffer("part", (4, 4)))
        tb.store(own, vi, part[0, 0])

    @T.prim_func
    def f(a: T.Buffer((8, 8), "float32")):
        own = T.alloc_buffer((8,))
        for i in range(8):
            with T.block("b"):
                vi = T.axis.opaque(8, i)
                T.where(i < 6)
                T.reads(a[0:4, 2:6])
                T.writes(own[vi])
                T.block_attr({"note": "none"})
                part = T.match_buffer(a[0:4, 2:6], (4, 4))
                own[vi] = part[0, 0]

    check(tb.finish(), f)


def test_a_result_threads_hints_and_regions():
    tb = TIRBuilder("f")
    tb.ret_type = tir.PrimType("int32")
    h = tb.param("h", "handle")
    a = tb.match_buffer(h, make_buffer("a", (64,)))
    by = tb.env_thread("blockIdx.y", "by")
    with tb.scope():
        tb.launch_thread(by, 2)
        tx = tb.launch_thread("threadIdx.x", 32)
        tb.attr(by, "pragma_note", 1)
        tb.prefetch(a, [(0, 4)])
        tb.store(a, by * 32 + tx, 1.0)
    numbers = tb.allocate_const("numbers", [1, 2], "int32", [2])
    constants = make_buffer("constants", (2,), "int32", data=numbers)
    tb.evaluate(tir.BufferLoad(constants, (1,)))
    tb.ret(0)
    body = tb.finish().body
    assert isinstance(body, SeqStmt)
    assert "T.ret" in str(body) or "return" in str(body)


def test_a_mistake_in_a_scope_leaves_what_was_there_before():
    tb = TIRBuilder("f")
    a = tb.param_buffer("a", (4,))
    try:
        with tb.serial(4), tb.block("b"):
            tb.store(a, 0, 1.0)
            raise KeyError
    except KeyError:
        tb.store(a, 1, 2.0)
    assert tb.depth == 0
    assert tb.innermost is tb.root
    assert "a[1] = T.float32(2.0)" in tb.finish().script()


def test_a_body_without_a_root():
    tb = TIRBuilder("f", rooted=False)
    a = tb.param_buffer("a", (4,))
    with tb.block("b", no_realize=True):
        tb.store(a, 0, 1.0)
    assert isinstance(tb.finish().body, tir.Block)


def test_a_builder_goes_with_its_last_reference_whether_the_collector_runs_or_not():
    builder = TIRBuilder()
    seen = weakref.ref(builder)
    buffer = builder.param_buffer("A", (4,))
    builder.store(buffer, (0,), 1.0)
    with builder.block("copy") as block:
        builder.store(buffer, (block.spatial(4, 0),), 2.0)
    builder.finish()
    del builder, block
    assert seen() is None
