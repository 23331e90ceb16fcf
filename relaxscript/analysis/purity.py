"""Impure calls where none is allowed: why not, and what to do about it.

Source: spec "Checking Purity", derivation rules 14.1.2, 14.2.2.1 and 14.2.3.
"""

from __future__ import annotations

from relaxscript.ir.relax import Attrs, Call, ExternFunc, Function, GlobalVar, Op, Var
from relaxscript.ir.struct_info import FuncStructInfo

from .derive import Context

__all__ = ["claims_purity", "impurity"]

_FORCE = '`R.func_attr({"relax.force_pure": True})`'
_PACKED = "if it has no side effects, call it by `R.call_pure_packed`; else "


def claims_purity(is_pure: bool, attrs: Attrs | None) -> bool:
    """True if a function is pure and does not ask to be trusted (`relax.force_pure`)."""
    return is_pure and not (attrs is not None and attrs.get("relax.force_pure", False))


def impurity(call: Call, in_dataflow: bool, context: Context) -> tuple[str, str, str]:
    """Code, message and help for an impure call in a dataflow block or else in a pure function."""
    place = "a dataflow block" if in_dataflow else "a pure function"
    message = f"{_callee_name(call)} is impure and cannot be called in {place}"
    packed = _PACKED if _is_packed(call, context) else ""
    if in_dataflow:
        return "RX0402", message, f"{packed}move it out of the dataflow block"
    help = f"{packed}declare the function impure: `@R.function(pure=False)`"
    if not packed:
        help += f", or vouch for it: {_FORCE}"
    return "RX0401", message, help


def _callee_name(call: Call) -> str:
    """The callee, by the name that it has in scripts."""
    match call.op:
        case Op(name):
            script_name = name.removeprefix("relax.")
            return f"`{name}`" if script_name == name else f"`R.{script_name}`"
        case ExternFunc(name) | GlobalVar(name) | Var(name):
            return f"`{name}`"
        case Function():
            return "the function that is written out here"
    return "this function"


def _is_packed(call: Call, context: Context) -> bool:
    if isinstance(call.op, Op):
        return False
    info = context.struct_info(call.op)
    return isinstance(info, FuncStructInfo) and info.params is None
