"""Scalar expressions: dtypes, operators of Python, limits."""

from __future__ import annotations

import pytest

from relaxscript import ir, relax, tir
from relaxscript.ir import prim
from relaxscript.ir.prim import (
    Add,
    Broadcast,
    Cast,
    FloatImm,
    IntImm,
    Let,
    Ramp,
    Select,
    Shuffle,
    StringImm,
    Sub,
    Var,
    const,
    match_dtypes,
)

n = Var("n", "int64")
x = Var("x", "float32")


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        (n + 1, "Add"), (1 + n, "Add"), (n - 1, "Sub"), (1 - n, "Sub"), (n * 2, "Mul"),
        (2 * n, "Mul"), (n / 2, "Div"), (n // 2, "FloorDiv"), (7 // n, "FloorDiv"),
        (n % 2, "FloorMod"), (7 % n, "FloorMod"), (-n, "Sub"), (n < 2, "LT"), (n <= 2, "LE"),
        (n > 2, "GT"), (n >= 2, "GE"),
    ],
)  # fmt: skip
def test_python_operators_build_nodes(expression, kind):
    assert type(expression).__name__ == kind


def test_numbers_take_the_data_type_of_the_other_operand():
    assert (n + 1).b.dtype == "int64"
    assert (x * 2).b.dtype == "float32"
    assert type((x * 2).b) is FloatImm


def test_differing_data_types_are_promoted():
    i = Var("i", "int32")
    both = n + i
    assert both.dtype == "int64"
    assert type(both.b) is Cast


def test_data_types_that_do_not_mix_are_refused():
    with pytest.raises(TypeError, match="cannot combine handle with int64"):
        match_dtypes(Var("h", "handle"), n)


def test_comparisons_are_bool_and_equality_is_identity():
    assert (n < 1).dtype == "bool"
    assert n == n
    assert not (n == Var("n", "int64"))
    assert n != Var("n", "int64")
    assert not (n != n)


def test_a_scalar_has_no_truth_value_and_cannot_be_unpacked():
    with pytest.raises(TypeError, match=r"no truth value .* tir\.all and tir\.any"):
        bool(n < 1)
    with pytest.raises(TypeError, match="is a scalar and cannot be unpacked"):
        list(n)


def test_literals_do_have_a_truth_value():
    assert bool(IntImm("int64", 2))
    assert not bool(FloatImm("float32", 0.0))


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("int8", 128), ("int8", -129), ("uint8", -1), ("bool", 2), ("int64", 1 << 63)],
)
def test_integers_must_fit_their_data_type(dtype, value):
    with pytest.raises(ValueError, match=f"{value} does not fit in {dtype}"):
        IntImm(dtype, value)


def test_immediates_of_the_wrong_kind_are_refused():
    with pytest.raises(ValueError, match="IntImm holds integers, not float32"):
        IntImm("float32", 1)
    with pytest.raises(ValueError, match="FloatImm holds floating-point numbers, not int32"):
        FloatImm("int32", 1)


def test_derived_data_types_follow_the_parts():
    assert Select(n < 1, x, x).dtype == "float32"
    assert Let(n, 1, x).dtype == "float32"
    assert Ramp(n, 1, 4).dtype == "int64x4"
    assert Broadcast(x, 8).dtype == "float32x8"
    assert Shuffle([Broadcast(x, 4)], [0, 1]).dtype == "float32x2"
    assert StringImm("s").dtype == "handle"


def test_constants_read_python_numbers_as_tir_does():
    assert [const(v).dtype for v in (1, 1.0, True)] == ["int32", "float32", "bool"]
    assert const(3, "float32x4").dtype == "float32x4"


def test_vectors_widen_scalars():
    assert (Broadcast(x, 4) + 1.0).dtype == "float32x4"
    assert (Broadcast(x, 4) + x).dtype == "float32x4"


@pytest.mark.slow
def test_a_hundred_thousand_operations_nest():
    e = n
    for _ in range(100_000):
        e = Add(e, 1)
    assert e.dtype == "int64"
    assert type(Sub(e, e)) is prim.Sub


def test_a_plain_number_of_tir_is_an_int32_where_it_fits():
    a = Var("a", "int32")
    buffer = tir.decl_buffer((32,))
    assert tir.Evaluate(0).value.dtype == "int32"
    assert Ramp(a, 1, 32).dtype == "int32x32"
    assert ir.Range(0, 10).extent.dtype == "int32"
    assert tir.BufferLoad(buffer, [12]).indices[0].dtype == "int32"
    assert buffer[0:8].region[0].extent.dtype == buffer[:].region[0].extent.dtype == "int32"
    assert tir.Max(1, 2).dtype == "int32"
    assert const(2**31).dtype == tir.Evaluate(2**31).value.dtype == "int64"
    assert str(tir.Evaluate(0)) == "T.evaluate(0)"


def test_a_plain_number_beside_an_int64_is_one():
    assert ir.Range(0, n).min.dtype == ir.Range(n, 9).extent.dtype == "int64"
    assert ir.Range(0, 2**40).min.dtype == "int64"
    assert tir.decl_buffer((n,))[0:].region[0].min.dtype == "int64"


def test_dimensions_of_relax_are_int64():
    assert relax.ShapeExpr([3]).values[0].dtype == "int64"
    assert relax.TensorStructInfo([3, 4]).shape[0].dtype == "int64"
    assert relax.PrimValue(3).value.dtype == "int64"
