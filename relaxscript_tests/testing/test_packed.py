"""The packed functions of random programs: registered once, and doing what they say."""

from __future__ import annotations

import numpy as np

from relaxscript.runtime.packed_func import get_global_func
from relaxscript.testing.packed import FIRST, PAIR, TWICE, TWICE_INTO, register_packed

X = np.array([1, -100, 100], "int8")


def test_they_are_registered_once():
    register_packed()
    before = get_global_func(TWICE)
    register_packed()
    assert get_global_func(TWICE) is before


def test_they_do_what_they_say():
    register_packed()
    doubled = np.array([2, 56, -56], "int8")
    np.testing.assert_array_equal(get_global_func(TWICE)(X), doubled)
    assert get_global_func(FIRST)(X, 3) is X
    assert get_global_func(PAIR)(X, 3) == (3, X)
    out = np.zeros_like(X)
    get_global_func(TWICE_INTO)(X, out)
    np.testing.assert_array_equal(out, doubled)
