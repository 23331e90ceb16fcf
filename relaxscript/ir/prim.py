"""Scalar expressions (PrimExpr): the arithmetic of dimensions and of PrimFuncs.

The spec's grammar takes them from TIR: variables, immediates, arithmetic, comparison, logic,
Select, Cast, Let, calls of intrinsics, and (inside PrimFuncs) loads from buffers and vectors.
Python's operators build nodes (`prim_operators.py`); `==` is the node `EQ(a, b)` where a scalar is
wanted. Where Python wants a truth value it is identity, as for every node.

Sources: spec "Grammar" (PrimExpr); TVM `tir.expr` for names and the order of fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from relaxscript.dtypes import DataType, promote, result_dtype

from .node import Node, field, node
from .prim_checks import (
    check_rank,
    fits_float,
    in_int64,
    lanes,
    number,
    refused,
    require_bool,
    require_same_dtype,
    shorten,
    whole,
)
from .prim_operators import EqualOp, NotEqualOp, ScalarLike, ScalarOperators
from .types import PointerType, PrimType

if TYPE_CHECKING:
    from .relax import GlobalVar, Op
    from .tir import Buffer

__all__ = [
    "EQ", "GE", "GT", "LE", "LT", "NE", "Add", "And", "Binary", "Broadcast", "BufferLoad", "Call",
    "Cast", "Comparison", "Div", "EqualOp", "FloatImm", "FloorDiv", "FloorMod", "Immediate",
    "IntImm", "Let", "Logic", "Max", "Min", "Mod", "Mul", "Not", "NotEqualOp", "Or", "PointerType",
    "PrimExpr", "PrimExprLike", "PrimType", "Ramp", "Select", "Shuffle", "SizeVar", "StringImm",
    "Sub", "Var", "as_dimension", "as_dims", "as_prim", "as_scalar", "const", "match_dtypes",
]  # fmt: skip

BOOL = DataType("bool")
INT32 = DataType("int32")
INT64 = DataType("int64")
FLOAT32 = DataType("float32")
HANDLE = DataType("handle")


@node
class PrimExpr(Node, ScalarOperators):
    """A scalar expression; `dtype` is the dtype of its value."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def dtype(self) -> DataType: ...

    def __bool__(self) -> bool:
        raise TypeError(
            "a symbolic expression has no truth value while the program is being built: "
            "combine with tir.all and tir.any, choose with tir.if_then_else"
        )

    def __iter__(self) -> Any:
        raise TypeError(f"{type(self).__name__} is a scalar and cannot be unpacked or iterated")


PrimExprLike: TypeAlias = "PrimExpr | int | float | bool"


def const(value: float, dtype: str | None = None) -> PrimExpr:
    """An immediate of `dtype`; without one, of that in which TIR reads a Python number."""
    if value.__class__ is int and (dtype is INT64 or dtype is INT32):
        low = -1 << (63 if dtype is INT64 else 31)
        if low <= value < -low:  # as most are: then there is nothing to convert
            return IntImm.make(dtype, value)
    wanted = plain_dtype(value) if dtype is None else DataType(dtype)
    scalar = (
        FloatImm(wanted.element, float(value))
        if wanted.is_float
        else IntImm(wanted.element, int(value))
    )
    return scalar if wanted.lanes == 1 else Broadcast.make(scalar, wanted.lanes)


def plain_dtype(value: Any) -> DataType:
    """The dtype of a number in TIR: int32 (int64 where it does not fit), float32 or bool.

    A number of numpy keeps its own.
    """
    if isinstance(value, (bool, np.bool_)):
        return BOOL
    if isinstance(value, np.generic):
        return result_dtype(value)
    if not hasattr(value, "__index__"):
        return FLOAT32
    return INT32 if -(1 << 31) <= value.__index__() < 1 << 31 else INT64


def as_scalar(value: Any) -> PrimExpr:
    """Convert a value to a scalar of TIR; see `plain_dtype` for numbers.

    Raises `TypeError` for anything that is not a number or a PrimExpr.
    """
    whole_number = hasattr(value, "__index__") and not isinstance(value, (Node, bool, np.bool_))
    return const(value.__index__()) if whole_number else as_prim(value)


