"""Functions that have a signature and no body yet.

Source: TVM `relax.Function.create_empty`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.errors import Span
from relaxscript.ir.relax import (
    Attrs,
    BindingBlock,
    Call,
    ExternFunc,
    Function,
    SeqExpr,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.op.calls import call_pure_packed

__all__ = ["create_empty"]


def create_empty(
    params: Sequence[Var], ret_struct_info: StructInfo, is_pure: bool = True,
    attrs: Mapping[str, Any] | None = None, span: Span | None = None,
) -> Function:  # fmt: skip
    """See `Function.create_empty`."""
    if not isinstance(ret_struct_info, StructInfo):
        raise TypeError(f"`ret_struct_info` is the StructInfo of results, not {ret_struct_info!r}")
    missing = ExternFunc("function_without_body")
    call = Call(missing, (), None, (ret_struct_info,))
    if is_pure:
        call = Call(call_pure_packed.op, (missing,), None, (ret_struct_info,))
    remember_struct_info(call, ret_struct_info)
    result = Var("output", ret_struct_info)
    body = SeqExpr((BindingBlock((VarBinding(result, call),)),), result)
    made = Function(tuple(params), body, ret_struct_info, is_pure, Attrs(attrs))
    return made if span is None else made.replace(span=span)
