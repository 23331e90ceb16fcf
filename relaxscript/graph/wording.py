"""The few words that a picture has room for: values in brief, long texts cut off."""

from __future__ import annotations

from collections.abc import Iterable

from relaxscript.errors.markup import legible
from relaxscript.errors.styles import width
from relaxscript.ir import prim
from relaxscript.ir.relax import (
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    GlobalVar,
    Op,
    PrimValue,
    ShapeExpr,
    StringImm,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)

__all__ = [
    "LONGEST_DETAIL",
    "LONGEST_SHAPE",
    "columns",
    "dimension",
    "fit",
    "info_in_brief",
    "literal",
    "operator_name",
]

# Columns that there are for a title, for what is below it, and for a shape.
LONGEST_TITLE, LONGEST_DETAIL, LONGEST_SHAPE = 32, 40, 34
# Fields of a tuple that are said; the others are counted.
MOST_FIELDS = 3


def fit(text: str, most: int = LONGEST_TITLE) -> str:
    """One line of text, shortened to so many columns; what cannot be seen has a sign."""
    line = legible(text.replace("\n", "\u23ce"))
    if columns(line) <= most:
        return line
    kept, used = "", 1
    for character in line:
        used += width(character)
        if used > most:
            break
        kept += character
    return f"{kept}\u2026"


def columns(text: str) -> int:
    """The columns that a text takes in a monospaced font."""
    return len(text) if text.isascii() else sum(map(width, text))


def operator_name(op: Op) -> str:
    """`matmul` of `relax.matmul`, `nn.relu` of `relax.nn.relu`."""
    return op.name.removeprefix("relax.")


def dimension(value: prim.PrimExpr) -> str:
    """A dimension as scripts write it."""
    match value:
        case prim.IntImm(value=number):
            return str(number)
        case prim.Var(name=name):
            return name
    return str(value)


def info_in_brief(info: StructInfo | None) -> str:
    """A few words for what is known of a value: `(n, 64) float32`."""
    match info:
        case TensorStructInfo(dims=dims, dtype=dtype, ndim=ndim):
            known = "" if dtype.is_void else f" {dtype}"
            if dims is not None:
                return f"{_dims(dims)}{known}"
            return f"{ndim}-D{known}" if ndim >= 0 else f"tensor{known}"
        case ShapeStructInfo(values=values):
            return "shape" if values is None else f"shape {_dims(values)}"
        case PrimStructInfo(dtype=dtype, value=value):
            return f"{dtype}" if value is None else f"{dtype} {dimension(value)}"
        case TupleStructInfo(fields=fields):
            return _tuple(fields)
        case FuncStructInfo():
            return "function"
        case None:
            return ""
    return "object"


def _dims(values: Iterable[prim.PrimExpr]) -> str:
    dims = [dimension(value) for value in values]
    return f"({dims[0]},)" if len(dims) == 1 else f"({', '.join(dims)})"


def _tuple(fields: tuple[StructInfo, ...]) -> str:
    said = [info_in_brief(info) for info in fields[:MOST_FIELDS]]
    more = [f"{len(fields) - MOST_FIELDS} more"] if len(fields) > MOST_FIELDS else []
    return f"[{', '.join([*said, *more])}]"


def literal(expr: Expr) -> str | None:
    """A value that is told where it is used; None for one that has a box of its own."""
    match expr:
        case Constant(data=data) if data.ndim == 0:
            return str(data)
        case PrimValue(value=value):
            return dimension(value)
        case ShapeExpr(values=values):
            return _dims(values)
        case StringImm(value=text):
            return repr(text)
        case DataTypeImm(value=dtype):
            return str(dtype)
        case GlobalVar(name_hint=name) | ExternFunc(global_symbol=name):
            return name
        case Op():
            return operator_name(expr)
    return None
