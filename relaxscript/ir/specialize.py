"""A PrimFunc with some of its parameters fixed: buffers of known shapes, scalars of known values.

Source: TVM `tir.PrimFunc.specialize`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relaxscript.errors import DiagnosticError

from .constant_folding import fold_constants
from .field_types import brief
from .node import Node
from .prim import INT64, IntImm, PrimExpr, Var, as_scalar, cast
from .prim_checks import refused
from .structural_equality import structural_equal
from .tir import Buffer, PrimFunc
from .walk import rewrite

__all__ = ["specialize"]


def specialize(function: PrimFunc, given: Mapping[Any, Any]) -> PrimFunc:
    """`function` for some buffers and values of its parameters, with constants computed.

    A parameter is named by its variable, or by its buffer. A scalar is no parameter of the result.
    Raises a `ValueError` for what is no parameter and for shapes that do not fit.
    """
    values: dict[Var, PrimExpr] = {}
    scalars: set[Var] = set()
    for key, value in given.items():
        param = _parameter(function, key)
        if isinstance(value, Buffer):
            _match_buffers(_buffer_of(function, param), value, values)
        else:
            _assign(param, as_scalar(value), values)
            scalars.add(param)
    kept = tuple(p for p in function.params if p not in scalars)
    spans = function.param_spans
    if len(spans) == len(function.params):
        spans = tuple(at for p, at in zip(function.params, spans) if p not in scalars)

    def step(node: Node) -> Node | None:
        if isinstance(node, Var):
            return values.get(node)
        if isinstance(node, Buffer):
            return node.replace(shape=tuple(_as_shape_dim(dim) for dim in node.shape))
        return fold_constants(node) if isinstance(node, PrimExpr) else None

    return rewrite(function.replace(params=kept, param_spans=spans), step)


def _as_shape_dim(dim: PrimExpr) -> PrimExpr:
    """A dimension; a number is an int64, as in every shape that is written."""
    return IntImm.make(INT64, dim.value) if isinstance(dim, IntImm) else dim


def _parameter(function: PrimFunc, key: Any) -> Var:
    for param in function.params:
        if key is param or function.buffer_map.get(param) is key:
            return param
    raise refused(f"{brief(key)} is no parameter of the function", code="RX0505")


def _buffer_of(function: PrimFunc, param: Var) -> Buffer:
    buffer = function.buffer_map.get(param)
    if buffer is None:
        raise _describe_misfit(param, f"is a scalar of {param.dtype}, which no buffer can be")
    return buffer


def _describe_misfit(what: Any, fact: str) -> DiagnosticError:
    return refused(f"`{what.name}` {fact}", code="RX0505")


def _assign(var: Var, value: PrimExpr, values: dict[Var, PrimExpr]) -> None:
    if var.dtype.kind == "handle":
        raise _describe_misfit(var, "is a buffer: give it a buffer, as by `tir.decl_buffer(shape)`")
    known = values.setdefault(var, cast(value, var.dtype))
    if not structural_equal(known, cast(value, var.dtype)):
        raise _describe_misfit(var, f"would be {brief(known)} and {brief(value)}")


def _match_buffers(mine: Buffer, other: Buffer, values: dict[Var, PrimExpr]) -> None:
    """Give the variables of a buffer's shape the sizes of another."""
    if mine.dtype is not other.dtype:
        raise _describe_misfit(mine, f"holds {mine.dtype}, the given buffer {other.dtype}")
    if mine.ndim != other.ndim:
        raise _describe_misfit(mine, f"has {mine.ndim} dimensions, the given buffer {other.ndim}")
    pairs = list(zip(mine.shape, other.shape))
    if len(mine.strides) == len(other.strides):
        pairs += list(zip(mine.strides, other.strides))
    for dim, size in pairs:
        if isinstance(dim, Var):
            _assign(dim, size, values)
        elif isinstance(dim, IntImm) and not (isinstance(size, IntImm) and size.value == dim.value):
            one = size.value if isinstance(size, IntImm) else brief(size)
            raise _describe_misfit(
                mine, f"has a dimension of {dim.value}, the given buffer one of {one}"
            )
    if isinstance(mine.elem_offset, Var) and other.elem_offset is not None:
        _assign(mine.elem_offset, other.elem_offset, values)
