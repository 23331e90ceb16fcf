"""Calls of operators on run-time values: the meaning runs, operands that do not fit are named.

The interpreter evaluates every call so; compiled code does where the operator has no kernel. What
could not be decided before the run is decided here. The operator's own rule decides it, from the
shapes and dtypes that the operands turn out to have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import InternalError, OperandError, VMError
from relaxscript.ir.prim import as_prim, const
from relaxscript.ir.relax import (
    Call,
    DataTypeImm,
    Expr,
    PrimValue,
    ShapeExpr,
    StringImm,
    Tuple,
    Var,
)
from relaxscript.ir.struct_info import ObjectStructInfo, StructInfo
from relaxscript.op import DeferredCheck, Operator, lookup
from relaxscript.op.base import null_value
from relaxscript.opdef.eager import call_quietly, finish_result
from relaxscript.opdef.leaf_struct_info import array_struct_info, struct_info_of_leaf
from relaxscript.runtime import DeviceTensor, Prim, Shape
from relaxscript.runtime.stack_guard import lacks_stack
from relaxscript.runtime.superinstructions import ArrayOperator
from relaxscript.runtime.values import is_tensor, kind_of, prim_dtype, prim_value

from .devices import devices_of, run_on_device

__all__ = ["abstract_value", "check_operands", "operator_error", "operator_function"]

_Run = Callable[..., Any]
_COMPARED = (bool, int, float, str, Prim, Shape)
_SHOWN = 4  # fields of a tuple that a message describes
_REMEMBERED = 256  # combinations of shapes that a call is known to work with


def operator_function(call: Call, *, checked: bool) -> _Run:
    """A call of an operator as a function of the values of `call.args`.

    With `checked`, values that the operator's rule refuses raise `VMError` (RX0606) before anything
    is computed; without, the call is known to fit.
    """
    operator = lookup(call.op)  # type: ignore[arg-type]
    guarded = _describing_errors(operator, call)
    if not checked:
        return guarded
    fitting: set[Any] = set()

    def checking(*values: Any) -> Any:
        key = _cache_key(values)
        if key not in fitting:
            check_operands(operator, call, values)
            if len(fitting) < _REMEMBERED:
                fitting.add(key)
        return guarded(*values)

    checking.__dict__["checks_operands"] = True
    return checking


def _describing_errors(operator: Operator, call: Call) -> _Run:
    """The call without checks, its failures told in words."""
    on_arrays = _on_arrays(operator, call)
    callee = f"`R.{operator.script_name}`"

    def on_any(*values: Any) -> Any:
        return operator.evaluate(call, values, call.sinfo_args)

    def guarded(*values: Any) -> Any:
        try:
            for value in values:
                if value.__class__ is not np.ndarray:
                    break
            else:
                if on_arrays is not None:
                    return on_arrays(*values)
            if any(not place.is_host for place in devices_of(values)):
                return run_on_device(on_any, values, callee, anywhere=not operator.pure)
            return on_any(*values)
        except VMError:
            raise
        except Exception as error:
            raise operator_error(operator, call, values, error) from error

    bare = None if on_arrays is None else operator.bare(operator.attributes(call))
    if bare is not None:
        guarded.__dict__["on_arrays"] = ArrayOperator(bare, call_quietly, finish_result)
    return guarded


def _on_arrays(operator: Operator, call: Call) -> _Run | None:
    """The function for where all values of `call.args` are arrays, and arguments of the meaning."""
    operands = [p for p in operator.parameters if p.is_operand]
    plain = all(p.kind == "operand" and p.wants in ("tensor", "scalar") for p in operands)
    if not plain or operator.operand_names(call) != tuple(p.name for p in operands):
        return None
    return operator.prepare(operator.attributes(call))


def _cache_key(value: Any) -> Any:
    """All that a rule may ask of a value, as a key."""
    if type(value) is np.ndarray:
        return value.shape, value.dtype
    if type(value) is tuple:
        return tuple(map(_cache_key, value))
    if isinstance(value, DeviceTensor):
        return value.shape, value.dtype, value.device
    return (type(value), value) if isinstance(value, _COMPARED) else type(value)


def check_operands(operator: Operator, call: Call, values: Sequence[Any]) -> None:
    """Raise `VMError` (RX0606) unless the operator's rule accepts operands like these values."""
    stand_ins = tuple(abstract_value(value) for value in values)
    concrete = Call.make(call.op, stand_ins, call.attrs, call.sinfo_args)
    try:
        operator.infer(concrete, _ValueContext())
    except OperandError as error:
        raise operator_error(operator, call, values, error) from None


class _ValueContext:
    """The context of a rule whose operands are at hand: everything can be decided."""

    module = None
    facts = None

    def struct_info(self, expr: Expr) -> StructInfo:
        return struct_info_of_leaf(expr)

    def require(self, deferred: DeferredCheck) -> None:
        raise InternalError(f"it is not decided for values whether {deferred.text}")


_NULL = Call.make(null_value.op, ())


def abstract_value(value: Any) -> Expr:
    """An expression of which exactly that is known what is true of the value."""
    match value:
        case Shape():
            return ShapeExpr.make(tuple(as_prim(dim) for dim in value))
        case tuple():
            return Tuple.make(tuple(abstract_value(item) for item in value))
        case DataType():
            return DataTypeImm(value)
        case str():
            return StringImm(value)
        case None:
            return _NULL
        case np.ndarray() if is_tensor(value):
            return Var.make("tensor", array_struct_info(value))
        case DeviceTensor(data=data):
            return Var.make("tensor", array_struct_info(data))
    dtype = prim_dtype(value)
    if dtype is not None:
        return PrimValue.make(const(prim_value(value) or 0, dtype))
    return Var.make("object", ObjectStructInfo())


def _describe(name: str, value: Any) -> list[str]:
    """The facts about an operand; of a tuple, those about its first fields."""
    if type(value) is not tuple or not value:
        return [f"`{name}` is {kind_of(value)}"]
    return [f"`{name}[{i}]` is {kind_of(item)}" for i, item in enumerate(value[:_SHOWN])]


def operator_error(
    operator: Operator, call: Call, values: Sequence[Any], error: Exception
) -> VMError:
    """The error for an operator that cannot work with its operands, each of which it describes.

    Raises `error` itself where the operands are not to blame.
    """
    if lacks_stack(error):
        raise error
    names = operator.operand_names(call)
    notes = [note for pair in zip(names, values, strict=False) for note in _describe(*pair)]
    callee = f"`R.{operator.script_name}`"
    if isinstance(error, OperandError):
        facts = "; ".join(f"`{name}` {fact}" for name, fact in error.facts.items())
        message = f"{error.message or f'{callee} cannot take these operands'}: {facts}"
        notes += [error.help] if error.help else []
    else:
        words = str(error).strip() or type(error).__name__
        message = f"{callee} cannot work with these operands: {words}"
    failed = VMError(message, code="RX0606", notes=notes)
    failed.parameters = tuple(parameter.name for parameter in operator.parameters)
    failed.required = sum(1 for parameter in operator.parameters if parameter.is_required)
    failed.operands = names
    return failed
