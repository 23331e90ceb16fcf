"""Places in sorted rows: `topi.searchsorted`."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError

from .running import computed


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_a_value_has_its_place_in_a_sorted_row(right, target):
    row = np.array([-np.inf, -1, 2, 2, 2, 5, np.inf, np.nan, np.nan], "float32")
    values = np.array([[-np.inf, -3, -1], [2, 3, np.nan], [np.inf, 9, 5]], "float32")
    s, v = te.placeholder((te.var("n", "int64"),), name="s"), te.placeholder((3, 3), name="v")
    found = computed(topi.searchsorted(s, v, right, "int32"), {s: row, v: values}, target)
    assert found.dtype == "int32"
    np.testing.assert_array_equal(found, np.searchsorted(row, values, "right" if right else "left"))


def test_each_row_is_for_its_own_values(rng):
    rows, values = np.sort(rng.integers(0, 9, (2, 6))), rng.integers(-1, 10, (2, 4))
    s, v = te.placeholder((2, 6), "int64", "s"), te.placeholder((2, 4), "int64", "v")
    found = computed(topi.searchsorted(s, v), {s: rows, v: values})
    wanted = [np.searchsorted(row, own) for row, own in zip(rows, values)]
    np.testing.assert_array_equal(found, wanted)


def test_rows_for_values_of_another_rank_are_refused():
    with pytest.raises(DiagnosticError, match="takes one row, or as many axes as the values have"):
        topi.searchsorted(te.placeholder((2, 3)), te.placeholder((4,)))
