"""What passes over parameters are made with, for the laws of all passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript import transform
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.transform import Pass
from relaxscript_tests.transform.pass_case import Case

__all__ = ["PARAMS"]


def without_sizes(mod: IRModule, inputs: Sequence[Any]) -> Pass:
    """Of the tensors of known sizes that `main` is given, only the ranks are known."""
    params = mod["main"].params

    def info_of(param: Var) -> StructInfo | None:
        info = param.struct_info
        if param not in params or not isinstance(info, TensorStructInfo):
            return None
        known = all(isinstance(dim, IntImm) for dim in info.dims or ())
        return TensorStructInfo(None, info.dtype, info.vdevice, info.ndim) if known else None

    return transform.UpdateParamStructInfo(info_of)


PARAMS: Mapping[str, Sequence[Case]] = {
    "UpdateParamStructInfo": [Case("without_sizes", without_sizes)],
}
