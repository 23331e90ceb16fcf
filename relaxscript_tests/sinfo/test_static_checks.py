"""What is called proved holds for all values of the variables."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from relaxscript.arith import evaluate
from relaxscript.ir.prim import PrimExpr, Var as ShapeVar, as_prim
from relaxscript.ir.relax import ShapeExpr, Var
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.runtime import Shape
from relaxscript.runtime.run_check import match_arguments
from relaxscript.semantics.checks import Checks
from relaxscript.sinfo import (
    ProvableArguments,
    always_matches,
    sizes_of_bound_vars,
    substitute_shape_vars,
)
from relaxscript_tests import examples

A, B, N, M = (ShapeVar(name, "int64") for name in "abnm")


def tensor(*dims: Any) -> TensorStructInfo:
    return TensorStructInfo(ShapeExpr(dims), "int8")


def proved(params: list[StructInfo], args: list[StructInfo]) -> tuple[int, ...]:
    return ProvableArguments(params).of(args, {A, B})


def test_arguments_are_proved_under_what_they_say_of_the_variables() -> None:
    assert proved([tensor(N, N * 2), tensor(N)], [tensor(A, A + A), tensor(A)]) == (0, 1)
    assert proved([tensor(N), tensor(N)], [tensor(A), tensor(B)]) == (0,)
    vague = TensorStructInfo(None, "int8", None, 1)
    assert proved([tensor(N), ObjectStructInfo()], [vague, vague]) == (1,)


def test_nothing_is_proved_of_what_depends_on_an_argument_that_says_nothing() -> None:
    vague = TensorStructInfo(None, "int8", None, 1)
    assert proved([tensor(A * 2), tensor(A)], [tensor(A * 2), vague]) == ()


def test_a_number_that_may_be_below_0_is_no_size() -> None:
    size = PrimStructInfo("int64", N)
    assert proved([size], [PrimStructInfo("int64", A + 1)]) == (0,)
    assert proved([size], [PrimStructInfo("int64", A - 1)]) == ()
    assert sizes_of_bound_vars(PrimStructInfo("int64", A - 1), size, [N]) == {}
    assert list(sizes_of_bound_vars(PrimStructInfo("int64", A), size, [N])) == [N]


def test_a_shape_that_a_variable_holds_is_not_proved() -> None:
    shape = Var("s", ShapeStructInfo(ndim=1))
    info = TensorStructInfo(shape, "int8")
    assert proved([info], [info]) == ()


def test_a_function_is_proved_when_its_type_fits_as_it_is() -> None:
    wide = FuncStructInfo([ObjectStructInfo()], tensor(2))
    narrow = FuncStructInfo([tensor(2)], ObjectStructInfo())
    assert proved([narrow], [wide]) == (0,)
    assert proved([wide], [narrow]) == ()


def test_a_cast_that_binds_a_variable_is_not_said_to_match_always() -> None:
    assert always_matches(tensor(A, 2), tensor(A, 2), {A})
    assert not always_matches(tensor(A, 2), tensor(N, 2), {A})
    assert not always_matches(tensor(A, B), tensor(A, A), {A, B})
    assert always_matches(tensor(A), TupleStructInfo([]), {A}) is False
    # The same variable on both sides has its value only in its own scope.
    assert always_matches(tensor(A), tensor(A), {A})
    assert not always_matches(tensor(A), tensor(A), set())


def test_arguments_that_are_all_proved_pass_for_all_values_of_the_variables(rng) -> None:
    """By brute force: what the checks at entry say of every such call."""
    found = 0
    for _ in range(examples(4000)):
        params = [_info(rng, (N, M)) for _ in range(2)]
        given = {N: _dim(rng, (A, B)), M: _dim(rng, (A, B))}
        args = [
            substitute_shape_vars(p, given) if rng.random() < 0.8 else _info(rng, (A, B))
            for p in params
        ]
        bound = {v for p in params for v in _dims(p) if isinstance(v, ShapeVar)}
        loose = {N, M} - bound
        if loose or len(proved(params, args)) < 2:
            continue
        found += 1
        checks = Checks().of(params, set(), lambda var: 0)
        for a, b in itertools.product(range(4), repeat=2):
            values = [_value(arg, {A: a, B: b}) for arg in args]
            match_arguments(values, checks, [None] * 2, ["x", "y"], "f")
    assert found > 5


def _dim(rng: Any, variables: tuple[ShapeVar, ShapeVar]) -> PrimExpr:
    v, w = variables
    choices = [v, w, v, w, v + w, v * 2, v + v, as_prim(2)]
    return choices[rng.integers(len(choices))]


def _info(rng: Any, variables: tuple[ShapeVar, ShapeVar]) -> StructInfo:
    dims = [_dim(rng, variables) for _ in range(rng.integers(1, 3))]
    return tensor(*dims) if rng.random() < 0.7 else ShapeStructInfo(dims)


def _dims(info: Any) -> tuple[PrimExpr, ...]:
    dims: tuple[PrimExpr, ...] = info.dims if isinstance(info, TensorStructInfo) else info.values
    return dims


def _value(info: StructInfo, values: dict[ShapeVar, int]) -> Any:
    sizes = [int(evaluate(e, values)) for e in _dims(info)]
    return np.zeros(sizes, "int8") if isinstance(info, TensorStructInfo) else Shape(sizes)
