"""Uses of values as Python's syntax writes them: calls and fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.user_frame import caller_span

__all__ = ["fields_of", "require_callable"]


def fields_of(expr: Any) -> Iterator[Any]:
    """`a, b = t`: the fields of a tuple; raises `TypeError` for what is not known to be one."""
    fields = getattr(expr.struct_info, "fields", None)
    if fields is None:
        raise TypeError("a Relax expression cannot be iterated while the program is being built")
    return iter([expr[index] for index in range(len(fields))])


def require_callable(call: Any) -> None:
    """Refuse a call of a scalar; what else is no function is said when the call is typed."""
    from .relax import Var
    from .struct_info import PrimStructInfo

    info = call.op.struct_info if isinstance(call.op, Var) else None
    if isinstance(info, PrimStructInfo):
        message = f"only a function can be called, and `{call.op.name_hint}` is a scalar"
        raise DiagnosticError(Diagnostic("RX0201", message, caller_span(), nature="value"))
