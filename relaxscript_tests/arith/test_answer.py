"""The three answers."""

from __future__ import annotations

import pytest

from relaxscript.arith import NO, UNKNOWN, YES, all_of, any_of, negate


def test_an_answer_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="compare with `is YES`"):
        bool(NO)


def test_answers_combine_as_conjunction_and_disjunction() -> None:
    assert all_of([]) is YES
    assert all_of([YES, UNKNOWN]) is UNKNOWN
    assert all_of([UNKNOWN, NO]) is NO
    assert any_of([]) is NO
    assert any_of([NO, UNKNOWN]) is UNKNOWN
    assert any_of([UNKNOWN, YES]) is YES
    assert [negate(a) for a in (YES, NO, UNKNOWN)] == [NO, YES, UNKNOWN]
    assert repr(YES) == "YES"
