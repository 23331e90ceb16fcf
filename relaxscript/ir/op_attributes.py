"""Attributes of operators by TVM's keys: what their definitions say, and what users register.

    register_op_attr("relax.add", "FLegalize", lambda bb, call: bb.call_te(my_add, *call.args))
    Op.get("relax.add").get_attr("FPurity")         # True

A key of `hooks.op_attribute_of`, such as "FPurity", follows from the definition of the operator,
and cannot be registered; "FLegalize" can: `LegalizeOps` asks for it. Any other key means nothing
here. Its value is kept for who asks. Names of operators and keys are those of TVM.

Source: TVM `ir.Op` and `ir.register_op_attr`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from relaxscript.errors import Diagnostic, DiagnosticError, UnplacedError
from relaxscript.errors.user_frame import caller_span

from . import hooks

if TYPE_CHECKING:
    from .relax import Op

__all__ = [
    "get_attr", "has_attr", "op_named_by_users", "register_op_attr", "registered_values",
    "reset_attr", "set_attr",
]  # fmt: skip

LEGALIZE = "FLegalize"


class _Registered(NamedTuple):
    value: Any
    level: int


# By key and the name of the operator; each step with it is atomic, so it needs no lock.
_registered: dict[str, dict[str, _Registered]] = {}


def op_named_by_users(op_name: str) -> Op:
    """The operator of a full name; raises `DiagnosticError` for none, with the nearest there is."""
    from .intrinsic import INTRINSICS

    row = INTRINSICS.get(op_name)
    if row is not None:
        return row.op
    try:
        found: Op = hooks.operator_of(op_name)
    except UnplacedError as error:
        raise error.as_diagnostic_error("Op.get", caller_span()) from None
    return found


def register_op_attr(op_name: str, attr_key: str, value: Any = None, level: int = 10) -> Any:
    """Register an attribute of an operator; without a value, a decorator for it.

    A higher `level` goes before a lower one; of the same level the last one counts, as a cell of a
    notebook is run again. Raises `DiagnosticError`: RX0103 for an unknown operator, RX0708 for a
    key that its definition decides.
    """
    op = op_named_by_users(op_name)
    if value is None:
        return lambda given: _register(op, attr_key, given, level)
    return _register(op, attr_key, value, level)


def _register(op: Op, key: str, value: Any, level: int) -> Any:
    if key != LEGALIZE and hooks.op_attribute_of(op.name, key) is not None:
        message = f"`{key}` of `{op.name}` follows from the definition of the operator"
        help = "define an operator of your own: `@relaxscript.opdef.op(...)`"
        raise DiagnosticError(Diagnostic("RX0708", message, caller_span(), help=help))
    known = _registered.setdefault(key, {})
    if op.name not in known or known[op.name].level <= level:
        known[op.name] = _Registered(value, level)
    return value


def registered_values(attr_key: str) -> Mapping[str, Any]:
    """The values that users registered under a key, by the names of operators."""
    return {name: entry.value for name, entry in _registered.get(attr_key, {}).copy().items()}


def get_attr(op: Op, attr_name: str) -> Any:
    """The attribute of a key, "FLegalize" for example; None where there is none.

    What users registered goes before what the definition says.
    """
    found = _registered.get(attr_name, {}).get(op.name)
    return hooks.op_attribute_of(op.name, attr_name) if found is None else found.value


def has_attr(op: Op, attr_name: str) -> bool:
    """True if the operator has an attribute of this key."""
    return get_attr(op, attr_name) is not None


def set_attr(op: Op, attr_name: str, value: Any, plevel: int = 10) -> None:
    """Register an attribute of this operator, as `register_op_attr` does."""
    _register(op, attr_name, value, plevel)


def reset_attr(op: Op, attr_name: str) -> None:
    """Forget what was registered under a key; what the definition says stays."""
    _registered.get(attr_name, {}).pop(op.name, None)
