"""The laws of subtyping, upper bounds, compatibility and erasure, on random StructInfos.

Source: spec "Subtyping for StructInfo" (reflexivity, transitivity, least upper bound), "Auxiliary
Procedures" (erasure, compatibility and the invariant that ties it to the traditional types).
"""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from relaxscript.arith import NO, UNKNOWN, YES
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.sinfo import (
    BaseCheckResult,
    check_compatibility,
    erase_struct_info,
    erase_to_well_defined,
    explain_mismatch,
    free_shape_vars,
    is_static_subtype,
    is_subtype,
    shape_vars,
    struct_info_base_check,
    struct_info_parts,
    unify_struct_info,
)

from .random_infos import ANY_RANK, HELD, KNOWN, OUTSIDE, M, N, cases, copied, unchanged
from .random_values import assignments, grounded, has, value_of

Rng = np.random.Generator


def below(a: StructInfo, b: StructInfo) -> bool:
    return is_subtype(a, b, in_scope=OUTSIDE) is YES


@pytest.mark.slow
def test_what_is_drawn_is_of_all_kinds_and_often_related(rng: Rng) -> None:
    seen: Counter[str] = Counter()
    count = 0
    for draw in cases(rng):
        a, b = draw.pair()
        count += 1
        seen[is_subtype(a, b, in_scope=OUTSIDE).name] += 1
        seen["possible " + check_compatibility(a, b, in_scope=OUTSIDE).name] += 1
        parts = list(struct_info_parts(a))
        seen.update({type(part).__name__ for part in parts})
        seen.update({trait for part in parts for trait in traits(part)})
    shares = {name: number / count for name, number in sorted(seen.items())}
    assert all(shares[kind.__name__] > 0.15 for kind in KINDS), shares
    assert all(shares[trait] > 0.02 for trait in TRAITS), shares
    assert min(shares["YES"], shares["NO"], shares["possible NO"]) > 0.15, shares
    assert min(shares["UNKNOWN"], shares["possible UNKNOWN"]) > 0.02, shares


