"""numba: loops written by hand, which write into an array that is kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from relaxscript_tests.benchmarks.peers.workloads import (
    Workload,
    heavy,
    layer_norm,
    light,
    rms_norm,
)

from .steps import Program

numba = import_module("numba")
compiled = numba.njit(fastmath=True, boundscheck=False)


@compiled
def light_loop(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = max(x[i] * np.float32(1.5) + np.float32(0.5), np.float32(0))


@compiled
def heavy_loop(x: Any, out: Any) -> None:
    for i in range(x.size):
        wave = math.tanh(x[i] * np.float32(1.5) + np.float32(0.5))
        out[i] = wave * np.float32(0.7) + math.exp(-x[i] * x[i])


@compiled
def layer_norm_loop(x: Any, scale: Any, shift: Any, out: Any) -> None:
    rows, columns = x.shape
    share = np.float32(1 / columns)
    for i in range(rows):
        total = np.float32(0)
        squares = np.float32(0)
        for j in range(columns):
            total += x[i, j]
        mean = total * share
        for j in range(columns):
            squares += (x[i, j] - mean) * (x[i, j] - mean)
        factor = np.float32(1) / math.sqrt(squares * share + np.float32(1e-5))
        for j in range(columns):
            out[i, j] = (x[i, j] - mean) * factor * scale[j] + shift[j]


@compiled
def rms_norm_loop(x: Any, scale: Any, out: Any) -> None:
    rows, columns = x.shape
    share = np.float32(1 / columns)
    for i in range(rows):
        squares = np.float32(0)
        for j in range(columns):
            squares += x[i, j] * x[i, j]
        factor = np.float32(1) / math.sqrt(squares * share + np.float32(1e-5))
        for j in range(columns):
            out[i, j] = x[i, j] * factor * scale[j]


LOOPS = {light: light_loop, heavy: heavy_loop, layer_norm: layer_norm_loop, rms_norm: rms_norm_loop}


class ByNumba(Program):
    """A loop nest over whole arrays."""

    def compile(self) -> Callable[..., Any]:
        loop, out = LOOPS[self.workload.program], np.empty_like(self.inputs["x"])

        def by_numba(*given: Any) -> Any:
            loop(*given, out)
            return out

        return by_numba


def program(workload: Workload, variant: str) -> Program:
    return ByNumba(workload, variant)
