"""Values that cross the border of a program, made into the run-time values that they stand for.

`coerce` is for what users pass to a function, `to_runtime_value` for what packed functions return.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from relaxscript.arguments import ArgumentError, Formal, Signature
from relaxscript.errors import InternalError, VMError, meant_notes

from .checks import AnyCheck, Check, FuncCheck, PrimCheck, ShapeCheck, TensorCheck, TupleCheck
from .packed_func import PackedFunc
from .run_check import argument_count_error, argument_path, match as match_value
from .stack_guard import lacks_stack
from .values import (
    Closure,
    DeviceTensor,
    Prim,
    Shape,
    closure_behind,
    has_method,
    is_tensor,
    make_prim,
    to_tensor,
)

__all__ = [
    "call_packed",
    "coerce",
    "coerce_argument",
    "order_arguments",
    "require_written",
    "to_runtime_value",
]


def coerce(value: Any, check: Check) -> Any:
    """Convert a user's value to the run-time value that it stands for where `check` applies.

    Tensors of other libraries become arrays. Where these are wanted, a list or tuple of integers
    becomes a shape and a list a tuple. A numpy scalar becomes a scalar, a Python function a packed
    function or a closure. Arrays in foreign byte order become read-only copies: what was written
    into them would be lost. What stands for nothing is itself, and matching then says what is wrong
    with it. Raises `VMError` for a tensor that cannot be taken.
    """
    value = closure_behind(value)
    match check:
        case TensorCheck() if _is_foreign_tensor(value, ("__dlpack__", "__array__")):
            return _take_tensor(value)
        case ShapeCheck() if isinstance(value, (list, tuple)) and not isinstance(value, Shape):
            return Shape(value) if all(map(_is_integer, value)) else value
        case TupleCheck(fields=fields) if isinstance(value, (list, tuple)):
            if isinstance(value, Shape) or len(value) != len(fields):
                return tuple(value) if isinstance(value, list) else value
            return tuple(coerce(item, field) for item, field in zip(value, fields, strict=True))
        case PrimCheck(dtype=dtype) if isinstance(value, np.generic) and value.dtype.name == dtype:
            return make_prim(value.item(), dtype)
        case FuncCheck() if callable(value):
            return _take_function(value, check)
        case AnyCheck() if type(value) is tuple:
            return to_runtime_value(value)
        case AnyCheck() if _is_foreign_tensor(value, ("__dlpack__",)):
            return _take_tensor(value)
    return value


def _take_function(value: Callable[..., Any], check: FuncCheck) -> Any:
    """The function value that a function of Python stands for, itself where it stands for none.

    A closure of the type that is wanted is made of it where what it gives can be checked. A
    PackedFunc stays one: it says nothing of its type.
    """
    if isinstance(value, (PackedFunc, Closure, type)):
        return value
    name = getattr(value, "__name__", type(value).__name__)
    wanted = check.result
    if check.packed is not False:
        return PackedFunc(name, value)
    if wanted is None:
        return value

    def call(*args: Any) -> Any:
        result = coerce_result(call_packed(name, value, args), wanted)
        match_value(result, wanted, [], f"the result of `{name}`")
        return result

    return Closure(name, call, check.made_of[0])


def _take_tensor(value: Any) -> Any:
    """The tensor that a user's value stands for, read-only where it is a copy."""
    tensor = to_tensor(value)
    if isinstance(value, np.ndarray) and not value.dtype.isnative:
        tensor.flags.writeable = False
    return tensor


def coerce_argument(value: Any, check: Check, name: str, function: str, position: int) -> Any:
    """`coerce` of argument `position` of a call: failures name it and the path into it."""
    place = argument_path(name, function, position)
    try:
        return coerce(value, check)
    except RecursionError as error:
        if lacks_stack(error):
            raise
        made = place.error(f"{place} nests deeper than Python allows")
        made.diagnostic = replace(made.diagnostic, code="RX0609")
        raise made from error
    except VMError as error:
        for index in _path(value, check):
            place = place.field(index)
        message = f"{place}: {error.diagnostic.message}"
        notes = (*error.diagnostic.notes, f"in a call of `{function}`")
        error.diagnostic = replace(error.diagnostic, message=message, notes=notes)
        error.argument = position
        raise


def _path(value: Any, check: Check) -> tuple[int, ...]:
    """The path of fields to the value that `coerce` cannot take."""
    if isinstance(check, TupleCheck) and isinstance(value, (list, tuple)):
        for index, (item, field) in enumerate(zip(value, check.fields, strict=False)):
            try:
                coerce(item, field)
            except VMError:
                return (index, *_path(item, field))
    return ()


