"""Index maps over shapes and arrays: the indices, sizes and elements that they give.

What an index map may do to an index is add, multiply by numbers, and divide by numbers above 0.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from relaxscript.errors import OperandError, quantity
from relaxscript.ir import hooks, prim
from relaxscript.ir.prim import IntImm, PrimExpr, Var, as_prim
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.ir.walk import free_vars, substitute

from .analyzer import Analyzer
from .answer import YES
from .facts import Facts
from .format import format_expr
from .index_map_inverse import inverse_of
from .prove import prove, prove_equal
from .simplify import simplify

__all__ = ["index_bounds", "inverse_map", "map_array", "map_indices", "map_shape", "places_of"]

# The least and the largest value of an index.
_Bounds = tuple[PrimExpr, PrimExpr]


def map_indices(
    index_map: IndexMap, indices: Sequence[Any], analyzer: Analyzer | None = None
) -> list[PrimExpr]:
    """The indices to which some indices are mapped, simplified by what `analyzer` knows.

    Raises `OperandError` where there are more or fewer than the map takes.
    """
    given = _of_rank(index_map, "indices", indices)
    own = {v: prim.like(i, v) for v, i in zip(index_map.initial_indices, given)}
    own = {v: prim.cast(i, v.dtype) for v, i in own.items()}
    facts = Facts() if analyzer is None else analyzer.facts
    return [simplify(substitute(e, own), facts) for e in index_map.final_indices]


def map_shape(
    index_map: IndexMap, shape: Sequence[Any], analyzer: Analyzer | None = None
) -> list[PrimExpr]:
    """The shape of a tensor of some shape after it is mapped: what its largest indices need.

    Raises `OperandError` where the map takes more or fewer indices, or does what no map may.
    """
    dims = [as_prim(dim) for dim in _of_rank(index_map, "shape", shape)]
    facts = Facts() if analyzer is None else analyzer.facts
    own = {v: (_number(0), simplify(d - 1)) for v, d in zip(index_map.initial_indices, dims)}
    return [simplify(index_bounds(e, own)[1] + 1, facts) for e in index_map.final_indices]


def _of_rank(index_map: IndexMap, name: str, given: Sequence[Any]) -> Sequence[Any]:
    wanted = len(index_map.initial_indices)
    if len(given) != wanted:
        raise OperandError(
            name, f"has {len(given)}", code="RX0204",
            message=f"the index map takes {quantity(wanted, 'index', 'indices')}",
        )  # fmt: skip
    return given


def _number(value: int) -> PrimExpr:
    return prim.const(value, prim.INT64)


def _unknown(e: PrimExpr) -> OperandError:
    return OperandError(
        "index_map", f"has the index `{format_expr(e)}`", code="RX0204",
        message="an index map adds, multiplies by numbers, and divides by numbers above 0",
    )  # fmt: skip


_EXACT: Mapping[type[prim.Binary], Callable[[int, int], int]] = {
    prim.Add: operator.add,
    prim.Sub: operator.sub,
    prim.Mul: operator.mul,
    prim.FloorDiv: operator.floordiv,
}


def _of(make: type[prim.Binary], a: PrimExpr, b: PrimExpr | int) -> PrimExpr:
    """An operation on bounds, simplified."""
    other = b.value if b.__class__ is IntImm and b.dtype is prim.INT64 else b
    if other.__class__ is int and a.__class__ is IntImm and a.dtype is prim.INT64:
        value = _EXACT[make](a.value, other)
        if max(abs(value), abs(other)) < 1 << 63:
            return _number(value)
    return simplify(make.make(*prim.match_dtypes(a, b)))


def index_bounds(e: PrimExpr, own: Mapping[Var, _Bounds]) -> _Bounds:
    """The least and the largest value of an index; it may be that it never is as large.

    `own` has those of the variables. Raises `OperandError` for what an index map does not do.
    """
    match e:
        case Var() if e in own:
            return own[e]
        case IntImm(value=value):
            return _number(value), _number(value)
        case prim.Cast(value=value):
            return index_bounds(value, own)
        case prim.Add(a=a, b=b):
            (low, high), (least, most) = index_bounds(a, own), index_bounds(b, own)
            return _of(prim.Add, low, least), _of(prim.Add, high, most)
        case prim.Sub(a=a, b=b):
            (low, high), (least, most) = index_bounds(a, own), index_bounds(b, own)
            return _of(prim.Sub, low, most), _of(prim.Sub, high, least)
        case prim.Mul(a=a, b=IntImm(value=by)) | prim.Mul(a=IntImm(value=by), b=a):
            low, high = index_bounds(a, own)
            ends = _of(prim.Mul, low, by), _of(prim.Mul, high, by)
            return ends if by >= 0 else (ends[1], ends[0])
        case prim.FloorDiv(a=a, b=IntImm(value=by)) if by > 0:
            low, high = index_bounds(a, own)
            return _of(prim.FloorDiv, low, by), _of(prim.FloorDiv, high, by)
        case prim.FloorMod(a=a, b=IntImm(value=by)) if by > 0:
            low, high = index_bounds(a, own)
            if prove(prim.LE.make(_number(0), low)) is YES:
                return _number(0), simplify(prim.Min.make(high, _number(by - 1)))
            return _number(0), _number(by - 1)
    raise _unknown(e)


# ---------------------------------------------------------------- arrays

_NUMPY: Mapping[type, Callable[[Any, Any], Any]] = {
    prim.Add: np.add,
    prim.Sub: np.subtract,
    prim.Mul: np.multiply,
    prim.FloorDiv: np.floor_divide,
    prim.FloorMod: np.mod,
}


def _values(e: PrimExpr, own: Mapping[Var, Any]) -> Any:
    """An index for all elements at once."""
    match e:
        case Var() if e in own:
            return own[e]
        case IntImm(value=value):
            return value
        case prim.Cast(value=value):
            return _values(value, own)
        case prim.Binary(a=a, b=b) if type(e) in _NUMPY:
            return _NUMPY[type(e)](_values(a, own), _values(b, own))
    raise _unknown(e)


def places_of(index_map: IndexMap, shape: tuple[int, ...], start: int = 0) -> tuple[Any, ...]:
    """The new indices of all elements of an array, whose first axis counts from `start`.

    Raises `IndexError` for one below 0.
    """
    own: dict[Var, Any] = dict(zip(index_map.initial_indices, np.ogrid[tuple(map(slice, shape))]))
    if shape:
        own[index_map.initial_indices[0]] = own[index_map.initial_indices[0]] + start
    places = tuple(np.broadcast_to(_values(e, own), shape) for e in index_map.final_indices)
    for axis, place in enumerate(places):
        if place.size and place.min() < 0:
            raise IndexError(f"the index map gives the index {place.min()} along axis {axis}")
    return places


def map_array(index_map: IndexMap, arr_src: Any) -> Any:
    """An array with its elements where the index map says, and 0 where it puts none."""
    array = arr_src if isinstance(arr_src, np.ndarray) else np.asarray(arr_src)
    shape = [int(size) for size in map_shape(index_map, array.shape)]  # type: ignore[call-overload]
    result = np.zeros_like(array, shape=shape)
    result[places_of(index_map, array.shape)] = array
    return result


# ---------------------------------------------------------------- questions of an IndexMap


def _is_equivalent_to(
    index_map: IndexMap, other_map: IndexMap, analyzer: Analyzer | None = None
) -> bool:
    if len(index_map.initial_indices) != len(other_map.initial_indices):
        return False
    if len(index_map.final_indices) != len(other_map.final_indices):
        return False
    facts = Facts() if analyzer is None else analyzer.facts
    mapped = map_indices(other_map, index_map.initial_indices, analyzer)
    pairs = zip(index_map.final_indices, mapped)
    return all(prove_equal(a, b, facts) is YES for a, b in pairs)


def inverse_map(
    index_map: IndexMap, shape: Sequence[Any], analyzer: Analyzer | None, allow_padding: bool
) -> tuple[IndexMap, PrimExpr]:
    """The map that leads back from the places of a shape, and where its indices are padding.

    Raises `OperandError` where two elements would get one place, and for padding unless it is
    allowed.
    """

    def new_shape() -> Sequence[PrimExpr]:
        # Only numbers are compared; what has symbolic factors has no shape at all.
        own = {*index_map.initial_indices}
        is_known = all(isinstance(dim, (int, IntImm)) for dim in shape)
        if not is_known or any(not own.issuperset(free_vars(e)) for e in index_map.final_indices):
            return ()
        return map_shape(index_map, shape, analyzer)

    return inverse_of(index_map, shape, analyzer, allow_padding, new_shape)


_QUESTIONS: Mapping[str, Callable[..., Any]] = {
    "map_indices": map_indices,
    "map_shape": map_shape,
    "map_array": map_array,
    "is_equivalent_to": _is_equivalent_to,
    "inverse": inverse_map,
}


@hooks.ask_index_map.fill
def _ask(question: str, index_map: IndexMap, *arguments: Any) -> Any:
    return _QUESTIONS[question](index_map, *arguments)
