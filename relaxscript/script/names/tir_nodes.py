"""The scalar expressions that `T.` names as nodes: `T.Cast`, `T.Select`, `T.Ramp`, `T.Let` ...

Capitalised names build exactly the node of that name. Their operands are matched in dtype as
Python's operators do; plain numbers take the dtype of the operand beside them.

Source: TVM `tir.expr` for names and order of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.errors.user_frame import report_at_caller
from relaxscript.ir import prim, tir
from relaxscript.ir.module import Target, as_target
from relaxscript.ir.prim import PrimExpr, PrimExprLike, StringImm, const, match_dtypes
from relaxscript.ir.relax import GlobalVar, Op
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.ir.walk import walk

from .tir_types import ScalarType, cast_lanes

__all__ = [
    "EQ", "GE", "GT", "LE", "LT", "NE", "Add", "And", "Broadcast", "BufferLoad", "Call", "Cast",
    "Div", "FloatImm", "FloorDiv", "FloorMod", "IntImm", "Let", "Max", "Min", "Mod", "Mul", "Not",
    "Or", "Ptr", "Ramp", "Select", "Shuffle", "SizeVar", "StringImm", "Sub", "Var", "broadcast",
    "buffer_var", "cast", "let", "max", "min", "ptr", "ramp", "target", "var",
]  # fmt: skip

IntImm = prim.IntImm
FloatImm = prim.FloatImm


def _scalar(value: Any) -> PrimExpr:
    if isinstance(value, PrimExpr):
        return value
    if isinstance(value, (bool, int, float)):
        return const(value)
    raise TypeError(f"{value!r} is not a scalar expression")


def _dtype(value: Any) -> DataType:
    return DataType(value.dtype if isinstance(value, ScalarType) else value)


def _pair(make: Any, doc: str) -> Callable[[PrimExprLike, PrimExprLike], PrimExpr]:
    def build(a: PrimExprLike, b: PrimExprLike) -> PrimExpr:
        left, right = match_dtypes(a, b)
        made: PrimExpr = make.make(left, right)
        return made

    build.__name__ = build.__qualname__ = make.__name__
    build.__doc__ = doc
    return build


# fmt: off
Add      = _pair(prim.Add,      "`a + b`")
Sub      = _pair(prim.Sub,      "`a - b`")
Mul      = _pair(prim.Mul,      "`a * b`")
Div      = _pair(prim.Div,      "`a / b`; of integers, rounded towards zero as in C")
Mod      = _pair(prim.Mod,      "the remainder of `T.Div`")
FloorDiv = _pair(prim.FloorDiv, "`a // b`")
FloorMod = _pair(prim.FloorMod, "`a % b`")
Min      = _pair(prim.Min,      "the lesser of two")
Max      = _pair(prim.Max,      "the greater of two")
EQ       = _pair(prim.EQ,       "`a == b`")
NE       = _pair(prim.NE,       "`a != b`")
LT       = _pair(prim.LT,       "`a < b`")
LE       = _pair(prim.LE,       "`a <= b`")
GT       = _pair(prim.GT,       "`a > b`")
GE       = _pair(prim.GE,       "`a >= b`")
And      = _pair(prim.And,      "`a and b`; both are evaluated")
Or       = _pair(prim.Or,       "`a or b`; both are evaluated")
# fmt: on


def Not(a: PrimExprLike) -> PrimExpr:
    """`not a`."""
    return prim.Not.make(_scalar(a))


def Select(
    condition: PrimExprLike, true_value: PrimExprLike, false_value: PrimExprLike
) -> PrimExpr:
    """One of two values by a condition; both are evaluated, unlike those of `T.if_then_else`."""
    return prim.Select.make(_scalar(condition), *match_dtypes(true_value, false_value))


def Cast(dtype: str, value: PrimExprLike) -> PrimExpr:
    """`value` converted to `dtype`, as a node even where nothing changes."""
    return prim.Cast.make(_dtype(dtype), _scalar(value))


def cast(value: PrimExprLike, dtype: str) -> PrimExpr:
    """`value` converted to `dtype` with C's rules; a literal is converted on the spot."""
    target = _dtype(dtype)
    if not isinstance(value, PrimExpr) and not target.is_bool:
        return const(_scalar(value).value, target)  # type: ignore[attr-defined]
    return cast_lanes(_scalar(value), target)


def min(a: PrimExprLike, b: PrimExprLike, *more: PrimExprLike) -> PrimExpr:
    """The least of two or more scalars."""
    return reduce(FUNCTIONS["min"], (b, *more), a)  # type: ignore[return-value]


def max(a: PrimExprLike, b: PrimExprLike, *more: PrimExprLike) -> PrimExpr:
    """The greatest of two or more scalars."""
    return reduce(FUNCTIONS["max"], (b, *more), a)  # type: ignore[return-value]


