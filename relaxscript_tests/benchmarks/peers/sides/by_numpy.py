"""numpy: what one would write by hand. It is the truth as well, in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript_tests.benchmarks.peers.workloads import Arrays, Workload

from .steps import Program

_exact_erf = np.frompyfunc(math.erf, 1, 1)


def quick_erf(x: Any) -> Any:
    """The error function, at most 1.5e-7 from it.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
    """
    size = np.abs(x)
    t = 1 / (np.float32(0.3275911) * size + 1)
    total = t * np.float32(1.061405429)
    for term in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        total += np.float32(term)
        total *= t
    size *= size
    np.negative(size, out=size)
    total *= np.exp(size, out=size)
    return np.copysign(1 - total, x)


class Operations:
    """The operations of workloads, in the precision of their operands."""

    length = -1
    matmul = staticmethod(np.matmul)
    add = staticmethod(np.add)
    subtract = staticmethod(np.subtract)
    multiply = staticmethod(np.multiply)
    negative = staticmethod(np.negative)
    exp = staticmethod(np.exp)
    tanh = staticmethod(np.tanh)
    reshape = staticmethod(np.reshape)
    transpose = staticmethod(np.transpose)

    @staticmethod
    def relu(x: Any) -> Any:
        return np.maximum(x, 0)

    @staticmethod
    def softmax(x: Any) -> Any:
        powers = x - x.max(-1, keepdims=True)
        np.exp(powers, out=powers)
        powers /= powers.sum(-1, keepdims=True)
        return powers

    @staticmethod
    def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt(np.square(x).mean(-1, keepdims=True) + x.dtype.type(1e-5))
        x *= scale
        x += shift
        return x

    @staticmethod
    def rms_norm(x: Any, scale: Any) -> Any:
        x = x / np.sqrt(np.square(x).mean(-1, keepdims=True) + x.dtype.type(1e-5))
        x *= scale
        return x

    @staticmethod
    def gelu(x: Any) -> Any:
        of = x * x.dtype.type(0.5**0.5)
        half = quick_erf(of) if x.dtype == np.float32 else _exact_erf(of).astype(x.dtype)
        half += 1
        half *= x
        half *= x.dtype.type(0.5)
        return half


class ByNumpy(Program):
    """A Python function; nothing is compiled."""

    def load(self) -> None:
        self.weights = self.given_weights

    def compile(self) -> Callable[..., Any]:
        names = tuple(self.inputs)
        program, weights, side = self.workload.program, self.weights, Operations()
        if names == ("x", "y"):
            return np.matmul  # what a call of a Python function costs is no part of a product
        return lambda *given: program(side, dict(zip(names, given)), weights)


def program(workload: Workload, variant: str) -> Program:
    return ByNumpy(workload, variant)


def truth(workload: Workload, inputs: Arrays) -> Any:
    """The result in double precision."""
    double = [
        {n: a.astype("float64") for n, a in each.items()} for each in (inputs, workload.weights())
    ]
    return workload.program(Operations(), *double)
