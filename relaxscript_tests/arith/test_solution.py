"""The only value for which an equation holds."""

from __future__ import annotations

import pytest

from relaxscript.arith import only_solution
from relaxscript.ir.prim import Var, as_prim

n, m = Var("n", "int64"), Var("m", "int64")


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        (n * 400, 400, ("n", 1)),
        (n * 12, n * 13, ("n", 0)),
        (n + 3, 5, ("n", 2)),
        (n * m * 2, n * m * 3, ("n * m", 0)),
        (n * m, 6, ("n * m", 6)),
        (n * 2, 3, None),
        (n, m, None),
        (n // 2, 3, None),
        (n, n, None),
    ],
)
def test_what_must_have_which_value(a, b, found):
    assert only_solution(as_prim(a), as_prim(b)) == found
