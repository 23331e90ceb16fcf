from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from relaxscript.errors import DiagnosticError, OperandError, unplaced_error
from relaxscript.ir import prim, structural_equal
from relaxscript.ir.intrinsic import INTRINSICS
from relaxscript.ir.scalar_functions import FUNCTIONS as T

X, N, B = prim.Var("x", "float32"), prim.Var("i", "int32"), prim.Var("b", "bool")


@contextmanager
def refused(match: str) -> Iterator[list[OperandError]]:
    """What is said inside, at this line; it names operands as `match` has it."""
    said: list[OperandError] = []
    with pytest.raises(DiagnosticError) as caught:
        yield said
    assert caught.value.diagnostics[0].span.filename == __file__
    error = unplaced_error(caught.value)
    assert isinstance(error, OperandError)
    assert re.search(match, str(error))
    said.append(error)


def test_every_intrinsic_has_a_function():
    assert {row.script_name for row in INTRINSICS.values()} <= set(T)


@pytest.mark.parametrize("name", ["exp", "tanh", "erf", "sigmoid", "rsqrt", "log1p"])
def test_a_function_builds_a_call_of_its_intrinsic(name):
    call = T[name](X)
    assert (call.op, call.dtype, call.args) == (f"tir.{name}", "float32", (X,))


def test_two_operands_take_one_data_type():
    call = T["pow"](X, 2)
    assert isinstance(call.args[1], prim.FloatImm)
    assert call.args[1].dtype == "float32"


def test_numbers_alone_are_read_as_scalars_of_32_bits():
    assert T["exp"](1.0).dtype == "float32"


def test_an_exponent_of_two_may_be_an_integer():
    call = T["ldexp"](X, N)
    assert [arg.dtype for arg in call.args] == ["float32", "int32"]


def test_functions_of_floats_refuse_integers():
    with refused(r"`T\.exp` is a floating-point number: `x` is int32"):
        T["exp"](N)


def test_operands_without_common_dtype_are_refused():
    handle = prim.Var("h", "handle")
    with refused(r"`T\.pow` have no common.*`b` is handle.*`a` is float"):
        T["pow"](X, handle)


def test_what_is_no_scalar_is_refused():
    with refused(r"`T\.exp` takes scalar.*`x` is list"):
        T["exp"]([1.0])


def test_a_wrong_number_of_operands_is_refused_by_python():
    with pytest.raises(TypeError, match=r"exp\(\) takes 1 positional argument but 2"):
        T["exp"](X, X)


def test_rounding_leaves_integers_alone():
    assert T["floor"](N) is N
    assert T["floor"](X).op == "tir.floor"


def test_integers_are_finite():
    assert T["isnan"](N).value == 0
    assert T["isinf"](N).value == 0
    assert T["isfinite"](N).value == 1
    assert T["isfinite"](X).dtype == "bool"


def test_the_absolute_value_depends_on_the_kind_of_number():
    assert T["abs"](X).op == "tir.fabs"
    assert isinstance(T["abs"](N), prim.Select)
    unsigned = prim.Var("u", "uint8")
    assert T["abs"](unsigned) is unsigned


def test_ceildiv_is_a_floor_division():
    n, m = prim.Var("n", "int64"), prim.Var("m", "int64")
    assert structural_equal(T["ceildiv"](n, 4), (n + 3) // 4)
    assert structural_equal(T["ceildiv"](n, m), (n + (m - 1)) // m)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("floordiv", prim.FloorDiv), ("floormod", prim.FloorMod), ("truncdiv", prim.Div),
     ("truncmod", prim.Mod), ("min", prim.Min), ("max", prim.Max)],
)  # fmt: skip
def test_divisions_and_extremes_are_nodes(name, kind):
    made = T[name](N, 3)
    assert type(made) is kind
    assert made.b.dtype == "int32"


def test_a_choice_takes_a_condition_of_any_number():
    made = T["if_then_else"](N, X, 0)
    assert isinstance(made.args[0], prim.Cast)
    assert made.args[2].dtype == "float32"


def test_limits_of_data_types():
    assert T["max_value"]("int32").value == 2**31 - 1
    assert T["min_value"]("int8").value == -128
    assert T["max_value"]("uint16").value == 65535
    assert T["min_value"]("uint64").value == 0
    assert T["max_value"]("bool").value == 1
    assert T["max_value"]("float16").value == 65504.0
    assert T["min_value"]("bfloat16").value == pytest.approx(-3.39e38, rel=1e-2)
    assert T["max_value"]("float8_e4m3fn").value == 448.0
    assert T["infinity"]("float32").value == math.inf
    assert T["max_value"]("int32x4").dtype == "int32x4"


def test_integers_have_no_infinity():
    with refused(r"can be infinite: `dtype` is int32"):
        T["infinity"]("int32")


def test_bits_are_taken_only_for_as_many_bits():
    assert T["reinterpret"]("int32", X).dtype == "int32"
    assert T["reinterpret"](X.dtype, X) is X
    with refused(r"bits of float32 for those of int64: `value`"):
        T["reinterpret"]("int64", X)


def test_calls_of_other_functions_say_their_data_type():
    call = T["call_extern"]("float32", "sinf", X)
    assert (call.op, call.dtype) == ("tir.call_extern", "float32")
    assert structural_equal(T["call_extern"]("sinf", X, dtype="float32"), call)
    assert call.args[0].value == "sinf"


def test_packed_calls_give_int32():
    assert T["call_packed"]("f", X).op == "tir.tvm_call_packed"
    assert T["call_cpacked"]("f", X).op == "tir.tvm_call_cpacked"
    assert T["call_packed"]("f", X).dtype == "int32"


def test_low_level_names_build_calls():
    assert T["tvm_storage_sync"]("shared").dtype == "int32"
    assert T["ptx_wait_group"](0, dtype="void").dtype == "void"


def test_any_intrinsic_can_be_called_by_name():
    assert T["call_intrin"]("float32", "tir.exp", X).op == "tir.exp"
    assert T["call_intrin"]("float32", "exp", X).op == "tir.exp"


def test_unknown_names_get_the_nearest():
    with refused(r"no intrinsic.*`func_name` is \"tir\.sqtr\"") as caught:
        T["call_intrin"]("float32", "tir.sqtr", X)
    assert caught[0].help == 'did you mean "tir.sqrt"?'


def test_returning_keeps_the_data_type():
    assert T["ret"](X).dtype == "float32"
    assert T["likely"](B).dtype == "bool"


def test_the_data_type_of_a_call_may_be_said():
    assert T["exp"](X, dtype=X.dtype).op == "tir.exp"
    assert T["rsqrt"](X, dtype=str(X.dtype)).dtype == X.dtype
    chosen = T["if_then_else"](X < 1.0, X, X, dtype=X.dtype)
    assert chosen.op == "tir.if_then_else"


def test_another_data_type_than_that_of_the_operands_is_refused():
    with pytest.raises(DiagnosticError) as caught:
        T["exp"](X, dtype="int8")
    assert caught.value.diagnostics[0].message == f"this call of `T.exp` gives {X.dtype}"
