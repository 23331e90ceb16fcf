"""Run-time checks as calls: the StructInfo of the call is what a value must be.

    R.call_builtin_with_ctx(
        "vm.builtin.match_cast", (x, R.str("`x`")), sinfo_args=R.Tensor((n, 4), "float32")
    )

The virtual machine holds such a check as one constant. `match_arguments` is made when the function
is entered, `match_result` when it is left. Each is made of all that is matched together.
"""

from __future__ import annotations

from relaxscript.errors import Span
from relaxscript.ir.relax import Call, Expr, ExternFunc, StringImm, Tuple
from relaxscript.ir.struct_info import StructInfo
from relaxscript.op.calls import call_builtin_with_ctx
from relaxscript.runtime.builtins import MATCH_ARGUMENTS, MATCH_CAST, MATCH_RESULT

__all__ = ["check_of", "match_arguments", "match_cast", "match_result"]

_NAMES = frozenset({MATCH_ARGUMENTS, MATCH_CAST, MATCH_RESULT})


def match_arguments(arguments: tuple[Expr, ...], info: StructInfo, span: Span | None) -> Call:
    """The check of all arguments of a function; `info` is a tuple of what they must be."""
    return _call(MATCH_ARGUMENTS, arguments, info, span)


def match_cast(value: Expr, words: str, info: StructInfo, span: Span | None) -> Call:
    """The check of a value, which messages call `words`; it binds shape variables of `info`."""
    return _call(MATCH_CAST, (value, StringImm.make(words)), info, span)


def match_result(value: Expr, info: StructInfo, span: Span | None) -> Call:
    """The check of what a function returns."""
    return _call(MATCH_RESULT, (value,), info, span)


def _call(name: str, args: tuple[Expr, ...], info: StructInfo, span: Span | None) -> Call:
    given = (ExternFunc.make(name), Tuple.make(args))
    return Call.make(call_builtin_with_ctx.op, given, None, (info,), span=span)


def check_of(value: Expr) -> tuple[str, tuple[Expr, ...], StructInfo] | None:
    """The check that an expression is, of what, and what is demanded; None for no check."""
    match value:
        case Call(
            op=call_builtin_with_ctx.op,
            args=(ExternFunc(name), Tuple(fields)),
            sinfo_args=(info,),
        ) if name in _NAMES:
            return name, fields, info
    return None
