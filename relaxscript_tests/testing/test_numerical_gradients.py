"""Gradients compared with differences."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.testing import check_numerical_grads

X = np.linspace(-1, 2, 6).reshape(2, 3)
Y = np.linspace(3, 1, 3)


def product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x * x * y


def test_right_gradients_of_all_inputs_pass():
    check_numerical_grads(product, [X, Y], [2 * X * Y, (X * X).sum(0)])
    check_numerical_grads(product, {"x": X, "y": Y}, {"x": 2 * X * Y, "y": (X * X).sum(0)})


def test_a_wrong_gradient_is_named_with_the_element_that_is_off_the_most():
    wrong = (X * X).sum(0)
    wrong[1] += 5
    with pytest.raises(AssertionError, match=r"of `y` is 7\.12 at \(1,\); differences say 2\.12;"):
        check_numerical_grads(product, {"x": X, "y": Y}, {"x": 2 * X * Y, "y": wrong})


def test_a_gradient_that_is_no_number_is_wrong():
    with pytest.raises(AssertionError, match=r"the gradient of `0` is nan"):
        check_numerical_grads(np.square, [Y], [2 * Y * np.nan])


def test_gradients_are_those_of_the_inputs():
    with pytest.raises(AssertionError, match=r"the gradients are of \['x'\], the inputs are"):
        check_numerical_grads(product, {"x": X, "y": Y}, {"x": X})
    with pytest.raises(AssertionError, match=r"has shape \(2,\), not \(3,\)"):
        check_numerical_grads(np.square, [Y], [Y[:2]])


def test_where_the_function_is_no_number_there_is_no_gradient():
    with pytest.raises(AssertionError, match="the function is nan there"):
        check_numerical_grads(np.square, [Y], [Y], function_value=np.nan)


def test_the_inputs_are_left_as_they_are():
    x = X.astype("float32")
    check_numerical_grads(np.square, [x], [2 * x])
    assert (x == X.astype("float32")).all()
