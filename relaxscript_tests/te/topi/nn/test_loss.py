"""Losses of classes that there are, and of those that there are not."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript.errors import VMError
from relaxscript_tests.te.topi.running import computed

X = np.array([[1, 2, 4], [3, 5, 9]], "float32")


@pytest.mark.parametrize("target", ["reference", "llvm"])
def test_a_class_that_is_ignored_need_not_be_there(target: str) -> None:
    a, t = te.placeholder((2, 3), name="a"), te.placeholder((2,), "int64", name="t")
    made = topi.nn.nll_loss(a, t, None, "mean", -100)
    assert computed(made, {a: X, t: np.array([-100, 2])}, target) == -9


@pytest.mark.parametrize("target", ["reference", "llvm"])
def test_a_class_that_is_not_there_is_noticed(target: str) -> None:
    a, t = te.placeholder((2, 3), name="a"), te.placeholder((2,), "int64", name="t")
    made = topi.nn.nll_loss(a, t, None, "none", -100)
    with pytest.raises(VMError, match="index 3 is outside of dimension 1"):
        computed(made, {a: X, t: np.array([0, 3])}, target)