def as_prim(value: Any) -> PrimExpr:
    """Convert a value to a dimension of Relax: whole numbers are int64 immediates.

    Raises `TypeError` for anything that is not a number or a PrimExpr.
    """
    if isinstance(value, PrimExpr):
        return value
    if isinstance(value, ScalarLike):
        return value.asobject()
    if isinstance(value, (bool, np.bool_)):
        return IntImm.make(BOOL, int(value))
    if isinstance(value, (float, np.floating)):
        return FloatImm.make(FLOAT32, float(value))
    if hasattr(value, "__index__"):
        return IntImm.make(INT64, in_int64(value.__index__()))
    raise TypeError(f"{value!r} is not a scalar expression")


def as_dims(values: Any, dtype: DataType = INT64) -> tuple[PrimExpr, ...]:
    """Dimensions as people write them: numbers, expressions, and names of new variables.

    Equal names are one variable. Raises `TypeError` for what is no whole number.
    """
    names: dict[str, Var] = {}
    dims = tuple(
        names.setdefault(v, Var.make(v, dtype)) if isinstance(v, str) else as_prim(v)
        for v in values
    )
    for dim in dims:
        if not dim.dtype.is_integer:
            raise TypeError(f"a dimension is a whole number, not of {dim.dtype}")
    return dims


def as_dimension(e: PrimExpr) -> PrimExpr:
    """A whole number as a dimension, which is an int64.

    A variable that stands alone stays what it is: here it may be defined.
    """
    return e if e.dtype is INT64 or isinstance(e, Var) else cast(e, INT64)


def _optional(value: Any) -> PrimExpr | None:
    return None if value is None else as_scalar(value)


def _exprs(values: Any) -> tuple[PrimExpr, ...]:
    return tuple(as_scalar(v) for v in values)


@node
class Immediate(PrimExpr):
    """A literal number."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return bool(self.value)  # type: ignore[attr-defined]


@node
class IntImm(Immediate):
    """A literal integer (or bool) of some dtype; raises `ValueError` when it does not fit."""

    dtype: DataType = field(convert=DataType)
    value: int = field(convert=whole)

    def _check(self) -> None:
        if not (self.dtype.is_integer or self.dtype.is_bool):
            raise refused(f"IntImm holds integers, not {self.dtype}")
        low = -(1 << (self.dtype.bits - 1)) if self.dtype.kind == "int" else 0
        if not low <= self.value < low + (1 << self.dtype.bits):
            raise refused(f"{shorten(self.value)} does not fit in {self.dtype}")

    def __index__(self) -> int:
        return self.value

    def __int__(self) -> int:
        return self.value


@node
class FloatImm(Immediate):
    """A literal floating-point number of some dtype."""

    dtype: DataType = field(convert=DataType)
    value: float = field(convert=number)

    def _check(self) -> None:
        if not self.dtype.is_float:
            raise refused(f"FloatImm holds floating-point numbers, not {self.dtype}")
        if not fits_float(self.value, self.dtype):
            raise refused(f"{self.value} does not fit in {self.dtype}")

    def __float__(self) -> float:
        return self.value


@node
class StringImm(PrimExpr):
    """A literal text, as an argument of an intrinsic; equal to the text itself."""

    value: str
    __derived__ = {"dtype": lambda: HANDLE}

    def __eq__(self, other: object) -> bool:
        return self.value == (other.value if isinstance(other, StringImm) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.value)


def _variable_dtype(value: Any) -> Any:
    return value if isinstance(value, (PointerType, PrimType)) else DataType(value)


@node
class Var(PrimExpr):
    """A scalar variable: a shape variable, a loop variable, a parameter. One object, one variable.

    `type_annotation` is a `PointerType` for variables that hold addresses.
    """

    keeps_identity = True

    name: str
    dtype: DataType = field(convert=_variable_dtype, default=INT32)
    type_annotation: PointerType | None = None

    @staticmethod
    def _arrange(name: Any, dtype: Any, annotation: Any) -> tuple[Any, ...]:
        """A type may be given as the dtype: `Var("p", PointerType(...))`."""
        if isinstance(dtype, PointerType):
            return name, HANDLE, dtype
        return name, dtype.dtype if isinstance(dtype, PrimType) else dtype, annotation


@node
class SizeVar(Var):
    """A variable that is never negative; in dimensions every variable is."""

    __slots__ = ()


def alike(a: Any, b: Any) -> tuple[PrimExpr, PrimExpr]:
    """Two operands; a number takes the dtype of the expression beside it."""
    a, b = (e.asobject() if isinstance(e, ScalarLike) else e for e in (a, b))
    a, b = like(a, b), like(b, a)
    if isinstance(a, IntImm) and isinstance(b, IntImm) and {a.dtype, b.dtype} == {INT32, INT64}:
        return const(a.value, INT64), const(b.value, INT64)
    return a, b


def like(value: Any, other: Any) -> PrimExpr:
    """A number in the dtype of the expression beside it, where it fits there."""
    if isinstance(value, PrimExpr) or not isinstance(other, PrimExpr):
        return as_scalar(value)
    if other.dtype.is_bool or not (other.dtype.is_integer or other.dtype.is_float):
        return as_scalar(value)
    plain = as_scalar(value)
    if isinstance(plain, FloatImm) and not other.dtype.is_float:
        return plain
    return const(plain.value, other.dtype)  # type: ignore[attr-defined]


def _some(values: Any) -> tuple[PrimExpr, ...]:
    found = _exprs(values)
    if not found:
        raise ValueError("there must be at least one")
    return found


@node
class Cast(PrimExpr):
    """Conversion of a scalar to another dtype, with C's rules."""

    dtype: DataType = field(convert=DataType)
    value: PrimExpr = field(convert=as_scalar)


