"""Models of the tests of training, as modules with a `backbone`."""

from __future__ import annotations

from relaxscript.ir import IRModule
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.script import from_source

DENSE = """
@I.ir_module
class Dense:
    I.module_attrs({"param_num": 2, "state_num": 0})

    @R.function
    def backbone(
        x: R.Tensor((5, 3), "float32"), w: R.Tensor((3, 4), "float32"), b: R.Tensor((4,), "float32")
    ):
        with R.dataflow():
            a = R.matmul(x, w)
            o = R.add(a, b)
            R.output(o)
        return o
"""

NORMALIZED = """
@I.ir_module
class Normalized:
    I.module_attrs({"param_num": 2, "state_num": 2})

    @R.function
    def backbone(
        x: R.Tensor((5, 3), "float32"),
        gamma: R.Tensor((3,), "float32"),
        beta: R.Tensor((3,), "float32"),
        mean: R.Tensor((3,), "float32"),
        var: R.Tensor((3,), "float32"),
    ):
        with R.dataflow():
            normal = R.nn.batch_norm(x, gamma, beta, mean, var, axis=1, momentum=0.25)
            y = normal[0]
            new_mean = normal[1]
            new_var = normal[2]
            R.output(y, new_mean, new_var)
        return (y, new_mean, new_var)
"""


def dense(old: str = "", new: str = "") -> IRModule:
    """A layer of weights, with something else written in one place."""
    assert old in DENSE
    return from_source(DENSE.replace(old, new, 1) if old else DENSE)


def tensor(*shape: int, dtype: str = "float32") -> TensorStructInfo:
    return TensorStructInfo(shape, dtype)
