"""A module that is built, and the programs that the cache has."""

from __future__ import annotations

import numpy as np

import relaxscript as rx
from relaxscript.runtime.object_cache import PROGRAM, object_cache

TEXT = """
@I.ir_module
class Model:
    @T.prim_func
    def pick(
        x: T.Buffer(("n",), "float32"), at: T.Buffer((2,), "int64"), y: T.Buffer((2,), "float32")
    ):
        n = T.int64()
        for i in range(2):
            with T.block("pick"):
                vi = T.axis.spatial(2, i)
                y[vi] = x[at[vi]]

    @R.function
    def main(x: R.Tensor(("n",), "float32"), at: R.Tensor((2,), "int64")):
        n = T.int64()
        y = R.exp(x) * R.const([2.0], "float32")
        return R.call_tir(Model.pick, (y, at), out_sinfo=R.Tensor((2,), "float32"))
"""
X, AT = np.arange(3, dtype="float32"), np.array([2, 0])


def programs() -> list[str]:
    return [file.path for file in object_cache().files() if file.kind == PROGRAM]


def model(text: str = TEXT) -> rx.IRModule:
    return rx.from_source(text)
