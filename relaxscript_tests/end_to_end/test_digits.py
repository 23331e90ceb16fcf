"""The digits model of the first page, on every executor."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.compiler import VirtualMachine, build
from relaxscript.interpreter import Interpreter
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import EXECUTORS, every_executor


@I.ir_module
class Digits:
    @T.prim_func
    def relu(x: T.Buffer(("n", 64), "float32"), y: T.Buffer(("n", 64), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 64):
            with T.block("relu"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.max(x[vi, vj], T.float32(0))

    @R.function
    def main(
        x: R.Tensor(("n", 64), "float32"),
        w: R.Tensor((64, 64), "float32"),
        v: R.Tensor((64, 10), "float32"),
    ):
        n = T.int64()
        cls = Digits
        with R.dataflow():
            h = R.matmul(x, w)
            a = R.call_tir(cls.relu, (h,), out_sinfo=R.Tensor((n, 64), "float32"))
            gv = R.nn.softmax(a @ v)
            R.output(gv)
        return gv


RANDOM = np.random.default_rng(20)
W = RANDOM.normal(size=(64, 64)).astype("float32")
V = RANDOM.normal(size=(64, 10)).astype("float32")


def images(count):
    return np.random.default_rng(count).normal(size=(count, 64)).astype("float32")


def by_hand(x):
    scores = np.maximum(x @ W, 0) @ V
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-np.inf))
    return powers / powers.sum(axis=-1, keepdims=True)


@every_executor
@pytest.mark.parametrize("count", [0, 1, 2, 5, 33])
def test_any_batch_gets_the_probabilities_of_plain_numpy(load, count):
    x = images(count)
    result = load(Digits).main(x, W, V)
    assert result.dtype == np.float32
    assert result.shape == (count, 10)
    # Scores are sums of some tens, of which the exponential makes a relative error.
    np.testing.assert_allclose(result, by_hand(x), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("count", [1, 17])
def test_all_executors_that_do_not_optimise_give_the_same_bits(count):
    x = images(count)
    found = {name: load(Digits).main(x, W, V) for name, load in EXECUTORS.items()}
    optimised = found.pop("llvm")
    first = found["interpreter"]
    for result in found.values():
        np.testing.assert_array_equal(result, first)
    np.testing.assert_allclose(optimised, first, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("target", ["reference", "llvm -opt-level=0"])
def test_weights_bound_as_constants_need_not_be_given(target):
    model = VirtualMachine(build(Digits, target, params={"w": W, "v": V}))
    x = images(3)
    np.testing.assert_array_equal(model.main(x), Interpreter(Digits).main(x, W, V))


@every_executor
def test_weights_may_be_given_by_name(load):
    model = load(Digits)
    x = images(2)
    np.testing.assert_array_equal(model.main(x, v=V, w=W), model.main(x, W, V))
