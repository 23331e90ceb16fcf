"""How operands lie in a call: left out, spread, in another order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.errors import OperandError
from relaxscript.ir import relax
from relaxscript.ir.relax import Call
from relaxscript.op import Operator, Parameter, PlainContext, Trait
from relaxscript.runtime.values import Prim
from relaxscript_tests.op.inference import OBJECT, prim_var, tensor

X, Y = tensor(2), tensor(3)


def loss(x: Any, weights: Any = None, bias: Any = None, scale: float = 1.0) -> Any:
    """A meaning with operands that may be left out."""
    return (x, weights, bias, scale)


PARAMETERS = (
    Parameter("x", "operand", wants="tensor"),
    Parameter("weights", "optional", None, wants="tensor"),
    Parameter("bias", "optional", None, wants="tensor"),
    Parameter("scale", "attribute", 1.0, annotation="float"),
)
LOSS = Operator("test.loss", loss, parameters=PARAMETERS, traits={Trait.AS_IS})


@LOSS.infer_rule
def _(context: Any, x: Any, weights: Any, bias: Any, scale: float) -> Any:
    return weights or bias or x


def given(call: Call) -> list[Any]:
    return [value for _, value in LOSS.arguments(call)]


def test_an_operand_left_out_at_the_end_is_absent() -> None:
    call = LOSS.build((X,))
    assert call.args == (X,)
    assert given(call) == [X, None, None, 1.0]
    assert LOSS.operand_names(call) == ("x",)
    assert LOSS.evaluate(call, [1]) == (1, None, None, 1.0)


def test_an_operand_left_out_before_one_that_is_given_is_null() -> None:
    call = LOSS.build((X,), {"bias": Y})
    assert len(call.args) == 3
    assert call.args[1].op.name == "relax.null_value"  # type: ignore[attr-defined]
    assert given(call) == [X, None, Y, 1.0]
    assert LOSS.infer(call, PlainContext()) is Y.struct_info
    assert LOSS.evaluate(call, [1, None, 3]) == (1, None, 3, 1.0)


def test_an_optional_operand_is_checked_where_it_is_given() -> None:
    call = LOSS.build((X, OBJECT))
    with pytest.raises(OperandError, match="`weights` is an object of unknown kind"):
        LOSS.infer(call, PlainContext())


def test_values_after_a_spread_format() -> None:
    call = R.assert_op.build((tensor(dtype="bool"), [X, Y], "{} {}"))
    assert [type(arg).__name__ for arg in call.args] == ["Var", "StringImm", "Var", "Var"]
    assert R.assert_op.operand_names(call) == (
        "condition", "format", "format_args[0]", "format_args[1]",
    )  # fmt: skip
    single = R.assert_op.build((tensor(dtype="bool"), X))
    assert single.args[2] is X


def test_a_prim_value_becomes_an_array_of_its_data_type_for_the_meaning() -> None:
    call = R.add.build((tensor(2, dtype="int32"), prim_var("int32")))
    found = R.add.evaluate(call, [np.array([1, 2], np.int32), Prim(3, "int32")])
    assert found.dtype == np.int32
    assert found.tolist() == [4, 5]
    call = R.add.build((tensor(2, dtype="float64"), prim_var("float64")))
    assert R.add.evaluate(call, [np.ones(2), 0.5]).tolist() == [1.5, 1.5]


def test_fields_of_a_tuple_are_blamed_by_their_place() -> None:
    call = R.concat.build(([X, OBJECT],))
    with pytest.raises(OperandError, match=r"`tensors\[1\]` is an object"):
        R.concat.infer(call, PlainContext())
    with pytest.raises(OperandError, match="`tensors` is an object of unknown kind") as caught:
        R.concat.infer(R.concat.build((OBJECT,)), PlainContext())
    assert "R.match_cast(tensors, R.Tuple(...))" in str(caught.value.help)


def test_an_operand_by_keyword_is_given_by_keyword() -> None:
    call = R.print.build((X,), {"format": "{}"})
    assert R.print.arguments(call)[0][1] == (X,)
    assert isinstance(R.print.arguments(call)[1][1], relax.StringImm)
