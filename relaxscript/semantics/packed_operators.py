"""Packed functions that compute operators of which no loops can be written.

`LegalizeOps` calls them: "relax.run.unique" takes the operands of `R.unique` and then its
attributes, each as a value, in the order of the parameters. What is left out is a null value.
Importing this file makes them builtins of the machine. Source: TVM `FCallPacked`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relaxscript.op import REGISTRY, Operator
from relaxscript.runtime.builtins import BUILTINS

from .operators import abstract_value, operator_function

__all__ = ["packed_function"]

_REMEMBERED = 256  # combinations of attributes


def packed_function(operator: Operator) -> Callable[..., Any]:
    """An operator as a function of its operands and attributes by position.

    It fails as the operator does: what does not fit raises `VMError` (RX0606).
    """
    made: dict[Any, Callable[..., Any]] = {}
    is_operand = [parameter.is_operand for parameter in operator.parameters]
    names = [parameter.name for parameter in operator.parameters]

    def run(*args: Any) -> Any:
        operands = {n: v for n, v, own in zip(names, args, is_operand, strict=True) if own}
        attributes = {n: v for n, v, own in zip(names, args, is_operand) if not own}
        key = (*attributes.values(), *(value is None for value in operands.values()))
        function = made.get(key)
        if function is None:
            given = {n: v if v is None else abstract_value(v) for n, v in operands.items()}
            call = operator.build((), {**given, **attributes})
            function = operator_function(call, checked=True)
            if len(made) < _REMEMBERED:
                made[key] = function
        return function(*(value for value in operands.values() if value is not None))

    run.__name__ = str(operator.packed)
    return run


for _operator in REGISTRY.values():
    if _operator.packed is not None:
        BUILTINS[_operator.packed] = packed_function(_operator)
