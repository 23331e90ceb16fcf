"""Elements of rows that are converted to a wider type for several passes: they are once.

A conversion takes a vector apart, or puts one together, and costs as much as several sums. Where a
row is short, its converted elements stay in the nearest cache.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from relaxscript.ir.node import Node
from relaxscript.ir.prim import BufferLoad, Cast, IntImm
from relaxscript.ir.tir import Buffer
from relaxscript.ir.walk import rewrite_top_down, walk

from .loop_nests import is_without
from .row_nests import RowFunction, RowNest

__all__ = ["with_conversions"]

# A quarter of the smallest of today's nearest caches, in which the row itself is, too.
MOST_BYTES = 8192


class _Conversion(NamedTuple):
    """A conversion, told by what it converts, and to which type."""

    buffer: Buffer
    indices: tuple[object, ...]
    dtype: str


def with_conversions(found: RowFunction) -> tuple[RowFunction, tuple[Buffer, ...]]:
    """The nests with one more for each conversion that several of them have, and its buffers.

    for i, k: s[i] += T.Cast("float64", A[i, k])      for i, k: w[i, k] = T.Cast("float64", A[i, k])
    for i, k: B[i, k] = T.Cast("float64", A[i, k])    for i, k: s[i] += w[i, k]
                        * s[i]                        for i, k: B[i, k] = w[i, k] * s[i]
    """
    if not isinstance(found.element.extent, IntImm):
        return found, ()
    stored = {nest.buffer.data for nest in found.nests}
    uses: Counter[_Conversion] = Counter()
    first: dict[_Conversion, Cast] = {}
    for nest in found.nests:
        casts = [node for node in walk(nest.value) if isinstance(node, Cast)]
        keys = {_key(cast): cast for cast in casts if _is_kept(found, cast)}
        for key, cast in keys.items():
            if key.buffer.data not in stored:
                uses[key] += 1
                first.setdefault(key, cast)
    wide = {key: _row_of(key, first[key]) for key, count in uses.items() if count > 1}
    if not wide:
        return found, ()

    def step(node: Node) -> Node | None:
        if not isinstance(node, Cast) or not isinstance(node.value, BufferLoad):
            return None
        buffer = wide.get(_key(node))
        return None if buffer is None else BufferLoad(buffer, node.value.indices)

    made = [nest._replace(value=rewrite_top_down(nest.value, step)) for nest in found.nests]
    added = [
        RowNest(buffer, _load_of(first[key]).indices, first[key], True)
        for key, buffer in wide.items()
    ]
    return found._replace(nests=(*added, *made)), tuple(wide.values())


def _is_kept(found: RowFunction, cast: Cast) -> bool:
    """True if an element of a row becomes wider, and the row of all fits."""
    load, (var, extent) = cast.value, found.element
    if not isinstance(load, BufferLoad) or not isinstance(extent, IntImm):
        return False
    is_element = load.indices[-1:] == (var,) and is_without(load.indices[:-1], [found.element])
    is_wider = cast.dtype.is_float and cast.dtype.bits > load.dtype.bits
    return is_element and is_wider and extent.value * cast.dtype.itemsize <= MOST_BYTES


def _load_of(cast: Cast) -> BufferLoad:
    assert isinstance(cast.value, BufferLoad)
    return cast.value


def _key(cast: Cast) -> _Conversion:
    load = _load_of(cast)
    indices = (i.value if isinstance(i, IntImm) else i for i in load.indices)
    return _Conversion(load.buffer, tuple(indices), str(cast.dtype))


def _row_of(key: _Conversion, cast: Cast) -> Buffer:
    """A buffer for converted elements, which has the places of those that are converted."""
    return Buffer(f"{key.buffer.name}_{key.dtype}", key.buffer.shape, cast.dtype)
