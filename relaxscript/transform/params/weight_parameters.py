"""The parameters of a function that are its weights, as passes over weights ask for them."""

from __future__ import annotations

from relaxscript.analysis.weight_names import NUM_INPUT
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.relax import Function

__all__ = ["number_of_inputs"]


def number_of_inputs(function: Function, name: str) -> int | None:
    """The number of inputs that come before the weights of a function; None where nothing says it.

    Raises `DiagnosticError` (RX0712) where `num_input` is no number of parameters.
    """
    count = None if function.attrs is None else function.attrs.get(NUM_INPUT)
    if count is None:
        return None
    most = len(function.params)
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= most:
        has = "1 parameter" if most == 1 else f"{most} parameters"
        message = f"`{NUM_INPUT}` of `{name}` is {count!r}, and the function has {has}"
        help = f"write how many of its parameters are inputs: 0 to {most}"
        raise DiagnosticError(Diagnostic("RX0712", message, function.span, help=help))
    return count
