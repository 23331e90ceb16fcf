"""Indices that leave their buffers whenever a PrimFunc is run."""

from __future__ import annotations

from relaxscript.ir import prim, tir
from relaxscript.script import from_source, tir as T
from relaxscript.testing import rejected
from relaxscript.tir_builder.index_bounds import out_of_bounds_indices


@rejected
def test_a_loop_that_goes_too_far():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), y: T.Buffer((5,), "float32")):
        for i in range(4):
            y[i] = x[i + 1]
            #        ^^^^^ error: RX0503 `x` has no element 4 here: axis 0 has extent 4
            #        ----- label: goes from 1 to 4
            # help: guard it: `if 0 <= i + 1 and i + 1 < 4:`
        for i in range(5):
            y[i] = x[i]
            #        ^ error: RX0503 `x` has no element 4 here: axis 0 has extent 4
            #        - label: goes from 0 to 4
            y[4 - i] = x[3 - i]
            #            ^^^^^ error: RX0503 `x` has no element -1 here: axis 0 has extent 4
            #            ----- label: goes from -1 to 3


@rejected
def test_axes_of_a_block_that_go_too_far():
    @T.prim_func
    def f(x: T.Buffer((5, 4), "float32")):
        for i, j in T.grid(3, 2):
            with T.block("b"):
                vi = T.axis.spatial(6, i * 2 + j)
                x[vi, j * 4] = 1.0
                # ^^ error: RX0503 `x` has no element 5 here: axis 0 has extent 5
                # help: guard it: `if 0 <= vi and vi < 5:`


@rejected
def test_lanes_that_go_too_far():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), y: T.Buffer((8,), "float32")):
        x[2:6] = y[0:4]
        # ^^^ error: RX0503 `x` has no element 5 here: axis 0 has extent 4
        # help: indices go from 0 to 3


@rejected
def test_symbolic_extents():
    @T.prim_func
    def f(x: T.Buffer(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        x[n, 0] = 1.0
        # ^ error: RX0503 `x` has no element n here: axis 0 has extent n
        # help: indices go from 0 to n - 1
        for i in range(4):
            x[0, m - 2 + i] = 1.0
            #    ^^^^^^^^^ error: RX0503 `x` has no element m + 1 here: axis 1 has extent m


GOOD = """
@T.prim_func
def f(x: T.Buffer((4,), "float32"), y: T.Buffer((9,), "float32"), z: T.Buffer(("n",), "float32"),
      at: T.Buffer((4,), "int32"), d: T.int32):
    n = T.int64()
    for i in range(9):
        if i < 4:
            x[i] = 1.0
        y[i] = T.if_then_else(i < 4, x[i], 0.0)
        y[i] = T.Select(i < 4, x[T.min(i, 3)], 0.0)
        if i < 4 and x[i] > 0.0:
            y[i] = 2.0
    for i, j in T.grid(3, 2):
        with T.block("b"):
            vi = T.axis.spatial(4, i * 2 + j)
            T.where(i * 2 + j < 4)
            x[vi] = 3.0
    for i in range(n):
        z[i + 1] = 1.0
    for i in range(4):
        z[n - 1 - i] = 1.0
        z[i + d] = 1.0
        x[at[i] + 100] = 1.0
        x[i * 5 % 4] = 1.0
    for i in range(0):
        x[99] = 1.0
    while x[0] > 0.0:
        x[99] = 1.0
    T.evaluate(T.call_extern("int32", "abs", 1))
    T.evaluate(T.isnullptr(T.address_of(x[4])))
    assert d < 4, "d is small"
    y[9] = 1.0
"""
RETURNING = """
@T.prim_func
def f(x: T.Buffer((4,), "float32"), d: T.int32) -> T.int32:
    if d > 0:
        T.ret(1)
    x[4] = 1.0
    T.ret(0)
"""


def test_what_may_never_happen_is_left_to_the_run(recwarn):
    assert from_source(GOOD) is not None
    assert from_source(RETURNING) is not None
    # A number that is out of bounds is doubted even there.
    assert {str(w.message).partition(" here")[0] for w in recwarn} <= {
        "`x` has no element 99", "`x` has no element 4", "`y` has no element 9",
    }  # fmt: skip


def test_a_loop_whose_variable_has_no_room_for_its_rounds_is_left_to_the_run():
    x, i = tir.Buffer("x", (4,)), prim.Var("i", "int64")
    store = tir.BufferStore(x, prim.const(0.0, "float32"), (i,))
    start, extent = prim.const(2, "int64"), prim.const(2**63 - 1, "int64")
    loop = tir.For(i, start, extent, tir.ForKind.SERIAL, store)
    handle = tir.handle_var("x")
    assert out_of_bounds_indices(tir.PrimFunc((handle,), loop, None, {handle: x}), {}) == []


def test_what_a_predicate_may_leave_out_is_left_to_the_run():
    x, handle = tir.Buffer("x", (4,)), tir.handle_var("x")
    holds = prim.Var("d", "int32") > 0
    beyond = prim.BufferLoad(x, [4])
    index = prim.Cast("int32", beyond)
    stores = [
        tir.BufferStore(x, prim.BufferLoad(x, [index], holds), [0]),
        tir.BufferStore(x, beyond, [index], holds),
    ]
    for store in stores:
        assert out_of_bounds_indices(tir.PrimFunc((handle,), store, None, {handle: x}), {}) == []
    asked = tir.BufferStore(x, prim.BufferLoad(x, [0], beyond > 0), [0])
    assert out_of_bounds_indices(tir.PrimFunc((handle,), asked, None, {handle: x}), {})
