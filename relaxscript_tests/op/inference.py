"""What the tests of operators share: operands in a few words, results and refusals as text."""

from __future__ import annotations

from typing import Any

import pytest

from relaxscript.errors import OperandError
from relaxscript.ir import prim, relax
from relaxscript.ir.module import VDevice
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.op import Operator, PlainContext
from relaxscript.opdef.format import dim_text, shape_text

__all__ = ["dim", "held", "infer", "obliged", "prim_var", "refused", "result", "shape", "tensor"]

_dims: dict[str, prim.Var] = {}


def dim(name: Any) -> Any:
    """The shape variable of a name; one name is one variable. Anything else is itself."""
    return _dims.setdefault(name, prim.Var(name, "int64")) if isinstance(name, str) else name


def tensor(*dims: Any, dtype: str = "float32", vdevice: VDevice | None = None) -> relax.Var:
    """A tensor of these dimensions: numbers, names and expressions."""
    return relax.Var("x", TensorStructInfo([dim(d) for d in dims], dtype, vdevice))


def ranked(ndim: int, dtype: str = "float32") -> relax.Var:
    """A tensor of which the rank is known, or nothing (-1)."""
    return relax.Var("x", TensorStructInfo(None, dtype, None, ndim))


def shape(*dims: Any, ndim: int = -1) -> relax.Var:
    """A shape that a variable holds: its dimensions, or its rank."""
    values = [dim(d) for d in dims] if dims else None
    return relax.Var("s", ShapeStructInfo(values, -1 if dims else ndim))


def held(holder: relax.Var, dtype: str = "float32") -> relax.Var:
    """A tensor whose shape a variable holds."""
    return relax.Var("x", TensorStructInfo(holder, dtype))


def prim_var(dtype: str) -> relax.Var:
    """A scalar of which the dtype is known."""
    return relax.Var("p", PrimStructInfo(dtype))


OBJECT = relax.Var("o", ObjectStructInfo())


def infer(operator: Operator, *args: Any, **kwargs: Any) -> StructInfo:
    """The StructInfo of a call."""
    return operator.infer(operator.build(args, kwargs), PlainContext())


def result(operator: Operator, *args: Any, **kwargs: Any) -> str:
    """The StructInfo of a call as text: "(n, 64) float32", "rank 2 float32", "shape (n,)"."""
    return described(infer(operator, *args, **kwargs))


def described(info: StructInfo) -> str:
    """A StructInfo as text."""
    match info:
        case TensorStructInfo(dims=None):
            held = "" if info.shape is None else " held"
            return f"rank {info.ndim} {info.dtype}{held}"
        case TensorStructInfo():
            return f"{shape_text(info.dims or ())} {info.dtype}"
        case TupleStructInfo(fields):
            return f"[{'; '.join(described(f) for f in fields)}]"
        case ShapeStructInfo(values, ndim):
            return f"shape of rank {ndim}" if values is None else f"shape {shape_text(values)}"
        case PrimStructInfo(dtype, value):
            return f"{dtype}" if value is None else f"{dtype} {dim_text(value)}"
        case ObjectStructInfo():
            return "object"
    return type(info).__name__


def obliged(operator: Operator, *args: Any, **kwargs: Any) -> list[str]:
    """The deferred checks of a call as text: "x2: n equal m"."""
    context = PlainContext()
    operator.infer(operator.build(args, kwargs), context)
    return [
        f"{o.operand}: {dim_text(o.a)} {o.relation} {dim_text(o.b)}"
        for o in context.deferred_checks
    ]


def refused(operator: Operator, *args: Any, **kwargs: Any) -> OperandError:
    """The error of a call that is wrong, whether it is found in building or in inference."""
    with pytest.raises(OperandError) as caught:
        infer(operator, *args, **kwargs)
    return caught.value
