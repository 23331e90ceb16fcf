"""The StructInfo of calls in which variables took the places of others."""

from __future__ import annotations

from typing import Any

from .relax import Call, Expr, Op, Tuple, Var, remember_struct_info
from .struct_info import are_of_same_numbers
from .variable_shapes import has_variable_shape

__all__ = ["renamed_call"]


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


def _is_known_alike(operand: Any, other: Any) -> bool:
    """True if operands are one, or are variables or tuples of some of which the same is known."""
    if operand is other:
        return True
    if isinstance(operand, Var) and isinstance(other, Var):
        info, known = operand.struct_info, other.struct_info
        return known is not None and (info is known or are_of_same_numbers(info, known))
    if operand.__class__ is Tuple and other.__class__ is Tuple:
        return all(map(_is_known_alike, operand.fields, other.fields))
    return False
