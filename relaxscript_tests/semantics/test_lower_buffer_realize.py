from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import Var, const
from relaxscript.ir.scalar_functions import FUNCTIONS as T
from relaxscript.ir.tir_compute import BufferRealize
from relaxscript_tests.prim_func_examples import block
from relaxscript_tests.prim_funcs import both, load, loop, prim_func, store

B = tir.Buffer("B", (16,))
C = tir.Buffer("C", (16,))
I, J, K = Var("i"), Var("j"), Var("k")  # noqa: E741
X = np.arange(16, dtype="float32")


def realize(buffer, region, *body, where=True):
    """A region, as pairs of a start and an extent, of a buffer that exists for some statements."""
    ranges = tuple(tir.Range.from_min_extent(a, n) for a, n in region)
    inner = body[0] if len(body) == 1 else tir.SeqStmt(body)
    return BufferRealize.make(buffer, ranges, prim.as_prim(where), inner)


def run(body, k=0, **options):
    """What a statement over `B` writes into it; both executors agree."""
    return both(prim_func([B], body, [K]), [X, k], **options)[0].tolist()


def fails(body, k=0):
    """What both executors say of a statement that looks at every index."""
    func = prim_func([B], body, [K])
    said = []
    checked = compile_prim_func(func, options={"check": True})
    for call in (lambda: evaluate(func, [X.copy(), k]), lambda: checked(X.copy(), k)):
        with pytest.raises(VMError) as caught:
            call()
        said.append(str(caught.value))
    assert said[0] == said[1]
    return said[0]


@pytest.mark.parametrize("options", [{}, {"check": True}], ids=str)
def test_a_region_has_the_indices_of_its_buffer(options):
    fill = loop(J, 4, store(C, load(B, I * 4 + J) + const(1.0), I * 4 + J))
    back = loop(J, 4, store(B, load(C, I * 4 + 3 - J), I * 4 + J))
    made = run(loop(I, 4, realize(C, [(I * 4, 4)], fill, back)), **options)
    assert made == (X.reshape(4, 4)[:, ::-1] + 1).reshape(-1).tolist()


def test_indices_of_vectors_are_those_of_the_buffer():
    run_of = prim.Ramp(K + 4, const(1), 4)
    spread = prim.Shuffle((run_of,), [const(k) for k in (3, 0, 1, 2)])
    body = realize(
        C, [(K + 4, 4)], store(C, load(B, run_of), run_of), store(B, load(C, spread), run_of)
    )
    assert run(body, 2)[6:10] == [9, 6, 7, 8]


def test_a_region_of_several_dimensions():
    square = tir.Buffer("S", (8, 8), "int32")
    fill = store(square, I * 10 + J, I + 2, J + 5)
    take = store(B, prim.Cast("float32", load(square, 3, 6)), 0)
    body = realize(square, [(2, 2), (5, 3)], loop(I, 2, loop(J, 3, fill)), take)
    assert run(body)[0] == 11


def test_the_start_of_a_region_is_computed_once():
    at = prim.Cast("int32", load(B, 5))
    change = store(B, const(0.0), 5)
    body = realize(C, [(at, 2)], change, store(C, const(7.0), 6), store(B, load(C, 6), 1))
    assert run(body)[:6] == [0, 7, 2, 3, 4, 0]


def test_a_region_may_be_named_inside():
    part = tir.Buffer("part", (2,))
    match = tir.MatchBufferRegion(part, tir.BufferRegion(C, [tir.Range.from_min_extent(6, 2)]))
    inner = block([], [], store(part, const(5.0), 1), match_buffers=(match,))
    assert run(realize(C, [(4, 4)], inner, store(B, load(C, 7), 0)))[0] == 5


def test_the_pointer_of_a_buffer_is_that_of_the_region():
    data = Var("data", "handle")
    buffer, flat = tir.Buffer("D", (16,), data=data), tir.Buffer("flat", (2,), data=data)
    seen = tir.DeclBuffer(flat, store(B, load(flat, 1), 0))
    once = realize(buffer, [(3, 2)], store(buffer, const(9.0), 4), seen)
    again = realize(buffer, [(0, 3)], store(buffer, const(8.0), 2), store(B, load(buffer, 2), 1))
    assert run(tir.SeqStmt([once, again]))[:2] == [9, 8]


def test_the_address_of_an_element_is_that_in_the_region():
    buffer = tir.Buffer("D", (16,), data=Var("data", "handle"))
    source, target = T["address_of"](load(B, 8)), T["address_of"](load(buffer, 5))
    copy = tir.Evaluate(T["call_extern"]("handle", "memcpy", target, source, const(8, "uint64")))
    assert run(realize(buffer, [(5, 2)], copy, store(B, load(buffer, 6), 0)))[0] == 9


def test_a_buffer_that_has_memory_keeps_it():
    body = realize(B, [(K, 4)], store(B, const(7.0), 0))
    assert run(body, 12)[0] == 7


def test_the_region_of_a_buffer_that_has_memory_lies_in_it():
    message = fails(realize(B, [(K, 4)], store(B, const(7.0), 0)), 14)
    assert "index 17 is outside of dimension 0 of buffer `B`, which has 16 elements" in message


def test_the_region_of_a_buffer_that_has_memory_matters_where_the_condition_holds():
    body = realize(B, [(K, 4)], store(B, const(7.0), 0), where=prim.LT(K, const(9)))
    assert run(body, 14, check=True)[0] == 7


def test_without_the_condition_the_statements_run_but_have_no_memory():
    body = realize(C, [(0, 4)], store(B, const(7.0), 0), where=prim.LT(K, const(9)))
    assert run(body, 14, check=True)[0] == 7
    body = realize(C, [(0, 4)], store(C, const(7.0), 0), where=prim.LT(K, const(9)))
    message = fails(body, 14)
    assert "index 0 is outside of dimension 0 of buffer `C`, which has 0 elements" in message


@pytest.mark.parametrize(("index", "shown"), [(3, -1), (8, 4)])
def test_an_element_outside_of_the_region_is_an_error(index, shown):
    message = fails(realize(C, [(K * 2, 4)], store(C, const(1.0), index)), 2)
    wanted = f"index {shown} is outside of dimension 0 of buffer `C[k * 2:k * 2 + 4]`, which has 4"
    assert wanted in message


def test_a_region_of_less_than_nothing_is_an_error():
    message = fails(realize(C, [(0, K)], store(B, const(1.0), 0)), -1)
    assert "buffer `C` reaches beyond" in message


@pytest.mark.parametrize(
    ("region", "message"),
    [
        ([(0, 4), (0, 4)], "buffer `C` has 1 dimension, but its region has 2"),
        ([(0, const(1.0))], "the region of buffer `C` has a bound of float32"),
    ],
)
def test_a_region_that_is_none_of_the_buffer_is_refused(region, message):
    func = prim_func([B], realize(C, region, store(B, const(1.0), 0)), [K])
    for call in (lambda f: evaluate(f, [X.copy(), 0]), compile_prim_func):
        with pytest.raises(DiagnosticError) as caught:
            call(func)
        assert message in caught.value.msg
