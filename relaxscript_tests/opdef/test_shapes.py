"""Dtypes, devices, dimensions and axes, as the rules of all operators treat them."""

from __future__ import annotations

from typing import Any

import pytest

import relaxscript.op as R
from relaxscript.arith import Facts
from relaxscript.ir import relax
from relaxscript.ir.module import VDevice
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo
from relaxscript.op import PlainContext
from relaxscript_tests.op.inference import (
    described,
    dim,
    held,
    infer,
    obliged,
    ranked,
    refused,
    result,
    shape,
    tensor,
)

X = tensor(3, 4)
n, m = dim("n"), dim("m")


# ---------------------------------------------------------------- broadcasting


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (("n", 64), ("n", 64), "(n, 64)"),
        (("n", 64), (64,), "(n, 64)"),
        (("n", 1), (1, "m"), "(n, m)"),
        ((), ("n",), "(n,)"),
        ((0,), (1,), "(0,)"),
        (("n",), (1,), "(n,)"),
        ((n + m,), (m + n,), "(n + m,)"),
    ],
)
def test_shapes_broadcast_from_the_right(a: Any, b: Any, wanted: str) -> None:
    assert result(R.add, tensor(*a), tensor(*b)) == f"{wanted} float32"
    assert obliged(R.add, tensor(*a), tensor(*b)) == []


@pytest.mark.parametrize(
    ("a", "b"),
    [((3, 4), (3, 5)), ((3,), (4,)), ((2, 3), (2,)), ((n + 2,), (n + 3,)), ((n * 2 + 2,), (3,))],
)
def test_dimensions_that_never_agree_are_an_error(a: Any, b: Any) -> None:
    error = refused(R.add, tensor(*a), tensor(*b))
    assert error.code == "RX0203"
    assert error.operand == "x2"
    assert error.help == (
        "shapes are compared from the right: dimensions are equal, or one of them is 1"
    )


def test_the_facts_are_the_shapes_of_both_operands() -> None:
    error = refused(R.add, tensor("n", 4), tensor(2, 3))
    assert error.facts == {"x2": "has shape (2, 3)", "x1": "has shape (n, 4)"}


def test_the_facts_are_those_of_the_operands_that_differ() -> None:
    error = refused(R.where, tensor(3, dtype="bool"), tensor(2, 3), tensor(2, 2))
    assert error.facts == {"x2": "has shape (2, 2)", "x1": "has shape (2, 3)"}


@pytest.mark.parametrize(
    ("a", "b", "wanted", "duty"),
    [
        (("n", 4), ("m", 4), "rank 2 float32", "x2: n broadcast m"),
        (("n", 4), (8, 4), "(8, 4) float32", "x2: n broadcast 8"),
        ((0,), ("n",), "(0,) float32", "x2: 0 broadcast n"),
        ((n * 2,), ("m",), "(n * 2,) float32", "x2: n * 2 broadcast m"),
        ((n,), (n + 1,), "rank 1 float32", "x2: n broadcast n + 1"),
    ],
)
def test_dimensions_that_may_agree_are_a_deferred_check(
    a: Any, b: Any, wanted: str, duty: str
) -> None:
    assert result(R.add, tensor(*a), tensor(*b)) == wanted
    assert obliged(R.add, tensor(*a), tensor(*b)) == [duty]


def test_the_text_of_a_deferred_check_says_what_must_hold() -> None:
    context = PlainContext()
    R.add.infer(R.add.build((tensor("n"), tensor("m"))), context)
    (deferred,) = context.deferred_checks
    assert deferred.text == "`n` and `m` must be equal, or one of them 1"


def test_what_is_known_of_one_operand_alone_says_the_rank_only() -> None:
    assert result(R.add, ranked(3), tensor(2)) == "rank 3 float32"
    assert result(R.add, ranked(1), tensor(2, 3)) == "rank 2 float32"
    assert result(R.add, ranked(-1), tensor(2, 3)) == "rank -1 float32"


# ---------------------------------------------------------------- shapes in variables


def test_operands_whose_shape_one_variable_holds_keep_it() -> None:
    s = shape(ndim=2)
    info = infer(R.add, held(s), held(s))
    assert info.shape is s  # type: ignore[attr-defined]
    assert infer(R.less, held(s), held(s)).shape is s  # type: ignore[attr-defined]
    assert infer(R.add, held(s), tensor()).shape is s  # type: ignore[attr-defined]
    assert infer(R.add, tensor(), held(s)).shape is s  # type: ignore[attr-defined]


def test_shapes_of_two_variables_give_the_rank() -> None:
    assert result(R.add, held(shape(ndim=2)), held(shape(ndim=2))) == "rank 2 float32"


def test_dimensions_are_known_by_way_of_the_variable() -> None:
    assert result(R.matmul, held(shape("n", 3)), tensor(3, 4)) == "(n, 4) float32"
    error = refused(R.add, held(shape("n", 3)), tensor(3, 4))
    assert error.facts == {"x2": "has shape (3, 4)", "x1": "has shape (n, 3)"}


def test_a_variable_that_holds_a_shape_of_unknown_rank_says_nothing() -> None:
    s = relax.Var("s", ShapeStructInfo(None, -1))
    assert result(R.matmul, held(s), tensor(3, 4)) == "rank -1 float32"


# ---------------------------------------------------------------- dtypes


def test_data_types_must_agree() -> None:
    error = refused(R.add, tensor(2), tensor(2, dtype="float16"))
    assert error.code == "RX0202"
    assert error.facts == {"x2": "has dtype float16", "x1": "has dtype float32"}
    assert error.help == 'write `R.astype(x2, "float32")`'
    assert error.fix == {"x2": 'R.astype({}, "float32")'}


