"""Values behind the names of `T`: forms of statements, dtypes that can be called.

A `StmtForm` is a statement as it was written, before the parser gives it a meaning; `ScalarType` is
`T.float32` and its kin; `BufferForm` is `T.Buffer`.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import Described
from relaxscript.ir.prim import (
    Broadcast,
    PointerType,
    PrimExpr,
    PrimType,
    SizeVar,
    Var,
    cast,
    const,
)

from .annotations import in_annotation

__all__ = ["BufferForm", "HandleType", "ScalarType", "StmtForm", "cast_lanes", "name_of"]


class StmtForm(Described):
    """A statement as it was written: `maker` is the function of `T.` that described it."""

    __slots__ = ("arguments", "maker")

    def __init__(self, maker: Callable[..., StmtForm], **arguments: Any) -> None:
        self.maker = maker
        self.arguments = arguments

    def __getattr__(self, name: str) -> Any:
        try:
            return self.arguments[name]
        except KeyError:
            raise AttributeError(f"`{self.name}` has no `{name}`") from None

    @property
    def name(self) -> str:
        """The name of the statement, for example "T.grid"."""
        return name_of(self.maker)

    @property
    def advice(self) -> str:
        return "it is a statement of its own"

    def describe(self) -> str:
        return f"`{self.name}(...)`"

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in self.arguments.items())})"


def name_of(maker: Callable[..., StmtForm]) -> str:
    """The name of a statement in scripts: `T.grid`, `T.axis.spatial`."""
    inner = "axis." if maker.__module__.endswith("tir_axis") else ""
    return f"T.{inner}{maker.__name__}"


class PythonForm(StmtForm):
    """A form that scripts write without `T.`: `range(n)`, `A.vstore(...)`."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return self.maker.__name__.lstrip("_")


class BufferForm:
    """`T.Buffer`: called or subscripted, in an annotation or in the body of a PrimFunc.

    Python evaluates annotations before the parser reads them; so any arguments are taken, and the
    parser reports the mistakes with their places.
    """

    __name__ = "Buffer"

    def __init__(self, like: Callable[..., StmtForm]) -> None:
        self.__signature__ = inspect.signature(like)
        self.__doc__ = inspect.getdoc(self.__call__)

    def __call__(self, *args: Any, **kwargs: Any) -> StmtForm:
        """A buffer by its shape and dtype: `x: T.Buffer((64, "n"), "float32")`.

        A string names a shape variable, or is arithmetic of shape variables. In the body of a
        PrimFunc it stands for `T.decl_buffer`. `x: T.Buffer[T.f32, 64, n]` with `n = T.dim("n")`
        is the same in the form that type checkers read.
        """
        return StmtForm(self, args=args, **kwargs)

    def __getitem__(self, items: Any) -> StmtForm:
        items = items if isinstance(items, tuple) else (items,)
        if len(items) > 1 and isinstance(items[0], (DataType, ScalarType)):
            element, *dims = items
            one = len(dims) == 1 and isinstance(dims[0], tuple)
            return self(dims[0] if one else tuple(dims), element)
        return self(*items)

    def __repr__(self) -> str:
        return "T.Buffer"


class ScalarType(Described):
    """A dtype that can be called: with nothing for a variable, with a value to convert it."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: str) -> None:
        self.dtype = DataType(dtype)

    def __call__(self, expr: Any = None, is_size_var: bool = False) -> PrimExpr:
        """A new variable of this type, or `expr` as a value of it.

        The variable has no name until `n = T.int64()` gives it one; `is_size_var` says that it is
        never negative. Raises `TypeError` for what is no scalar and `ValueError` for a number that
        does not fit.
        """
        if expr is None:
            return (SizeVar if is_size_var else Var).make("", self.dtype)
        if isinstance(expr, PrimExpr):
            return cast_lanes(expr, self.dtype)
        if isinstance(expr, str):
            expr = _number(expr)
        if not hasattr(expr, "__index__") and not isinstance(expr, float):
            raise TypeError(f"`T.{self.dtype}` converts scalars, not {type(expr).__name__}")
        if not self.dtype.is_float and isinstance(expr, float) and not math.isfinite(expr):
            raise ValueError(f"{expr} is no {self.dtype}")
        return const(expr, self.dtype)

    @property
    def advice(self) -> str:
        return f"`{self}(x)` is `x` as {self.dtype}"

    def describe(self) -> str:
        return f"the dtype `{self}`"

    def __repr__(self) -> str:
        return f"T.{self.dtype}"


def _number(text: str) -> float:
    """The number of a string: "inf", "nan", or one in decimal or hexadecimal digits."""
    try:
        return float.fromhex(text) if "0x" in text.lower() else float(text)
    except ValueError:
        raise ValueError(f'"{text}" is not a number') from None


def cast_lanes(e: PrimExpr, dtype: DataType) -> PrimExpr:
    """`e` as a value of `dtype`, as many lanes as the wider of the two has."""
    if dtype.lanes == 1 and e.dtype.lanes > 1:
        dtype = dtype.with_lanes(e.dtype.lanes)
    if e.dtype.lanes == 1 and dtype.lanes > 1:
        return Broadcast.make(cast(e, dtype.element), dtype.lanes)
    return cast(e, dtype)


class HandleType(ScalarType):
    """An address: `a: T.handle` is a parameter that `T.match_buffer(a, ...)` reads as a buffer."""

    __slots__ = ()

    def __call__(  # type: ignore[override]
        self, dtype: Any = None, storage_scope: str = "global", *, is_size_var: bool = False
    ) -> PrimExpr:
        """A variable that holds the address of elements of `dtype` in memory of a scope."""
        if dtype is None:
            return Var.make("", self.dtype)
        name = dtype.dtype if isinstance(dtype, ScalarType) else dtype
        try:
            element = PrimType(DataType(name))
        except ValueError:
            if in_annotation(sys._getframe(1)):
                return Var.make("", self.dtype)
            raise
        return Var.make("", self.dtype, PointerType.make(element, storage_scope))