def _is_integer(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_foreign_tensor(value: object, protocols: tuple[str, ...]) -> bool:
    """True if `value` is a tensor that is not in the form in which programs hold tensors."""
    if isinstance(value, np.ndarray):
        plain = type(value) is np.ndarray and value.dtype.isnative
        objects = value.dtype.isnative and not is_tensor(value)
        return not plain and (not objects or isinstance(value, np.ma.MaskedArray))
    if isinstance(value, (Closure, Prim, Shape, type, DeviceTensor)):
        return False
    return isinstance(value, np.generic) or any(has_method(value, name) for name in protocols)


def to_runtime_value(value: Any) -> Any:
    """Convert the result of a function outside of the program to a run-time value.

    numpy scalars are tensors of rank 0, tensors of other libraries on the host arrays; tuples are
    looked through. Anything else is itself.
    """
    if type(value) is np.ndarray and value.dtype.isnative:
        return value
    match value:
        case None | bool() | int() | str() | Closure() | Shape() | DeviceTensor() | PackedFunc():
            return value
        case np.generic():
            return to_tensor(value)
        case BuiltinFunctionType():
            return closure_behind(value)
        case tuple():
            fields = tuple(map(to_runtime_value, value))
            same = all(new is old for new, old in zip(fields, value, strict=True))
            return value if same else fields
    if isinstance(value, np.ndarray) or has_method(value, "__dlpack__"):
        with suppress(VMError):  # what is no tensor of the host is an object
            return to_tensor(value)
    return value


def coerce_result(value: Any, check: Check) -> Any:
    """Convert the result of a packed function where `check` applies.

    An object that only numpy can make a tensor of becomes one where one is wanted. Anything else,
    and an object that numpy cannot take, is itself.
    """
    match check:
        case TensorCheck() if not isinstance(value, (np.ndarray, Closure, Prim, Shape, type)):
            with suppress(VMError):
                return to_tensor(value) if has_method(value, "__array__") else value
        case TupleCheck(fields=fields) if type(value) is tuple and len(value) == len(fields):
            taken = tuple(map(coerce_result, value, fields))
            same = all(new is old for new, old in zip(taken, value, strict=True))
            return value if same else taken
    return value


def call_packed(name: str, function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Call a packed function; its result is a run-time value.

    Its exceptions become `VMError`s (RX0604) with the exception as their cause.
    """
    try:
        return to_runtime_value(function(*args))
    except (VMError, InternalError):
        raise
    except RecursionError as error:
        text = f"`{name}`: calls through packed functions nest deeper than Python allows"
        raise VMError(text, code="RX0609") from error
    except Exception as error:
        words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise VMError(f"`{name}` raised {words}", code="RX0604") from error


def require_written(name: str, result: Any, args: Sequence[Any]) -> None:
    """Refuse what is surely a mistake: a result returned, and the destination left as it was.

    A destination-passing function may return what it likes. But where its last argument still holds
    zeros, a new array of that shape or dtype was meant for it. Raises `VMError`
    (RX0605).
    """
    into = args[-1] if args else None
    if not isinstance(result, np.ndarray) or not isinstance(into, np.ndarray):
        return
    if result.shape != into.shape and (result.dtype != into.dtype or not result.ndim):
        return
    shared = any(isinstance(arg, np.ndarray) and np.may_share_memory(result, arg) for arg in args)
    if not shared and result.any() and not into.any():
        note = "`out[...] = result` writes it, or `numpy.add(x, y, out=out)` and its like"
        text = f"`{name}` returned its result, but `R.call_dps_packed` has it written into the last"
        raise VMError(f"{text} argument", code="RX0605", notes=[note])


@functools.lru_cache(maxsize=256)
def _signature(function: str, *names: str) -> Signature:
    return Signature(function, map(Formal, names))


def order_arguments(
    function: str, names: Sequence[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Arguments given by name put into the order of the parameters."""
    try:
        bound = _signature(function, *names).bind(args, kwargs)
    except ArgumentError as error:
        if error.keyword is None:
            raise argument_count_error(function, names, len(args) + len(kwargs)) from None
        notes = meant_notes(error.meant)
        raise VMError(error.message, code="RX0602", notes=notes) from None
    if len(bound) < len(names):  # two parameters have one name
        raise argument_count_error(function, names, len(args) + len(kwargs))
    return tuple(bound[name] for name in names)
