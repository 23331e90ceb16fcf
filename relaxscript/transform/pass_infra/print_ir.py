"""PrintIR: the module as it is between two passes."""

from __future__ import annotations

from relaxscript.ir import hooks
from relaxscript.ir.module import IRModule

from .context import PassContext
from .passes import ModulePass

__all__ = ["PrintIR"]


class PrintIR(ModulePass):
    """Print the module below a `header`, and pass it on as it is.

        Sequential([FuseOps(), PrintIR("fused"), FuseTIR()])

    With `show_meta_data` large constants are printed whole. Source: TVM `tvm.ir.transform.PrintIR`.
    """

    def __init__(self, header: str = "", show_meta_data: bool = False) -> None:
        self.header = header
        self.show_meta_data = show_meta_data

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        print(f"# {self.header or self.info.name}\n{self._script(mod)}\n")
        return mod

    def _script(self, mod: IRModule) -> str:
        text: str = hooks.script_of(mod, show_meta=self.show_meta_data)
        return text
