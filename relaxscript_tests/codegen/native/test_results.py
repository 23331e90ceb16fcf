"""Shapes, numbers and nested tuples among the results of native functions."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest

from relaxscript.runtime import Shape
from relaxscript_tests import examples
from relaxscript_tests.codegen.native.calls import is_native, model, outcome

MODULE = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), k: R.Prim("int64"), s: R.Shape(["m", "j"])):
        n = T.int64()
        m = T.int64()
        j = T.int64()
        y = R.exp(R.add(x, x))
        return (
            R.shape([n, m // 3]), (y, (R.shape([]), k), x), R.prim_value(n * m + j), (),
            R.shape_of(y), s, R.prim_value(3), y, R.shape([2, 3]),
        )

    @R.function
    def alone(x: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        y = R.exp(x)
        return R.shape([n * n])

    @R.function
    def reshaped(x: R.Tensor(("n", 4), "float32"), s: R.Shape(["m", "j"])):
        y = R.exp(R.reshape(R.exp(x), s))
        return (y, R.shape_of(y))
"""


@pytest.fixture(scope="module")
def vm() -> Any:
    with pytest.warns(match="elements"):
        return model(MODULE)


X = np.arange(12, dtype="float32").reshape(3, 4)


@pytest.mark.parametrize("rows", [0, 1, 3, 300])
def test_shapes_numbers_and_tuples_are_those_of_the_machine(vm: Any, rows: int) -> None:
    x = np.ones((rows, 4), "float32")
    for args in ((x, 7, (5, 2)), (x, -(1 << 63), [0, 0]), (x, 0, Shape([1 << 40, 9]))):
        assert outcome(vm.main, args) == outcome(vm.main.__self__, args)
    assert outcome(vm.alone, (x,)) == outcome(vm.alone.__self__, (x,))
    assert is_native(vm.main)
    assert is_native(vm.alone)


def test_a_shape_that_is_returned_is_a_shape(vm: Any) -> None:
    (shape, _, number, *_) = vm.main(X, 1, (7, 2))
    assert type(shape) is Shape
    assert (shape, number) == ((3, 2), 23)
    assert hash(shape) == hash((3, 2))


def test_a_number_of_more_than_64_bits_is_told_alike(vm: Any) -> None:
    args = X, 1, (1 << 62, 0)
    assert outcome(vm.main, args) == outcome(vm.main.__self__, args)


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (1, 12), (3, 3), (0, 12), (1 << 62, 4)])
def test_a_view_whose_size_only_the_run_shows_is_made_or_refused_alike(
    vm: Any, shape: tuple[int, ...]
) -> None:
    assert is_native(vm.reshaped)
    assert outcome(vm.reshaped, (X, shape)) == outcome(vm.reshaped.__self__, (X, shape))


def test_shapes_and_numbers_that_are_returned_leak_nothing(vm: Any) -> None:
    times, args = examples(3000), (X, 1 << 40, (1 << 40, 1 << 41))

    def run() -> None:
        for _ in range(times):
            vm.main(*args)
        gc.collect()

    run()
    blocks, counts = sys.getallocatedblocks(), [sys.getrefcount(thing) for thing in (X, Shape)]
    run()
    assert abs(sys.getallocatedblocks() - blocks) < times // 2
    assert [sys.getrefcount(thing) for thing in (X, Shape)] == counts
