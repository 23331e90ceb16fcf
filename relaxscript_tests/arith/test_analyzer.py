"""`Analyzer`: the names of TVM."""

from __future__ import annotations

import pytest

from relaxscript.arith import Analyzer, ConstIntBound, ModularSet, text_of
from relaxscript.ir import prim
from relaxscript.ir.prim import SizeVar
from relaxscript.ir.tir import Range
from relaxscript_tests.arith.random_scalars import K, M, N, integer


def test_variables_may_be_negative_until_they_are_bound() -> None:
    analyzer = Analyzer()
    assert not analyzer.can_prove(N >= 0)
    analyzer.bind(N, Range(integer(0), integer(8)))
    assert analyzer.can_prove(N >= 0)
    assert analyzer.can_prove_less(N, 8)
    assert analyzer.const_int_bound(N) == ConstIntBound(0, 7)
    assert analyzer.const_int_bound_is_bound(N)
    assert not analyzer.const_int_bound_is_bound(M)
    assert analyzer.can_prove_greater_equal(SizeVar("s", "int64") + 1, 1)


def test_a_symbolic_range_is_remembered() -> None:
    analyzer = Analyzer()
    analyzer.bind(N, Range(integer(0), M))
    assert analyzer.can_prove(N < M)
    assert analyzer.can_prove(N * 4 + 3 < M * 4)


def test_a_bound_variable_is_replaced() -> None:
    analyzer = Analyzer()
    analyzer.bind(N, M * 4)
    assert text_of(analyzer.simplify(N // 4)) == "m"
    assert text_of(analyzer.rewrite_simplify(N // 4)) == "m"
    assert text_of(analyzer.canonical_simplify(N // 4)) == "m"
    assert analyzer.can_prove_equal(N, M + M * 3)
    assert analyzer.can_prove_not_equal(N, M * 4 + 1)


def test_a_constraint_holds_within_its_scope_only() -> None:
    analyzer = Analyzer()
    with analyzer.constraint_scope(N > M):
        assert analyzer.can_prove(N + K > M + K)
    assert not analyzer.can_prove(N > M)


def test_bounds_and_congruences_can_be_learned() -> None:
    analyzer = Analyzer()
    analyzer.update(N, ConstIntBound(2, 5))
    analyzer.update(M, ModularSet(4, 1))
    assert analyzer.const_int_bound(N + 1) == ConstIntBound(3, 6)
    assert analyzer.modular_set(M * 2 + 1) == ModularSet(8, 3)
    assert analyzer.modular_set(integer(5)) == ModularSet(0, 5)
    assert text_of(analyzer.simplify(M % 4)) == "1"
    with pytest.raises(TypeError, match="cannot learn a int about `n`"):
        analyzer.update(N, 3)  # type: ignore[arg-type]


def test_what_cannot_be_read_may_be_anything() -> None:
    call = prim.Call("int64", "tir.call_extern", (prim.StringImm("next"),))
    assert Analyzer().modular_set(call) == ModularSet(1, 0)