@pytest.mark.parametrize(("a", "b"), [("void", "float32"), ("float32", "void"), ("void", "void")])
def test_an_unknown_data_type_makes_that_of_the_result_unknown(a: str, b: str) -> None:
    assert result(R.add, tensor(2, dtype=a), tensor(2, dtype=b)) == "(2,) void"
    assert result(R.matmul, tensor(2, 3, dtype=a), tensor(3, dtype=b)) == "(2,) void"


@pytest.mark.parametrize(
    ("operator", "dtype", "help"),
    [
        (R.exp, "int32", 'it takes floating-point numbers: write `R.astype(x, "float32")`'),
        (R.negative, "bool", 'it takes numbers, not bools: write `R.astype(x, "float32")`'),
        (R.logical_not, "int8", 'it takes bools: write `R.astype(x, "bool")`'),
        (R.bitwise_not, "float32", 'it takes integers and bools: write `R.astype(x, "int64")`'),
    ],
)
def test_a_data_type_that_an_operator_does_not_take_is_refused(
    operator: R.Operator, dtype: str, help: str
) -> None:
    error = refused(operator, tensor(2, dtype=dtype))
    assert error.code == "RX0202"
    assert error.fact == f"has dtype {dtype}"
    assert error.help == help


def test_an_operator_on_two_operands_refuses_either_data_type() -> None:
    assert refused(R.left_shift, tensor(2, dtype="void"), tensor(2)).operand == "x2"
    assert refused(R.left_shift, tensor(2), tensor(2, dtype="void")).operand == "x1"


# ---------------------------------------------------------------- virtual devices


def test_a_device_that_one_operand_names_is_that_of_the_result() -> None:
    here = VDevice("llvm", 0)
    for a, b in ((tensor(2, vdevice=here), tensor(2)), (tensor(2), tensor(2, vdevice=here))):
        assert infer(R.add, a, b).vdevice is here  # type: ignore[attr-defined]
        assert infer(R.equal, a, b).vdevice is here  # type: ignore[attr-defined]


def test_equal_devices_are_one() -> None:
    a, b = tensor(2, vdevice=VDevice("llvm", 1)), tensor(2, vdevice=VDevice("llvm", 1))
    assert result(R.add, a, b) == "(2,) float32"


def test_different_devices_are_an_error() -> None:
    a, b = tensor(2, vdevice=VDevice("llvm", 0)), tensor(2, vdevice=VDevice("llvm", 1))
    error = refused(R.add, a, b)
    assert error.facts == {"x2": "is on llvm:1", "x1": "is on llvm:0"}
    assert error.message == "the operands are on different devices"


# ---------------------------------------------------------------- axes


@pytest.mark.parametrize("axis", [2, -3, 7])
def test_an_axis_that_there_is_not_is_refused(axis: int) -> None:
    error = refused(R.sum, X, axis)
    assert error.code == "RX0204"
    assert error.facts == {"axis": f"is {axis}", "x": "has rank 2"}
    assert error.message == f"there is no axis {axis}"
    assert error.help == "the axes are 0 to 1, or -2 to -1 counted from the end"


def test_a_tensor_of_rank_0_has_no_axes() -> None:
    assert refused(R.sum, tensor(), 0).help == "a tensor of rank 0 has no axes"


def test_an_axis_given_twice_is_refused() -> None:
    error = refused(R.sum, X, [1, 1])
    assert error.facts == {"axis": "names 1 twice", "x": "has 2 axes"}
    assert error.message == "axis 1 is given more than once"
    error = refused(R.sum, X, [0, 1, -1])
    assert error.fact == "names axis 1 twice, as 1 and -1"


def test_an_axis_given_twice_is_found_even_where_the_rank_is_not_known() -> None:
    assert refused(R.sum, ranked(-1), [1, 1]).facts == {"axis": "names 1 twice"}


def test_any_axis_may_be_there_where_the_rank_is_not_known() -> None:
    assert result(R.sum, ranked(-1), [5]) == "rank -1 float32"


def test_the_axis_of_an_operator_blames_its_own_operand() -> None:
    error = refused(R.nn.softmax, X, 2)
    assert error.facts == {"axis": "is 2", "data": "has rank 2"}


# ---------------------------------------------------------------- facts


def under(facts: Facts, operator: R.Operator, *args: Any) -> tuple[str, int]:
    """The result of a call where something is known of the variables, and its deferred checks."""
    context = PlainContext(facts=facts)
    info = operator.infer(operator.build(args), context)
    return described(info), len(context.deferred_checks)


def test_what_is_known_of_the_variables_decides() -> None:
    one, equal = Facts({n: (1, 1)}), Facts(equalities=[(n, m)])
    assert under(one, R.add, tensor("n"), tensor("m")) == ("(m,) float32", 0)
    assert under(one, R.add, tensor("m"), tensor("n")) == ("(m,) float32", 0)
    assert under(equal, R.add, tensor("n"), tensor("m")) == ("(n,) float32", 0)
    assert under(one, R.broadcast_to, tensor("n"), (m,)) == ("(m,) float32", 0)
    assert under(equal, R.matmul, tensor("n"), tensor("m")) == ("() float32", 0)


def test_a_shape_in_a_variable_is_kept_beside_a_device() -> None:
    s = shape(ndim=2)
    there = relax.Var("x", TensorStructInfo(s, "float32", VDevice("llvm", 1)))
    info = infer(R.add, held(s), there)
    assert isinstance(info, TensorStructInfo)
    assert info.shape is s
    assert str(info.vdevice) == "llvm:1:global"
