from __future__ import annotations

from relaxscript.ir import prim, tir
from relaxscript.ir.prim import Var, const
from relaxscript.ir.relax import GlobalVar
from relaxscript.semantics.write_sets import written_params
from relaxscript_tests.prim_func_examples import block
from relaxscript_tests.prim_funcs import load, prim_func, store

X, Y = tir.Buffer("x", (4,)), tir.Buffer("y", (4,))


def test_buffers_that_are_stored_into_are_written():
    assert written_params(prim_func([X, Y], store(Y, load(X, 0), 0))) == {1}


def test_a_store_into_a_region_writes_its_buffer():
    part, inner = tir.Buffer("part", (2,)), tir.Buffer("inner", (1,))
    regions = tuple(
        tir.MatchBufferRegion(b, tir.BufferRegion(of, [tir.Range(0, n)]))
        for b, of, n in ((part, X, 2), (inner, part, 1))
    )
    body = block([], [], store(inner, load(Y, 0), 0), match_buffers=regions)
    assert written_params(prim_func([X, Y], body)) == {0}


def test_a_store_into_another_view_writes_the_memory():
    data = Var("data", "handle")
    x, flat = tir.Buffer("x", (2, 2), data=data), tir.Buffer("flat", (4,), data=data)
    body = tir.DeclBuffer(flat, store(flat, const(1.0), 0))
    assert written_params(prim_func([Y, x], body)) == {1}
    pointer = tir.PrimFunc([data], body)
    assert written_params(pointer) == {0}


def test_what_is_passed_to_a_function_may_be_written():
    data = Var("data", "handle")
    x = tir.Buffer("x", (4,), data=data)
    call = tir.Evaluate(prim.Call("void", GlobalVar("f"), (data,)))
    assert written_params(prim_func([x, Y], call)) == {0}


def test_a_copy_with_another_body_has_a_write_set_of_its_own():
    func = prim_func([X, Y], store(Y, load(X, 0), 0))
    assert written_params(func) is written_params(func)
    assert written_params(func.replace(body=store(X, load(Y, 0), 0))) == {0}
    assert written_params(func) == {1}
