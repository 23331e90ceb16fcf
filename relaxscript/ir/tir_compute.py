"""Nodes of tensor expressions in TIR: reductions, producers, index maps.

A `Reduce` combines the values of an expression over some axes, a `CommReducer` says how two such
values become one; `BufferRealize` and `Prefetch` speak of regions of buffers, an `IndexMap` of
layouts. All are read, printed and transformed; a `Reduce` and a `BufferRealize` are run as well,
and a `Prefetch` does nothing. The producer that a `ProducerLoad` reads is in no PrimFunc.

Source: TVM `tir.expr`, `tir.stmt`, `tir.function` for names and the order of fields.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from relaxscript.dtypes import DataType
from relaxscript.errors.user_frame import report_as

from . import hooks
from .node import Node, field, node
from .prim import HANDLE, PrimExpr, PrimExprLike, Var, as_prim, as_scalar, cast
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


def _dtype_of_one(source: tuple[PrimExpr, ...], value_index: int) -> DataType:
    # An index that names none is refused by `_check`, which comes later.
    return source[value_index].dtype if 0 <= value_index < len(source) else HANDLE


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
    __derived__ = {"dtype": _dtype_of_one}

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
    AXIS_SEPARATOR = "axis_separator"

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
        made, separators = IndexMap.from_func_with_separators(
            mapping_function, ndim, inverse_index_map, index_dtype=index_dtype
        )
        if separators:
            raise ValueError(
                "`IndexMap.from_func` takes no `IndexMap.AXIS_SEPARATOR`; "
                "`IndexMap.from_func_with_separators` does"
            )
        return made

    @staticmethod
    def from_func_with_separators(
        mapping_function: Callable[..., Any],
        ndim: int | None = None,
        inverse_index_map: Callable[..., Any] | IndexMap | None = None,
        *,
        index_dtype: str = "int64",
    ) -> tuple[IndexMap, list[int]]:
        """The index map of a function, and the places of `IndexMap.AXIS_SEPARATOR` in its result.

        A separator says that the axes before it and those behind it are apart in memory. Raises
        `TypeError` as `from_func` does.
        """
        names = parameters_of(mapping_function, ndim)
        inverse, dtype = inverse_index_map, DataType(index_dtype)
        made = tuple(Var.make(name, dtype) for name in names)
        results = mapping_function(*made)
        finals: list[PrimExpr] = []
        separators: list[int] = []
        for e in results if isinstance(results, (tuple, list)) else (results,):
            if isinstance(e, str) and e == IndexMap.AXIS_SEPARATOR:
                separators.append(len(finals))
            else:
                finals.append(e if isinstance(e, PrimExpr) else cast(as_prim(e), dtype))
        if inverse is not None and not isinstance(inverse, IndexMap):
            inverse = IndexMap.from_func(inverse, len(finals), index_dtype=index_dtype)
        return IndexMap(made, tuple(finals), inverse), separators

    @report_as("IndexMap")
    def map_indices(self, indices: Sequence[PrimExprLike], analyzer: Any = None) -> list[PrimExpr]:
        """The new indices of the element at `indices`, simplified with what `analyzer` knows.

        Raises `DiagnosticError` (RX0204) where there are more or fewer than the map takes.
        """
        found: list[PrimExpr] = hooks.ask_index_map("map_indices", self, indices, analyzer)
        return found

    @report_as("IndexMap")
    def map_shape(self, shape: Sequence[PrimExprLike], analyzer: Any = None) -> list[PrimExpr]:
        """The shape that a tensor of some shape has in the new layout.

        Indices are made by adding, multiplying by numbers and dividing by numbers. Raises
        `DiagnosticError` (RX0204) for others, and for another number of axes.
        """
        found: list[PrimExpr] = hooks.ask_index_map("map_shape", self, shape, analyzer)
        return found

    @report_as("IndexMap")
    def map_ndarray(self, arr_src: Any) -> Any:
        """An array with its elements where the map says; padding is 0.

        Raises `DiagnosticError` (RX0204) for an array of another rank, `IndexError` for an index
        below 0.
        """
        return hooks.ask_index_map("map_array", self, arr_src)

    map_tensor = map_ndarray

    @report_as("IndexMap")
    def inverse(self, shape: Sequence[Range | PrimExprLike], analyzer: Any = None) -> IndexMap:
        """The map that leads back, for tensors of some shape, or for a `Range` along each axis.

            IndexMap.from_func(lambda i: (i // 4, i % 4)).inverse([16])    # axis0 * 4 + axis1

        Raises `DiagnosticError` (RX0204) where two elements would get one place, where places are
        left, and where no inverse is found.
        """
        found: IndexMap = hooks.ask_index_map("inverse", self, shape, analyzer, False)[0]
        return found

    @report_as("IndexMap")
    def non_surjective_inverse(
        self, shape: Sequence[Range | PrimExprLike], analyzer: Any = None
    ) -> tuple[IndexMap, PrimExpr]:
        """The map that leads back, and the condition under which an index is one of padding.

            IndexMap.from_func(lambda i: (i // 4, i % 4)).non_surjective_inverse([14])
            # axis0 * 4 + axis1, and axis0 * 4 + axis1 >= 14

        Raises `DiagnosticError` (RX0204) as `inverse` does, but for padding.
        """
        found: tuple[IndexMap, PrimExpr] = hooks.ask_index_map(
            "inverse", self, shape, analyzer, True
        )
        return found

    def is_equivalent_to(self, other_map: IndexMap, analyzer: Any = None) -> bool:
        """True if both maps are proved to give the same indices."""
        found: bool = hooks.ask_index_map("is_equivalent_to", self, other_map, analyzer)
        return found


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
