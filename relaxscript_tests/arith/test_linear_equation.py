"""Linear expressions, and the bounds that conditions on these mean."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import numpy as np
import pytest

from relaxscript import arith, tir
from relaxscript.arith import format_expr
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript_tests import examples
from relaxscript_tests.arith.brute_force import SIGNED, values
from relaxscript_tests.arith.scalars import K, M, N, integer

U = Var("u", "uint32")


def shown(found: list[Any]) -> list[str | None]:
    return [None if e is None else format_expr(e) for e in found]


@pytest.mark.parametrize(
    ("expr", "variables", "expected"),
    [
        (N * 4 + M * 6 + 7, [N], ["4", "m * 6 + 7"]),
        (N * 4 + (N + 1), [N], ["5", "1"]),
        (N * (M + 4) + N - K * 8, [N, K], ["m + 5", "-8", "0"]),
        (((N * K + M) * 8 + 1) * 2, [N, M], ["k * 16", "16", "2"]),
        (M * 7, [N], ["0", "m * 7"]),
        (M * 7, [], ["m * 7"]),
        (N * 4 * (N + 1), [N], []),
        (N * M, [N, M], []),
        (N // 2, [N], []),
        (128 - U, [U], ["-1", "128"]),
        (integer(3), [N], ["0", "3"]),
    ],
)
def test_coefficients_are_found(expr: PrimExpr, variables: list[Var], expected: list[str]) -> None:
    assert shown(arith.detect_linear_equation(expr, variables)) == expected


@pytest.mark.parametrize(
    ("expr", "variables", "expected"),
    [
        (tir.all(N < M * 6, N - 1 > 0), [N], ["2", "m * 6 - 1"]),
        (tir.all(N < M * 6, N - 1 > 0), [N, M], []),
        (tir.all(N + 10 * K <= 20, M - 1 > 0), [N, M], [None, "20 - k * 10", "2", None]),
        (tir.Not(N > M * 6), [N], [None, "m * 6"]),
        (prim.Min(N, M) > 3, [N, M], ["4", None, "4", None]),
        (prim.Max(N, M) <= 3, [N, M], [None, "3", None, "3"]),
        (prim.LT(integer(3), prim.Min(N, M)), [N], []),
        (prim.GE(integer(3), prim.Max(N, M)), [N, M], [None, "3", None, "3"]),
        (prim.GE(prim.Min(N, M), integer(3)), [N, M], ["3", None, "3", None]),
        (prim.LT(prim.Max(N, M), integer(3)), [N, M], [None, "2", None, "2"]),
        (N * 3 < 10, [N], [None, "3"]),
        (N * -3 < 10, [N], ["-3", None]),
        (tir.all(N == 4, N >= M), [N], ["max(4, m)", "4"]),
        (tir.const(True), [N], [None, None]),
        (N != 4, [N], []),
        (tir.Or(N < 4, N > 8), [N], []),
        (N * M < 4, [N], []),
        (N // 2 < 4, [N], []),
        (M < 4, [N], []),
    ],
)
def test_bounds_are_found(expr: PrimExpr, variables: list[Var], expected: list[str | None]) -> None:
    assert shown(arith.detect_clip_bound(expr, variables)) == expected


def random_linear(random: Random, depth: int = 3) -> PrimExpr:
    if depth == 0 or random.random() < 0.2:
        return random.choice((N, M, integer(random.randint(-4, 9))))
    a, b = random_linear(random, depth - 1), random_linear(random, depth - 1)
    if random.random() < 0.3:
        return a * random.choice((integer(random.randint(-3, 3)), K))
    return prim.Add(a, b) if random.random() < 0.5 else prim.Sub(a, b)


def test_an_expression_is_the_sum_of_its_parts(rng: np.random.Generator) -> None:
    random = Random(int(rng.integers(1 << 32)))
    for _ in range(examples(1000)):
        e = random_linear(random)
        first, second, base = arith.detect_linear_equation(e, [N, M])
        assert (values(first * N + second * M + base, SIGNED)[0] == values(e, SIGNED)[0]).all()


def test_bounds_mean_what_the_condition_means(rng: np.random.Generator) -> None:
    random = Random(int(rng.integers(1 << 32)))
    for _ in range(examples(1000)):
        compare = random.choice((prim.LT, prim.LE, prim.GT, prim.GE, prim.EQ))
        own = random.choice((N, prim.Min(N, M), prim.Max(N, M))) * random.choice((1, 2, -3))
        condition = compare(own, K + random.randint(-5, 5))
        if random.random() < 0.5:
            condition = prim.And(condition, random_linear(random) <= M)
        found = arith.detect_clip_bound(condition, [N, M])
        holds = np.ones(len(SIGNED[N]), np.bool_)
        for var, low, high in zip((N, M), found[::2], found[1::2]):
            if low is not None:
                holds &= SIGNED[var] >= values(low, SIGNED)[0]
            if high is not None:
                holds &= SIGNED[var] <= values(high, SIGNED)[0]
        if found:
            assert (holds == values(condition, SIGNED)[0]).all(), condition


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: arith.detect_linear_equation("n", [N]),
            "`detect_linear_equation.expr` must be a sc",
        ),
        (
            lambda: arith.detect_linear_equation(N, N),
            "`detect_linear_equation.var_list` must be a list",
        ),
        (
            lambda: arith.detect_clip_bound(N, [N]),
            "`detect_clip_bound.expr` must be a bool expression",
        ),
        (
            lambda: arith.detect_clip_bound(N < 3, ["n"]),
            "`detect_clip_bound.var_list` must be a scalar",
        ),
    ],
)
def test_a_wrong_argument_is_named(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        call()
