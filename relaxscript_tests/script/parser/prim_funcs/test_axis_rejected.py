"""Blocks whose axes are of the wrong kind, reductions without a start, and what is said twice."""

from __future__ import annotations

import warnings

import pytest

from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


@rejected
def test_a_spatial_axis_over_which_a_block_with_init_sums():
    @T.prim_func
    def f(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
        for i, k in T.grid(4, 8):
            with T.block("sum"):
                vi, vk = T.axis.remap("SS", [i, k])
                #                     ^^^^ warning: RX0504 `vk` is a spatial axis, but what is
                #        | written
                #        | to `C` does not depend on it: `T.init` runs again for each of its values
                # help: did you mean R, a reduction?
                # fix: "SR"
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] += A[vi, vk]
                # <----------------- label: written here


@rejected
def test_a_spatial_axis_of_its_own_over_which_a_block_sums():
    @T.prim_func
    def f(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
        for i in range(4):
            C[i] = T.float32(0)
        for i, k in T.grid(4, 8):
            with T.block("sum"):
                vi = T.axis.spatial(4, i)
                vk = T.axis.spatial(8, k)
                #    ^^^^^^^^^^^^^^ warning: RX0504 `vk` is a spatial axis, but what is
                #        | written to `C`
                #        | does not depend on it: its values add up in order
                # help: did you mean R, a reduction?
                # fix: T.axis.reduce
                C[vi] += A[vi, vk]
                # <----------------- label: written here


@rejected
def test_an_axis_of_reduction_that_tells_written_elements_apart():
    @T.prim_func
    def f(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
        for i, k in T.grid(4, 8):
            with T.block("sum"):
                vi, vk = T.axis.remap("RR", [i, k])
                #                     ^^^^ warning: RX0504 `vi` is an axis of reduction, but each of
                #        | its values writes elements of its own: `T.init` runs for the first only
                # help: did you mean S, a spatial axis?
                # fix: "SR"
                with T.init():
                    C[vi] = T.float32(0)
                    # <------------------- label: the `T.init`
                C[vi] += A[vi, vk]


@rejected
def test_a_reduction_without_a_start():
    @T.prim_func
    def f(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
        for i, k in T.grid(4, 8):
            with T.block("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                C[vi] += A[vi, vk]
                # <^^^^^^^^^^^^^^^^^ warning: RX0504 `C` has no value before this reduction,
                #        | which adds
                #        | to what is there
                # help: begin with `with T.init():`, or say that it is meant: `T.reads(C[...], ...)`


GOOD = """
    for i in range(4):
        C[i] = T.float32(0)
    for i, k in T.grid(4, 8):
        with T.block("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            C[vi] += A[vi, vk]
""", """
    for i, k in T.grid(4, 8):
        with T.block("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(C[vi], A[vi, vk])
            C[vi] += A[vi, vk]
""", """
    for i, k in T.grid(4, 8):
        with T.block("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] += A[vi, vk]
""", """
    for i, k in T.grid(4, 1):
        with T.block("scale"):
            vi, vk = T.axis.remap("SS", [i, k])
            C[vi] = C[vi] * A[vi, vk]
""", """
    for i, k in T.grid(4, 8):
        with T.block("scale"):
            vi, vk = T.axis.remap("SS", [i, k])
            x: T.int32 = vi * 1 + vk // 8
            C[x] = C[x] * A[vi, vk]
""", """
    for i, k in T.grid(4, 8):
        with T.block("outer"):
            vi, vk = T.axis.remap("SS", [i, k])
            for j in range(1):
                with T.block("inner"):
                    wj = T.axis.spatial(4, vi + vk // 8 + j)
                    C[wj] = C[wj] * A[vi, vk]
"""  # fmt: skip


@pytest.mark.parametrize("body", GOOD)
def test_blocks_that_mean_what_they_say_are_not_warned_of(body):
    head = 'def f(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):'
    text = f"from relaxscript.script import tir as T\n\n@T.prim_func\n{head}{body}"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert isinstance(from_source(text), PrimFunc)
    assert said == []


@rejected
def test_a_block_says_each_thing_of_itself_once():
    @T.prim_func
    def f(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                #    -------------------- label: the axis
                vi = T.axis.spatial(4, i)
                #    ^^^^^^^^^^^^^^^^^^^^ error: RX0504 this block has an axis `vi` already
                # help: give this axis another name
                T.where(i < 3)
                # <------------- label: here
                T.where(i < 4)
                # <^^^^^^^^^^^^^ error: RX0504 `T.where` is said of this block already
                # help: say it once, with all that belongs to it
                T.reads(A[i])
                # <------------ label: here
                T.reads(A[i])
                # <^^^^^^^^^^^^ error: RX0504 `T.reads` is said of this block already
                # help: say it once, with all that belongs to it
                T.writes(C[i])
                # <------------- label: here
                T.writes(C[i])
                # <^^^^^^^^^^^^^ error: RX0504 `T.writes` is said of this block already
                # help: say it once, with all that belongs to it
                T.block_attr({"a": 1})
                # <--------------------- label: here
                T.block_attr({"b": 1})
                # <^^^^^^^^^^^^^^^^^^^^^ error: RX0504 `T.block_attr` is said
                #        | of this block already
                # help: say it once, with all that belongs to it
                C[i] = A[i]


@rejected
def test_a_statement_that_opens_no_scope():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        with T.evaluate(0.0):
        #    ^^^^^^^^^^^^^^^ error: RX0501 `T.evaluate` opens no scope
        # help: write `T.evaluate(0.0)` on its own line
            x[0] = 0.0


@rejected
def test_a_region_that_exists_for_nothing():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        T.realize(x[0:4], "")
        # <^^^^^^^^^^^^^^^^^^^^ error: RX0501 `T.realize` holds the
        #        | statements after it, and here are none
        # help: write what uses the buffer after it


@rejected
def test_a_parameter_is_matched_with_a_shape():
    @T.prim_func
    def f(a: T.handle):
        A = T.match_buffer(a)
        #   ^^^^^^^^^^^^^^^^^ error: RX0501 the buffer of `a` needs a shape
        # help: write for example `T.match_buffer(a, (n,), "float32")`
        A[0] = 0.0


@rejected
def test_more_names_than_loops_around_a_star():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i, *rest, j in T.grid(4):
        #   ^^^^^^^^^^^ error: RX0501 1 loop cannot be given to 2 names and more
            x[i] = 0.0


@rejected
def test_a_star_before_what_is_no_name():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i, *x[0] in T.grid(4, 4):
        #       ^^^^ error: RX0501 a loop variable is a name
            x[i] = 0.0


@rejected
def test_a_block_that_gives_an_address_away():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("hidden"):
            #    ^^^^^^^^^^^^^^^^^ error: RX0504 what this block reads and writes cannot be told: it
            #        | gives the address of `x` away
            # help: say it: `T.reads(...)` and `T.writes(...)`
                vi = T.axis.spatial(4, i)
                T.evaluate(T.call_extern("int32", "g", x.data, vi))
            with T.block("told"):
                vi = T.axis.spatial(4, i)
                T.reads(x[vi])
                T.writes()
                T.evaluate(T.call_extern("int32", "g", x.data, vi))
