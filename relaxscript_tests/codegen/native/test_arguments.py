"""Numbers, shapes and tuples among the arguments of native functions."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest

from relaxscript.runtime import Prim, Shape
from relaxscript.runtime.dispatch import VMClosure
from relaxscript_tests import examples
from relaxscript_tests.codegen.native.calls import is_native, model, outcome

MODULE = """
@I.ir_module
class Model:
    @T.prim_func
    def shift(x: T.Buffer(("n", 4), "float32"), by: T.int64, y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 4):
            with T.block("shift"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] + T.cast(by, "float32")

    @T.prim_func
    def scale(
        x: T.Buffer(("n", 4), "float32"), w: T.Buffer((4,), "float32"),
        y: T.Buffer(("n", 4), "float32"),
    ):
        n = T.int64()
        for i, j in T.grid(n, 4):
            with T.block("scale"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * w[vj]

    @R.function
    def number(k: R.Prim("int64"), x: R.Tensor(("n", 4), "float32"), m: R.Prim(value="m")):
        n = T.int64()
        m = T.int64()
        y = R.call_tir(
            Model.shift, (x,), out_sinfo=R.Tensor((n, 4), "float32"), tir_vars=R.shape([m])
        )
        return (y, k)

    @R.function
    def known(x: R.Tensor(("n", 4), "float32"), a: R.Prim(value="n"), b: R.Prim(value="n + 1"),
              c: R.Prim(value=7)):
        n = T.int64()
        y = R.call_tir(
            Model.shift, (x,), out_sinfo=R.Tensor((n, 4), "float32"), tir_vars=R.shape([n])
        )
        return y

    @R.function
    def others(x: R.Tensor(("n", 4), "float32"), f: R.Prim("float64"), b: R.Prim("bool")):
        n = T.int64()
        y = R.call_tir(
            Model.shift, (x,), out_sinfo=R.Tensor((n, 4), "float32"), tir_vars=R.shape([n])
        )
        return (f, y, b)

    @T.prim_func
    def mixed(
        x: T.Buffer(("n", 4), "float32"), a: T.float32, b: T.int32, c: T.uint8, d: T.float64,
        e: T.bool, y: T.Buffer(("n", 4), "float32"),
    ):
        n = T.int64()
        for i, j in T.grid(n, 4):
            y[i, j] = T.Select(
                e, x[i, j] * a + T.cast(b, "float32"), T.cast(c, "float32") + T.cast(d, "float32"))

    @R.function
    def narrow(
        x: R.Tensor(("n", 4), "float32"), a: R.Prim("float32"), b: R.Prim("int32"),
        c: R.Prim("uint8"), d: R.Prim("float64"), e: R.Prim("bool"),
    ):
        n = T.int64()
        return R.call_tir(Model.mixed, (x, a, b, c, d, e), out_sinfo=R.Tensor((n, 4), "float32"))

    @R.function
    def shapes(s: R.Shape(["m", 3, "n"]), x: R.Tensor(("n", 4), "float32"), t: R.Shape(ndim=2)):
        n = T.int64()
        m = T.int64()
        y = R.call_tir(
            Model.shift, (x,), out_sinfo=R.Tensor((n, 4), "float32"), tir_vars=R.shape([m])
        )
        return (s, y, t, R.shape([m * 2 - 1]), R.prim_value(m - n))

    @R.function
    def scaled(
        x: R.Tensor(("n", 4), "float32"),
        w: R.Tuple(
            R.Tensor((4,), "float32"), R.Tuple(R.Tensor(("n", 4), "float32"), R.Prim("int64"))
        ),
    ):
        n = T.int64()
        y = R.call_tir(Model.scale, (x, w[0]), out_sinfo=R.Tensor((n, 4), "float32"))
        return (y, w[1], w[0])

    @R.function
    def inside(w: R.Tuple(R.Tensor((4,), "float32"), R.Shape(["n"]), R.Tuple()),
               x: R.Tensor(("m", 4), "float32")):
        n = T.int64()
        m = T.int64()
        y = R.call_tir(
            Model.shift, (x,), out_sinfo=R.Tensor((m, 4), "float32"), tir_vars=R.shape([n])
        )
        return (w, y)
"""
X = np.arange(12, dtype="float32").reshape(3, 4)
W = np.array([1, 2, 3, 4], "float32")
GOOD: dict[str, tuple[Any, ...]] = {
    "number": (-5, X, 2),
    "known": (X, 3, 4, 7),
    "others": (X, 1.5, True),
    "narrow": (X, Prim(0.1, "float32"), Prim(-7, "int32"), Prim(200, "uint8"), 1.5, True),
    "shapes": (Shape([2, 3, 3]), X, (0, 5)),
    "scaled": (X, (W, (X, 8))),
    "inside": ((W, Shape([6]), ()), X),
}


class Int(int):
    """A subclass of int."""


class Pair(tuple[Any, ...]):
    """A subclass of tuple."""


ODD: tuple[Any, ...] = (
    0, 1, 3, -1, 7, (1 << 63) - 1, 1 << 63, -(1 << 63), -(1 << 63) - 1, 1 << 200, Int(3), True,
    False, 1.0, 1.5, float("nan"), -0.0, float("inf"), None, "x", Prim(3, "int32"), Prim(3,
    "uint8"), Prim(1.5, "float16"), Prim(3, "uint64"), Prim(1.5, "float32"), np.int64(3),
    np.int32(3), np.float64(1.5), np.float32(1.5), np.bool_(True), np.array(3), np.array(1.5),
    np.array(True), X, W, X.T, W[::2], W.astype("float64"), (), [], (3,), [3], (3, 4), [3, 4],
    (2, 3, 3), [2, 3, 3], Shape([3, 4]), Shape([2, 3, 3]), Shape([]), (2, 3, -3), (True, 3, 3),
    (2, 3, 1 << 63), (np.int64(2), 3, 3), (2, 3, 4), (0, 3, 3), (-1, 4), (W, (X, 8)), [W, [X,
    8]], (W, (X, True)), (W, (X[:2], 8)), (W, (X, 8), 1), (W, X, 8), Pair((W, (X, 8))), (W,
    Pair((X, 8))), (W.tolist(), (X, 8)), (W, Shape([6]), ()), (W, [6], []), (W, (-6,), ()), (W,
    (6,), (6,)), (W, Shape([6])), (None, None), (None, None, None), int, {}, {1: 2},
)  # fmt: skip


@pytest.fixture(scope="module")
def vm() -> Any:
    return model(MODULE)


@pytest.mark.parametrize("name", GOOD)
def test_functions_that_take_numbers_shapes_and_tuples_are_native(vm: Any, name: str) -> None:
    assert is_native(vm[name])
    assert outcome(vm[name], GOOD[name]) == outcome(vm[name].__self__, GOOD[name])


@pytest.mark.parametrize("name", GOOD)
def test_both_ways_take_and_refuse_the_same_in_any_place(vm: Any, name: str) -> None:
    for place in range(len(GOOD[name])):
        for odd in ODD:
            args = list(GOOD[name])
            args[place] = odd
            assert outcome(vm[name], tuple(args)) == outcome(vm[name].__self__, tuple(args)), odd


def test_both_ways_do_the_same_with_several_odd_arguments(vm: Any, rng: Any) -> None:
    names = list(GOOD)
    for _ in range(examples(3000)):
        name = names[rng.integers(len(names))]
        args = tuple(
            ODD[rng.integers(len(ODD))] if rng.random() < 0.4 else arg for arg in GOOD[name]
        )
        assert outcome(vm[name], args) == outcome(vm[name].__self__, args), args


def test_arguments_that_fit_do_not_go_the_slow_way(
    vm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {name: outcome(vm[name].__self__, args) for name, args in GOOD.items()}
    monkeypatch.setattr(VMClosure, "__call__", None)
    assert {name: outcome(vm[name], args) for name, args in GOOD.items()} == wanted


def test_tensors_of_a_tuple_are_returned_themselves(vm: Any) -> None:
    _, (same, number), w = vm.scaled(X, (W, (X, 8)))
    assert same is X
    assert w is W
    assert number == 8


def test_a_size_of_64_bits_that_is_computed_too_large_is_told_alike(vm: Any) -> None:
    args = Shape([(1 << 63) - 1, 3, 3]), X, (0, 5)
    assert outcome(vm.shapes, args) == outcome(vm.shapes.__self__, args)


def test_a_result_that_would_be_negative_is_told_alike(vm: Any) -> None:
    args = Shape([0, 3, 3]), X, (0, 5)
    assert "`m * 2 - 1`, is -1" in outcome(vm.shapes, args)
    assert outcome(vm.shapes, args) == outcome(vm.shapes.__self__, args)


@pytest.mark.parametrize("name", GOOD)
def test_calls_with_numbers_shapes_and_tuples_leak_nothing(vm: Any, name: str) -> None:
    function, times = vm[name], examples(3000)
    refused = (*GOOD[name][:-1], None)

    def run() -> None:
        for _ in range(times):
            function(*GOOD[name])
        outcome(function, refused)
        gc.collect()

    run()
    blocks, counts = sys.getallocatedblocks(), [sys.getrefcount(arg) for arg in (X, W, Shape)]
    run()
    assert abs(sys.getallocatedblocks() - blocks) < times // 2
    assert [sys.getrefcount(arg) for arg in (X, W, Shape)] == counts
