"""Variables that a failing run may name, or that give printed values their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    Call,
    Function,
    If,
    MatchCast,
    Op,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import (
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.walk import compounds, mentioned, variables

__all__ = ["told_names"]


def told_names(func: Function) -> set[Var]:
    """The variables of a function that a failure may name.

    These are what a `match_cast` looks at or compares with. So are operands of operators of which
    only the run knows enough. A condition that may be no bool is told, and what may be no tuple.
    Local functions have the names of their variables, too.
    """
    return {var for node in compounds(func) for var in _told(node)}


def _told(node: Node) -> Iterator[Var]:
    match node:
        case MatchCast(value=value, struct_info=wanted):
            yield from mentioned(value)
            yield from _held_in([wanted])
        case Binding(var=var, value=Function()):
            yield var
        case Binding(var=var, value=Call(op=op, sinfo_args=promised) as call):
            used = mentioned(call)
            if isinstance(op, Op) and not all(_is_known(v.struct_info) for v in (var, *used)):
                yield from used
            yield from _held_in(promised)
        case Binding(value=TupleGetItem(tuple_value=Var() as whole)) | If(cond=Var() as whole):
            if not _is_known(whole.struct_info):
                yield whole


def _held_in(infos: Iterable[StructInfo]) -> Iterator[Var]:
    """The variables that hold the shapes of tensors."""
    return (var for info in infos for var in variables(info) if isinstance(var, Var))


def _is_known(info: StructInfo | None) -> bool:
    """True if no more is to be known of a value but its elements."""
    match info:
        case TensorStructInfo(dims=dims, dtype=dtype):
            return dims is not None and dtype != "void"
        case TupleStructInfo(fields=fields):
            return all(map(_is_known, fields))
        case ShapeStructInfo(values=values):
            return values is not None
        case PrimStructInfo(value=value):
            return value is not None
    return False
