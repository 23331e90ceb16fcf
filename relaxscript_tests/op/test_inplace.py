"""Calls that write results into their arguments: their forms, their results, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.ir import relax
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.op.results import in_their_places, returned_in_place

from .inference import OBJECT, dim, obliged, prim_var, ranked, refused, result, shape, tensor

INFO = TensorStructInfo((dim("n"), 2), "float32")
F = relax.GlobalVar("f")
X = tensor("n", 2)


def tir(args: Any, indices: Any, info: Any = INFO) -> tuple[Any, ...]:
    return (R.call_tir_inplace, F, args, indices, info)


def packed(*args: Any, indices: Any, info: Any = INFO) -> tuple[Any, dict[str, Any]]:
    return ("f", *args), {"inplace_indices": indices, "sinfo_args": info}


# ---------------------------------------------------------------- PrimFuncs


def test_the_results_are_what_the_call_describes() -> None:
    assert result(*tir((X,), [0])) == "(n, 2) float32"
    assert result(*tir((X,), 0)) == "(n, 2) float32"
    assert result(*tir((X, X), [1, -1], [INFO, INFO])) == "[(n, 2) float32; (n, 2) float32]"


def test_the_indices_are_attributes_of_the_call() -> None:
    call = R.call_tir_inplace.build((F, (X,), [0], INFO), {"tir_vars": [dim("n")]})
    assert call.attrs["inplace_indices"] == (0,)  # type: ignore[index]
    assert call.args[2].values == (dim("n"),)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("indices", "fact", "message"),
    [
        ([1], "names argument 1", "there is no argument 1 among 1 argument"),
        ([-2], "names argument -2", "there is no argument -2 among 1 argument"),
        ([-1], "names no argument", "no result of this call is written in place"),
        ([0, -1], "has 2 numbers", "each result needs a number that says where it is written"),
        ([0, 0], "names argument 0 twice", "two results cannot be written into one argument"),
    ],
)
def test_indices_name_arguments_once(indices: Any, fact: str, message: str) -> None:
    error = refused(*tir((X,), indices))
    assert (error.operand, error.code) == ("inplace_indices", "RX0204")
    assert (error.fact, error.message) == (fact, message)


def test_no_indices_are_too_few() -> None:
    assert refused(*tir((X,), [])).fact == "names no argument"


@pytest.mark.parametrize(
    ("given", "fact", "code"),
    [
        (tensor("n", 2, dtype="int8"), "has dtype int8", "RX0202"),
        (tensor("n", 3), "has shape (n, 3)", "RX0203"),
        (tensor("n"), "has shape (n,)", "RX0203"),
        (ranked(3), "has rank 3", "RX0203"),
        (prim_var("int64"), "is a scalar, not a tensor", "RX0201"),
        (shape(2), "is a shape, not a tensor", "RX0201"),
        (OBJECT, "is an object of unknown kind, not a tensor", "RX0201"),
    ],
)
def test_an_argument_is_what_its_result_is_described_to_be(
    given: relax.Var, fact: str, code: str
) -> None:
    error = refused(*tir((given,), [0]))
    assert (error.operand, error.fact, error.code) == ("args[0]", fact, code)


def test_a_dimension_that_may_differ_is_a_deferred_check() -> None:
    assert obliged(*tir((tensor("m", 2),), [0])) == ["args[0]: n equal m"]
    assert obliged(*tir((ranked(2, "void"),), [0])) == []


def test_the_results_must_be_described_so_that_new_ones_can_be_made() -> None:
    assert refused(*tir((X,), [0], None)).fact == "describes no result"
    unknown = TensorStructInfo(None, "float32", None, 2)
    assert refused(*tir((X,), [0], unknown)).fact == "does not say the dimensions of a tensor"


def test_only_a_prim_func_of_the_module_is_called() -> None:
    error = refused(R.call_tir_inplace, relax.ExternFunc("f"), (X,), [0], INFO)
    assert error.message == "`R.call_tir_inplace` calls a PrimFunc of the module by its name"


# ---------------------------------------------------------------- packed functions


def test_a_packed_function_gives_what_the_call_describes() -> None:
    args, words = packed(X, indices=[0])
    assert result(R.call_inplace_packed, *args, **words) == "(n, 2) float32"
    args, words = packed(X, X, indices=[0, -1], info=[INFO, INFO])
    expected = "[(n, 2) float32; (n, 2) float32]"
    assert result(R.call_inplace_packed, *args, **words) == expected
    args, words = packed(X, indices=[0], info=ObjectStructInfo())
    assert result(R.call_inplace_packed, *args, **words) == "object"


def test_one_index_stands_for_a_whole_result_that_is_a_tuple() -> None:
    pair = TupleStructInfo([INFO, INFO])
    args, words = packed(relax.Var("t", pair), indices=[0], info=pair)
    assert result(R.call_inplace_packed, *args, **words) == "[(n, 2) float32; (n, 2) float32]"


@pytest.mark.parametrize(
    ("indices", "info", "fact"),
    [
        ([2], INFO, "names argument 2"),
        ([0, 0], [INFO, INFO], "names argument 0 twice"),
        ([-1], INFO, "names no argument"),
        ([0, 1], INFO, "has 2 numbers"),
        ([0, 1, -1], [INFO, INFO], "has 3 numbers"),
        ([0], [INFO, INFO], None),
        ([0], None, "describes no result"),
        ([0], TensorStructInfo((7,), "float32"), "the rank is 2, not 1"),
        (
            [0],
            TensorStructInfo((dim("n"), 2), "int8"),
            "the dtype is float32, not int8",
        ),
    ],
)
def test_the_indices_of_a_packed_call(indices: Any, info: Any, fact: str | None) -> None:
    args, words = packed(X, X, indices=indices, info=info)
    error = refused(R.call_inplace_packed, *args, **words)
    if fact is not None:
        assert error.fact == fact


def test_what_is_not_known_of_an_argument_may_be_described() -> None:
    args, words = packed(OBJECT, ranked(-1, "void"), indices=[1, 0], info=[INFO, INFO])
    expected = "[(n, 2) float32; (n, 2) float32]"
    assert result(R.call_inplace_packed, *args, **words) == expected


def test_a_relax_function_is_not_called_in_place() -> None:
    function = relax.Var("g", FuncStructInfo([INFO], INFO))
    error = refused(R.call_inplace_packed, function, X, inplace_indices=[0], sinfo_args=INFO)
    assert error.fact == "is a Relax function, not a packed function"


def test_what_a_function_returns_is_the_result_and_none_stands_for_the_arguments() -> None:
    x, y = np.zeros(2), np.ones(2)
    assert returned_in_place(y, (x,), [0]) is y
    assert returned_in_place(None, (x,), [0]) is x
    assert returned_in_place(None, (x, y), [1, 0]) == (y, x)
    assert returned_in_place(None, (x, y), [1, -1]) is None


def test_results_stand_in_the_order_of_their_indices() -> None:
    assert in_their_places(["new"], ["a", "b"], [1, -1, 0]) == ["b", "new", "a"]
