"""Structural checks as data, made from StructInfo.

Shape variables are in the shape heap, one list per call. A `DimBind` stores the size it meets
there. A `DimLoad` and a `DimExpr` demand a size that the heap already determines. `run_check.py`
matches values against these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .values import Device

__all__ = [
    "AnyCheck",
    "Check",
    "Dim",
    "DimAny",
    "DimBind",
    "DimConst",
    "DimExpr",
    "DimLoad",
    "FuncCheck",
    "Heap",
    "Origins",
    "PrimCheck",
    "ShapeCheck",
    "TensorCheck",
    "TupleCheck",
    "describe",
    "describe_dim",
]

Heap = list[Any]  # the values of a call's shape variables by slot, None before they are bound
Origins = Mapping[int, tuple[str, str]]  # slot -> name of the variable, where it gets its value


@dataclass(frozen=True, slots=True)
class DimConst:
    """A dimension that must be `value`."""

    value: int | float


@dataclass(frozen=True, slots=True)
class DimBind:
    """A shape variable in binding position: its slot takes whatever size is met.

    Where it is `captured` its value comes with the closure, which is nothing to tell anybody.
    """

    slot: int
    name: str
    captured: bool = False


@dataclass(frozen=True, slots=True)
class DimLoad:
    """A dimension that must be the value of a variable bound before."""

    slot: int
    name: str


@dataclass(frozen=True, slots=True)
class DimExpr:
    """A dimension that must be what `compute` makes of the heap; `text` is its expression.

    `made_of` is what the compiler made `compute` of, None where that was written by hand.
    """

    compute: Callable[[list[int]], int]
    text: str
    made_of: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DimAny:
    """A dimension of any size."""


Dim = DimConst | DimBind | DimLoad | DimExpr | DimAny


@dataclass(frozen=True, slots=True)
class AnyCheck:
    """Any value passes."""


@dataclass(frozen=True, slots=True)
class TensorCheck:
    """A tensor; None and -1 leave dtype, rank, dimensions or device open.

    `shape_slot` is for a shape that is held by a variable: the index, among the shapes handed to
    `match`, of the `Shape` that the tensor must have; `shape_name` is what the source calls it.
    """

    dtype: str | None = None
    ndim: int = -1
    dims: tuple[Dim, ...] | None = None
    device: Device | None = None
    shape_slot: int | None = None
    shape_name: str = ""


@dataclass(frozen=True, slots=True)
class ShapeCheck:
    """A shape value of `ndim` dimensions (-1: any number)."""

    ndim: int = -1
    dims: tuple[Dim, ...] | None = None


@dataclass(frozen=True, slots=True)
class PrimCheck:
    """A scalar of exactly that dtype, and of that value when one is given."""

    dtype: str
    value: Dim | None = None


@dataclass(frozen=True, slots=True)
class TupleCheck:
    """A tuple with one field for each check; no fields: the empty tuple."""

    fields: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class FuncCheck:
    """A packed function (`packed`), a closure (not `packed`) or either (None).

    `refusal` judges a closure by its run-time structural information and the shape variables that
    have values then (`loads`): it gives the reason why it does not fit, None where it may. `text`
    says what is wanted. `binds` are the variables that take their values from a closure. `sizes`
    says what these are by its information, None for what that does not say. `made_of` is what the
    compiler made the functions of; the type comes first. `result` is the check of what a function
    of Python gives that stands for such a closure; None where none can.
    """

    packed: bool | None = None
    refusal: Callable[[object, Heap], str | None] | None = None
    text: str = "a function"
    loads: tuple[DimLoad, ...] = ()
    binds: tuple[DimBind, ...] = ()
    sizes: Callable[[object], Sequence[int | None]] | None = None
    made_of: Any = field(default=None, compare=False, repr=False)
    result: Check | None = field(default=None, compare=False, repr=False)


Check = AnyCheck | TensorCheck | ShapeCheck | PrimCheck | TupleCheck | FuncCheck


def describe(check: Check) -> str:
    """The demand of `check`, in words: "a tensor of shape (n, 4) and dtype float32"."""
    match check:
        case TensorCheck(dtype=dtype, device=device):
            facts = [fact for fact in (_shape_text(check), dtype and f"dtype {dtype}") if fact]
            words = " of " + " and ".join(facts) if facts else ""
            return f"a tensor{words}" + (f" on {device}" if device is not None else "")
        case ShapeCheck(ndim=ndim, dims=dims):
            if dims is not None:
                return f"the shape {_dims_text(dims)}"
            return "a shape" + (f" of {ndim} dimensions" if ndim >= 0 else "")
        case PrimCheck(dtype=dtype, value=dim):
            value = f" equal to `{describe_dim(dim)}`" if dim is not None else ""
            return f"a scalar of dtype {dtype}{value}"
        case TupleCheck(fields=fields):
            return f"a tuple of {len(fields)}" if fields else "the empty tuple"
        case FuncCheck(text=text):
            return text
    return "any value"


def _shape_text(check: TensorCheck) -> str:
    if check.shape_name:
        return f"shape `{check.shape_name}`"
    if check.dims is not None:
        return f"shape {_dims_text(check.dims)}"
    return f"rank {check.ndim}" if check.ndim >= 0 else ""


def _dims_text(dims: tuple[Dim, ...]) -> str:
    listed = ", ".join(map(describe_dim, dims))
    return f"({listed},)" if len(dims) == 1 else f"({listed})"


def describe_dim(dim: Dim) -> str:
    """The text of a dimension: a number, the name of a variable, or an expression."""
    match dim:
        case DimConst(value=value):
            return str(value)
        case DimExpr(text=text):
            return text
        case DimAny():
            return "_"
    return dim.name
