"""Attributes of operators: what users register under a key, by levels, and take back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import Op, register_op_attr
from relaxscript.ir.op_attributes import registered_values

KEY = "my.cost"


@pytest.fixture
def add() -> Iterator[Op]:
    found = Op.get("relax.add")
    yield found
    for key in (KEY, "FLegalize"):
        found.reset_attr(key)


def test_what_is_registered_is_given_back(add):
    assert not add.has_attr(KEY)
    assert add.get_attr(KEY) is None
    assert register_op_attr("relax.add", KEY, 3) == 3
    assert (add.has_attr(KEY), add.get_attr(KEY)) == (True, 3)
    assert Op.get("relax.add").get_attr(KEY) == 3
    assert Op.get("relax.multiply").get_attr(KEY) is None
    assert registered_values(KEY) == {"relax.add": 3}
    add.reset_attr(KEY)
    add.reset_attr(KEY)
    assert add.get_attr(KEY) is None


def test_a_function_is_registered_by_a_decorator(add):
    @register_op_attr("relax.add", KEY)
    def cost(call):
        return 7

    assert add.get_attr(KEY) is cost
    assert cost(None) == 7


def test_a_higher_level_goes_before_and_of_one_level_the_last(add):
    add.set_attr(KEY, "low", 5)
    add.set_attr(KEY, "high")
    add.set_attr(KEY, "lower", plevel=9)
    assert add.get_attr(KEY) == "high"
    add.set_attr(KEY, "again", 10)
    assert add.get_attr(KEY) == "again"


def test_scalar_operators_have_attributes_too():
    exp = Op.get("tir.exp")
    exp.set_attr(KEY, 2)
    assert exp.get_attr(KEY) == 2
    exp.reset_attr(KEY)


@pytest.mark.parametrize("name", ["relax.ad", "tir.epx", "nothing"])
def test_an_operator_that_there_is_not_is_refused(name: str):
    for ask in (lambda: register_op_attr(name, KEY, 1), lambda: Op.get(name)):
        with pytest.raises(DiagnosticError, match=f"there is no operator `{name}`") as raised:
            ask()
        assert isinstance(raised.value, TypeError)
    with pytest.raises(DiagnosticError, match=r"did you mean `relax\.add`"):
        Op.get("relax.ad")


@pytest.mark.parametrize("key", ["FPurity", "FInferStructInfo", "TMixedPrecisionPolicy"])
def test_what_follows_from_the_definition_cannot_be_registered(key: str, add):
    with pytest.raises(DiagnosticError, match="RX0708") as raised:
        add.set_attr(key, True)
    (found,) = raised.value.diagnostics
    assert found.message == f"`{key}` of `relax.add` follows from the definition of the operator"
    assert found.help == "define an operator of your own: `@relaxscript.opdef.op(...)`"
