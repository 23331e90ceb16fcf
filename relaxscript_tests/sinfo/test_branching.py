"""What conditions say in their branches."""

from __future__ import annotations

from relaxscript.arith import NO, UNKNOWN, YES, Facts, prove
from relaxscript.ir import prim
from relaxscript.ir.struct_info import PrimStructInfo, TensorStructInfo
from relaxscript.sinfo import facts_in_branch

n, m = prim.Var("n", "int64"), prim.Var("m", "int64")


def known(value: prim.PrimExpr) -> PrimStructInfo:
    return PrimStructInfo("bool", value)


def test_a_comparison_holds_in_one_branch_and_its_negation_in_the_other():
    assert prove(n + 1 <= m, facts_in_branch(known(n < m), True)) is YES
    assert prove(n + 1 <= m, facts_in_branch(known(n < m), False)) is NO
    assert prove(n + 1 <= m) is UNKNOWN


def test_what_was_known_before_is_known_still():
    outer = Facts().with_range(n, 3, None)
    inner = facts_in_branch(known(m > n), True, outer)
    assert prove(m > 3, inner) is YES
    assert prove(m > 3, outer) is UNKNOWN


def test_a_tensor_and_a_scalar_of_unknown_value_say_nothing():
    outer = Facts().with_range(n, 3, None)
    for info in (TensorStructInfo((), "bool"), PrimStructInfo("bool")):
        assert facts_in_branch(info, True) is None
        assert facts_in_branch(info, False, outer) is outer


def test_a_branch_that_never_runs_learns_nothing():
    outer = facts_in_branch(known(n < 3), True)
    assert facts_in_branch(known(n > 5), True, outer) is outer
    assert facts_in_branch(known(n >= 0), False) is None
