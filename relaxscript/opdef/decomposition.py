"""Composite operators written out: the simpler ones that a call of one is.

    @dropout.rule("decompose")
    def _(context, data, rate):                # the operands, and the attributes
        return Tuple.make((data, context.emit(R.ones_like(data))))

A rule binds the steps by `emit` and gives the value, which is not bound yet. It gives None for a
call that stays as it is. `DecomposeOpsForInference` and `DecomposeOpsForTraining` ask it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Call, Expr, Op, Var
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo

from .operator import REGISTRY

__all__ = ["DecompositionContext", "decompose", "float_dims"]


class DecompositionContext(NamedTuple):
    """A rule's knowledge beside the call, and its means to bind steps.

    With `training` batches are normalized by their own statistics. With `keep_training` calls stay
    that are said to be for training. Unless `may_share`, no result is an operand itself.
    `is_equal` is True for scalars that are equal whatever the run brings. `match_cast` binds a
    value that has a StructInfo.
    """

    emit: Callable[[Any], Var]
    match_cast: Callable[[Expr, StructInfo], None]
    struct_info: Callable[[Expr], StructInfo]
    is_equal: Callable[[PrimExpr, PrimExpr], bool]
    training: bool
    keep_training: bool
    may_share: bool

    def has(self, parameter: Expr, wanted: Sequence[PrimExpr]) -> bool:
        """True if a tensor of floats has these dimensions whatever the run brings."""
        dims = float_dims(parameter)
        if dims is None or len(dims) != len(wanted):
            return False
        return all(self.is_equal(a, b) for a, b in zip(dims, wanted))


def decompose(context: DecompositionContext, call: Expr) -> Expr | None:
    """The value of a call that is written out; None for another."""
    if not isinstance(call, Call) or not isinstance(call.op, Op):
        return None
    operator = REGISTRY.get(call.op.name)
    rule = None if operator is None else operator.rules.get("decompose")
    if operator is None or rule is None:
        return None
    made: Expr | None = rule(context, *call.args, **operator.attributes(call))
    return made


def float_dims(tensor: Expr) -> Sequence[PrimExpr] | None:
    """The dimensions of a tensor of floats, where they are known."""
    info = tensor.struct_info
    if not isinstance(info, TensorStructInfo) or not info.dtype.is_float:
        return None
    return info.dims
