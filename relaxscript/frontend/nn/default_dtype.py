"""The dtype of parameters and tensors that say none.

Source: TVM `relax.frontend.nn.get_default_dtype`, `set_default_dtype`.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.user_frame import caller_span

__all__ = ["as_dtype", "get_default_dtype", "set_default_dtype"]

_default: ContextVar[str] = ContextVar("relaxscript.frontend.nn.default_dtype", default="float32")


def get_default_dtype() -> str:
    """The dtype of parameters and tensors that are made without one: float32, unless it was set."""
    return _default.get()


def set_default_dtype(dtype: str) -> None:
    """Make this the dtype of what is made without one, in this thread and task.

    Raises `DiagnosticError` (RX0202) for what is no dtype.
    """
    _default.set(as_dtype(dtype))


def as_dtype(dtype: Any) -> str:
    """A dtype by its name, the default one for None.

    Raises `DiagnosticError` (RX0202) for what is no dtype of a tensor.
    """
    if dtype is None:
        return _default.get()
    try:
        found = DataType(dtype)
    except (TypeError, ValueError) as error:
        raise DiagnosticError(Diagnostic("RX0202", str(error), caller_span())) from None
    if not found.in_relax or found.is_void:
        message = f"no tensor of Relax has the dtype {found}"
        raise DiagnosticError(Diagnostic("RX0202", message, caller_span()))
    return str(found)
