"""More elements around a tensor, and between those that it has: `topi.nn.pad`, `dilate` ..."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError
from relaxscript_tests.te.topi.running import computed, normal


@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_a_value_is_put_around_a_tensor(target, rng):
    x = normal(rng, 2, 3)
    a = te.placeholder(x.shape, name="a")
    found = computed(topi.nn.pad(a, [1, 0], [0, 2], 1.5), {a: x}, target)
    assert (found == np.pad(x, [(1, 0), (0, 2)], constant_values=1.5)).all()
    assert (computed(topi.nn.pad(a, [1, 0]), {a: x}) == np.pad(x, [(1, 1), (0, 0)])).all()


@pytest.mark.parametrize(
    ("padded", "mode"),
    [
        (topi.nn.reflect_pad, {"mode": "reflect"}),
        (topi.nn.replicate_pad, {"mode": "edge"}),
        (topi.nn.circular_pad, {"mode": "wrap"}),
        (topi.nn.mirror_pad, {"mode": "symmetric"}),
        (lambda *given: topi.nn.mirror_pad(*given, mode="REFLECT"), {"mode": "reflect"}),
    ],
)
@pytest.mark.parametrize("symbolic", [False, True])
def test_the_elements_of_a_tensor_are_put_around_it(padded, mode, symbolic, rng):
    x = normal(rng, 3, 4)
    n = te.var("n", "int64")
    a = te.placeholder((n, 4) if symbolic else x.shape, name="a")
    found = computed(padded(a, [2, 9], [7, 0]), {a: x})
    assert (found == np.pad(x, [(2, 7), (9, 0)], **mode)).all()


@pytest.mark.parametrize("rows", [0, 3])
def test_values_are_put_between_the_elements(rows, rng):
    x = normal(rng, rows, 2)
    n = te.var("n", "int64")
    a = te.placeholder((n, 2), name="a")
    wanted = np.full((max(3 * rows - 2, 0), 2), -1, "float32")
    wanted[::3] = x
    assert (computed(topi.nn.dilate(a, [3, 1], -1), {a: x}) == wanted).all()


def test_what_says_too_little_or_something_else_is_refused():
    a = te.placeholder((2, 3), name="a")
    with pytest.raises(DiagnosticError, match=r"`topi\.nn\.pad` takes a number for each axis"):
        topi.nn.pad(a, [1])
    with pytest.raises(DiagnosticError, match=r"`topi\.nn\.dilate` takes a number for each axis"):
        topi.nn.dilate(a, [1, 1, 1])
    with pytest.raises(DiagnosticError, match='it is "SYMMETRIC" or "REFLECT"'):
        topi.nn.mirror_pad(a, [1, 1], mode="EDGE")
