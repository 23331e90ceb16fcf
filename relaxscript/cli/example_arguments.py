"""Arguments for a function of a file that nobody calls: arrays that fit its annotations.

Floats are between -1 and 1, integers 0 or 1, so that they are indices of whatever has two elements.
The same function has the same arguments each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from relaxscript.arith import EvaluationError, evaluate, format_expr
from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError, Span, did_you_mean, nearest
from relaxscript.ir import prim
from relaxscript.ir.relax import Function, ShapeExpr
from relaxscript.ir.struct_info import (
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import walk
from relaxscript.runtime.values import Prim, Shape

__all__ = ["USUAL_SIZE", "ExampleArguments"]

# The size of a shape variable of which nothing is said, and of an axis that has no name.
USUAL_SIZE = 128


class ExampleArguments:
    """Arguments that fit the signature of a function; `sizes` has those of its shape variables."""

    def __init__(self, function: Function | PrimFunc, dims: Mapping[str, int]) -> None:
        self._random = np.random.default_rng(0)
        self._given = dims
        self.sizes: dict[str, int] = {}
        if isinstance(function, PrimFunc):
            self.values = [self._of_parameter(function, param) for param in function.params]
        else:
            self.values = [self._of(v.struct_info, v.name_hint, v.span) for v in function.params]

    def require_used(self) -> None:
        """Raise RX0703 for a size that is given and that no parameter mentions."""
        for name in self._given:
            if name not in self.sizes:
                near = nearest(name, [*self.sizes])
                there = f"there are {', '.join(self.sizes)}" if self.sizes else "there are none"
                message = f"no parameter has the shape variable `{name}`"
                help = did_you_mean(near, there)
                raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))

    def _of(self, info: StructInfo | None, name: str, span: Span | None) -> Any:
        match info:
            case TensorStructInfo(shape=ShapeExpr(values)):
                return self._array(self._shape(values, name, span), info.dtype)
            case TensorStructInfo(ndim=ndim) if ndim >= 0:
                return self._array((USUAL_SIZE,) * ndim, info.dtype)
            case ShapeStructInfo(values=tuple(values)):
                return Shape(self._shape(values, name, span))
            case ShapeStructInfo(ndim=ndim) if ndim >= 0:
                return Shape((USUAL_SIZE,) * ndim)
            case PrimStructInfo():
                return self._scalar(info, name, span)
            case TupleStructInfo(fields):
                return tuple(self._of(field, name, span) for field in fields)
        message = f"no argument can be made for `{name}`, which is `{info!r}`"
        help = "arguments are made for tensors of known rank, shapes, numbers and tuples of these"
        raise DiagnosticError(Diagnostic("RX0703", message, span, help=help))

    def _of_parameter(self, function: PrimFunc, param: prim.Var) -> Any:
        buffer = function.buffer_map.get(param)
        if buffer is not None:
            shape = self._shape(buffer.shape, buffer.name, buffer.span)
            return self._array(shape, buffer.dtype)
        return self._scalar(PrimStructInfo(param.dtype.element, param), param.name, param.span)

    def _scalar(self, info: PrimStructInfo, name: str, span: Span | None) -> Any:
        if info.value is not None and info.dtype.is_integer:
            (number,) = self._shape([info.value], name, span)
            return number if info.dtype == "int64" else Prim(number, info.dtype)
        value = self._array((), info.dtype).item()
        return value if info.dtype in ("int64", "float64", "bool") else Prim(value, info.dtype)

    def _shape(
        self, dims: Iterable[prim.PrimExpr], name: str, span: Span | None
    ) -> tuple[int, ...]:
        return tuple([self._size(dim, name, span) for dim in dims])

    def _size(self, dim: prim.PrimExpr, name: str, span: Span | None) -> int:
        variables = [node for node in walk(dim) if isinstance(node, prim.Var)]
        for var in variables:
            self.sizes.setdefault(var.name, self._given.get(var.name, USUAL_SIZE))
        try:
            size = int(evaluate(dim, {var: self.sizes[var.name] for var in variables}))
        except EvaluationError:
            size = -1
        if size < 0:
            said = ", ".join(f"{var.name}={self.sizes[var.name]}" for var in variables)
            message = f"`{name}` cannot have {format_expr(dim)} elements with {said}"
            help = "give other sizes: --dims n=256"
            raise DiagnosticError(Diagnostic("RX0703", message, span, help=help))
        return size

    def _array(self, shape: tuple[int, ...], dtype: DataType) -> Any:
        kind = DataType("float32") if dtype.is_void else dtype
        if kind.is_float:
            return np.asarray(self._random.uniform(-1, 1, shape)).astype(kind.numpy)
        return np.asarray(self._random.integers(0, 2, shape)).astype(kind.numpy)
