"""Both executors take and refuse the same arguments in the same words."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import Var, const
from relaxscript.ir.relax import GlobalVar
from relaxscript.semantics.prim_func_abi import PrimFuncSignature, overlaps_itself
from relaxscript_tests import examples
from relaxscript_tests.prim_func_examples import f32, zeros
from relaxscript_tests.prim_funcs import load, prim_func, store

N, M = Var("n", "int64"), Var("m", "int64")
NOTHING = tir.Evaluate(const(0))


def refusals(func, *args):
    """The messages of both executors."""
    found = []
    for call in (lambda: evaluate(func, args), lambda: compile_prim_func(func)(*args)):
        with pytest.raises(VMError) as caught:
            call()
        found.append((caught.value.code, str(caught.value).partition(" [RX")[0]))
    assert found[0] == found[1]
    return found[0]


def function(*shapes, scalars=(), **options):
    buffers = [tir.Buffer(n, s, **options) for n, s in zip("xyz", shapes, strict=False)]
    return prim_func(buffers, NOTHING, scalars, global_symbol="main")


def test_the_number_of_arguments():
    assert refusals(function((4,), (4,)), zeros(4)) == (
        "RX0602", "`main` takes 2 arguments, not 1",
    )  # fmt: skip


def test_what_is_no_array():
    code, message = refusals(function((4,)), [1.0] * 4)
    assert code == "RX0601"
    assert message == "argument `x` of `main` is of type list, not a numpy array"


def test_another_data_type():
    _, message = refusals(function((4,)), zeros(4, dtype="float64"))
    assert message == "argument `x` of `main` has dtype float64, not float32"


def test_another_rank():
    _, message = refusals(function((4,)), zeros(4, 1))
    assert message == "argument `x` of `main` has 2 dimensions, not 1"


def test_another_extent():
    _, message = refusals(function((4, 5)), zeros(4, 6))
    assert message == "dimension 1 of argument `x` of `main` is 6, not 5"


def test_one_variable_has_one_value():
    _, message = refusals(function((N, 2), (3, N)), zeros(4, 2), zeros(3, 5))
    assert message == (
        "dimension 1 of argument `y` of `main` is 5, not 4 (`n`, dimension 0 of `x`)"
    )


def test_a_scalar_says_what_a_dimension_is():
    _, message = refusals(function((N,), scalars=[N]), zeros(4), 5)
    assert message == "dimension 0 of argument `x` of `main` is 4, not 5 (`n`)"


def test_variables_are_bound_over_all_buffers_before_others_are_compared():
    func = function((N * M,), (N, M))
    assert evaluate(func, [zeros(6), zeros(2, 3)]) is None
    assert compile_prim_func(func)(zeros(6), zeros(2, 3)) is None
    _, message = refusals(func, zeros(7), zeros(2, 3))
    assert message == (
        "dimension 0 of argument `x` of `main` is 7, not 6 "
        "(`n * m`; n = 2 from dimension 0 of `y`, m = 3 from dimension 1 of `y`)"
    )


@pytest.mark.parametrize(
    "make",
    [lambda n: n + 1, lambda n: n - 1, lambda n: n * 3, lambda n: n // 2, lambda n: n % 3,
     lambda n: prim.Max(n, const(2, "int64"))],
)  # fmt: skip
def test_arithmetic_of_dimensions_is_compared(make):
    func = function((N,), (make(N),))
    value = int(
        evaluate(prim_func([], tir.Evaluate(prim.Call("int64", "tir.ret", (make(N),))), [N]), [5])
    )
    assert compile_prim_func(func)(zeros(5), zeros(value)) is None
    assert f"is {value + 1}, not {value}" in refusals(func, zeros(5), zeros(value + 1))[1]


def test_a_dimension_has_to_fit_its_variable():
    small = Var("n", "int8")
    _, message = refusals(function((small,)), zeros(200))
    assert message == "dimension 0 of argument `x` of `main` is 200, which is no int8"


def test_strides_that_are_said_are_compared():
    func = function((2, 3), strides=(4, 1))
    memory = zeros(2, 4)
    assert evaluate(func, [memory[:, :3]]) is None
    assert compile_prim_func(func)(memory[:, :3]) is None
    _, message = refusals(func, zeros(2, 3))
    assert message == "stride 0 of argument `x` of `main` is 3, not 4"


def test_the_stride_of_a_single_element_leads_nowhere():
    func = function((1, 3), strides=(4, 1))
    assert evaluate(func, [zeros(1, 3)]) is None
    assert compile_prim_func(func)(zeros(1, 3)) is None


def test_an_argument_starts_at_its_first_element():
    _, message = refusals(function((3,), elem_offset=const(2)), zeros(3))
    assert message == "offset of argument `x` of `main` is 0, not 2"


@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    [("int8", 128, "argument `s` is 128, which is no int8"),
     ("uint8", -1, "argument `s` is -1, which is no uint8"),
     ("int32", 1.0, "argument `s` is of type float, not a number of int32"),
     ("bool", 1, "argument `s` is of type int, not a number of bool"),
     ("float32", "1", "argument `s` is of type str, not a number of float32"),
     ("float16", None, "argument `s` is of type NoneType, not a number of float16")],
)  # fmt: skip
def test_scalars_have_to_fit(dtype, value, message):
    assert refusals(function(scalars=[Var("s", dtype)]), value) == ("RX0601", message)


def test_an_array_is_a_number_where_it_has_one_element_without_dimensions():
    s = Var("s", "int32")
    assert evaluate(function(scalars=[s]), [np.array(3)]) is None
    message = "argument `s` is of type ndarray, not a number of int32"
    assert refusals(function(scalars=[s]), np.array([3])) == ("RX0601", message)


def test_a_masked_array_is_refused():
    _, message = refusals(function((3,)), np.ma.masked_array(zeros(3)))
    assert message == "argument `x` of `main` is of type MaskedArray, not a numpy array"


def test_an_expression_of_a_scalar_says_its_value():
    s = Var("s", "int64")
    _, message = refusals(function((s + 1,), scalars=[s]), zeros(5), 2)
    assert message.endswith("is 5, not 3 (`s + 1`; s = 2)")


def test_a_pointer_needs_compact_memory():
    data = Var("data", "handle", prim.PointerType(prim.PrimType("float32")))
    func = tir.PrimFunc([data], NOTHING)
    _, message = refusals(func, zeros(4, 4)[:, 1])
    assert message == "the array behind `data` is not compact"
    _, message = refusals(func, zeros(4, dtype="int32"))
    assert message == "argument `data` of `PrimFunc` has dtype int32, not float32"


def test_variables_stand_in_the_order_of_the_buffers():
    signature = PrimFuncSignature(function((N, 4), (M, N)))
    assert signature.variables == [N, M]
    assert [str(source) for source in signature.sources] == ["dimension 0", "dimension 0"]


def test_a_view_of_a_parameter_that_is_not_compact_is_refused():
    data = Var("data", "handle")
    x = tir.Buffer("x", (2, 2), data=data, strides=(Var("s", "int64"), Var("t", "int64")))
    flat = tir.Buffer("flat", (4,), data=data)
    func = prim_func([x], tir.DeclBuffer(flat, store(flat, const(1.0), 0)))
    with pytest.raises(VMError, match="the array behind `flat` is not compact"):
        evaluate(func, [zeros(2, 4)[:, ::2]])


def test_types_that_numpy_does_not_have_are_refused():
    x = tir.Buffer("x", (4,), "handle")
    with pytest.raises(DiagnosticError, match="`x` holds handle, which numpy arrays cannot hold"):
        PrimFuncSignature(prim_func([x], NOTHING))


def test_numbers_of_numpy_are_numbers():
    n, x = Var("n", "int32"), Var("x", "float64")
    y = tir.Buffer("y", (1,), "float64")
    func = prim_func([y], store(y, prim.Cast("float64", n) + x, 0), [n, x])
    for call in (lambda *args: evaluate(func, args), compile_prim_func(func)):
        out = zeros(1, dtype="float64")
        call(out, np.int8(3), np.float32(0.5))
        assert out[0] == 3.5


def test_read_only_arrays_may_be_read():
    x, y = tir.Buffer("x", (4,)), tir.Buffer("y", (4,))
    func = prim_func([x, y], store(y, load(x, 1), 0), global_symbol="main")
    given, out = f32(4), zeros(4)
    given.flags.writeable = False
    compile_prim_func(func)(given, out)
    assert out[0] == 2.0
    assert evaluate(func, [given, zeros(4)]) is None
    assert refusals(func, out, given) == (
        "RX0601", "argument `y` of `main` is read-only, but is written to (copies of arrays in "
        "foreign byte order are read-only)",
    )  # fmt: skip


def windows(count, width):
    """Rows that overlap each other, over `count + width - 1` elements."""
    return np.lib.stride_tricks.as_strided(zeros(count + width - 1), (count, width), (4, 4))


@pytest.mark.parametrize(
    ("array", "overlaps"),
    [
        (zeros(4), False),
        (zeros(4, 6)[::2, ::-3], False),
        (zeros(3, 4).T, False),
        (np.broadcast_to(zeros(1, 4), (1, 4)), False),
        (np.broadcast_to(zeros(0), (5, 0)), False),
        (np.broadcast_to(zeros(4), (3, 4)), True),
        (np.broadcast_to(np.zeros(()), (10**9, 10**9)), True),
        (windows(3, 2), True),
        (np.lib.stride_tricks.as_strided(zeros(12), (2, 3), (12, 8)), False),
        (np.lib.stride_tricks.as_strided(zeros(12), (3, 4), (12, 8)), True),
        (np.lib.stride_tricks.as_strided(zeros(12), (2,), (2,)), True),
    ],
)
def test_an_array_overlaps_itself_where_two_elements_share_a_byte(array, overlaps):
    assert overlaps_itself(array) is overlaps


def test_an_array_overlaps_itself_exactly_where_its_addresses_do(rng):
    for _ in range(examples(2000)):
        shape = tuple(rng.integers(0, 5, rng.integers(1, 4)))
        strides = tuple(int(s) for s in rng.integers(-12, 13, len(shape)) * 2)
        memory = np.zeros(200, "int8")[100:]
        array = np.lib.stride_tricks.as_strided(memory[:4].view("int32")[0:], shape, strides)
        starts = [sum(map(int.__mul__, i, strides)) for i in np.ndindex(shape)]
        taken = [start + byte for start in starts for byte in range(4)]
        assert overlaps_itself(array) == (len(taken) > len(set(taken)))


def test_an_array_whose_elements_share_memory_is_read_but_not_written():
    x, y = tir.Buffer("x", (4,)), tir.Buffer("y", (4,))
    func = prim_func([x, y], store(y, load(x, 1), 0), global_symbol="main")
    shared = np.lib.stride_tricks.as_strided(f32(4), (4,), (0,))
    out = zeros(4)
    compile_prim_func(func)(shared, out)
    evaluate(func, [shared, zeros(4)])
    assert out[0] == 1.0
    code, message = refusals(func, out, shared)
    assert code == "RX0601"
    assert message == (
        "argument `y` of `main` is written to, but several of its elements share memory (its "
        "strides are (0,)); `numpy.array(y)` is a copy"
    )


@pytest.mark.parametrize(
    ("dim", "name"),
    [(prim.Call("int64", "tir.ret", (N,)), "ret"),
     (prim.Call("int64", "tir.call_extern", (prim.StringImm("abs"), N)), "call_extern")],
)  # fmt: skip
def test_a_dimension_is_evaluated_before_the_function_begins(dim, name):
    func = function((4,), (dim,), scalars=[N])
    for call in (lambda: evaluate(func, [zeros(4), zeros(4), 4]),
                 lambda: compile_prim_func(func)(zeros(4), zeros(4), 4)):  # fmt: skip
        with pytest.raises(DiagnosticError, match=f"`{name}` has no meaning in a dimension"):
            call()


def test_a_dimension_calls_no_function_of_the_module():
    func = function((4,), (prim.Call("int64", GlobalVar("size"), (N,)),), scalars=[N])
    with pytest.raises(DiagnosticError, match="`size` has no meaning in a dimension"):
        evaluate(func, [zeros(4), zeros(4), 4])


def test_a_dimension_may_name_parts_of_itself():
    half = Var("half", "int64")
    func = function((N,), (prim.Let(half, N // 2, half * half),))
    assert evaluate(func, [zeros(6), zeros(9)]) is None
    assert compile_prim_func(func)(zeros(6), zeros(9)) is None
    assert "is 8, not 9" in refusals(func, zeros(6), zeros(8))[1]
