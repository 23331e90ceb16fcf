"""Views lie in the memory behind them, and sizes of memory do not wrap."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.ir import prim, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var, const
from relaxscript.ir.relax import GlobalVar
from relaxscript_tests.prim_func_examples import block
from relaxscript_tests.prim_funcs import both, load, loop, prim_func, store

D, E, N = Var("d", "int32"), Var("e", "int64"), Var("n", "int64")


def pointer(name, dtype="int32"):
    return Var(name, "handle", prim.PointerType(prim.PrimType(dtype), "global"))


X = tir.Buffer("x", (N, 4), "int32", pointer("x_data"))
OUT = tir.Buffer("out", (9,), "int32", pointer("out_data"))
BEYOND = "reaches beyond the memory"
BIG = const(1 << 62, "int64")


def arrays(d=1, e=1, rows=3):
    return [np.arange(rows * 4, dtype="int32").reshape(rows, 4), np.zeros(9, "int32"), d, e]


def view(dims, dtype="int32", owner=X, strides=None, offset=None):
    """A function that declares a view of a buffer and copies its first element."""
    buffer = tir.Buffer("w", dims, dtype, owner.data, strides, offset)
    first = prim.Cast("int32", load(buffer, *[0 for _ in dims]))
    return prim_func([X, OUT], tir.DeclBuffer(buffer, store(OUT, first, 0)), [D, E])


def outcome(function, *args):
    """The error that both executors raise, or None."""
    both(function, list(args))
    try:
        compile_prim_func(function)(*args)
    except VMError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("function", "fits"),
    [
        (view((12,)), True), (view((13,)), False), (view((3, 4)), True), (view((E,)), True),
        (view((48,), "uint8"), True), (view((49,), "uint8"), False), (view((6,), "int64"), True),
        (view((7,), "int64"), False), (view((2,), offset=const(10)), True),
        (view((2,), offset=const(11)), False), (view((2,), offset=const(-1)), False),
        (view((6,), strides=(const(2),)), True), (view((6,), strides=(const(3),)), False),
        (view((2,), strides=(const(-4),)), False), (view((E, BIG, 4)), False),
        (view((2,), strides=(const(-4),), offset=const(4)), True), (view((1 << 40,)), False),
        (view((2,), strides=(BIG * 2 - 1 + BIG * 2,)), False), (view((-1,)), False),
        (view((E * BIG * 4,)), False), (view((2,), offset=E * BIG * 4), False),
    ],
)  # fmt: skip
def test_a_view_lies_in_the_memory_behind_it(function, fits):
    error = outcome(function, *arrays())
    assert error is None if fits else BEYOND in error


def test_a_view_without_elements_lies_anywhere():
    assert "index 0 is outside" in outcome(view((0,), offset=const(99)), *arrays())
    assert "index 0 is outside" in outcome(view((E, 0)), *arrays(e=1 << 60))
    assert BEYOND in outcome(view((0, E)), *arrays(e=-1))


def test_a_view_that_surely_fits_is_not_checked():
    assert BEYOND in outcome(view((N * 4 + 1,)), *arrays())
    for fits in (view((N * 4,)), view((N * 16,), "uint8"), view((4,), owner=OUT),
                 view((9,), strides=(const(1),), owner=OUT)):  # fmt: skip
        assert "overflow" not in compile_prim_func(fits).llvm_ir


def test_indices_of_a_view_are_those_of_the_view():
    w = tir.Buffer("w", (2,), "int32", OUT.data)
    function = prim_func([X, OUT], tir.DeclBuffer(w, store(w, 1, D)), [D, E])
    assert outcome(function, *arrays(d=1)) is None
    assert "index 2 is outside of dimension 0 of buffer `w`" in outcome(function, *arrays(d=2))


def test_a_view_ends_with_the_statement_around_it():
    """Where it was not declared, the buffer is compared with the memory once more."""
    w = tir.Buffer("w", (E,), "int32", OUT.data)
    inside = tir.IfThenElse(D > 0, tir.DeclBuffer(w, store(w, 1, 0)))
    function = prim_func([X, OUT], tir.SeqStmt([inside, store(w, 2, 99)]), [D, E])
    kernel = compile_prim_func(function)
    with pytest.raises(VMError, match=BEYOND):
        kernel(*arrays(d=0, e=100))


def test_plain_memory_is_as_large_as_the_array_that_is_given():
    p = Var("p", "handle")
    w = tir.Buffer("w", (E,), "int16", p)
    body = tir.DeclBuffer(w, store(OUT, prim.Cast("int32", load(w, 3)), 0))
    params = {Var("o", "handle"): OUT}
    function = tir.PrimFunc([p, *params, E], body, None, params)
    memory = np.arange(3, dtype="int32")
    assert outcome(function, memory, np.zeros(9, "int32"), 6) is None
    assert BEYOND in outcome(function, memory, np.zeros(9, "int32"), 7)


def calling(argument, parameter, body):
    """A function that hands memory to another."""
    callee = tir.PrimFunc([parameter], body)
    call = prim.Call("void", GlobalVar("callee"), (argument,))
    return IRModule({"callee": callee}), tir.Evaluate(call)


def test_a_function_that_is_called_knows_how_much_memory_it_is_given():
    p = Var("p", "handle")
    for count, fits in ((9, True), (10, False)):
        w = tir.Buffer("w", (count,), "int32", p)
        module, call = calling(OUT.data, p, tir.DeclBuffer(w, store(w, 5, count - 1)))
        kernel = compile_prim_func(prim_func([OUT], call), module=module)
        if fits:
            kernel(out := np.zeros(9, "int32"))
            assert out[8] == 5
        else:
            with pytest.raises(VMError, match=BEYOND):
                kernel(np.zeros(9, "int32"))


def test_memory_with_gaps_is_no_plain_memory():
    p = Var("p", "handle")
    part = tir.Buffer("part", (2, 2), "int32", pointer("part_data"))
    region = tir.BufferRegion(X, [tir.Range(0, 2), tir.Range(0, 2)])
    module, call = calling(part.data, p, tir.Evaluate(const(0)))
    body = block([], [], call, match_buffers=(tir.MatchBufferRegion(part, region),))
    with pytest.raises(DiagnosticError, match="the array behind `p` is not compact"):
        compile_prim_func(prim_func([X], body), module=module)


@pytest.mark.parametrize("dims", [(E * BIG,), (E, BIG), (BIG, E, 4), (E * BIG + BIG,)])
def test_sizes_of_memory_do_not_wrap(dims):
    t = tir.Buffer("t", dims, "int64")
    i = Var("i", "int64")
    write = loop(i, 16, tir.BufferStore(t, const(1, "int64"), [i * 100000, *[0 for _ in dims[1:]]]))
    function = prim_func([X, OUT], tir.DeclBuffer(t, write), [D, E])
    for e in (1, 2, 3, 4, 8):
        assert "there is no memory for buffer `t`" in outcome(function, *arrays(e=e))


def test_memory_without_elements_has_none():
    t = tir.Buffer("t", (E * BIG,), "int64")
    body = tir.DeclBuffer(t, tir.BufferStore(t, const(1, "int64"), [0]))
    function = prim_func([X, OUT], body, [D, E])
    assert "index 0 is outside of dimension 0" in outcome(function, *arrays(e=0))
    assert "reaches beyond" in outcome(function, *arrays(e=-1))


@pytest.mark.parametrize(("start", "count"), [(0, 9), (3, 4), (9, 0), (2, -5), (8, 2), (-1, 3)])
def test_a_region_lies_in_its_buffer_and_has_no_less_than_no_elements(start, count):
    m = tir.Buffer("m", (Var("size", "int64"),), "int32")
    cut = tir.BufferRegion(OUT, [tir.Range.from_min_extent(D, prim.Cast("int32", E))])
    body = block([], [], store(m, 7, 0), match_buffers=(tir.MatchBufferRegion(m, cut),))
    function = prim_func([X, OUT], body, [D, E])
    error = outcome(function, *arrays(d=start, e=count))
    assert (error is None) == (count > 0 and start >= 0 and start + count <= 9)


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("size", [4, 5000, N], ids=["stack", "heap", "symbolic"])
def test_new_memory_begins_as_zeros_each_time_where_that_is_wanted(size, level):
    y, i = tir.Buffer("y", (3, N), "int32"), Var("i", "int32")
    t = tir.Buffer("t", (size,), "int32")
    seen = tir.SeqStmt([store(y, load(t, 3) + 1, i, 0), store(t, const(7), 3)])
    function = prim_func([y], loop(i, 3, block([], [], seen, alloc_buffers=(t,))))
    kernel = compile_prim_func(function, options={"zero_memory": True, "level": level})
    result = np.zeros((3, 9), "int32")
    kernel(result)
    assert result[:, 0].tolist() == [1, 1, 1]
    assert ("calloc" in kernel.llvm_ir) == (size is N or size > 4)
    assert "calloc" not in compile_prim_func(function).llvm_ir
    assert "memset" not in compile_prim_func(function).llvm_ir
