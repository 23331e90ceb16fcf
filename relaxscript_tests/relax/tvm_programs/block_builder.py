"""A model is made by the block builder, with symbolic shapes and constants."""

import numpy as np
import pytest
import tvm
from tvm import relax, tir
from tvm.ir.base import assert_structural_equal
from tvm.script import ir as I, relax as R

n = tir.Var("n", "int64")
x = relax.Var("x", relax.TensorStructInfo([n, 8], "float32"))
w = relax.const(np.ones((8, 2), "float32"))
bb = relax.BlockBuilder()
with bb.function("main", [x]):
    with bb.dataflow():
        lv0 = bb.emit(relax.op.matmul(x, w))
        lv1 = bb.emit(relax.op.add(lv0, relax.const(1, "float32")))
        gv = bb.emit_output(relax.op.nn.softmax(lv1, axis=-1))
    bb.emit_func_output(gv)
mod = bb.get()

assert isinstance(lv0, relax.DataflowVar)
assert isinstance(lv0.struct_info, relax.TensorStructInfo)
assert_structural_equal(lv0.struct_info, relax.TensorStructInfo([n, 2], "float32"))
assert mod["main"].params[0].struct_info == relax.TensorStructInfo([n, 8], "float32")
assert mod["main"].body.blocks[0].bindings[0].value.op == tvm.ir.Op.get("relax.matmul")
assert isinstance(mod["main"].body.blocks[0], relax.DataflowBlock)
assert relax.analysis.well_formed(mod)

with pytest.raises(tvm.TVMError):
    relax.BlockBuilder().normalize(
        relax.op.add(x, relax.Var("y", relax.TensorStructInfo((2, 3), "float32")))
    )


@I.ir_module
class Expected:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32")) -> R.Tensor(("n", 2), "float32"):
        with R.dataflow():
            lv: R.Tensor(("n", 2), "float32") = R.matmul(x, R.const(np.ones((8, 2), "float32")))
            lv1 = R.add(lv, R.const(1, "float32"))
            gv = R.nn.softmax(lv1, axis=-1)
            R.output(gv)
        return gv


tvm.ir.assert_structural_equal(mod, Expected)
assert tvm.ir.structural_hash(mod) == tvm.ir.structural_hash(Expected)

vm = relax.VirtualMachine(relax.build(mod, "llvm"), tvm.cpu())
out = vm["main"](tvm.nd.array(np.zeros((3, 8), "float32")))
np.testing.assert_allclose(out.numpy(), np.full((3, 2), 0.5, "float32"))
