"""The calling convention of PrimFuncs: parameters, arguments that fit, shape variables they bind.

`PrimFuncSignature(func)` is made once; `bind(args)` checks arguments and gives a frame. First each
dimension, stride and offset that is a variable takes its value. That is after the scalar parameters
and over all buffers. Then all others are compared with what they must be. Every executor uses the
same signatures, so all refuse the same arguments in the same words.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxscript.arith.format import format_expr
from relaxscript.dtypes import DataType, is_masked, nearest
from relaxscript.errors import VMError, quantity
from relaxscript.ir import prim, tir, walk
from relaxscript.runtime import DeviceTensor

from . import scalar, tir_errors
from .expression import compile_expr
from .expression_context import DIMENSIONS, ExpressionContext, Frame, FrameLayout, Run
from .write_sets import written_params

__all__ = [
    "BufferParam",
    "Extent",
    "MemoryParam",
    "Param",
    "PrimFuncSignature",
    "ScalarParam",
    "prim_func_name",
]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class BufferParam:
    """A parameter that stands for a buffer."""

    var: prim.Var
    buffer: tir.Buffer
    dtype: np.dtype[Any]

    @property
    def name(self) -> str:
        return self.buffer.name


@dataclass(frozen=True)
class MemoryParam:
    """A parameter that is a plain pointer: the array's elements in their order."""

    var: prim.Var
    dtype: np.dtype[Any] | None

    @property
    def name(self) -> str:
        return self.var.name


@dataclass(frozen=True)
class ScalarParam:
    """A parameter that is a number."""

    var: prim.Var

    @property
    def name(self) -> str:
        return self.var.name


Param = BufferParam | MemoryParam | ScalarParam


