"""Calls in which others take the places of variables, and what is known of these calls."""

from __future__ import annotations

from typing import Any

from .prim import IntImm
from .relax import (
    Call,
    Constant,
    Expr,
    Op,
    PrimValue,
    ShapeExpr,
    Tuple,
    Var,
    remember_struct_info,
)
from .struct_info import (
    ObjectStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    equal_at_a_glance,
)
from .variable_shapes import has_variable_shape

__all__ = ["is_closed", "is_renamed_by_operands", "renamed_call"]


def renamed_call(call: Call, op: Expr, args: tuple[Expr, ...]) -> Call:
    """A call with others in the place of its operands; the same is known of it where it can be.

    What is known of the result of an operator follows from what is known of its operands. To derive
    it again costs three times as much as to write the call.
    """
    made = Call.make(op, args, call.attrs, call.sinfo_args, call.arg_spans, span=call.span)
    known = call.known_info
    if known is None or op.__class__ is not Op or has_variable_shape(known):
        return made
    if all(map(_is_known_alike, args, call.args)):
        remember_struct_info(made, known)
    return made


def is_renamed_by_operands(call: Call, of_relax: bool) -> bool:
    """True if no StructInfo of a call, and no size in it, changes with variables of Relax.

    Where not only these change, `of_relax` is False, it mentions no scalar either.
    """
    if any(map(has_variable_shape, call.sinfo_args)):
        return False
    return of_relax or (
        all(map(is_closed, call.sinfo_args)) and not any(map(_has_sizes, call.args))
    )


def _has_sizes(operand: Expr) -> bool:
    if operand.__class__ is Tuple:
        return any(map(_has_sizes, operand.fields))
    return operand.__class__ in (ShapeExpr, PrimValue)


def is_closed(info: StructInfo) -> bool:
    """True if a StructInfo surely mentions no variable; quick, for most of them."""
    match info:
        case TensorStructInfo(shape=ShapeExpr(values=sizes)) | ShapeStructInfo(values=sizes):
            return sizes is None or all(size.__class__ is IntImm for size in sizes)
        case TensorStructInfo(shape=shape):
            return shape is None
        case TupleStructInfo(fields=()):
            return True
    return isinstance(info, ObjectStructInfo)


def _is_known_alike(operand: Any, other: Any) -> bool:
    """True if operands are one, or variables, constants or tuples of which the same is known."""
    if operand is other:
        return True
    if isinstance(other, Var) and isinstance(operand, (Var, Constant)):
        info = operand.struct_info if isinstance(operand, Var) else operand.known_info
        known = other.struct_info
        return known is not None and (info is known or equal_at_a_glance(info, known) is True)
    if operand.__class__ is Tuple and other.__class__ is Tuple:
        return all(map(_is_known_alike, operand.fields, other.fields))
    return False
