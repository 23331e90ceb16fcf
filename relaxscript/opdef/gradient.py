"""Gradients of calls: what a rule knows, and how it is asked.

    @matmul.gradient
    def _(context, x1, x2, out_dtype=None):
        grad = context.grad
        return R.matmul(grad, transposed(x2)), R.matmul(transposed(x1), grad)

A rule gets the operands of a call, None for one that is left out, then the attributes by name. For
each operand it gives an expression of operators: the gradient of the loss with respect to it. That
is None for what has none: integers, shapes, what only selects. For a tuple it is a tuple. One
expression may occur in several places: it is one value.

Users give a PrimFunc that they call a gradient by tensor expressions: `register_te_gradient`.

Source: TVM `FPrimalGradient`; Griewank and Walther, "Evaluating Derivatives", on reverse mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from relaxscript.errors import OperandError, did_you_mean, nearest
from relaxscript.ir.relax import (
    Call,
    Constant,
    Expr,
    ExternFunc,
    GlobalVar,
    Op,
    Tuple,
    TupleGetItem,
)
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo

from .leaf_struct_info import struct_info_of_leaf
from .operator import Operator, lookup

__all__ = [
    "CallTE", "GradientContext", "Gradients", "gradients_of", "has_gradient",
    "register_te_gradient", "te_gradient",
]  # fmt: skip

Gradients = Sequence[Expr | None]
CallTE = Callable[..., Call]
_TEGradient = Callable[..., Any]

_TE_GRADIENTS: dict[str, _TEGradient] = {}


class GradientContext(NamedTuple):
    """A call, its value `out`, and the gradient `grad` of the loss with respect to that.

    `call_te` is that of the builder that writes the gradient.

    Both are leaves. Where the result is a tuple, so is the gradient: its `field`s are those of
    the fields.
    """

    call: Call
    out: Expr
    grad: Expr
    call_te: CallTE

    def field(self, index: int) -> Expr:
        """The gradient of a field of a result that is a tuple."""
        grad = self.grad
        return grad.fields[index] if isinstance(grad, Tuple) else TupleGetItem.make(grad, index)


def has_gradient(info: StructInfo) -> bool:
    """True for what a loss may be differentiated by: floats, and tuples that hold any."""
    match info:
        case TensorStructInfo(dtype=dtype):
            return dtype.is_float or dtype.is_void
        case TupleStructInfo(fields):
            return any(map(has_gradient, fields))
    return False


def gradients_of(call: Call, out: Expr, grad: Expr, call_te: CallTE) -> list[Expr | None]:
    """The gradient of the loss by each of `call.args`, given that by the value `out` of the call.

    None for what has none. `call_te` is that of the builder. Raises `OperandError` (RX0203) where
    an operator has no gradient, with its reason.
    """
    operator = lookup(call.op) if isinstance(call.op, Op) else None
    found: list[Expr | None] = [None] * len(call.args)
    if operator is None or not has_gradient(struct_info_of_leaf(out)):
        return found
    if not any(map(_is_differentiable, call.args)):
        return found
    rule = operator.rules.get("gradient")
    if rule is None:
        raise _no_gradient(operator)
    for place, made in _ask(rule, operator, GradientContext(call, out, grad, call_te)):
        if isinstance(place, slice):
            found[place] = made
            continue
        if made is not None and _is_differentiable(call.args[place]):
            found[place] = made
    return found


def _is_differentiable(arg: Expr) -> bool:
    """True for an argument that may depend on what the loss is differentiated by."""
    if isinstance(arg, (Constant, GlobalVar, ExternFunc)):
        return False
    return has_gradient(struct_info_of_leaf(arg))


def _ask(
    rule: Callable[..., Gradients], operator: Operator, context: GradientContext
) -> list[tuple[int | slice, Any]]:
    """The gradients that a rule gives, by the place of each operand among the arguments."""
    call = context.call
    operands, attributes = [], {}
    names = []
    for parameter, value in operator.arguments(call):
        if parameter.is_operand:
            operands.append(value)
            names.append(parameter.name)
        elif parameter.kind != "sinfo":
            attributes[parameter.name] = value
    made = dict(zip(names, rule(context, *operands, **attributes), strict=True))
    return [(place, made[name]) for name, place in operator.operand_places(len(call.args))]


def _no_gradient(operator: Operator) -> OperandError:
    reason = operator.reasons.get("gradient", "none is declared")
    return OperandError(
        "callee",
        "has none",
        message=f"`R.{operator.script_name}` has no gradient: {reason}",
        code="RX0203",
        help="stop before it: `R.grad.no_grad(x)`",
    )


# ---------------------------------------------------------------- gradients of users


def register_te_gradient(te_grad_name: str, te_grad_func: _TEGradient | None = None) -> _TEGradient:
    """Register the gradient of a PrimFunc, under the name that `R.call_tir_with_grad` says.

    `te_grad_func(output_grad, *args, **te_grad_kwargs)` takes `te.Tensor`s. It gives that of the
    one argument, or a list with one for each argument, None for what has none. Also a decorator.
    Who registers a name again replaces its gradient.
    """

    def register(function: _TEGradient) -> _TEGradient:
        _TE_GRADIENTS[te_grad_name] = function
        return function

    return register if te_grad_func is None else register(te_grad_func)


def te_gradient(te_grad_name: str) -> _TEGradient:
    """The gradient that is registered under a name; raises `OperandError` (RX0204)."""
    found = _TE_GRADIENTS.get(te_grad_name)
    if found is None:
        near = nearest(te_grad_name, list(_TE_GRADIENTS))
        raise OperandError(
            "te_grad_name",
            f'is "{te_grad_name}"',
            message="no gradient is registered under this name",
            code="RX0204",
            help=did_you_mean(near) or f'register it: `register_te_gradient("{te_grad_name}")`',
        )
    return found
