"""The names of weights: those of parameters, of fields, and those that an attribute gives."""

from __future__ import annotations

import pytest

import relaxscript as rx
from relaxscript.analysis.weight_names import names_of_weights, weights_of

TEXT = """
@R.function
def main(x: R.Tensor((2,)), ps: R.Tuple(R.Tensor((3,)), R.Shape), w: R.Tensor((4,))):
    R.func_attr({ATTRS})
    return x
"""


def function(attrs):
    return rx.from_source(TEXT.replace("{ATTRS}", attrs))


def test_weights_are_called_as_parameters_and_the_places_of_fields():
    found = weights_of(function("{}"))
    assert [w.name for w in found] == ["x", "ps.0", "ps.1", "w"]
    assert [w.field for w in found] == [None, 0, 1, None]
    assert {w.is_input for w in found} == {None}
    assert found[1].param.name_hint == "ps"


def test_the_number_of_inputs_divides_inputs_and_weights():
    found = weights_of(function('{"num_input": 1}'))
    assert [w.is_input for w in found] == [True, False, False, False]


def test_an_attribute_names_the_weights():
    found = weights_of(function('{"num_input": 1, "param_names": ["a.b", "c", "d"]}'))
    assert [w.name for w in found] == ["x", "a.b", "c", "d"]
    found = weights_of(function('{"param_names": ["x", "a.b", "c", "d"]}'))
    assert [w.name for w in found] == ["x", "a.b", "c", "d"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("3", "`param_names` is a list of strings"),
        ('["a", 3, "b"]', "`param_names` is a list of strings"),
        ('["a", "b"]', "`param_names` has 2 names for 3 weights"),
        ('["a", "b", "a"]', "`param_names` has `a` twice"),
    ],
)
def test_names_that_are_not_those_of_the_weights_are_refused(names, message):
    with pytest.raises(rx.DiagnosticError) as caught:
        weights_of(function(f'{{"num_input": 1, "param_names": {names}}}'))
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("RX0712", message)


def test_two_parameters_of_one_name_are_refused():
    info = rx.TensorStructInfo((2,), "float32")
    first, second = rx.Var("w", info), rx.Var("w", info)
    twice = rx.Function([first, second], rx.SeqExpr([], first), info)
    with pytest.raises(rx.DiagnosticError, match="two parameters are called `w`"):
        names_of_weights(weights_of(twice))
