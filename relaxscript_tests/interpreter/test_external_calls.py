"""Functions of the C library in PrimFuncs, and addresses: evaluated and compiled alike."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import DiagnosticError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import tir
from relaxscript.script import from_source, tir as T
from relaxscript.semantics.c_functions import c_function
from relaxscript.semantics.write_sets import written_params
from relaxscript_tests.prim_funcs import both

# Programs are written as users write them, whatever a formatter would rather have.
# fmt: off


def test_a_c_function_is_called_with_scalars():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float64"), k: T.Buffer((2,), "int32")):
        for i in range(4):
            x[i] = T.call_pure_extern("float32", "fminf", x[i], T.float32(0.5))
            y[i] = T.call_extern("float64", "ldexp", y[i], i)
        k[0] = T.call_extern("int32", "abs", -7)
        k[1] = T.cast(T.call_extern("bool", "isalpha", T.int32(65)), "int32")

    x, y, k = both(f, [np.arange(4, dtype="float32"), np.ones(4), np.zeros(2, "int32")])
    assert x.tolist() == [0.0, 0.5, 0.5, 0.5]
    assert y.tolist() == [1.0, 2.0, 4.0, 8.0]
    assert k[0] == 7


def test_a_c_function_takes_addresses_and_texts():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32"), k: T.Buffer((4,), "int32")):
        T.evaluate(T.call_extern("handle", "memcpy", T.address_of(x[0]), T.address_of(x[4]),
                                 T.uint64(16)))
        k[0] = T.call_extern("int32", "strlen", "hello")
        place: T.handle = T.address_of(x[3])
        k[1] = T.if_then_else(T.isnullptr(place), 1, 2)
        k[2] = T.if_then_else(T.isnullptr(T.call_extern("handle", "strchr", "abc", 100)), 1, 2)
        T.call_extern("void", "memset", k.data, 0, T.uint64(4))

    x, k = both(f, [np.arange(8, dtype="float32"), np.ones(4, "int32")])
    assert x.tolist() == [4, 5, 6, 7, 4, 5, 6, 7]
    assert k.tolist() == [0, 2, 1, 1]


def test_memory_whose_address_is_given_away_may_be_written():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
        T.call_extern("handle", "memcpy", T.address_of(x[0]), y.data, T.uint64(16))
        z[0] = x[0]

    assert written_params(f) == {0, 1, 2}


def test_an_address_lies_in_its_buffer():
    func = from_source(
        """@T.prim_func
def f(x: T.Buffer((4,), "float32"), i: T.int32):
    T.call_extern("void", "memset", T.address_of(x[i]), 0, T.uint64(4))
"""
    )
    (x,) = both(func, [np.ones(4, "float32"), 3], check=True)[:1]
    assert x.tolist() == [1, 1, 1, 0]
    both(func, [np.ones(4, "float32"), 4], check=True)


def refusals(text: str) -> list[str]:
    """What both executors say of a program that has no meaning."""
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    func = from_source(f'@T.prim_func\ndef f(x: T.Buffer((4,), "float32"), p: T.handle):\n{lines}')
    found = []
    for run in (lambda: evaluate(func, [np.ones(4, "float32")] * 2),
                lambda: compile_prim_func(func)):
        with pytest.raises(DiagnosticError) as caught:
            run()
        found.append(caught.value.diagnostics[0].message)
    return found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('T.call_extern("void", "no_such_function")',
         "there is no C function `no_such_function` on this computer"),
        ('T.call_extern("float16", "fminf", x[0])', "C has no type for values of float16"),
        ('T.call_extern("void", "fminf", x[0:4])', "C has no type for values of float32x4"),
        ("T.evaluate(T.isnullptr(x[0]))", "this is not the address of anything"),
        ("T.evaluate(T.address_of(3))", "this is not the address of anything"),
    ],
)  # fmt: skip
def test_what_c_cannot_do_is_refused(text, message):
    assert refusals(text) == [message, message]


def test_the_number_of_an_address_is_that_of_the_array():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), k: T.Buffer((4,), "int64"), u: T.Buffer((1,), "uint64")):
        k[0] = T.reinterpret("int64", x.data)
        k[1] = T.reinterpret("int64", T.address_of(x[2])) - T.reinterpret("int64", x.data)
        place: T.handle = T.address_of(x[1])
        k[2] = T.reinterpret("int64", place) - k[0]
        u[0] = T.reinterpret("uint64", x.data)
        k[3] = T.cast(T.reinterpret("int64", k.data) < 0, "int64")

    for run in (lambda *args: evaluate(f, args), compile_prim_func(f)):
        x, k, u = np.zeros(4, "float32"), np.zeros(4, "int64"), np.zeros(1, "uint64")
        run(x, k, u)
        assert k.tolist() == [x.ctypes.data, 8, 4, 0]
        assert u.tolist() == [x.ctypes.data]


def test_memory_whose_address_is_a_number_is_not_written_by_that():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), k: T.Buffer((1,), "int64")):
        k[0] = T.reinterpret("int64", x.data)

    assert written_params(f) == {1}


def test_other_dtypes_do_not_hold_an_address():
    assert refusals('x[0] = T.cast(T.reinterpret("float64", p), "float32")') == [
        "`reinterpret` takes anything, not handle", "the variable `p` is not defined here",
    ]  # fmt: skip


def test_a_variable_that_holds_no_address_is_refused():
    q = T.Var("q", "handle")
    func = tir.PrimFunc([], tir.Evaluate(T.isnullptr(q)))
    for run in (lambda: evaluate(func, []), lambda: compile_prim_func(func)):
        with pytest.raises(DiagnosticError, match="the variable `q` is not defined"):
            run()


def test_a_dimension_calls_no_c_function():
    func = from_source(
        """@T.prim_func
def f(x: T.Buffer(("n",), "float32"), y: T.Buffer(("m", T.call_extern("int64", "labs", 3)))):
    x[0] = y[0, 0]
"""
    )
    with pytest.raises(DiagnosticError, match="`call_extern` has no meaning in a dimension"):
        evaluate(func, [np.ones(4, "float32"), np.ones((2, 3), "float32")])


def test_functions_of_the_c_library_are_found():
    assert c_function("fminf")
    assert c_function("no_such_function") is None
