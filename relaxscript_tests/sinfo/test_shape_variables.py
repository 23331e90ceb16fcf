"""Function types that share their parts: what is asked of them costs the graph, not the text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relaxscript.arith import YES
from relaxscript.ir import prim
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.sinfo import (
    check_compatibility,
    definable_shape_vars,
    erase_struct_info,
    erase_to_well_defined,
    free_shape_vars,
    is_subtype,
    shape_var_mapping,
    struct_info_base_check,
    substitute_shape_vars,
    unify_struct_info,
)
from relaxscript.sinfo.shape_variables import ShapeVariables
from relaxscript_tests.growth import growth


def variable(name: str) -> prim.Var:
    return prim.Var(name, "int64")


def closed(count: int) -> StructInfo:
    """Each takes the one before and gives the one before that, as Fibonacci's numbers are made."""
    leaf = TensorStructInfo((2, 3), "float32")
    before, last = FuncStructInfo([], leaf), FuncStructInfo([leaf], leaf)
    for _ in range(count):
        before, last = last, FuncStructInfo([last], before)
    return last


def each_binds_its_own(count: int) -> StructInfo:
    before = FuncStructInfo([], ObjectStructInfo())
    last = FuncStructInfo([before], before)
    for number in range(count):
        own = ShapeStructInfo((variable(f"n{number}"),))
        before, last = last, FuncStructInfo([last, own], before)
    return last


def all_bind_the_same(count: int) -> StructInfo:
    size = ShapeStructInfo((variable("n"),))
    before, last = FuncStructInfo([size], size), FuncStructInfo([size, size], size)
    for _ in range(count):
        before, last = last, FuncStructInfo([last, size], before)
    return last


def tuples_between(count: int) -> StructInfo:
    last: StructInfo = TensorStructInfo((variable("m"),), "int8")
    before: StructInfo = FuncStructInfo([last], last)
    for number in range(count):
        own = ShapeStructInfo((variable(f"n{number}"),))
        taken = TupleStructInfo([last, own, before])
        before, last = last, FuncStructInfo([taken], TupleStructInfo([before, last]))
    return last


QUESTIONS: dict[str, Callable[[StructInfo, StructInfo], object]] = {
    "subtype": is_subtype,
    "compatibility": check_compatibility,
    "base check": struct_info_base_check,
    "least upper bound": unify_struct_info,
    "erasure": lambda a, _: erase_to_well_defined(a, (), ()),
    "static type": lambda a, _: erase_struct_info(a),
    "free": lambda a, _: free_shape_vars(a),
    "definable": lambda a, _: definable_shape_vars(a),
    "mapping": lambda a, b: shape_var_mapping((a,), (b,)),
    "substitution": lambda a, _: substitute_shape_vars(a, dict.fromkeys(free_shape_vars(a), 3)),
}


@pytest.mark.parametrize(
    "types",
    [closed, each_binds_its_own, all_bind_the_same, tuples_between],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_asked_of_shared_function_types_costs_their_graph(question, types):
    ask = QUESTIONS[question]

    def prepare(count: int) -> Callable[[], object]:
        one, other = types(count), types(count)
        return lambda: ask(one, other)

    assert growth(prepare, 12, 4) < 6


@pytest.mark.parametrize(
    "types",
    [closed, each_binds_its_own, all_bind_the_same, tuples_between],
    ids=lambda f: f.__name__,
)
def test_two_that_say_the_same_are_subtypes_of_each_other_and_their_own_bound(types):
    one, other = types(30), types(30)
    assert is_subtype(one, other, in_scope=(variable("k"),)) is YES
    assert is_subtype(other, one) is YES
    assert unify_struct_info(one, other) == one


def test_a_variable_that_one_function_type_binds_is_free_in_what_it_shares_with_another():
    n = variable("n")
    shared = FuncStructInfo([], ShapeStructInfo((n,)))
    binds = FuncStructInfo([ShapeStructInfo((n,))], shared)
    assert free_shape_vars(binds) == []
    assert free_shape_vars(TupleStructInfo([binds, shared])) == [n]
    assert definable_shape_vars(TupleStructInfo([binds, shared])) == [n]
    known = ShapeVariables()
    assert not known.free(binds)
    assert n in known.mentioned(binds)


def test_what_is_shared_is_erased_where_its_variable_is_not_bound_and_stays_where_it_is():
    n = variable("n")
    shared = FuncStructInfo([], ShapeStructInfo((n,)))
    binds = FuncStructInfo([ShapeStructInfo((n,))], shared)
    taken = FuncStructInfo([], TupleStructInfo([binds, FuncStructInfo([], binds)]))
    assert erase_to_well_defined(taken) is taken
    erased = erase_to_well_defined(TupleStructInfo([binds, shared]))
    nothing = FuncStructInfo([], ShapeStructInfo(ndim=1))
    # Beside `binds`, the variable stands free, so it is no one's.
    assert erased == TupleStructInfo([ObjectStructInfo(), nothing])
