"""Distributed tensors: the meshes of a module, annotations, and a model of two layers."""

import numpy as np
import tvm
from tvm import relax
from tvm.relax.distributed import DeviceMesh, DTensorStructInfo, Placement, PlacementSpec
from tvm.script import ir as I, relax as R, tir as T


@I.ir_module
class Layers:
    I.module_attrs({"device_num": 4})
    I.module_global_infos(
        {"mesh": [R.device_mesh((2,), I.Range(0, 2)), R.device_mesh((2, 2), I.Range(0, 4))]}
    )

    @T.prim_func
    def shift(x: T.Buffer((4, 8), "float32"), y: T.Buffer((4, 8), "float32")):
        for i, j in T.grid(4, 8):
            with T.block("shift"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] + T.float32(1)

    @R.function
    def main(
        x: R.DTensor((4, 6), "float32", device_mesh="mesh[0]", placement="R"),
        w: R.DTensor((6, 8), "float32", "mesh[0]", "S[1]"),
        v: R.DTensor((8, 3), "float32", "mesh[0]", "S[0]"),
    ) -> R.DTensor((4, 3), "float32", "mesh[0]", "R"):
        h: R.DTensor((4, 8), "float32", "mesh[0]", "S[1]") = R.matmul(x, w)
        s = R.dist.call_tir(
            Layers.shift, h, out_sinfo=R.DTensor((4, 8), "float32", "mesh[0]", "S[1]")
        )
        a = R.nn.relu(R.multiply(s, R.dist.const(2.0, R.DTensor((), "float32", "mesh[0]", "R"))))
        y: R.DTensor((4, 3), "float32", "mesh[0]", "R") = R.matmul(a, v)
        z = R.ccl.allreduce(y, op_type="sum", in_group=False)
        return z


line = DeviceMesh((2,), tvm.ir.Range(0, 2))
found = Layers["main"].params[1].struct_info
assert isinstance(found, DTensorStructInfo)
assert found == DTensorStructInfo(
    relax.TensorStructInfo((6, 8), "float32"), line, Placement([PlacementSpec.sharding(1)])
)
assert found.device_mesh == line
assert str(found.placement) == "S[1]"
assert found.placement.dim_specs[0].axis == 1
assert list(Layers.global_infos["mesh"][1].shape) == [2, 2]

text = Layers.script(show_meta=True)
tvm.ir.assert_structural_equal(tvm.script.from_source(text), Layers)
assert 'w: R.DTensor((6, 8), "float32", "mesh[0]", "S[1]")' in text

x, w, v = (np.random.default_rng(0).random(s, "float32") for s in ((4, 6), (6, 8), (8, 3)))
vm = relax.VirtualMachine(relax.build(Layers, target="llvm"), tvm.cpu())
result = vm["main"](*(tvm.nd.array(a) for a in (x, w, v)))
np.testing.assert_allclose(result.numpy(), np.maximum((x @ w + 1) * 2, 0) @ v, rtol=1e-4)


@I.ir_module
class Annotated:
    I.module_global_infos({"mesh": [R.device_mesh((2,), [0, 1])]})

    @R.function
    def main(x: R.Tensor((4, 6), "float32"), w: R.Tensor((6, 8), "float32")):
        w1 = R.dist.annotate_sharding(w, device_mesh="mesh[0]", placement="S[1]")
        y: R.Tensor((4, 8), "float32") = R.matmul(x, w1)
        return y


tvm.ir.assert_structural_equal(tvm.script.from_source(Annotated.script()), Annotated)
