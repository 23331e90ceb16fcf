"""Calls of PrimFuncs from Relax: where arguments go, and where results are put.

`R.call_tir` gives tensors to the buffers of a PrimFunc and integers to its scalar parameters, each
in their order. So both orders work: integers before the results, as in the spec, and behind them,
as in TVM. Every executor uses these functions around its kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from relaxscript.analysis import function_struct_info
from relaxscript.errors import VMError
from relaxscript.ir.prim import Var
from relaxscript.ir.relax import Call
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir import PrimFunc
from relaxscript.runtime import Closure, DeviceTensor, Prim, Shape
from relaxscript.runtime.coercion import coerce_argument
from relaxscript.runtime.error_context import add_call_notes
from relaxscript.runtime.run_check import AnyCheck, argument_count_error
from relaxscript.runtime.stack_guard import run_scope
from relaxscript.runtime.values import make_prim

from . import tir_errors
from .devices import devices_of
from .error_context import locate_errors
from .write_sets import written_params

__all__ = [
    "assemble_results",
    "call_tir_adapter",
    "entry_closure",
    "kernel_argument",
    "prim_func_closure",
    "result_struct_infos",
    "symbol_of",
    "writes_into_operands",
]

_Kernel = Callable[..., Any]


def symbol_of(func: PrimFunc) -> str | None:
    """The global symbol of a PrimFunc, by which packed calls find it; private ones have none."""
    return None if func.attrs is None else func.attrs.get("global_symbol")


def kernel_argument(value: Any) -> Any:
    """A run-time value as kernels take it: numbers and arrays."""
    match value:
        case Prim():
            return value.value
        case DeviceTensor():
            return value.data
    return value


def call_tir_adapter(func: PrimFunc, kernel: _Kernel) -> _Kernel:
    """`kernel` for the arguments of a `call_tir`: tensors, scalars and shapes in any order."""
    is_buffer = [_is_tensor(func, param) for param in func.params]

    def call(*args: Any) -> None:
        flat = list(_flatten(args))
        _require_one_device(args)
        tensors = [value for value in flat if hasattr(value, "shape")]
        numbers = [value for value in flat if not hasattr(value, "shape")]
        if len(tensors) != sum(is_buffer) or len(flat) != len(is_buffer):
            kernel(*flat)  # which says what is wrong with them
            return
        order = [tensors if wants else numbers for wants in is_buffer]
        kernel(*(source.pop(0) for source in order))

    return call


def _require_one_device(args: Sequence[Any]) -> None:
    devices = devices_of(args)
    if len(devices) > 1:
        places = " and ".join(map(str, devices))
        raise VMError(f"the tensors are on several devices, {places}", code="RX0601")


def _is_tensor(func: PrimFunc, param: Var) -> bool:
    return param in func.buffer_map or param.dtype.kind == "handle"


def _flatten(args: Iterable[Any]) -> Iterator[Any]:
    for value in args:
        if isinstance(value, Shape):
            yield from value
        else:
            yield kernel_argument(value)


def prim_func_closure(name: str, func: PrimFunc, kernel: _Kernel) -> Closure:
    """A PrimFunc as a value: calling it runs the kernel and gives the empty tuple, or what the
    PrimFunc declares to return.

    A tensor of rank 0, which is what a numpy scalar stands for, is a number where one is wanted.
    """
    is_buffer = [_is_tensor(func, param) for param in func.params]
    names = _names(func)

    dtype = func.returned_dtype

    def call(*args: Any) -> Any:
        if len(args) != len(names):
            raise argument_count_error(name, names, len(args))
        _require_one_device(args)
        pairs = zip(args, is_buffer, strict=True)
        result = kernel(
            *(kernel_argument(a) if wants_tensor else _number(a) for a, wants_tensor in pairs)
        )
        if dtype is None:
            return ()
        if result is None:
            raise tir_errors.missing_return(name, dtype)
        return make_prim(result, dtype)

    return Closure(name, call, function_struct_info(func))


def entry_closure(name: str, func: PrimFunc, kernel: _Kernel) -> Closure:
    """A PrimFunc as users call it: as `prim_func_closure`, failures naming the function's place.

    Tensors of other libraries become arrays that share their memory. One that returns nothing gives
    None, as any such function of Python does.
    """
    direct, names = prim_func_closure(name, func, kernel), _names(func)

    def converted(index: int, arg: Any) -> Any:
        if type(arg) is np.ndarray:
            return arg
        return coerce_argument(arg, AnyCheck(), names[index], name, index)

    def call(*args: Any) -> Any:
        with locate_errors(func.span):
            if len(args) != len(names):
                raise argument_count_error(name, names, len(args))
            values = [converted(index, arg) for index, arg in enumerate(args)]
        try:
            with run_scope():
                result = direct(*values)
            return None if func.returned_dtype is None else result
        except VMError as error:
            placed = error.span is not None
            add_call_notes(error.locate(func.span), [(name, func.span)], placed)
            raise

    return Closure(name, call, direct.info)


def _names(func: PrimFunc) -> list[str]:
    """The names of the parameters in messages: those of the buffers they stand for."""
    return [func.buffer_map[p].name if p in func.buffer_map else p.name for p in func.params]


def _number(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)) and value.ndim == 0:
        return value.item()
    return kernel_argument(value)


def result_struct_infos(info: StructInfo) -> list[TensorStructInfo]:
    """The tensors that a destination-passing call is given for its results, in order."""
    match info:
        case TupleStructInfo(fields):
            return [tensor for field in fields for tensor in result_struct_infos(field)]
        case TensorStructInfo():
            return [info]
        case DTensorStructInfo(tensor_sinfo=tensor):  # one worker has all of it
            return [tensor]
    return []


def assemble_results(info: StructInfo, tensors: Sequence[Any]) -> Any:
    """The value of a destination-passing call from its tensors: the one tensor, or tuples."""
    return _assemble(info, iter(tensors))


def _assemble(info: StructInfo, tensors: Iterator[Any]) -> Any:
    if isinstance(info, TupleStructInfo):
        return tuple([_assemble(field, tensors) for field in info.fields])
    return next(tensors)


def writes_into_operands(func: PrimFunc, call: Call) -> bool:
    """True if a PrimFunc may write into what a call gives it, beside the results that it makes."""
    written = written_params(func)
    tensors = [index for index, param in enumerate(func.params) if _is_tensor(func, param)]
    results = sum(len(result_struct_infos(info)) for info in call.sinfo_args)
    return any(index in written for index in tensors[: max(0, len(tensors) - results)])
