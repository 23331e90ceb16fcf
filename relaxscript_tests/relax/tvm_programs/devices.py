"""Virtual devices, targets, and devices that are not there."""

import tvm
from tvm import relax
from tvm.ir import VDevice
from tvm.script import ir as I, relax as R

vdevices = [VDevice("llvm"), VDevice("cuda", 0), VDevice("metal", 0, "global")]


@I.ir_module
class Module:
    I.module_attrs({"attr": 10})
    I.module_global_infos(
        {
            "vdevice": [I.vdevice("llvm"), I.vdevice("cuda", 0), I.vdevice("metal", 0, "global")],
        }
    )

    @R.function
    def foo(
        a: R.Tensor((128, 128), "float32", "cuda:0"),
        b: R.Tensor((128, 128), "float32", "vdevice:2"),
    ) -> R.Tensor((128, 128), "float32", "cuda"):
        s = R.to_vdevice(b, "cuda")
        c: R.Tensor((128, 128), "float32", "cuda") = R.add(a, s)
        return c


assert len(Module.global_infos["vdevice"]) == 3
for found, wanted in zip(Module.global_infos["vdevice"], vdevices):
    tvm.ir.assert_structural_equal(found, wanted)
a, b = Module["foo"].params
assert a.struct_info.vdevice.target.kind == "cuda"
assert b.struct_info.vdevice.target.kind == "metal"


@I.ir_module
class Hint:
    I.module_global_infos({"vdevice": [I.vdevice("cuda", 0), I.vdevice("llvm")]})

    @R.function
    def main(
        x: R.Tensor((2, 3), "float32"),
        y: R.Tensor((2, 3), "float32"),
        z: R.Tensor((2, 3), "float32"),
    ):
        with R.dataflow():
            x0 = R.hint_on_device(x, tvm.cuda())
            x1 = R.add(x0, y)
            x2 = R.hint_on_device(x1, tvm.cpu())
            x3 = R.add(x2, z)
            R.output(x3)
        return x3


after = relax.transform.RealizeVDevice()(Hint)
assert "to_vdevice" in after.script()
assert tvm.cuda(1).device_id == 1
assert not tvm.cuda(0).exist
assert tvm.target.Target.from_device(tvm.cpu()).kind == "llvm"
with tvm.target.Target("llvm"):
    assert tvm.target.Target.current().kind == "llvm"
