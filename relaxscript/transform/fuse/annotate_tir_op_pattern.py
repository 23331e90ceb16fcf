"""AnnotateTIROpPattern: PrimFuncs say how their elements depend on those of their operands."""

from __future__ import annotations

from relaxscript.analysis import OpPattern, op_pattern
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import PrimFunc
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["AnnotateTIROpPattern", "annotated_pattern"]

_ATTRIBUTE = "op_pattern"


class AnnotateTIROpPattern(ModulePass):
    """Give each PrimFunc the attribute `op_pattern`, by which `FuseOps` decides.

    Before:

        @T.prim_func(private=True)
        def relu(A: T.Buffer((4,), "float32"), T_relu: T.Buffer((4,), "float32")):
            ...

    After:

        @T.prim_func(private=True)
        def relu(A: T.Buffer((4,), "float32"), T_relu: T.Buffer((4,), "float32")):
            T.func_attr({"op_pattern": 0})
            ...

    The numbers are those of `relax.analysis.OpPattern`: 0 elementwise, 1 broadcast, 2 injective,
    3 reduction, 4 fusable with elementwise functions behind it, 8 opaque. What has the attribute
    keeps it.

    Source: TVM `relax.transform.AnnotateTIROpPattern`.
    """

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        made = mod.clone()
        changed = False
        for gvar, func in mod.functions.items():
            if isinstance(func, PrimFunc) and _ATTRIBUTE not in (func.attrs or Attrs()):
                made[gvar] = func.with_attr(_ATTRIBUTE, int(op_pattern(func)))
                changed = True
        return made if changed else mod


def annotated_pattern(func: PrimFunc) -> OpPattern:
    """The pattern that the attribute of a PrimFunc names; opaque where it names none."""
    value = (func.attrs or Attrs()).get(_ATTRIBUTE)
    value = getattr(value, "value", value)  # a number of a script, or an IntImm
    return OpPattern(value) if isinstance(value, int) and value in _KNOWN else OpPattern.OPAQUE


_KNOWN = frozenset(pattern.value for pattern in OpPattern)
