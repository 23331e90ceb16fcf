"""Python's operators on scalars: constants are computed, what cannot be is refused."""

from __future__ import annotations

import operator

import pytest

from relaxscript import tir
from relaxscript.errors import DiagnosticError
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.script import from_source

N = tir.Var("n", "int32")
X = tir.Var("x", "float32")


@pytest.mark.parametrize(
    ("made", "value", "dtype"),
    [
        (tir.const(3) + 4, 7, "int32"), (-tir.const(3), -3, "int32"),
        (tir.const(7) // -2, -4, "int32"), (tir.const(7) % -2, -1, "int32"),
        (tir.const(-7) / 2, -3, "int32"), (tir.const(1.5) / 2, 0.75, "float32"),
        (tir.const(1) + tir.const(2.5), 3.5, "float32"), (tir.const(3) < 4, 1, "bool"),
        (tir.const(2) << 3, 16, "int32"), (tir.const(6) & 3, 2, "int32"),
        (tir.const(0.1, "float16") * 3, 0.2998046875, "float16"),
        (tir.const(1, "int8") + tir.const(2, "int64"), 3, "int64"),
    ],
)  # fmt: skip
def test_constants_are_computed(made, value, dtype):
    assert (made.value, made.dtype) == (value, dtype)


def test_what_does_not_fit_is_left_as_it_is_written():
    assert type(tir.const(2**31 - 1) + 1).__name__ == "Add"
    assert type(tir.const(2**62, "int64") * 2).__name__ == "Mul"
    assert type(tir.const(3e38) * 2.0).__name__ == "Mul"


def test_a_neutral_operand_leaves_the_other():
    for same in (N + 0, 0 + N, N - 0, N * 1, 1 * N, N // 1):
        assert same is N
    assert type(0 - N).__name__ == "Sub"


def test_computed_constants_are_those_of_python(rng):
    symbols = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod,
               operator.lt, operator.ge)  # fmt: skip
    for _ in range(200):
        a, b = int(rng.integers(-99, 100)), int(rng.choice([n for n in range(-9, 10) if n]))
        operate = symbols[int(rng.integers(len(symbols)))]
        assert operate(tir.const(a), tir.const(b)).value == operate(a, b)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: X / 0, "something is divided by zero"),
        (lambda: N // 0, "something is divided by zero"),
        (lambda: N % 0, "something is divided by zero"),
        (lambda: N << 32, "a value of int32 cannot be shifted by 32 places"),
        (lambda: N >> -1, "a value of int32 cannot be shifted by -1 places"),
        (lambda: tir.IntImm("int8", -129), "-129 does not fit in int8"),
        (lambda: tir.FloatImm("float16", 65536.0), "65536.0 does not fit in float16"),
        (lambda: tir.FloatImm("float32", 1e39), "1e+39 does not fit in float32"),
        (lambda: tir.IntImm("float32", 1), "IntImm holds integers, not float32"),
        (lambda: tir.FloatImm("int32", 1), "FloatImm holds floating-point numbers, not int32"),
    ],
)
def test_numbers_that_cannot_be_are_refused(make, message):
    with pytest.raises(DiagnosticError) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert caught.value.diagnostics[0].message == message


def test_operands_without_a_common_data_type_are_refused():
    with pytest.raises(TypeError) as caught:
        X + tir.StringImm("a")
    assert isinstance(caught.value, DiagnosticError)
    assert caught.value.diagnostics[0].message == "cannot combine float32 with handle"


def test_floats_are_not_shifted():
    with pytest.raises(DiagnosticError, match=r"each operand of `T\.shift_left` is an integer"):
        X << 1


def test_infinity_and_nan_are_in_every_float():
    for dtype in ("float16", "bfloat16", "float32"):
        assert tir.FloatImm(dtype, float("inf")).value == float("inf")


def test_the_value_of_a_let_has_the_data_type_of_its_variable():
    v = tir.Var("v", "int64")
    made = tir.Let(v, N, v + 1)
    assert (type(made.value).__name__, made.value.dtype) == ("Cast", "int64")


def test_a_scalar_converted_to_a_vector_is_in_each_lane():
    made = X.astype("float16x4")
    assert (type(made).__name__, made.dtype, made.value.dtype) == (
        "Broadcast", "float16x4", "float16"
    )  # fmt: skip


def test_a_type_by_the_name_that_c_has_for_it_has_32_bits():
    assert tir.PrimType("float").dtype == "float32"
    assert tir.PrimType("int").dtype == "int32"


def test_a_script_has_what_it_says():
    text = """
from relaxscript.script import tir as T

@T.prim_func
def f(x: T.Buffer((4,), "int32")):
    x[0] = T.int32(3) + 4
"""
    f = from_source(text)
    assert "T.int32(3) + 4" in f.script()
    assert structural_equal(from_source(f.script()), f)
