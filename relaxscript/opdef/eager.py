"""Running an operator at once, on numpy arrays, as Python's own functions run.

The operands get the StructInfo of the arrays, so the operator's rule checks them as it checks
programs; then the meaning computes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from relaxscript.errors import Diagnostic, DiagnosticError, InternalError
from relaxscript.errors.exceptions import is_user_error
from relaxscript.ir import prim, relax
from relaxscript.ir.constant_array import in_c_order
from relaxscript.ir.relax import Expr
from relaxscript.runtime.values import Shape, make_prim

from .leaf_struct_info import array_struct_info, struct_info_of_leaf

if TYPE_CHECKING:
    from relaxscript.ir.struct_info import StructInfo

    from .context import DeferredCheck
    from .operator import Operator

__all__ = ["call_quietly", "finish_result", "is_eager", "make_quiet", "run"]

__tracebackhide__ = is_user_error

_is_quiet: ContextVar[bool] = ContextVar("relaxscript_is_quiet", default=False)


class _Quiet(threading.local):
    """For each thread a context in which numpy reports no overflow or division by zero.

    `numpy.errstate` does the same, but entering it costs as much as a small operator (0.6 us).
    """

    def __init__(self) -> None:
        context = Context()
        context.run(np.seterr, all="ignore")
        context.run(_is_quiet.set, True)
        self.run = context.run


_quiet = _Quiet()


def make_quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose results are finished as those of operators, and that reports nothing."""

    def run(*values: Any) -> Any:
        return finish_result(call_quietly(function, *values), values)

    return run


def call_quietly(function: Callable[..., Any], *values: Any) -> Any:
    """Call `function` while numpy reports nothing."""
    # A context cannot be entered twice: an operator may run inside another.
    return function(*values) if _is_quiet.get() else _quiet.run(function, *values)


def is_eager(arguments: Any) -> bool:
    """True if there are arrays among the arguments, and no Relax expressions."""
    found = set(_kinds(arguments))
    return "array" in found and "expression" not in found


def _kinds(value: Any) -> list[str]:
    match value:
        case Expr():
            return ["expression"]
        case prim.PrimExpr() if not isinstance(value, prim.Immediate):
            return ["expression"]
        case np.ndarray() | np.generic():
            return ["array"]
        case list() | tuple():
            return [kind for item in value for kind in _kinds(item)]
        case dict():
            return [kind for item in value.values() for kind in _kinds(item)]
    return []


class _Concrete:
    """The context of a rule whose operands are at hand: everything can be decided."""

    module = None
    facts = None

    def struct_info(self, expr: Expr) -> StructInfo:
        return struct_info_of_leaf(expr)

    def require(self, deferred: DeferredCheck) -> None:
        raise InternalError(f"it is not decided for arrays whether {deferred.text}")


def run(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The operator's result for these arrays; raises `OperandError` as its rule does."""
    arrays: dict[Expr, Any] = {}

    def stand_in(value: Any) -> Any:
        match value:
            case np.ndarray() | np.generic():
                array = np.asarray(value)
                var = relax.Var.make("array", _known_of(array))
                arrays[var] = array
                return var
            case list() | tuple():
                return tuple(stand_in(item) for item in value)
        return value

    words = {name: stand_in(value) for name, value in kwargs.items()}
    call = operator.build([stand_in(arg) for arg in args], words)
    operator.infer(call, _Concrete())
    values = [_value(arg, arrays) for arg in call.args]
    return operator.evaluate(call, values, call.sinfo_args)


def _known_of(array: np.ndarray[Any, Any]) -> StructInfo:
    try:
        return array_struct_info(array)
    except ValueError as error:
        message = f"an array is no tensor whose {error}"
        raise DiagnosticError(Diagnostic("RX0202", message, None)) from None


def _value(expr: Expr, arrays: Mapping[Expr, Any]) -> Any:
    if expr in arrays:
        return arrays[expr]
    match expr:
        case relax.Constant(data):
            return np.asarray(in_c_order(data))
        case relax.Tuple(fields):
            return tuple(_value(item, arrays) for item in fields)
        case relax.ShapeExpr(values) if all(isinstance(v, prim.IntImm) for v in values):
            return Shape(int(v) for v in values)  # type: ignore[call-overload]
        case relax.PrimValue(prim.IntImm() | prim.FloatImm() as number):
            return make_prim(number.value, number.dtype)
        case relax.StringImm(text):
            return text
        case relax.DataTypeImm(dtype):
            return dtype
    raise InternalError(f"{type(expr).__name__} was taken for an operand that has a value")


def finish_result(result: Any, operands: Sequence[Any]) -> Any:
    """A result as every operator gives it: arrays that are new, C-contiguous, never scalars."""
    if type(result) is tuple:
        return tuple(finish_result(item, operands) for item in result)
    if isinstance(result, np.ndarray):
        flags = result.flags
        if flags.c_contiguous and flags.writeable:
            if result.base is None:
                for operand in operands:
                    if result is operand:
                        break
                else:
                    return result
            elif _is_all_of_a_new_array(result, operands):
                return result
    return np.array(result, order="C")


def _is_all_of_a_new_array(view: np.ndarray[Any, Any], operands: Sequence[Any]) -> bool:
    """True if a view shows the whole of an array that is no operand's, in another shape."""
    owner = view.base
    if type(owner) is not np.ndarray or not owner.flags.owndata or owner.nbytes != view.nbytes:
        return False
    # The base of a plain array's view is the owner of the memory; of others numpy does not say so.
    return all(
        type(operand) is np.ndarray and operand is not owner and operand.base is not owner
        for operand in operands
    )
