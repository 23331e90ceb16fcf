"""Loops give the random numbers that the operators mean, to the last bit and for any size."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.script import from_source
from relaxscript.transform import LegalizeOps

MOD = """
@I.ir_module
class Random:
    @R.function
    def main(seed: R.Tensor((), "int64"), x: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        key = R.random.key(seed)
        keys = R.random.split(key, 3)
        last = R.squeeze(R.strided_slice(keys, axes=[0], begin=[2], end=[3]), axis=[0])
        a = R.random.normal(last, R.shape([n, 3]), 1.0, 2.0)
        b = R.random.normal(key, R.shape([n, 3]), dtype="float64")
        c = R.random.uniform(last, R.shape([n * 2]), -1.0, 1.0, "bfloat16")
        d = R.random.randint(last, R.shape([n]), -5, 1000000007)
        e = R.random.bernoulli(last, R.shape([n, n]), 0.3)
        f = R.random.uniform(key, R.shape([]))
        return keys, a, b, c, d, e, f
"""


@pytest.mark.parametrize("seed", [0, 42, -7, 2**62 + 3])
def test_numbers_are_the_same_to_the_last_bit(seed):
    mod = from_source(MOD)
    made = LegalizeOps(require_all=True)(mod)
    operands = np.array(seed), np.zeros((700, 3), "float32")
    for found, expected in zip(rx.jit(made).main(*operands), rx.jit(mod).main(*operands)):
        assert (found.dtype, found.tobytes()) == (expected.dtype, expected.tobytes())
