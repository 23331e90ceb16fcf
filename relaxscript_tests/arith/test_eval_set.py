"""Intervals of values: the ends that people expect, in the variables that stay."""

from __future__ import annotations

import pytest

from relaxscript.arith import Analyzer, ConstIntBound, Facts, IntervalSet, neg_inf, pos_inf
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import Range
from relaxscript_tests.arith.scalars import K, M, N, integer, shift

Domains = dict[Var, IntervalSet]
TEN = IntervalSet(0, 10)


@pytest.mark.parametrize(
    ("e", "domains", "expected"),
    [
        (N + M, {N: TEN}, "[m, m + 10]"),
        (N - M, {N: TEN, M: IntervalSet(1, 11)}, "[-11, 9]"),
        (N * M, {N: TEN}, "[0, m * 10]"),
        (N * -2, {N: IntervalSet(1, 10)}, "[-20, -2]"),
        (prim.Div(N, integer(2)), {N: IntervalSet(-5, 10)}, "[-2, 5]"),
        (N // M, {N: TEN}, "[0, 10 // m]"),
        (N // (M + 1), {N: TEN}, "[0, 10 // (m + 1)]"),
        (N // 2, {N: IntervalSet(-1, 10)}, "[-1, 5]"),
        (N % 10, {N: IntervalSet(13, 15)}, "[3, 5]"),
        (N % 10, {N: IntervalSet(3, 15)}, "[0, 9]"),
        (N % 8, {N: IntervalSet(M * 8, M * 8 + 3)}, "[0, 3]"),
        (
            N % 8,
            {N: IntervalSet(M * 8 + K % 2 * 4, M * 8 + K % 2 * 4 + 3)},
            "[k % 2 * 4, k % 2 * 4 + 3]",
        ),
        (N % 10, {N: IntervalSet(1, M)}, "[0, 9]"),
        (prim.Max(N, N + 1), {N: TEN}, "[1, 11]"),
        (prim.Min(N, M), {}, "[min(n, m), min(n, m)]"),
        (prim.Min(N, M), {N: TEN}, "[0, min(10, m)]"),
        (prim.Select(N > 0, N - 1, N + 1), {N: TEN}, "[-1, 11]"),
        (prim.Select(M > 5, N, N + 9), {N: TEN}, "[select(m > 5, 0, 9), select(m > 5, 10, 19)]"),
        (N * N, {N: IntervalSet(-2, 3)}, "[0, 9]"),
        (N * 8 + M, {N: IntervalSet(0, K - 1), M: IntervalSet(0, 7)}, "[0, k * 8 - 1]"),
        (N + M, {N: IntervalSet(0, M), M: IntervalSet(0, 5)}, "[0, 10]"),
        (shift("left", N, 2), {N: TEN}, "[0, 40]"),
        ((N + M) // 4 * 4, {N: IntervalSet(0, 3)}, "[m // 4 * 4, (m + 3) // 4 * 4]"),
        (N * 2 + M, {N: IntervalSet(0, pos_inf())}, "[m, pos_inf]"),
        (N, {N: IntervalSet(neg_inf(), 5)}, "[neg_inf, 5]"),
        (N, {N: IntervalSet(M, N)}, "[m, pos_inf]"),
        (N, {N: IntervalSet.nothing()}, "[pos_inf, neg_inf]"),
        (prim.Cast("int64", Var("i", "int32")) + N, {N: TEN}, "[int64(i), int64(i) + 10]"),
        (Var("x", "float32"), {N: TEN}, "[neg_inf, pos_inf]"),
    ],
)
def test_an_interval_ends_in_the_variables_that_stay(
    e: PrimExpr, domains: Domains, expected: str
) -> None:
    assert repr(Analyzer(Facts()).int_set(e, domains)) == f"IntervalSet{expected}"


def test_without_domains_the_variables_that_were_bound_to_ranges_go_through_them() -> None:
    analyzer = Analyzer()
    analyzer.bind(N, Range(0, 4))
    analyzer.bind(M, Range(K, K * 2))
    analyzer.update(K, ConstIntBound(1, 9))
    assert repr(analyzer.int_set(N * 8 + K)) == "IntervalSet[k, k + 24]"
    assert repr(analyzer.int_set(M)) == "IntervalSet[k, k * 2 - 1]"


def test_a_domain_takes_the_place_of_what_is_known() -> None:
    analyzer = Analyzer()
    analyzer.bind(N, M * 2)
    assert repr(analyzer.int_set(N + 1, {N: TEN})) == "IntervalSet[1, 11]"
    assert repr(analyzer.int_set(N + 1, {N: Range(0, 3)})) == "IntervalSet[1, 3]"
    assert repr(analyzer.int_set(N + 1)) == "IntervalSet[m * 2 + 1, m * 2 + 1]"