KINDS = (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
TRAITS = (
    "own variable", "function in parameter", "derive_func", "vdevice", "scalar",
    "shape in a variable", "bfloat16", "unknown rank", "unknown dtype", "impure",
)  # fmt: skip


def traits(info: StructInfo) -> set[str]:
    """What is particular about a part."""
    found: set[str] = set()
    match info:
        case TensorStructInfo(shape, dtype, vdevice, ndim):
            found |= {"vdevice"} if vdevice else set()
            found |= {"shape in a variable"} if shape is not None and info.dims is None else set()
            found |= {"unknown rank"} if ndim == -1 else set()
            found |= {"unknown dtype"} if dtype.is_void else {str(dtype)}
        case PrimStructInfo(value=value):
            found |= {"scalar"} if value is not None else set()
        case FuncStructInfo(params, purity=purity, derive_func=derive):
            found |= {"derive_func"} if derive is not None else set()
            found |= set() if purity else {"impure"}
            found |= (
                {"own variable"} if set(shape_vars(info)) > set(free_shape_vars(info)) else set()
            )
            if any(isinstance(p, FuncStructInfo) for p in params or ()):
                found.add("function in parameter")
    return found


# ---------------------------------------------------------------- subtyping


@pytest.mark.slow
def test_subtyping_is_reflexive_whatever_functions_call_their_variables(rng: Rng) -> None:
    for draw in cases(rng):
        a = draw.info()
        b = draw.moved(copied(a), (N, M), unchanged, unchanged)
        assert below(a, b)
        assert is_subtype(a, b) is YES


@pytest.mark.slow
def test_less_knowledge_is_a_supertype(rng: Rng) -> None:
    for draw in cases(rng):
        a = draw.info()
        assert below(a, draw.weaker(a)), a
        assert below(draw.stronger(a), a), a


@pytest.mark.slow
def test_subtypes_of_each_other_are_of_one_type(rng: Rng) -> None:
    both = 0
    for draw in cases(rng):
        a, b = draw.pair()
        if below(a, b) and below(b, a):
            both += 1
            assert erase_struct_info(a) == erase_struct_info(b)
    assert both > 0


@pytest.mark.slow
def test_two_yes_make_a_yes(rng: Rng) -> None:
    chains = 0
    for draw in cases(rng):
        for a, b, c in itertools.permutations(draw.triple()):
            if below(a, b) and below(b, c):
                chains += 1
                assert below(a, c), (a, b, c)
    assert chains > 0


@pytest.mark.slow
def test_an_answer_is_true_for_all_values_of_the_variables(rng: Rng) -> None:
    for draw in cases(rng):
        a, b = draw.pair()
        answer = is_subtype(a, b, in_scope=OUTSIDE)
        if answer is UNKNOWN:
            continue
        for values in assignments(3, a, b):
            # What a variable's shape is, is knowledge: with it more may be a subtype.
            sizes = {v: values[v] for v in (N, M)}
            x, y = grounded(a, sizes), grounded(b, sizes)
            wrong = NO if answer is YES else YES
            assert is_subtype(x, y, in_scope=OUTSIDE) is not wrong, (a, b, values)


# ---------------------------------------------------------------- upper bounds


@pytest.mark.slow
def test_a_least_upper_bound_is_above_both_in_either_order(rng: Rng) -> None:
    for draw in cases(rng):
        a, b = draw.pair()
        bound = unify_struct_info(a, b, in_scope=OUTSIDE)
        other = unify_struct_info(b, a, in_scope=OUTSIDE)
        assert below(a, bound), (a, b, bound)
        assert below(b, bound), (a, b, bound)
        assert below(bound, other), (a, b, bound, other)


def test_the_bound_of_one_with_itself_is_itself(rng: Rng) -> None:
    for draw in cases(rng):
        a = draw.info()
        assert unify_struct_info(a, copied(a)) is a


@pytest.mark.slow
def test_the_bound_is_below_every_other_unless_parameters_differ(rng: Rng) -> None:
    bounds = 0
    for draw in cases(rng):
        a = draw.info()
        b, c = draw.near(a, params=False), draw.near(a, params=False)
        if below(a, c) and below(b, c):
            bounds += 1
            assert below(unify_struct_info(a, b, in_scope=OUTSIDE), c), (a, b, c)
    assert bounds > 0


# ---------------------------------------------------------------- compatibility


@pytest.mark.slow
def test_compatible_means_that_the_traditional_type_is_a_subtype(rng: Rng) -> None:
    for draw in cases(rng):
        a, b = draw.pair()
        if check_compatibility(a, b, in_scope=OUTSIDE) is YES:
            assert is_static_subtype(erase_struct_info(a), erase_struct_info(b)), (a, b)


@pytest.mark.slow
def test_compatibility_is_never_stricter_than_subtyping(rng: Rng) -> None:
    for draw in cases(rng):
        a, b = draw.pair()
        answer, kinder = (f(a, b, in_scope=OUTSIDE) for f in (is_subtype, check_compatibility))
        assert (answer is YES) == (kinder is YES), (a, b)
        if answer is UNKNOWN:
            assert kinder is UNKNOWN, (a, b)
        assert (explain_mismatch(a, b, in_scope=OUTSIDE) is None) == (kinder is YES), (a, b)


@pytest.mark.slow
def test_the_steps_of_the_base_check_agree_with_subtyping_and_compatibility(rng: Rng) -> None:
    for draw in cases(rng):
        a, b = draw.pair()
        level = struct_info_base_check(b, a)
        assert (level is BaseCheckResult.PASS) == (is_subtype(a, b) is YES) == b.is_base_of(a)
        if level is BaseCheckResult.FAIL_L0:
            assert check_compatibility(a, b) is NO, (a, b)


# ---------------------------------------------------------------- erasure


def test_an_erased_one_is_above_and_leaves_nothing_out_of_scope(rng: Rng) -> None:
    for draw in cases(rng):
        a = draw.info()
        scope = {v for v in (N, M) if draw.chance(0.5)}
        erased = erase_to_well_defined(a, {KNOWN}, scope, leaving=OUTSIDE - scope)
        assert set(free_shape_vars(erased)) <= scope, (a, scope)
        assert not OUTSIDE & set(shape_vars(erased)) - scope, (a, scope)
        assert below(a, erased), (a, erased)
        assert erase_to_well_defined(erased, {KNOWN}, scope, leaving=OUTSIDE - scope) is erased
        held = {p.shape for p in struct_info_parts(erased) if isinstance(p, TensorStructInfo)}
        assert not held & {HELD, ANY_RANK}, (a, erased)


# ---------------------------------------------------------------- values


@pytest.mark.slow
def test_every_value_of_a_subtype_is_a_value_of_the_supertype(rng: Rng) -> None:
    tried = 0
    for draw in cases(rng):
        a, b = draw.pair()
        if not below(a, b):
            continue
        for values in assignments(2, a, b):
            try:
                value = value_of(grounded(a, values), draw)
            except LookupError:
                continue
            tried += 1
            assert has(value, grounded(a, values)), (value, a, values)
            assert has(value, grounded(b, values)), (value, a, b, values)
    assert tried > 0


@pytest.mark.slow
def test_what_is_unrelated_has_no_common_value(rng: Rng) -> None:
    tried = 0
    for draw in cases(rng):
        a, b = draw.pair()
        if struct_info_base_check(b, a) is not BaseCheckResult.FAIL_L0 or promised(a):
            continue
        for values, (x, y) in itertools.product(assignments(3, a, b), ((a, b), (b, a))):
            try:
                value = value_of(grounded(x, values), draw)
            except LookupError:
                continue
            tried += 1
            assert not has(value, grounded(y, values)), (value, x, y, values)
    assert tried > 0


def promised(info: StructInfo) -> bool:
    """Whether a PackedFunc is said to give something, which nobody can see before it is called."""
    packed = (p for p in struct_info_parts(info) if isinstance(p, FuncStructInfo) and not p.params)
    return any(not isinstance(p.ret, ObjectStructInfo) for p in packed if p.params is None)


# What is said of these is not all seen when a program runs.
UNSEEN = (DTensorStructInfo, FuncStructInfo, ObjectStructInfo)


@pytest.mark.slow
def test_what_is_incompatible_has_no_common_value_unless_it_is_a_function_or_placed(
    rng: Rng,
) -> None:
    for draw in cases(rng):
        a, b = draw.pair()
        parts = [*struct_info_parts(a), *struct_info_parts(b)]
        if any(isinstance(part, UNSEEN) for part in parts):
            continue
        if check_compatibility(a, b) is NO:
            assert struct_info_base_check(b, a) is BaseCheckResult.FAIL_L0, (a, b)