@dataclass(frozen=True)
class Extent:
    """A dimension, stride or offset of a buffer: `expected` is what the buffer says of it."""

    param: int
    kind: str
    axis: int
    expected: prim.PrimExpr

    def actual(self, args: Sequence[Any]) -> int:
        """The size of an argument in this place; strides count elements."""
        array = args[self.param]
        match self.kind:
            case "dimension":
                return int(array.shape[self.axis])
            case "stride":
                return int(array.strides[self.axis] // array.itemsize)
        return 0

    def __str__(self) -> str:
        return self.kind if self.kind == "offset" else f"{self.kind} {self.axis}"


def prim_func_name(func: tir.PrimFunc) -> str:
    """The name of a PrimFunc in messages."""
    return str(func.attrs["global_symbol"]) if func.attrs and not func.is_private else "PrimFunc"


class PrimFuncSignature:
    """The parameters of a PrimFunc; `layout` has slots for them, then `variables`, in this order.

    `variables` are those that the buffers define: dimensions, strides and offsets; `written` holds
    the positions of parameters that are written to: those of the body, where they are not given.
    """

    def __init__(self, func: tir.PrimFunc, written: frozenset[int] | None = None) -> None:
        self.name = prim_func_name(func)
        self.written = written_params(func) if written is None else written
        self.params: tuple[Param, ...] = tuple(_param(func, var) for var in func.params)
        self.layout = FrameLayout()
        for param in self.params:
            self.layout.define(param.buffer if isinstance(param, BufferParam) else param.var)
        self.variables: list[prim.Var] = []
        self._binds: list[tuple[int, Extent]] = []
        self._checks: list[Extent] = []
        self._arrange()
        self._compiled: list[tuple[Extent, Run]] | None = None
        self._sources = dict(self._binds)

    def _arrange(self) -> None:
        for extent in self.extents():
            expected = extent.expected
            if isinstance(expected, prim.Var) and self.layout.find(expected) is None:
                self._binds.append((self.layout.define(expected), extent))
                self.variables.append(expected)
            else:
                self._checks.append(extent)

    def extents(self) -> Iterator[Extent]:
        """Every dimension, stride and offset of the buffers."""
        for index, param in enumerate(self.params):
            if isinstance(param, BufferParam):
                buffer = param.buffer
                for axis, e in enumerate(buffer.shape):
                    yield Extent(index, "dimension", axis, e)
                for axis, e in enumerate(buffer.strides):
                    yield Extent(index, "stride", axis, e)
                if buffer.elem_offset is not None:
                    yield Extent(index, "offset", 0, buffer.elem_offset)

    @property
    def sources(self) -> list[Extent]:
        """The places where each of `variables` takes its value."""
        return [extent for _, extent in self._binds]

    @property
    def checks(self) -> list[Extent]:
        """The extents that are compared with the arguments when all variables have values."""
        return self._checks

    def bind(self, args: Sequence[Any]) -> Frame:
        """A frame with checked arguments and the variables; raises `VMError` (RX0601, RX0602)."""
        values = self.convert(args)
        variables = [self._value(extent, values) for _, extent in self._binds]
        checks = self._expected_extents()  # which may need further slots
        frame: Frame = [None, *values, *variables]
        frame.extend([None] * (self.layout.size - len(frame)))
        for extent, expected in checks:
            self._check(extent, frame, expected(frame))
        return frame

    def _expected_extents(self) -> list[tuple[Extent, Run]]:
        """The extents that are compared, with the functions that compute them; made once."""
        if self._compiled is None:
            cx = ExpressionContext(self.layout, DIMENSIONS)
            cx.wraps = lambda: tir_errors.too_large(self.name)
            self._compiled = [(e, compile_expr(cx, e.expected)) for e in self._checks]
        return self._compiled

    def convert(self, args: Sequence[Any]) -> list[Any]:
        """The arguments as arrays and numbers; kinds, dtypes and ranks are checked."""
        if len(args) != len(self.params):
            raise VMError(
                f"`{self.name}` takes {quantity(len(self.params), 'argument')}, not {len(args)}",
                code="RX0602",
            )
        pairs = zip(self.params, args, strict=True)
        return [self._convert(i, param, arg) for i, (param, arg) in enumerate(pairs)]

    def _convert(self, index: int, param: Param, arg: Any) -> Any:
        if index in self.written and isinstance(arg, np.ndarray):
            self._require_own_elements(param.name, arg)
        match param:
            case BufferParam():
                return self._array(param, arg, param.dtype, param.buffer.ndim)
            case MemoryParam():
                return flatten_compact(self._array(param, arg, param.dtype, None), param.name)
        return convert_scalar(param.name, param.var.dtype, arg)

    def _require_own_elements(self, name: str, array: Array) -> None:
        """Refuse to write where that is forbidden, or would write several elements at once."""
        if not array.flags.writeable:
            raise tir_errors.bad_argument(
                f"argument `{name}` of `{self.name}` is read-only, but is written to (copies of "
                "arrays in foreign byte order are read-only)"
            )
        if overlaps_itself(array):
            raise tir_errors.bad_argument(
                f"argument `{name}` of `{self.name}` is written to, but several of its elements "
                f"share memory (its strides are {array.strides}); `numpy.array({name})` is a copy"
            )

    def _array(self, param: Param, arg: Any, dtype: np.dtype[Any] | None, ndim: int | None) -> Any:
        if isinstance(arg, DeviceTensor):
            text = f"argument `{param.name}` of `{self.name}` is on {arg.device}, not on the host"
            raise tir_errors.bad_argument(text)
        if not isinstance(arg, np.ndarray) or is_masked(arg):
            kind = type(arg).__name__
            raise tir_errors.bad_argument(
                f"argument `{param.name}` of `{self.name}` is of type {kind}, not a numpy array"
            )
        if dtype is not None and arg.dtype != dtype:
            raise tir_errors.bad_argument(
                f"argument `{param.name}` of `{self.name}` has dtype {arg.dtype}, not {dtype}"
            )
        if ndim is not None and arg.ndim != ndim:
            raise tir_errors.bad_argument(
                f"argument `{param.name}` of `{self.name}` has {quantity(arg.ndim, 'dimension')}, "
                f"not {ndim}"
            )
        return arg

    def _value(self, extent: Extent, values: Sequence[Any]) -> int:
        value = extent.actual(values)
        low, high = scalar.limits(extent.expected.dtype)
        if not low <= value <= high:
            name = self.params[extent.param].name
            raise tir_errors.bad_argument(
                f"{extent} of argument `{name}` of `{self.name}` is {value}, which is no "
                f"{extent.expected.dtype}"
            )
        return value

    def _check(self, extent: Extent, frame: Frame, expected: int) -> None:
        values = frame[1 : 1 + len(self.params)]
        actual = extent.actual(values)
        if actual == expected:
            return
        # The stride of a dimension with at most one element leads nowhere.
        if extent.kind == "stride" and values[extent.param].shape[extent.axis] <= 1:
            return
        name = self.params[extent.param].name
        raise tir_errors.bad_argument(
            f"{extent} of argument `{name}` of `{self.name}` is {actual}, not {expected}"
            + self._because(extent.expected, frame)
        )

    def _because(self, expected: prim.PrimExpr, frame: Frame) -> str:
        """The expected value, and where its variables got theirs, in parentheses."""
        if isinstance(expected, prim.IntImm):
            return ""
        origins = []
        for var in dict.fromkeys(v for v in walk.walk(expected) if isinstance(v, prim.Var)):
            slot = self.layout.find(var)
            assert slot is not None  # the expression was compiled in this scope
            origin = self._sources.get(slot)
            where = f"{origin} of `{self.params[origin.param].name}`" if origin else ""
            if var is expected:
                return f" (`{var.name}`{', ' if where else ''}{where})"
            origins.append(f"{var.name} = {frame[slot]}{' from ' if where else ''}{where}")
        return f" (`{format_expr(expected)}`; {', '.join(origins)})"


def _param(func: tir.PrimFunc, var: prim.Var) -> Param:
    buffer = func.buffer_map.get(var)
    if buffer is not None:
        return BufferParam(var, buffer, element_type(buffer))
    if var.dtype.kind == "handle":
        pointer = var.type_annotation
        known = pointer is not None and pointer.element_type.dtype.kind not in ("void", "handle")
        return MemoryParam(var, pointer.element_type.dtype.numpy if pointer and known else None)
    return ScalarParam(var)


def element_type(buffer: tir.Buffer) -> np.dtype[Any]:
    """The dtype of the elements for numpy; raises `DiagnosticError` where there is none."""
    try:
        return buffer.dtype.numpy
    except TypeError:
        raise tir_errors.invalid(
            "RX0505",
            f"buffer `{buffer.name}` holds {buffer.dtype}, which numpy arrays cannot hold",
            buffer.span,
        ) from None


def overlaps_itself(array: Array) -> bool:
    """True if an array has elements that share memory, as broadcast ones do."""
    if array.flags.c_contiguous or array.size <= 1:
        return False
    axes = [
        (abs(step), size) for step, size in zip(array.strides, array.shape, strict=True) if size > 1
    ]
    reach = array.itemsize
    for step, size in sorted(axes):
        if step < reach:
            break
        reach += step * (size - 1)
    else:
        return False  # each axis steps over all that the axes before it reach
    span = array.itemsize + sum(step * (size - 1) for step, size in axes)
    if array.nbytes > span:
        return True
    starts = np.zeros(1, np.int64)
    for step, size in axes:
        starts = (starts[:, None] + step * np.arange(size)).reshape(-1)
    return bool(np.any(np.diff(np.sort(starts)) < array.itemsize))


def flatten_compact(array: Array, name: str) -> Array:
    """The elements behind a compact array, in one dimension and without a copy."""
    if array.ndim == 1 and array.flags.c_contiguous:
        return array
    if not array.flags.c_contiguous:
        raise tir_errors.bad_argument(f"the array behind `{name}` is not compact")
    return array.reshape(-1)


def convert_scalar(name: str, dtype: DataType, arg: Any) -> scalar.Number:
    """An argument as a number of `dtype`; raises `VMError` when it is none or out of range."""
    if dtype.is_float and isinstance(arg, (int, float, np.number)):
        return nearest(arg if isinstance(arg, int) else float(arg), dtype)
    if dtype.is_bool and isinstance(arg, (bool, np.bool_)):
        return bool(arg)
    value = _as_index(arg) if dtype.is_integer else None
    if value is not None:
        low, high = scalar.limits(dtype)
        if low <= value <= high:
            return value
        raise tir_errors.bad_argument(f"argument `{name}` is {value}, which is no {dtype}")
    raise tir_errors.bad_argument(
        f"argument `{name}` is of type {type(arg).__name__}, not a number of {dtype}"
    )


def _as_index(arg: Any) -> int | None:
    """An argument as an integer of Python, None where it is none."""
    try:
        return operator.index(arg)
    except TypeError:  # an array of several elements has `__index__` as well
        return None
