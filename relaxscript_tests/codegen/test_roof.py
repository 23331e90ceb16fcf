"""The roof of this computer."""

from __future__ import annotations

import math

import numpy as np

from relaxscript.codegen import roof
from relaxscript.interpreter.tir import evaluate


def test_the_roof_is_measured_once():
    found = roof.measured_roof()
    assert roof.measured_roof() is found
    sizes, rates = zip(*found.copies)
    assert sizes == tuple(sorted(sizes))
    assert all(0 < rate < math.inf for rate in (*rates, found.flops))


def test_without_llvmlite_a_product_of_numpy_tells_the_speed(monkeypatch):
    monkeypatch.setattr(roof, "find_spec", lambda name: None)
    found = roof.measured_roof.__wrapped__()
    assert (found.how, found.flops > 0) == ("measured with copies and a product of numpy", True)


def test_what_is_measured_multiplies_and_adds_as_often_as_is_said(monkeypatch):
    monkeypatch.setattr(roof, "_STEPS", 7)
    given, taken = np.full(4, 2, "float32"), np.zeros((3, 4), "float32")
    evaluate(roof.vector_loop(4, 3), [given, taken])
    assert np.array_equal(taken, np.full((3, 4), 7 * 4, "float32"))
