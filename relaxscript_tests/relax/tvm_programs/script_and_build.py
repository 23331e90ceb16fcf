"""A module of both languages is written, looked at, transformed, compiled and called."""

import numpy as np
import tvm
import tvm.testing
from tvm import IRModule, relax
from tvm.script import ir as I, relax as R, tir as T


@I.ir_module
class Module:
    @T.prim_func
    def mm(
        A: T.Buffer((2, 3), "float32"),
        B: T.Buffer((3, 4), "float32"),
        C: T.Buffer((2, 4), "float32"),
    ):
        T.func_attr({"tir.noalias": True})
        for i, j, k in T.grid(2, 4, 3):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")) -> R.Tensor(
        (2, 4), "float32"
    ):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.mm, (x, w), out_sinfo=R.Tensor((2, 4), dtype="float32"))
            gv = R.nn.relu(lv)
            R.output(gv)
        return gv


assert isinstance(Module, tvm.IRModule)
assert isinstance(Module, IRModule)
print(Module.get_global_vars())
assert {gv.name_hint for gv in Module.get_global_vars()} == {"mm", "main"}
main = Module["main"]
assert isinstance(main, relax.Function)
assert isinstance(Module["mm"], tvm.tir.PrimFunc)
tvm.ir.assert_structural_equal(Module[Module.get_global_var("main")], main)
Module.show()
assert "R.call_tir" in Module.script()

mod = tvm.transform.Sequential(
    [
        relax.transform.ToNonDataflow(),
        relax.transform.CallTIRRewrite(),
    ]
)(Module)
assert relax.analysis.well_formed(mod)
assert "R.call_tir" not in mod.script()

target = tvm.target.Target("llvm")
with target:
    ex = tvm.compile(Module, target=target)
dev = tvm.device("llvm", 0)
vm = relax.VirtualMachine(ex, dev)
x_np = np.random.rand(2, 3).astype("float32")
w_np = np.random.rand(3, 4).astype("float32")
out = vm["main"](tvm.nd.array(x_np, device=dev), tvm.nd.array(w_np, dev))
tvm.testing.assert_allclose(out.numpy(), np.maximum(x_np @ w_np, 0), rtol=1e-5, atol=1e-5)
with tvm.transform.PassContext(opt_level=3):
    ex = relax.build(Module, target="llvm", exec_mode="compiled")
vm = relax.VirtualMachine(ex, tvm.cpu())
assert vm["main"](tvm.nd.array(x_np), tvm.nd.array(w_np)).shape == (2, 4)
