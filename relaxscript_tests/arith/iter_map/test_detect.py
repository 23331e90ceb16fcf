"""Detection of iter maps: what is found, why not, and what is said of padding."""

from __future__ import annotations

import re
from typing import Any

import pytest

from relaxscript import arith, tir
from relaxscript.arith import IterMapLevel, IterMapResult, format_expr
from relaxscript.ir.prim import PrimExpr, SizeVar, Var
from relaxscript.ir.tir import Range

X, Y, Z = (Var(name, "int32") for name in "xyz")
N, M = SizeVar("n", "int32"), SizeVar("m", "int32")
T1, T2 = Var("t", "int32"), Var("i", "int64")
Domain = dict[Var, Range]


def domain(**extents: Any) -> Domain:
    names = {v.name: v for v in (X, Y, Z)}
    return {names[name]: Range(0, extent) for name, extent in extents.items()}


def shown(result: IterMapResult) -> list[str]:
    """Each index as its base, and how many steps of which size follow."""
    texts = []
    for index in result.indices:
        steps = [f"{format_expr(s.extent)} by {format_expr(s.scale)}" for s in index.args]
        texts.append(" ".join([format_expr(index.base), *steps]))
    return texts


# ---------------------------------------------------------------- what is found


@pytest.mark.parametrize(
    ("indices", "over", "expected"),
    [
        ([X, Y, 3], domain(x=3, y=4), ["0 3 by 1", "0 4 by 1", "3"]),
        ([Y * 3 + N + X + 1], domain(x=3, y=4), ["n + 1 12 by 1"]),
        ([X * 4 + Y * 2], domain(x=3, y=2), ["0 6 by 2"]),
        ([X * 2 * N + Y * 2], domain(x=3, y=N), ["0 n * 3 by 2"]),
        ([X // 6, X % 6 // 2, X % 2], domain(x=24), ["0 4 by 1", "0 3 by 1", "0 2 by 1"]),
        ([X // N, X % N], domain(x=N * M), ["0 m by 1", "0 n by 1"]),
        ([X * 2 // 4, X * 2 % 4], domain(x=8), ["0 4 by 1", "0 2 by 2"]),
        ([(Y + 64) // 32, (Y + 64) % 32], domain(y=192), ["2 6 by 1", "0 32 by 1"]),
        ([-X], domain(x=3), ["0 3 by -1"]),
        ([X * 7 + Y], domain(x=3, y=8), ["0 22 by 1"]),
        ([(X + 10) % 3, (X + 11) // 3 % 4], domain(x=12), ["0 3 by 1", "0 4 by 1"]),
        ([X + Y], domain(x=1), ["y"]),
        ([(X * 64 + Y) % 128], domain(x=4, y=192), ["0 128 by 1"]),
        (
            [((X + Z) * 2 + Y) // 2, ((X + Z) * 2 + Y) % 2],
            domain(x=8, y=2, z=2),
            ["0 9 by 1", "0 2 by 1"],
        ),
    ],
)
def test_indices_are_found_to_be_iterators(
    indices: list[PrimExpr], over: Domain, expected: list[str]
) -> None:
    assert shown(arith.detect_iter_map(indices, over)) == expected


@pytest.mark.parametrize(
    ("indices", "over", "predicate", "expected"),
    [
        ([X * 10 + Y], domain(x=13, y=10), X * 10 + Y < 128, ["0 128 by 1"]),
        ([X * 10 + Y], domain(x=13, y=10), tir.Not(X * 10 + Y < 6), ["6 124 by 1"]),
        ([X * 10 + Y], domain(x=13, y=10), X * 10 < 128 - Y, ["0 128 by 1"]),
        ([X], domain(x=8), tir.likely(X < 6), ["0 6 by 1"]),
        ([X, Y], domain(x=8, y=4), X == 6, ["6", "0 4 by 1"]),
        ([X], domain(x=8), tir.Not(tir.Or(X < 2, X > 5)), ["2 4 by 1"]),
        ([X], domain(x=8), tir.Not(tir.Not(X >= 2)), ["2 6 by 1"]),
        ([X % 4, X // 4], domain(x=16), X % 4 >= 1, ["1 3 by 1", "0 4 by 1"]),
        ([X * 16 + Y * 4], domain(x=3, y=4), X * 4 + Y < 10, ["0 10 by 4"]),
        ([X], domain(x=8), X < N, ["0 min(n, 8) by 1"]),
        ([X], domain(x=8, y=1), Y < 3, ["0 8 by 1"]),
        ([X], domain(x=8), N < M, ["0 8 by 1"]),
        ([X % 16, X // 16], domain(x=48), X < 10, ["0 10 by 1", "0"]),
        ([X % 4, X // 4], domain(x=48), tir.And(X >= 5, X < 8), ["1 3 by 1", "1"]),
    ],
)
def test_a_predicate_makes_iterators_smaller(
    indices: list[PrimExpr], over: Domain, predicate: PrimExpr, expected: list[str]
) -> None:
    assert shown(arith.detect_iter_map(indices, over, predicate)) == expected


def test_iterators_may_begin_elsewhere_than_at_0() -> None:
    found = arith.detect_iter_map([X // 4, X % 4], {X: Range(2, 14)})
    assert found.errors == ["the quotient of `x` by 4 lacks some remainders at both ends"]
    found = arith.detect_iter_map([X // 4, X % 4], {X: Range(4, 16)}, check_level="bijective")
    assert shown(found) == ["1 3 by 1", "0 4 by 1"]


def test_equal_sums_are_one_mark() -> None:
    flat = X * 4 + Y
    found = arith.detect_iter_map([flat // 6, flat % 6], domain(x=6, y=4)).indices
    assert found[0].args[0].source is found[1].args[0].source


def test_trivial_iterators_stay_where_they_are_wanted() -> None:
    over = domain(x=1, y=16)
    assert shown(arith.detect_iter_map([X, Y], over)) == ["0", "0 16 by 1"]
    kept = arith.detect_iter_map([X, Y], over, simplify_trivial_iterators=False)
    assert shown(kept) == ["0 1 by 1", "0 16 by 1"]


def test_an_analyzer_says_what_is_known_of_other_variables() -> None:
    known = arith.Analyzer()
    known.bind(T1, 4)
    assert not arith.detect_iter_map([X % T1], domain(x=16)).indices
    assert len(arith.detect_iter_map([X % T1], domain(x=16), analyzer=known).indices) == 1


def test_extents_are_of_the_dtype_of_their_variable() -> None:
    (index,) = arith.detect_iter_map([T2 // 2], {T2: Range(0, 8)}).indices
    assert {index.dtype, index.args[0].extent.dtype, index.args[0].source.extent.dtype} == {"int64"}


# ---------------------------------------------------------------- levels


@pytest.mark.parametrize(
    ("indices", "over", "levels"),
    [
        ([X, Y], domain(x=3, y=4), "nocheck surjective bijective"),
        ([X], domain(x=3, y=4), "nocheck surjective"),
        ([X, X], domain(x=3), "nocheck"),
        ([X * 7 + Y], domain(x=3, y=8), "nocheck surjective"),
        ([X * 3 + Y, Y], domain(x=4, y=3), "nocheck"),
        ([X * 4 + Y], domain(x=4, y=3), ""),
        ([X * 7 - Y], domain(x=4, y=3), ""),
        ([X * X], domain(x=4), ""),
        ([X % 8], domain(x=3), "nocheck"),
        ([(X + 3) % 8], domain(x=8), "nocheck surjective bijective"),
        ([(Y + 80) // 32, (Y + 80) % 32], domain(y=176), "nocheck"),
        ([X % 2, X // 4], domain(x=16), "nocheck surjective"),
    ],
)
def test_a_map_is_of_some_levels_and_not_of_others(
    indices: list[PrimExpr], over: Domain, levels: str
) -> None:
    found = [
        name
        for name in ("nocheck", "surjective", "bijective")
        if arith.detect_iter_map(indices, over, True, name).indices
    ]
    assert found == levels.split()


def test_levels_have_names() -> None:
    assert IterMapLevel.from_str("Bijective") is IterMapLevel.Bijective
    assert IterMapLevel.from_str("NOCHECK") is IterMapLevel.from_str(None) is IterMapLevel.NoCheck
    assert arith.detect_iter_map([X], domain(x=3, y=4), check_level=IterMapLevel.Bijective).errors


# ---------------------------------------------------------------- why nothing is found

BUFFER = tir.decl_buffer((16,), "int32", name="A")


@pytest.mark.parametrize(
    ("indices", "over", "predicate", "level", "error"),
    [
        (
            [BUFFER[X]],
            domain(x=4),
            True,
            "nocheck",
            "`A[x]` is no sum, product, quotient or remainder",
        ),
        ([X * Y], domain(x=4, y=4), True, "nocheck", "`x * y` multiplies two iterators"),
        ([X // Y], domain(x=4, y=4), True, "nocheck", "`x // y` has an iterator in its divisor"),
        (
            [X // T1],
            domain(x=4),
            True,
            "nocheck",
            "the divisor of `x // t` is not proved to be above 0",
        ),
        (
            [(X * 32 + Y * 8) // 5],
            domain(x=5, y=4),
            True,
            "nocheck",
            "in `(x * 32 + y * 8) // 5`, neither the factor `8` nor the divisor is proved to "
            "divide the other",
        ),
        (
            [X % 6 // 4],
            domain(x=12),
            True,
            "nocheck",
            "a remainder by 6 is divided by 4, which is not proved to divide it",
        ),
        (
            [X % 6 % 4],
            domain(x=12),
            True,
            "nocheck",
            "of a remainder by 6 the remainder by 4 is taken, which is not proved to divide it",
        ),
        (
            [X * 5 + Y * 2],
            domain(x=4, y=3),
            True,
            "nocheck",
            "none of the factors `5`, `2` of a sum is proved to divide the others",
        ),
        (
            [X * 4 + Y],
            domain(x=4, y=3),
            True,
            "surjective",
            "a sum goes on at the factor `3`, and what is left has `4`",
        ),
        ([X, X], domain(x=4), True, "surjective", "the parts of `x` are not independent"),
        (
            [X % 8],
            domain(x=3),
            True,
            "surjective",
            "`x` has 3 values, which are not proved to be as many as the 8 that its remainders "
            "need",
        ),
        ([X], domain(x=3, y=4), True, "bijective", "no index depends on `y`"),
        ([X // 2], domain(x=4), True, "bijective", "the indices do not tell all of `x`"),
        ([X * 2 + Y], domain(x=4, y=2), X * 2 + Y < 0, "nocheck", "the predicate holds nowhere"),
        ([X], domain(x=4), tir.const(False), "nocheck", "the predicate holds nowhere"),
        ([X], domain(x=4, y=1), Y > 3, "nocheck", "the predicate `y > 3` holds nowhere"),
        (
            [X],
            domain(x=4),
            tir.Or(X < 2, X > 3),
            "nocheck",
            "the predicate `x < 2 or x > 3` is no comparison",
        ),
        (
            [X],
            domain(x=4),
            X * T1 < 2,
            "nocheck",
            "in the predicate `x * t < 2`, the factor `t` is not proved to be above or below 0",
        ),
        (
            [X],
            domain(x=4),
            tir.Cast("float32", X) < 2.0,
            "nocheck",
            "the predicate `float32(x) < 2.0` compares no integers",
        ),
        (
            [X * 4 + Y],
            domain(x=4, y=8),
            True,
            "bijective",
            "a sum goes on at the factor `8`, and what is left has `4`",
        ),
    ],
)
def test_it_is_said_why_nothing_is_found(
    indices: list[PrimExpr], over: Domain, predicate: Any, level: str, error: str
) -> None:
    result = arith.detect_iter_map(indices, over, predicate, level)
    assert (result.indices, result.errors) == ([], [error])


# ---------------------------------------------------------------- padding


@pytest.mark.parametrize(
    ("indices", "over", "expected"),
    [
        ([X // 4, X % 4], domain(x=16), "False"),
        ([X // 4, X % 4], domain(x=14), "x >= 14"),
        ([(X + 2) // 4, (X + 2) % 4], domain(x=14), "x < 0"),
        ([(X + 1) // 4, (X + 1) % 4], domain(x=14), "x < 0 or x >= 14"),
        ([(X * 3 + Y) // 4], domain(x=3, y=3), "x * 3 + y >= 9"),
    ],
)
def test_padding_is_where_an_iterator_is_beyond_its_domain(
    indices: list[PrimExpr], over: Domain, expected: str
) -> None:
    result = arith.detect_iter_map(indices, over, True, "nocheck")
    assert format_expr(result.padding_predicate) == expected


# ---------------------------------------------------------------- simplification


@pytest.mark.parametrize(
    ("index", "over", "expected"),
    [
        (X // N * N + X % N, domain(x=N * 32), "x"),
        ((X * 4 + Y) // 8 * 8 + (X * 4 + Y) % 8, domain(x=6, y=4), "x * 4 + y"),
        (X // 3 * 3 + X % 3, domain(x=26), "x"),
        ((X + 1) // 3 * 3 + (X + 1) % 3, domain(x=26), "x + 1"),
        (X % 8, domain(x=8), "x"),
        (Y + 64 - X % 2 * 64, domain(x=6, y=64), "y + 64 - x % 2 * 64"),
    ],
)
def test_an_index_is_simplified_to_what_it_is(index: PrimExpr, over: Domain, expected: str) -> None:
    (found,) = arith.iter_map_simplify([index], over)
    assert format_expr(found) == expected


def test_an_index_that_is_no_iter_map_is_the_same_object() -> None:
    index = X * X
    assert arith.iter_map_simplify([index], domain(x=4))[0] is index


@pytest.mark.parametrize(
    ("index", "args", "base"),
    [
        (Z + (Y + X * 4 + 2) * N + 3, ["x * (n * 4)", "y * n", "z"], "n * 2 + 3"),
        (Z + Y * 6 + X // 2 * 4, ["y * 6", "x // 2 * 4", "z"], "0"),
        (tir.max(Z, N) + X * 2, ["x * 2"], "max(z, n)"),
        (X // 4 * 4 + X % 4 + Y * 8, ["y * 8", "x"], "0"),
        (5 * X - Y * 3, ["x * 5", "y * -3"], "0"),
    ],
)
def test_a_sum_has_its_largest_steps_first(index: PrimExpr, args: list[str], base: str) -> None:
    found = arith.normalize_to_iter_sum(index, domain(x=8, y=4, z=3))
    plain = [format_expr(arith.normalize_iter_map_to_expr(split)) for split in found.args]
    assert (plain, format_expr(found.base)) == (args, base)


# ---------------------------------------------------------------- wrong arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([X], [X]), "`detect_iter_map.input_iters` must be a mapping of variables to Ranges, not"),
        (
            ([X], {X: 3}),
            "`detect_iter_map.input_iters` must be a mapping of variables to Ranges, not int (3)",
        ),
        (([X], {"x": Range(0, 3)}), "`detect_iter_map.input_iters` must be a scalar variable, not"),
        ((X, {}), "`detect_iter_map.indices` must be a list of indices, not"),
        (("x", {}), "`detect_iter_map.indices` must be a list of indices, not"),
        ((["x"], {}), "`detect_iter_map.indices` must be a scalar expression or a number, not"),
        (([tir.const(1.0)], {}), "`detect_iter_map.indices` must be integers, not one of float32"),
        (([X], {}, X), "`detect_iter_map.predicate` must be a bool expression, not one of int32"),
        (
            ([X], {}, True, "injective"),
            '`detect_iter_map.check_level` must be "bijective", "surjective" or "nocheck", not',
        ),
        (([X], {}, True, 2), '`detect_iter_map.check_level` must be "bijective", "surjective" or'),
    ],
)
def test_a_wrong_argument_is_named(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        arith.detect_iter_map(*arguments)


def test_what_is_no_analyzer_is_refused() -> None:
    message = "`iter_map_simplify.analyzer` must be an Analyzer, not int (3)"
    with pytest.raises(TypeError, match=re.escape(message)):
        arith.iter_map_simplify([X], {}, analyzer=3)  # type: ignore[arg-type]
    message = "`IterMapLevel.from_str.name` must be"
    with pytest.raises(TypeError, match=re.escape(message)):
        IterMapLevel.from_str("all")
    message = "`normalize_to_iter_sum.index` must be a scalar expression"
    with pytest.raises(TypeError, match=re.escape(message)):
        arith.normalize_to_iter_sum("x", {})  # type: ignore[arg-type]
