"""Marks for the differentiation of a program, of which the value is the operand's; gradients.

Source: TVM `relax.grad`.
"""

from __future__ import annotations

from relaxscript.errors import OperandError
from relaxscript.ir.relax import Expr, Var
from relaxscript.opdef.families import compute_elements, unary_rule
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.operator import Operator, register
from relaxscript.opdef.parameters import Parameter

from . import backward
from .backward import *  # noqa: F403

__all__ = ["end_checkpoint", "no_grad", "start_checkpoint", *backward.__all__]


def _mark(name: str, doc: str) -> Operator:
    operand = Parameter("input", "operand", wants="tensor", annotation="Tensor")
    operator = Operator(f"grad.{name}", lambda x: x.copy(), parameters=(operand,))
    operator.__doc__ = doc
    operator.__module__ = __name__
    operator.infer_rule(unary_rule("any", operand="input"))
    compute_elements(operator, lambda x: x)
    return register(operator)


def _of_variables(operator: Operator) -> Operator:
    """Let an operator mark variables only: it is where a value was bound that is marked."""

    @operator.operand_rule
    def variable(input: Expr) -> None:
        if not isinstance(input, Var):
            raise OperandError(
                "input",
                "is no variable",
                message=f"`R.{operator.script_name}` marks a variable",
                code="RX0201",
                help="bind the value first, and mark its variable",
            )

    return operator


no_grad = _mark("no_grad", "The tensor itself; no gradient flows through it.")
start_checkpoint = _of_variables(
    _mark("start_checkpoint", "The tensor itself; what follows is computed anew.")
)
end_checkpoint = _of_variables(
    _mark("end_checkpoint", "The tensor itself; up to here values are computed anew.")
)


@no_grad.gradient
def _(context: GradientContext, input: Expr) -> Gradients:
    return (None,)


def _pass_on(context: GradientContext, input: Expr) -> Gradients:
    """The gradient of what is the operand itself."""
    return (context.grad,)


start_checkpoint.gradient(_pass_on)
end_checkpoint.gradient(_pass_on)
