"""Marks for the differentiation of a program; the value is the operand's. Source: TVM."""

from __future__ import annotations

from .define import Operator, register
from .families import unary_rule
from .parameters import Parameter

__all__ = ["end_checkpoint", "no_grad", "start_checkpoint"]


def _mark(name: str, doc: str) -> Operator:
    operand = Parameter("input", "operand", wants="tensor", annotation="Tensor")
    operator = Operator(f"grad.{name}", lambda x: x.copy(), parameters=(operand,))
    operator.__doc__ = doc
    operator.__module__ = __name__
    operator.infer_rule(unary_rule("any", operand="input"))
    return register(operator)


no_grad = _mark("no_grad", "The tensor itself; no gradient flows through it.")
start_checkpoint = _mark("start_checkpoint", "The tensor itself; what follows is computed anew.")
end_checkpoint = _mark("end_checkpoint", "The tensor itself; up to here values are computed anew.")