@node
class Binary(PrimExpr):
    """Two operands of one dtype, and a result of the same."""

    a: PrimExpr
    b: PrimExpr
    __derived__ = {"dtype": lambda a: a.dtype}
    _arrange = staticmethod(alike)

    def _check(self) -> None:
        require_same_dtype(self, self.a, self.b)


@node
class Add(Binary):
    __slots__ = ()


@node
class Sub(Binary):
    __slots__ = ()


@node
class Mul(Binary):
    __slots__ = ()


@node
class Div(Binary):
    """Division; of integers it truncates towards zero, as in C."""

    __slots__ = ()


@node
class Mod(Binary):
    """Remainder of the truncating division."""

    __slots__ = ()


@node
class FloorDiv(Binary):
    """Division rounding towards minus infinity, Python's `//`."""

    __slots__ = ()


@node
class FloorMod(Binary):
    """Remainder of the floor division, Python's `%`."""

    __slots__ = ()


@node
class Min(Binary):
    __slots__ = ()


@node
class Max(Binary):
    __slots__ = ()


def _bool_of(a: PrimExpr) -> DataType:
    return BOOL if a.dtype.lanes == 1 else BOOL.with_lanes(a.dtype.lanes)


@node
class Comparison(PrimExpr):
    """Two operands of one dtype, and a bool."""

    a: PrimExpr
    b: PrimExpr
    __derived__ = {"dtype": _bool_of}
    _arrange = staticmethod(alike)

    def _check(self) -> None:
        require_same_dtype(self, self.a, self.b)


@node
class EQ(Comparison):
    __slots__ = ()


@node
class NE(Comparison):
    __slots__ = ()


@node
class LT(Comparison):
    __slots__ = ()


@node
class LE(Comparison):
    __slots__ = ()


@node
class GT(Comparison):
    __slots__ = ()


@node
class GE(Comparison):
    __slots__ = ()


@node
class Logic(PrimExpr):
    """Two bools, and a bool; as in Python, `b` is evaluated only where `a` does not decide.

    (Of vectors both operands are evaluated.)
    """

    a: PrimExpr = field(convert=as_scalar)
    b: PrimExpr = field(convert=as_scalar)
    __derived__ = {"dtype": _bool_of}

    def _check(self) -> None:
        require_bool(self, "a", self.a)
        require_bool(self, "b", self.b)


@node
class And(Logic):
    __slots__ = ()


@node
class Or(Logic):
    __slots__ = ()


@node
class Not(PrimExpr):
    a: PrimExpr = field(convert=as_scalar)
    __derived__ = {"dtype": _bool_of}

    def _check(self) -> None:
        require_bool(self, "a", self.a)


@node
class Select(PrimExpr):
    """One of two values by a condition; both values are evaluated."""

    condition: PrimExpr = field(convert=as_scalar)
    true_value: PrimExpr
    false_value: PrimExpr
    __derived__ = {"dtype": lambda true_value: true_value.dtype}

    @staticmethod
    def _arrange(condition: Any, true_value: Any, false_value: Any) -> tuple[Any, ...]:
        return condition, *alike(true_value, false_value)

    def _check(self) -> None:
        require_bool(self, "condition", self.condition)
        require_same_dtype(self, self.true_value, self.false_value)


@node
class Let(PrimExpr):
    """`body` with `var` standing for `value`."""

    var: Var = field(definition=True)
    value: PrimExpr = field(outer=True)
    body: PrimExpr = field(convert=as_scalar)
    is_scope = True
    __derived__ = {"dtype": lambda body: body.dtype}

    @staticmethod
    def _arrange(var: Any, value: Any, body: Any) -> tuple[Any, ...]:
        given = like(value, var)
        numbers = isinstance(var, Var) and promote(var.dtype, given.dtype) is not None
        return var, cast(given, var.dtype) if numbers else given, body

    def _check(self) -> None:
        require_same_dtype(self, self.var, self.value)


