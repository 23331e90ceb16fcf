"""Sums, products and quotients of extents, and what is proved of these."""

from __future__ import annotations

from relaxscript.arith import Facts, format_expr
from relaxscript.arith.index_algebra import IndexAlgebra
from relaxscript.ir.prim import PrimExpr
from relaxscript_tests.arith.scalars import M, N, integer

ALGEBRA = IndexAlgebra(Facts())


def shown(e: PrimExpr | None) -> str | None:
    return None if e is None else format_expr(e)


def test_quotients_are_only_given_where_they_are_exact() -> None:
    assert shown(ALGEBRA.quotient(integer(12), integer(4))) == "3"
    assert shown(ALGEBRA.quotient(N * M, M)) == "n"
    assert ALGEBRA.quotient(integer(12), integer(5)) is None
    assert ALGEBRA.quotient(integer(12), integer(0)) is None
    assert ALGEBRA.quotient(N, M) is None


def test_quotients_are_rounded_up() -> None:
    assert shown(ALGEBRA.ceil_divide(integer(13), integer(4))) == "4"
    assert shown(ALGEBRA.ceil_divide(N * 4, integer(4))) == "n"


def test_the_smaller_and_the_larger_of_two_are_one_of_them_where_that_is_known() -> None:
    assert shown(ALGEBRA.least(N, N + 1)) == shown(ALGEBRA.largest(N, N - 1)) == "n"
    assert shown(ALGEBRA.least(N, M)) == "min(n, m)"


def test_without_facts_variables_may_be_negative() -> None:
    assert ALGEBRA.is_positive(N)
    assert not IndexAlgebra().is_positive(N)
