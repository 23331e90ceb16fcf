"""Concrete arguments for a signature: small integers in arrays of consistent shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from relaxscript.arith import evaluate
from relaxscript.dtypes import DataType
from relaxscript.errors import InternalError
from relaxscript.ir import prim
from relaxscript.ir.relax import Function, ShapeExpr, Var
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import walk
from relaxscript.runtime.values import Prim, Shape

__all__ = ["array_of", "inputs_for", "inputs_of"]

EXTENTS = (2, 3, 1, 4, 5, 0)


def inputs_for(function: Function | PrimFunc, seed: int) -> list[Any]:
    """Arguments that fit the signature of `function`, chosen by `seed`.

    Every symbolic dimension gets one extent, 0 and 1 among them. For a PrimFunc the arrays of
    results are given as well, filled with numbers that a correct function overwrites. Functions as
    parameters are not known how to make: they raise `TypeError`.
    """
    made = _Inputs(np.random.default_rng(seed))
    if isinstance(function, PrimFunc):
        return [made.of_parameter(function, param) for param in function.params]
    return [made.of_variable(param) for param in function.params]


def inputs_of(info: object) -> list[Any] | None:
    """Arguments for a function of which this is known, None where there are none to make."""
    if not isinstance(info, FuncStructInfo) or info.params is None:
        return None
    made = _Inputs(np.random.default_rng(0))
    try:
        return [made.of_info(param) for param in info.params]
    except TypeError:
        return None


def array_of(random: np.random.Generator, shape: Sequence[int], dtype: DataType) -> Any:
    """An array of small integers, also where it holds floats; unsigned ones are not negative."""
    low = 0 if dtype.kind in ("uint", "bool") else -4
    high = 2 if dtype.is_bool else 5
    return np.array(random.integers(low, high, size=tuple(shape))).astype(dtype.numpy)


class _Inputs:
    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        self.dims: dict[prim.Var, int] = {}
        self.shapes: dict[Var, Shape] = {}

    def dim(self, expr: prim.PrimExpr) -> int:
        for node in walk(expr):
            if isinstance(node, prim.Var) and node not in self.dims:
                self.dims[node] = int(
                    self.random.choice(EXTENTS, p=(0.3, 0.3, 0.15, 0.1, 0.1, 0.05))
                )
        return int(evaluate(expr, self.dims))

    def rank(self, ndim: int) -> int:
        return ndim if ndim >= 0 else int(self.random.integers(0, 4))

    def extents(self, ndim: int) -> Shape:
        return Shape(self.random.integers(1, 4, size=self.rank(ndim)).tolist())

    def of_variable(self, var: Var) -> Any:
        value = self.of_info(var.struct_info)
        if isinstance(value, Shape):
            value = self.shapes.setdefault(var, value)
        return value

    def of_info(self, info: StructInfo) -> Any:
        match info:
            case TensorStructInfo():
                return self.tensor(info)
            case DTensorStructInfo(tensor_sinfo=tensor):
                return self.tensor(tensor)
            case ShapeStructInfo(values=None, ndim=ndim):
                return self.extents(ndim)
            case ShapeStructInfo(values=tuple(values)):
                return Shape(self.dim(v) for v in values)
            case PrimStructInfo():
                return self.scalar(info)
            case TupleStructInfo(fields):
                return tuple(self.of_info(f) for f in fields)
            case ObjectStructInfo():
                return array_of(self.random, (2, 3), DataType("float32"))
        raise TypeError(f"no argument can be made for `{info!r}`")

    def tensor(self, info: TensorStructInfo) -> Any:
        dtype = DataType("float32") if info.dtype.is_void else info.dtype
        match info.shape:
            case ShapeExpr(values):
                shape: Sequence[int] = [self.dim(v) for v in values]
            case Var() as var:
                shape = self.shapes.setdefault(var, self.extents(info.ndim))
            case _:
                shape = self.extents(info.ndim)
        return array_of(self.random, shape, dtype)

    def scalar(self, info: PrimStructInfo) -> Any:
        if info.value is not None and info.dtype.is_integer:
            number: Any = self.dim(info.value)
        else:
            number = array_of(self.random, (), info.dtype).item()
        match info.dtype:
            case "int64":
                return int(number)
            case "float64":
                return float(number)
            case "bool":
                return bool(number)
        return Prim(number, info.dtype)

    def of_parameter(self, function: PrimFunc, param: prim.Var) -> Any:
        buffers: Mapping[prim.Var, Any] = function.buffer_map
        buffer = buffers.get(param)
        if buffer is None:
            return self.dim(param)
        if buffer.strides:
            raise InternalError("random arguments are made for compact buffers only")
        return array_of(self.random, [self.dim(d) for d in buffer.shape], buffer.dtype)
