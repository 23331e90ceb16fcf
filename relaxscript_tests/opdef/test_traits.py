"""Traits: what passes ask of operators, declared where they are."""

from __future__ import annotations

import pytest

import relaxscript.op as R
from relaxscript.arguments import ArgumentError
from relaxscript.ir.relax import Call, Op, Var
from relaxscript.ir.struct_info import ObjectStructInfo
from relaxscript.op import REGISTRY, Operator, PlainContext, Trait, traits_of
from relaxscript.opdef.traits import read_traits
from relaxscript_tests.op.inference import tensor

every_operator = pytest.mark.parametrize("operator", REGISTRY.values(), ids=repr)


def test_an_unknown_trait_is_refused_by_its_name() -> None:
    with pytest.raises(ArgumentError, match=r"unknown trait `veiw`; did you mean `view`\?"):
        Operator("f", lambda: None, traits={"veiw"}, parameters=())
    with pytest.raises(ArgumentError, match=r"`relax.f` has the unknown trait `qqqqqqqq`$"):
        Operator("f", lambda: None, traits={"qqqqqqqq"}, parameters=())


def test_a_trait_is_given_by_its_name_too() -> None:
    assert read_traits("f", ["view", Trait.FREES]) == {Trait.VIEW, Trait.FREES}


def test_traits_are_asked_of_what_is_called() -> None:
    assert Trait.VIEW in traits_of(R.reshape.op)
    assert Trait.VIEW not in traits_of(R.add.op)
    assert traits_of(Op("relax.no_such")) == frozenset()
    assert traits_of(Var("f")) == frozenset()


def test_a_rule_of_any_kind_stands_in_the_table_of_its_operator() -> None:
    operator = Operator("f", lambda: None, parameters=())

    @operator.rule("infer")
    def rule(context: object) -> ObjectStructInfo:
        return ObjectStructInfo()

    assert operator.rules["infer"] is rule
    assert operator.rules["meaning"] is operator.function
    assert operator.has_rule
    assert isinstance(operator.infer(Call(operator.op, ()), PlainContext()), ObjectStructInfo)


def test_an_operator_may_be_told_from_others_by_its_object() -> None:
    match R.squeeze(tensor(1, 4)):
        case Call(op=R.reshape.op):
            found = "reshape"
        case Call(op=R.squeeze.op):
            found = "squeeze"
    assert found == "squeeze"


@every_operator
def test_traits_agree_with_the_parameters(operator: Operator) -> None:
    traits, names = operator.traits, {p.name for p in operator.parameters}
    callees = any(p.kind == "callee" for p in operator.parameters)
    holding = {Trait.CALLS_OUT, Trait.CALLS_PRIM_FUNC, Trait.CAPTURES}
    assert callees == (len(traits & holding) == 1)
    assert ("inplace_indices" in names) == (Trait.WRITES_ARGS in traits)
    assert ("storage" in names and Trait.FREES not in traits) == (Trait.IN_STORAGE in traits)
    assert operator.pure == (Trait.IMPURE not in traits)


@every_operator
def test_a_trait_brings_those_that_it_implies(operator: Operator) -> None:
    traits = operator.traits
    if Trait.FREES in traits:
        assert Trait.IMPURE in traits
    if Trait.IN_STORAGE in traits:
        assert Trait.ALLOCATES in traits
    if traits & {Trait.DESTINATION_PASSING, Trait.WRITES_ARGS}:
        assert traits & {Trait.CALLS_OUT, Trait.CALLS_PRIM_FUNC}
