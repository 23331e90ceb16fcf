"""Nodes of tensor expressions in TIR: reductions, producers, index maps.

A `Reduce` combines the values of an expression over some axes, a `CommReducer` says how two such
values become one; `BufferRealize` and `Prefetch` speak of regions of buffers, an `IndexMap` of
layouts. All are read, printed and transformed; a `Reduce` and a `BufferRealize` are run as well,
and a `Prefetch` does nothing. The producer that a `ProducerLoad` reads is in no PrimFunc.

Source: TVM `tir.expr`, `tir.stmt`, `tir.function` for names and the order of fields.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from relaxscript.dtypes import DataType

from .node import Node, field, node
from .prim import PrimExpr, Var, as_prim, as_scalar, cast
from .tir import Buffer, IterVar, Range, Stmt

__all__ = [
    "BufferRealize", "CommReducer", "DataProducer", "IndexMap", "Prefetch", "ProducerLoad",
    "Reduce", "parameters_of",
]  # fmt: skip


def _exprs(values: Any) -> tuple[PrimExpr, ...]:
    return tuple(as_scalar(v) for v in values)


def _tuple(values: Any) -> tuple[Any, ...]:
    return tuple(values)


@node
class CommReducer(Node):
    """A rule to combine values: `result` of `lhs` and `rhs`, starting from `identity_element`."""

    lhs: tuple[Var, ...] = field(convert=_tuple, definition=True)
    rhs: tuple[Var, ...] = field(convert=_tuple, definition=True)
    result: tuple[PrimExpr, ...] = field(convert=_exprs)
    identity_element: tuple[PrimExpr, ...] = field(convert=_exprs, outer=True)
    is_scope = True

    def _check(self) -> None:
        sizes = {len(p) for p in (self.lhs, self.rhs, self.result, self.identity_element)}
        if len(sizes) > 1:
            raise ValueError("a CommReducer has as many results and identities as pairs of values")


@node
class Reduce(PrimExpr):
    """The values of `source` combined over the `axis` where `condition` holds.

    Of several values that are combined together it is the one at `value_index`.
    """

    combiner: CommReducer
    source: tuple[PrimExpr, ...] = field(convert=_exprs)
    axis: tuple[IterVar, ...] = field(convert=_tuple, first=True)
    condition: PrimExpr = field(convert=as_scalar)
    value_index: int
    init: tuple[PrimExpr, ...] = field(convert=_exprs, default=())
    is_scope = True
    __derived__ = {"dtype": lambda source, value_index: source[value_index].dtype}

    def _check(self) -> None:
        count = len(self.combiner.result)
        if len(self.source) != count or not 0 <= self.value_index < count:
            raise ValueError(
                f"`Reduce.source` has {len(self.source)} and the combiner {count} values, of which "
                f"`value_index` {self.value_index} names one"
            )


class DataProducer:
    """A node that a `ProducerLoad` reads: the tensor of a tensor expression."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def dtype(self) -> DataType: ...
        @property
        def name(self) -> str: ...


@node
class ProducerLoad(PrimExpr):
    """The element of what a tensor expression produces, at some indices."""

    producer: Buffer | DataProducer
    indices: tuple[PrimExpr, ...] = field(convert=_exprs)
    __derived__ = {"dtype": lambda producer: producer.dtype}


@node
class BufferRealize(Stmt):
    """A region of a buffer that exists while `body` runs."""

    buffer: Buffer
    bounds: tuple[Range, ...] = field(convert=_tuple)
    condition: PrimExpr = field(convert=as_scalar)
    body: Stmt


@node
class Prefetch(Stmt):
    """A hint that a region of a buffer, or all of it where there are no bounds, is read soon."""

    buffer: Buffer
    bounds: tuple[Range, ...] = field(convert=_tuple)


@node
class IndexMap(Node):
    """A change of layout: where the element at `initial_indices` lies, as indices."""

    initial_indices: tuple[Var, ...] = field(convert=_tuple, definition=True)
    final_indices: tuple[PrimExpr, ...] = field(convert=_exprs)
    inverse_index_map: IndexMap | None = None
    is_scope = True

    @staticmethod
    def from_func(
        mapping_function: Callable[..., Any],
        ndim: int | None = None,
        inverse_index_map: Callable[..., Any] | IndexMap | None = None,
        *,
        index_dtype: str = "int64",
    ) -> IndexMap:
        """The index map of a function of indices, `lambda i, j: (i // 16, j, i % 16)`.

        One that takes any number of them, `lambda *i: i[::-1]`, is given `ndim`. Raises
        `TypeError` for a function of anything else.
        """
        names = parameters_of(mapping_function, ndim)
        inverse, dtype = inverse_index_map, DataType(index_dtype)
        made = tuple(Var.make(name, dtype) for name in names)
        results = mapping_function(*made)
        finals = results if isinstance(results, (tuple, list)) else (results,)
        if inverse is not None and not isinstance(inverse, IndexMap):
            inverse = IndexMap.from_func(inverse, len(finals), index_dtype=index_dtype)
        exprs = tuple(e if isinstance(e, PrimExpr) else cast(as_prim(e), dtype) for e in finals)
        return IndexMap(made, exprs, inverse)


def parameters_of(function: Callable[..., Any], count: int | None = None) -> list[str]:
    """The names of the parameters of a function that is called with variables.

    Those of one that takes any number are numbered, as many as `count` says. Raises `TypeError`
    where they are not all plain.
    """
    found = list(inspect.signature(function).parameters.values())
    rest: list[str] = []
    if count is not None and found and found[-1].kind is inspect.Parameter.VAR_POSITIONAL:
        last = found.pop()
        rest = [f"{last.name}{number}" for number in range(count - len(found))]
    if any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in found):
        raise TypeError("a function over variables has plain parameters only")
    return [*(p.name for p in found), *rest]
