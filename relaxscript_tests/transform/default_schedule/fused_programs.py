"""Programs over tensors whose operators are fused."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.transform import (
    AnnotateTIROpPattern,
    FuseOps,
    FuseTIR,
    LegalizeOps,
    Sequential,
)

FUSED = Sequential([LegalizeOps(), AnnotateTIROpPattern(), FuseOps(), FuseTIR()])


def fused(head: str, body: str, result: str = "y") -> IRModule:
    """A module with one function over tensors, its operators fused."""
    lines = "\n".join(f"            {line}" for line in body.strip().splitlines())
    text = f"""
@I.ir_module
class M:
    @R.function
    def main({head}):
        with R.dataflow():
{lines}
            R.output({result})
        return {result}
"""
    return FUSED(from_source(text))


def only_prim_func(mod: IRModule) -> PrimFunc:
    (func,) = [f for f in mod.functions.values() if isinstance(f, PrimFunc)]
    return func
