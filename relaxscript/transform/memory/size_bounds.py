"""Bounds of symbolic sizes, which attributes of a function promise.

    R.func_attr({"tir_var_upper_bound": {"n": 2048}, "tir_non_negative_var": ["offset"]})

They are by the names of variables of the function. Names are TVM's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from relaxscript.arith import Facts, bounds
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest, warn
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm, PrimExpr, Var as PrimVar
from relaxscript.ir.relax import Attrs, Function, MatchCast
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo
from relaxscript.ir.walk import compounds, defined_by, variables
from relaxscript.sinfo import definable_shape_vars, struct_info_parts

__all__ = ["NON_NEGATIVE", "UPPER_BOUND", "SizeBounds", "has_bounds"]

UPPER_BOUND = "tir_var_upper_bound"
NON_NEGATIVE = "tir_non_negative_var"


def has_bounds(func: Function) -> bool:
    """True if a function has attributes that promise something of its variables."""
    attrs = func.attrs or Attrs()
    return UPPER_BOUND in attrs or NON_NEGATIVE in attrs


class SizeBounds:
    """The facts about the variables of a function: `facts` for proofs, `most` for sizes.

    A dimension is at least zero. A scalar may be negative, unless it is named as one that is not.
    Raises `DiagnosticError` (RX0703) for attributes that say no bounds.
    """

    def __init__(self, func: Function, name: str) -> None:
        attrs = func.attrs or Attrs()
        upper = _upper_bounds(attrs.get(UPPER_BOUND, {}), func, name)
        non_negative = _names(attrs.get(NON_NEGATIVE, ()), func, name)
        defined = _defined(func)
        known = {v.name for v in defined}
        for attr, named in ((UPPER_BOUND, upper), (NON_NEGATIVE, non_negative)):
            for var in named:
                if var not in known:
                    _warn_of_unknown(attr, var, sorted(known), func, name)
        dims = set(_dimensions(func))
        ranges = {
            v: (0 if v in dims or v.name in non_negative else None, upper.get(v.name))
            for v in defined
        }
        self._bounded = {v for v, (_, most) in ranges.items() if most is not None}
        self.facts = Facts({v: known for v, known in ranges.items() if known != (0, None)})

    def most(self, size: PrimExpr) -> int | None:
        """The bytes that a size never exceeds; None where no number is known."""
        if isinstance(size, IntImm):
            return size.value
        if self._bounded.isdisjoint(variables(size)):
            return None
        return bounds(size, self.facts)[1]


def _defining(func: Function) -> list[Function | MatchCast]:
    """The functions and casts, which give variables values."""
    return [node for node in compounds(func) if isinstance(node, (Function, MatchCast))]


def _defined(func: Function) -> list[PrimVar]:
    """The variables that parameters and casts give values, each once."""
    found: dict[Node, None] = {}
    for node in _defining(func):
        if isinstance(node, Function):
            found |= dict.fromkeys(defined_by(node, node.params))
        else:
            found |= dict.fromkeys(defined_by(node, node.struct_info))
    return [v for v in found if isinstance(v, PrimVar)]


def _dimensions(func: Function) -> Iterator[PrimVar]:
    """The variables that are sizes of tensors or shapes, which are not negative."""
    infos: list[StructInfo | None] = [param.struct_info for param in func.params]
    infos += [node.struct_info for node in _defining(func) if isinstance(node, MatchCast)]
    for info in infos:
        for part in struct_info_parts(info) if info is not None else ():
            if not isinstance(part, PrimStructInfo) and not part.is_compound:
                yield from definable_shape_vars(part)


def _upper_bounds(given: Any, func: Function, name: str) -> dict[str, int]:
    if not isinstance(given, Mapping):
        message = f"`{UPPER_BOUND}` of `{name}` is no dictionary"
        help = 'write the largest value of each variable: `{"n": 2048}`'
        raise DiagnosticError(Diagnostic("RX0703", message, func.span, help=help))
    found: dict[str, int] = {}
    for var, bound in given.items():
        number = bound.value if isinstance(bound, IntImm) else bound
        if type(number) is not int or number < 1:
            message = f"the upper bound of `{var}` in `{name}` is no positive integer"
            note = f"`{UPPER_BOUND}` says `{bound}`"
            raise DiagnosticError(Diagnostic("RX0703", message, func.span, notes=(note,)))
        found[var] = number
    return found


def _names(given: Any, func: Function, name: str) -> tuple[str, ...]:
    if not isinstance(given, (tuple, list)) or not all(isinstance(v, str) for v in given):
        message = f"`{NON_NEGATIVE}` of `{name}` is no list of names"
        help = 'write the names of variables: `["n"]`'
        raise DiagnosticError(Diagnostic("RX0703", message, func.span, help=help))
    return tuple(given)


def _warn_of_unknown(attr: str, var: str, known: list[str], func: Function, name: str) -> None:
    """Programs for TVM give every function the bounds of all, so that it is no error."""
    has = f"it has {', '.join(f'`{other}`' for other in known)}" if known else "it has none"
    help = did_you_mean(nearest(var, known), has)
    message = f"`{attr}` names `{var}`, but `{name}` has no variable of that name"
    warn(Diagnostic("RX0703", message, func.span, help=help, severity="warning"))
