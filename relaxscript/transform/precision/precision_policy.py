"""The policies of mixed precision: what each call does with operands of float32.

Operators say in their own blocks what they do (`opdef/mixed_precision.py`). Here it is decided
whether a call, with the operands that it has, does so.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.ir.relax import Call, Constant, Expr, Op, Tuple, Var
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.op.datatype import astype
from relaxscript.opdef.operator import traits_of
from relaxscript.opdef.traits import Trait

__all__ = ["HALF", "SINGLE", "Policy", "half_constant", "is_single", "policy_of", "tensors_of"]

HALF, SINGLE = DataType("float16"), DataType("float32")


class Policy(Enum):
    """A rule for what a call does in mixed precision."""

    ALWAYS = auto()
    """It takes float16, whatever its operands come in."""

    FOLLOW = auto()
    """It takes float16 if all of its operands come in it."""

    NARROW = auto()
    """It rounds its operand to float16, so that it may come in that already."""

    NEVER = auto()
    """It takes what it takes without mixed precision."""


def policy_of(call: Call, result: StructInfo | None) -> Policy:
    """The policy of a call whose result is declared so.

    A call that has no operand of float32, or gives none, stays as it is. So it is with a constant
    that float16 has no room for.
    """
    if not isinstance(call.op, Op):
        return Policy.NEVER
    if call.op is astype.op and result is not None:
        return _policy_of_cast(call, result)
    traits = traits_of(call.op)
    if not traits & {Trait.MIXED_ALWAYS, Trait.MIXED_FOLLOW} or not _may_be_narrower(result):
        return Policy.NEVER
    singles = [e for arg in call.args for e in _leaves(arg) if _has_single(e.struct_info)]
    if not singles or any(isinstance(e, Constant) and half_constant(e) is None for e in singles):
        return Policy.NEVER
    if Trait.MIXED_ALWAYS in traits:
        return Policy.ALWAYS if is_single(result) else Policy.NEVER
    return Policy.FOLLOW if any(isinstance(e, Var) for e in singles) else Policy.NEVER


def _policy_of_cast(call: Call, result: StructInfo) -> Policy:
    """The policy of a cast: of its results only those of float16 are the same from fewer bits."""
    is_half = isinstance(result, TensorStructInfo) and result.dtype is HALF
    narrows = is_half and isinstance(call.args[0], Var) and is_single(call.args[0].struct_info)
    return Policy.NARROW if narrows else Policy.NEVER


def is_single(info: StructInfo | None) -> bool:
    """True for a tensor of float32."""
    return isinstance(info, TensorStructInfo) and info.dtype is SINGLE


def tensors_of(info: StructInfo | None) -> Iterator[StructInfo | None]:
    """All that is no tuple in a value, such as its tensors."""
    todo = [info]
    while todo:
        found = todo.pop()
        if isinstance(found, TupleStructInfo):
            todo += found.fields[::-1]
        else:
            yield found


def _has_single(info: StructInfo | None) -> bool:
    return any(map(is_single, tensors_of(info)))


def _may_be_narrower(info: StructInfo | None) -> bool:
    """True if there are tensors of float32, and nothing of which too little is known."""
    found = [*tensors_of(info)]
    known = all(isinstance(i, TensorStructInfo) and not i.dtype.is_void for i in found)
    return known and any(map(is_single, found))


def _leaves(arg: Expr) -> Iterator[Expr]:
    """The operands that a tuple among the arguments holds, or the argument itself."""
    todo = [arg]
    while todo:
        found = todo.pop()
        if isinstance(found, Tuple):
            todo += found.fields[::-1]
        else:
            yield found


def half_constant(constant: Constant) -> Constant | None:
    """A constant as float16; None where a number of it is too large for that."""
    data = constant.data
    with np.errstate(over="ignore"):
        made = data.astype("float16")
    if not np.array_equal(np.isfinite(made), np.isfinite(data)):
        return None
    return Constant(made)
