"""Parameters are read from signatures, and arguments are matched with them as Python does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim, relax
from relaxscript.op import ArgumentError
from relaxscript.opdef.parameters import Parameter, convert_attribute
from relaxscript_tests.op.inference import tensor

X = tensor("n", 64)


def attribute(annotation: str, value: Any) -> Any:
    return convert_attribute(Parameter("a", "attribute", annotation=annotation), value)


def test_the_signature_of_the_meaning_gives_the_parameters() -> None:
    x1, x2, out_dtype = R.matmul.parameters
    assert (x1.name, x1.kind, x1.is_required) == ("x1", "operand", True)
    assert (x2.name, x2.kind) == ("x2", "operand")
    assert (out_dtype.name, out_dtype.kind, out_dtype.default) == ("out_dtype", "attribute", None)


def test_a_keyword_only_parameter_is_marked() -> None:
    values, format = R.print.parameters
    assert (values.kind, values.is_required) == ("rest", False)
    assert format.keyword_only


def test_keywords_and_positions_mean_the_same() -> None:
    a = R.matmul.build((X,), {"x2": X, "out_dtype": "float32"})
    assert a.args == (X, X)
    assert a.attrs is not None
    assert a.attrs["out_dtype"] == "float32"


def test_an_unknown_keyword_is_named_with_the_nearest_one() -> None:
    with pytest.raises(ArgumentError, match=r"`R.sum` has no parameter `axs`") as caught:
        R.sum.build((X,), {"axs": 1})
    assert caught.value.keyword == "axs"
    assert caught.value.help == "did you mean `axis`?"


def test_an_unknown_keyword_far_from_all_gets_the_signature() -> None:
    with pytest.raises(ArgumentError, match=r"called as `R.sum\(x, axis=None, keepdims=False\)`"):
        R.sum.build((X,), {"zzzzzz": 1})
    with pytest.raises(ArgumentError, match=r"it is called as `R.null_value\(\)`"):
        R.null_value.build((), {"x": 1})


def test_one_argument_too_many_is_named_by_its_position() -> None:
    with pytest.raises(ArgumentError, match=r"`R.add` takes 2 arguments, not 3") as caught:
        R.add.build((X, X, X))
    assert caught.value.position == 2
    with pytest.raises(ArgumentError, match=r"`R.exp` takes 1 argument, not 2"):
        R.exp.build((X, X))


def test_a_missing_argument_is_named_with_the_signature() -> None:
    with pytest.raises(ArgumentError, match=r"`R.matmul` needs `x2`") as caught:
        R.matmul.build((X,))
    assert caught.value.parameter == "x2"
    assert caught.value.help == "it is called as `R.matmul(x1, x2, out_dtype=None)`"


def test_an_argument_given_twice_is_named() -> None:
    with pytest.raises(ArgumentError, match=r"`R.sum` is given `axis` twice") as caught:
        R.sum.build((X, 1), {"axis": 1})
    assert caught.value.parameter == "axis"


def test_an_argument_error_is_a_type_error_and_a_diagnostic() -> None:
    error = ArgumentError("what", help="how")
    assert isinstance(error, TypeError)
    assert str(error) == "what; how"
    diagnostic = error.diagnostic("R.add", None, {})
    assert (diagnostic.code, diagnostic.message, diagnostic.help) == ("RX0103", "what", "how")


@pytest.mark.parametrize(
    ("annotation", "given", "kept"),
    [
        ("int", prim.const(3, "int64"), 3),
        ("int", relax.PrimValue(3), 3),
        ("int", np.int32(3), 3),
        ("int", np.array(3), 3),
        ("Axes", 3, (3,)),
        ("Axes", [1, np.int64(2)], (1, 2)),
        ("Axes | None", None, None),
        ("int | Axes", 3, 3),
        ("int | Axes", [3], (3,)),
        ("float", 1, 1.0),
        ("float", np.float32(0.5), 0.5),
        ("bool", 1, True),
        ("str", relax.StringImm("a"), "a"),
        ("DType", "float32", "float32"),
        ("DType", np.float32, "float32"),
        ("DType", relax.DataTypeImm("int8"), "int8"),
        ("DType | None", "", None),
        ("DType | None", "void", None),
    ],
)
def test_an_attribute_is_kept_in_one_form(annotation: str, given: Any, kept: Any) -> None:
    found = attribute(annotation, given)
    assert found == kept
    assert type(found) in (type(kept), DataType)


@pytest.mark.parametrize(
    ("annotation", "value", "wanted"),
    [
        ("int", 1.5, "is 1.5, not an integer"),
        ("int", True, "is True, not an integer"),
        ("Axes", "x", "is 'x', not an integer or a list of integers"),
        ("Axes", [1.5], "is 1.5, not an integer"),
        ("float", "x", "is 'x', not a number"),
        ("bool", 2, "is 2, not True or False"),
        ("str", 2, "is 2, not a string"),
        ("DType", "flaot32", "is 'flaot32', not a dtype"),
        ("DType", "int7", "is 'int7', not a dtype"),
        ("DType", "void", "is 'void', not a dtype"),
        ("DType", 2.5, "is 2.5, not a dtype"),
    ],
)
def test_an_attribute_of_another_kind_is_refused(annotation: str, value: Any, wanted: str) -> None:
    with pytest.raises(OperandError, match="the attribute `a` must be") as caught:
        attribute(annotation, value)
    assert caught.value.code == "RX0204"
    assert wanted in caught.value.fact
