"""Programs on virtual devices, for passes that change where tensors are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relaxscript import transform
from relaxscript.ir.module import IRModule, VDevice
from relaxscript.script import from_source
from relaxscript_tests.transform.pass_case import Case

__all__ = ["ON_DEVICES"]


def module_on_a_device(seed: int) -> IRModule:
    """A module whose tensors are on a virtual device."""
    made = from_source(
        """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "l2")]})

    @R.function
    def main(x: R.Tensor(("n", 4), "float32", "llvm:0:l2")):
        n = T.int64()
        with R.dataflow():
            y = R.exp(x)
            z = R.add(y, x)
            R.output(z)
        return z
"""
    )
    assert isinstance(made, IRModule)
    return made


ON_DEVICES: Mapping[str, Sequence[Case]] = {
    "SpecializePrimFuncBasedOnCallSite": [
        Case(
            "l2",
            lambda mod, inputs: transform.SpecializePrimFuncBasedOnCallSite(),
            lambda seed: transform.LegalizeOps()(module_on_a_device(seed)),
        ),
    ],
    "UpdateVDevice": [
        Case(
            "global",
            lambda mod, inputs: transform.UpdateVDevice(VDevice("llvm", 0, "global"), 0),
            module_on_a_device,
        ),
    ],
}
