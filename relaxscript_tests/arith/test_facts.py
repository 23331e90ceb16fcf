"""Facts."""

from __future__ import annotations

from relaxscript.arith import YES, Facts, prove
from relaxscript.ir.prim import SizeVar
from relaxscript_tests.arith.scalars import M, N


def test_facts_are_never_changed() -> None:
    before = Facts()
    after = before.with_range(N, 1, 4).with_equal(M, 3).with_condition(N < M).with_congruence(N, 2)
    assert prove(N >= 1, before) is not YES
    assert (before.ranges, before.equalities, before.conditions) == ({}, (), ())
    assert after.range_of(N) == (1, 4)
    assert prove(M > N, after) is YES


def test_a_variable_without_a_range_is_a_size_unless_said_otherwise() -> None:
    size = SizeVar("s", "int64")
    signed = Facts(nonnegative=False)
    assert Facts().range_of(N) == (0, None)
    assert signed.range_of(N) == (None, None)
    assert signed.range_of(size) == (0, None)
    assert signed.with_range(N, -3, None).range_of(N) == (-3, None)