def _lanes(name: str, value: Any) -> int:
    """A number of lanes; raises `OperandError` for what is none."""
    count = value.value if isinstance(value, prim.IntImm) else value
    if isinstance(count, int) and not isinstance(count, bool) and count > 0:
        return count
    fact = f"is {count}" if isinstance(count, int) else "is known only later"
    # The lanes of a dtype are a number of Python, so those of a vector are.
    scalable = isinstance(value, PrimExpr) and _mentions_vscale(value)
    raise OperandError(
        "lanes", fact if isinstance(value, (int, PrimExpr)) else "is no number", code="RX0502",
        message=f"the lanes of `T.{name}` are a positive number that is known now",
        help="write how many there are: no vector is scalable here" if scalable else None,
    )  # fmt: skip


def _mentions_vscale(value: PrimExpr) -> bool:
    return any(isinstance(e, prim.Call) and e.op == "tir.vscale" for e in walk(value))


@report_at_caller
def Ramp(base: PrimExprLike, stride: PrimExprLike, lanes: int) -> PrimExpr:
    """The vector `base, base + stride, ...` of `lanes` elements."""
    return prim.Ramp.make(*match_dtypes(_scalar(base), stride), _lanes("Ramp", lanes))


@report_at_caller
def Broadcast(value: PrimExprLike, lanes: int) -> PrimExpr:
    """The vector of `lanes` copies of a scalar."""
    return prim.Broadcast.make(_scalar(value), _lanes("Broadcast", lanes))


ramp = Ramp
broadcast = Broadcast


@report_at_caller
def Shuffle(vectors: Sequence[PrimExpr], indices: Sequence[PrimExprLike]) -> PrimExpr:
    """Elements of the concatenation of some vectors, chosen by constant indices."""
    for name, given in (("vectors", vectors), ("indices", indices)):
        if not isinstance(given, (list, tuple)) or not given:
            raise OperandError(
                name, "is no list", code="RX0502",
                message=f"the {name} of `T.Shuffle` are given as a list, at least one of them",
            )  # fmt: skip
    return prim.Shuffle.make(tuple(vectors), tuple(_scalar(i) for i in indices))


def BufferLoad(
    buffer: tir.Buffer, indices: Sequence[PrimExprLike], predicate: PrimExpr | None = None
) -> PrimExpr:
    """The element of a buffer at some indices; with `predicate`, only the lanes where it holds."""
    return prim.BufferLoad.make(buffer, tuple(_scalar(i) for i in indices), predicate)


@report_at_caller
def Call(dtype: str, op: str | Op | GlobalVar, args: Sequence[PrimExprLike]) -> PrimExpr:
    """A call of an intrinsic by its name ("tir.exp") or of a function of the module."""
    if not isinstance(op, (str, Op, GlobalVar)):
        raise OperandError(
            "op", f"is a Python {type(op).__name__}", code="RX0502",
            message="`T.Call` calls an intrinsic by its name, or a function of the module",
            help='write for example `"tir.exp"`',
        )  # fmt: skip
    if not isinstance(args, (list, tuple)):
        raise OperandError("args", "is no list", code="RX0502",
                           message="the operands of `T.Call` are given as a list")  # fmt: skip
    operands = tuple(StringImm(a) if isinstance(a, str) else _scalar(a) for a in args)
    return prim.Call(_dtype(dtype), op, operands)  # type: ignore[arg-type]


@report_at_caller
def Let(expr: PrimExprLike, where: Mapping[prim.Var, PrimExprLike]) -> PrimExpr:
    """`expr` with variables standing for values: `T.Let(x * x, where={x: a + b})`."""
    if not isinstance(where, Mapping) or not all(isinstance(v, prim.Var) for v in where):
        raise OperandError(
            "where", f"is a Python {type(where).__name__}", code="RX0502",
            message="the values of `T.Let` are a dict from variables",
            help="write `where={x: value}`",
        )  # fmt: skip
    body = _scalar(expr)
    for variable, value in reversed(list(where.items())):
        body = prim.Let.make(variable, _scalar(value), body)
    return body


@report_at_caller
def let(v: prim.Var, value: PrimExprLike, body: PrimExprLike) -> PrimExpr:
    """`body` with `v` standing for `value`."""
    return prim.Let.make(v, _scalar(value), _scalar(body))


def var(dtype: str, name: str = "") -> prim.Var:
    """A new variable; `n = T.var("int32")` names it."""
    return prim.Var.make(name, _dtype(dtype))


def Var(name: str, dtype: str = "int32") -> prim.Var:
    """A new variable of a name."""
    return prim.Var.make(name, _dtype(dtype))


def SizeVar(name: str, dtype: str = "int32") -> prim.Var:
    """A new variable of a name that is never negative."""
    return prim.SizeVar.make(name, _dtype(dtype))


def ptr(dtype: str, storage_scope: str = "global", is_size_var: bool = False) -> prim.Var:
    """A new variable that holds the address of elements of `dtype`."""
    pointer = prim.PointerType.make(prim.PrimType(_dtype(dtype)), storage_scope)
    return prim.Var.make("", DataType("handle"), pointer)


Ptr = ptr


def buffer_var(dtype: str, storage_scope: str = "global") -> prim.Var:
    """The same as `ptr`, by its older name."""
    return ptr(dtype, storage_scope)


def target(target_config: str | Mapping[str, Any]) -> Target:
    """A target of code generation as the value of an attribute: its string, or a mapping."""
    return as_target(target_config)
