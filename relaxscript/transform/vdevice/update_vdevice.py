"""UpdateVDevice: another virtual device in the place of one that the module lists."""

from __future__ import annotations

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.module import IRModule, VDevice
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Attrs, Call
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.walk import rewrite
from relaxscript.op.device import to_vdevice
from relaxscript.sinfo import same_vdevice
from relaxscript.transform.derived_info import with_derived_info
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["UpdateVDevice"]


class UpdateVDevice(ModulePass):
    """Put `new_vdevice` in the place `index` of the module's virtual devices, wherever it is used.

    Before, with `UpdateVDevice(VDevice("llvm", 2), 1)`:

        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function
        def main(x: R.Tensor((4,), "float32", "llvm:1")):
            return x

    After:

        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 2)]})

        @R.function
        def main(x: R.Tensor((4,), "float32", "llvm:2")):
            return x

    An index below 0 counts from the end. Hints name devices of the run time, not virtual ones, and
    stay. Raises `DiagnosticError` (RX0703) for an index that the module has no device for.
    Source: TVM `relax.transform.UpdateVDevice`.
    """

    changes_signatures = True

    def __init__(self, new_vdevice: VDevice, index: int) -> None:
        self.new_vdevice = new_vdevice
        self.index = index

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        listed = list(mod.global_infos.get("vdevice", ()))
        if not -len(listed) <= self.index < len(listed):
            message = f"the module has no virtual device {self.index}"
            help = f"it lists {len(listed)}, counted from 0" if listed else "it lists none"
            raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))
        old = listed[self.index]
        if not isinstance(old, VDevice) or same_vdevice(old, self.new_vdevice):
            return mod
        listed[self.index] = self.new_vdevice
        made = mod.clone()
        made.update_global_info("vdevice", listed)
        for var, function in mod.relax_functions().items():
            made[var] = rewrite(function, lambda node: _update(node, old, self.new_vdevice))
        return made


def _update(node: Node, old: VDevice, new: VDevice) -> Node | None:
    """A StructInfo that has a virtual device itself, with another one."""
    match node:
        case TensorStructInfo(vdevice=VDevice() as device) if same_vdevice(device, old):
            return node.replace(vdevice=new)
        case Call(op=to_vdevice.op, attrs=Attrs() as attrs):
            if same_vdevice(attrs["dst_vdevice"], old):
                return node.replace(attrs=Attrs({**attrs, "dst_vdevice": new}))
    return with_derived_info(node, lambda part: _update(part, old, new))