def _callee(value: Any) -> Any:
    from .intrinsic import op_named

    return op_named(value) if isinstance(value, str) else value


@node
class Call(PrimExpr):
    """A call of an intrinsic, for example `tir.exp`; see `ir/intrinsic.py`.

    `op` is the intrinsic's Op (or its name), or the GlobalVar of a PrimFunc of the module.
    """

    dtype: DataType = field(convert=DataType)
    op: Op | GlobalVar = field(convert=_callee)
    args: tuple[PrimExpr, ...] = field(convert=_exprs)


@node
class BufferLoad(PrimExpr):
    """The element of a buffer at some indices."""

    buffer: Buffer
    indices: tuple[PrimExpr, ...] = field(convert=_exprs)
    predicate: PrimExpr | None = field(convert=_optional, default=None)
    __derived__ = {
        "dtype": lambda buffer, indices: (
            buffer.dtype.with_lanes(buffer.dtype.lanes * indices[-1].dtype.lanes)
            if indices and indices[-1].dtype.lanes != 1
            else buffer.dtype
        )
    }

    def _check(self) -> None:
        check_rank(self, self.buffer, self.indices)


@node
class Ramp(PrimExpr):
    """The vector `base, base + stride, ...` of `lanes` elements."""

    base: PrimExpr = field(convert=as_scalar)
    stride: PrimExpr = field(convert=as_scalar)
    lanes: int = field(convert=lanes)
    __derived__ = {"dtype": lambda base, lanes: base.dtype.with_lanes(lanes)}


@node
class Broadcast(PrimExpr):
    """The vector of `lanes` copies of a scalar."""

    value: PrimExpr = field(convert=as_scalar)
    lanes: int = field(convert=lanes)
    __derived__ = {"dtype": lambda value, lanes: value.dtype.with_lanes(value.dtype.lanes * lanes)}


@node
class Shuffle(PrimExpr):
    """Elements of the concatenation of some vectors, chosen by constant indices."""

    vectors: tuple[PrimExpr, ...] = field(convert=_some)
    indices: tuple[PrimExpr, ...] = field(convert=_some)
    __derived__ = {
        "dtype": lambda vectors, indices: vectors[0].dtype.element.with_lanes(len(indices))
    }


def match_dtypes(a: PrimExprLike, b: PrimExprLike) -> tuple[PrimExpr, PrimExpr]:
    """Both operands in one dtype: numbers take the other's, differing types are promoted.

    Raises `TypeError` when there is no common dtype.
    """
    if not isinstance(a, PrimExpr):
        a = _like(a, b)
    if not isinstance(b, PrimExpr):
        b = _like(b, a)
    if a.dtype is b.dtype:
        return a, b
    if a.dtype.lanes != b.dtype.lanes:
        a, b = _widen(a, b.dtype.lanes), _widen(b, a.dtype.lanes)
    common = promote(a.dtype, b.dtype)
    if common is None or a.dtype.lanes != b.dtype.lanes:
        raise TypeError(f"cannot combine {a.dtype} with {b.dtype}")
    return cast(a, common), cast(b, common)


def _widen(e: PrimExpr, lanes: int) -> PrimExpr:
    return Broadcast.make(e, lanes) if e.dtype.lanes == 1 and lanes != 1 else e


def cast(e: PrimExpr, dtype: DataType) -> PrimExpr:
    """`e` as a value of `dtype`; an integer literal that fits is converted on the spot."""
    if e.dtype is dtype:
        return e
    if e.dtype.lanes == 1 and dtype.lanes > 1:
        return Broadcast.make(cast(e, dtype.element), dtype.lanes)
    if isinstance(e, IntImm) and (dtype.is_integer or dtype.is_float) and dtype.lanes == 1:
        return const(e.value, dtype).replace(span=e.span)
    return Cast.make(dtype, e if isinstance(e, PrimExpr) else as_prim(e))


def _like(value: Any, other: PrimExprLike) -> PrimExpr:
    dtype = other.dtype if isinstance(other, PrimExpr) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return as_scalar(value)
    if dtype is None or dtype.is_bool or dtype.kind == "handle":
        return const(value)
    if isinstance(value, float) and not dtype.is_float:
        return const(value, "float32")
    return const(value, dtype)
