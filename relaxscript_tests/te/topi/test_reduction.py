"""Elements of tensors combined over axes: what no operator of Relax covers."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import te, topi
from relaxscript.errors import DiagnosticError

from .running import computed

X = np.array([[1, 5, 5], [7, 7, 2]], "float32")


def test_the_last_of_several_extremes_can_be_asked_for() -> None:
    a = te.placeholder((2, 3), name="a")
    assert computed(topi.argmax(a, 1), {a: X}).tolist() == [1, 0]
    assert computed(topi.argmax(a, 1, select_last_index=True), {a: X}).tolist() == [2, 1]
    assert computed(topi.argmin(a, -1, True, True), {a: X}).tolist() == [[0], [2]]


def test_places_along_all_axes_are_counted_in_row_major_order() -> None:
    a = te.placeholder((2, 3), name="a")
    assert computed(topi.argmax(a), {a: X}) == 3
    assert computed(topi.argmin(a, [0, 1]), {a: X}) == 0


def test_conditions_are_combined() -> None:
    a = te.placeholder((2, 3), "bool", name="a")
    holds = X > 3
    assert computed(topi.all(a, 0), {a: holds}).tolist() == [False, True, False]
    assert computed(topi.any(a, 1, keepdims=True), {a: holds}).tolist() == [[True], [True]]


def test_sums_of_floats_are_made_in_a_wider_dtype() -> None:
    a = te.placeholder((3000,), "float16", name="a")
    assert computed(topi.sum(a), {a: np.ones(3000, "float16")}) == 3000


def test_sums_are_over_axes_that_a_shape_does_not_have() -> None:
    a = te.placeholder((2, 3), name="a")
    assert computed(topi.collapse_sum(a, (1, 3)), {a: X}).tolist() == [[8, 12, 7]]
    assert computed(topi.collapse_sum(a, (3,)), {a: X}).tolist() == [8, 12, 7]
    assert computed(topi.collapse_sum(a, (2, 3)), {a: X}).tolist() == X.tolist()


def test_a_dimension_that_is_not_known_says_when_it_runs_what_is_added_up() -> None:
    m, n = te.var("m", "int64"), te.var("n", "int64")
    a = te.placeholder((n,), name="a")
    made = te.create_prim_func([a, topi.collapse_sum(a, (m,))])
    vm = rx.VirtualMachine(rx.build(rx.IRModule({"main": made}), "llvm"))
    for size, wanted in ((1, [13]), (3, [1, 5, 7])):
        out = np.empty(size, "float32")
        vm["main"](np.array([1, 5, 7], "float32"), out)
        assert out.tolist() == wanted


@pytest.mark.parametrize("name", ["sum", "max", "argmin"])
def test_an_axis_that_is_not_there_is_named(name: str) -> None:
    a = te.placeholder((2, 3), name="a")
    with pytest.raises(DiagnosticError, match="cannot find axis 2: the tensor `a` has 2 axes"):
        getattr(topi, name)(a, [0, 2])


def test_a_sum_has_no_more_axes_than_what_is_added_up() -> None:
    a = te.placeholder((3,), name="a")
    with pytest.raises(DiagnosticError, match="at most as many axes as it takes"):
        topi.collapse_sum(a, (2, 3))
