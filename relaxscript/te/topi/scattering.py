"""Functions that put elements at indices which a tensor holds, one after the other.

Of what is put in one place several times, the last one counts, or all are combined in row-major
order. A negative index counts from the end; one that is not there is noticed when the PrimFunc
runs.

Source: TVM `topi.scatter`, `topi.scatter_elements`, `topi.index_put`, `topi.searchsorted`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.scalar_functions import if_then_else
from relaxscript.ir.tir import Buffer, Stmt
from relaxscript.te import element as of_elements
from relaxscript.te.compute import extern, shape_of
from relaxscript.te.element import load
from relaxscript.te.tensor import Tensor, as_element
from relaxscript.tir_builder import TIRBuilder

from .broadcast import broadcast_indices, broadcast_shapes
from .gathering import from_start, place_depth
from .operands import IndexTensor, topi_function
from .transform import axis_in, injective, number

__all__ = [
    "index_put", "matrix_set_diag", "scatter_elements", "scatter_nd", "sparse_to_dense",
]  # fmt: skip

COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "update": lambda old, new: new,
    "add": of_elements.add,
    "mul": of_elements.multiply,
    "max": of_elements.maximum,
    "min": of_elements.minimum,
}

Indices = Sequence[PrimExpr]


def _combination(callee: str, parameter: str, reduction: str) -> Callable[[Any, Any], Any]:
    if reduction not in COMBINE:
        listed = ", ".join(f'"{name}"' for name in COMBINE)
        raise OperandError(
            parameter, f"is {reduction!r}", message=f"in `{callee}` it is one of {listed}",
            code="RX0204",
        )  # fmt: skip
    return COMBINE[reduction]


def scatter(
    data: Tensor, indices: Sequence[Tensor], updates: Tensor, dims: Sequence[PrimExpr],
    place: Callable[[Sequence[Buffer], Indices], Indices],
    combine: Callable[[Any, Any], Any], name: str,
) -> Tensor:  # fmt: skip
    """A tensor with updates put in, for all indices of the shape `dims` one after the other.

    `place` gives where the update at some indices belongs, reading the buffers of `indices`.
    """

    def statements(ins: Sequence[Buffer], outs: Sequence[Buffer]) -> Stmt:
        source, places, new, result = ins[0], ins[1:-1], ins[-1], outs[0]
        tb = TIRBuilder(rooted=False)
        with tb.grid(*source.shape) as at:
            tb.store(result, at, source[at])

        def put(i: Indices) -> None:
            there = tuple(place(places, i))
            tb.store(result, there, combine(result[there], _repeated(new, i, dims)))

        if dims:
            with tb.grid(*dims) as i:
                put(i)
        else:
            put(())
        return tb.body()

    made: Tensor = extern(
        data.shape, [data, *indices, updates], statements, name=name, dtype=data.dtype
    )
    return made


def _repeated(buffer: Buffer, indices: Indices, shape: Sequence[PrimExpr]) -> PrimExpr:
    """The element of a buffer at the indices of a shape to which it is broadcast."""
    return load(buffer, *broadcast_indices(buffer, indices, shape))


@topi_function
def scatter_elements(
    data: Tensor, indices: IndexTensor, updates: Tensor, axis: int = 0, reduction: str = "update"
) -> Tensor:
    """A tensor with each update at its index along an axis.

    `reduction` says what becomes of what is there: "update" replaces it, "add", "mul", "max" and
    "min" combine both.
    """
    along = axis_in("topi.scatter_elements", axis, data.ndim)
    combine = _combination("topi.scatter_elements", "reduction", reduction)

    def place(places: Sequence[Buffer], i: Indices) -> Indices:
        there = from_start(load(places[0], *i), data.shape[along])
        return (*i[:along], there, *i[along + 1 :])

    return scatter(data, [indices], updates, indices.shape, place, combine, "scatter_elements")


@topi_function
def scatter_nd(data: Tensor, indices: IndexTensor, updates: Tensor, mode: str) -> Tensor:
    """A tensor with parts put at places, of which the first axis of `indices` holds the indices.

    `mode` is as `reduction` of `scatter_elements`.
    """
    combine = _combination("topi.scatter_nd", "mode", mode)
    depth = place_depth("topi.scatter_nd", indices.shape[0] if indices.ndim else None)
    return put_at_places(
        data, indices, updates, depth, indices.shape[1:], lambda k, i: (k, *i), combine
    )


def put_at_places(
    data: Tensor, indices: Tensor, updates: Tensor, depth: int, dims: Sequence[PrimExpr],
    component: Callable[[PrimExpr, Indices], Indices], combine: Callable[[Any, Any], Any],
) -> Tensor:  # fmt: skip
    """A tensor with parts put at places of `depth` indices; `dims` is the shape of the places.

    `component` gives where index `k` of a place is.
    """

    def place(places: Sequence[Buffer], i: Indices) -> Indices:
        own, rest = i[: len(dims)], i[len(dims) :]
        there = [
            from_start(load(places[0], *component(number(k), own)), data.shape[k])
            for k in range(depth)
        ]
        return (*there, *rest)

    whole = (*dims, *data.shape[depth:])
    return scatter(data, [indices], updates, whole, place, combine, "scatter_nd")


@topi_function
def index_put(
    data: Tensor, indices: Sequence[IndexTensor], values: Tensor, accumulate: bool = False
) -> Tensor:
    """A tensor with values at indices along its first axes, a tensor for each; they broadcast.

    With `accumulate` the values are added to what is there.
    """
    dims = broadcast_shapes("topi.index_put", [t.shape for t in indices])

    def place(places: Sequence[Buffer], i: Indices) -> Indices:
        own, rest = i[: len(dims)], i[len(dims) :]
        there = [
            from_start(_repeated(part, own, dims), size) for part, size in zip(places, data.shape)
        ]
        return (*there, *rest)

    whole = (*dims, *data.shape[len(indices) :])
    combine = COMBINE["add" if accumulate else "update"]
    return scatter(data, indices, values, whole, place, combine, "index_put")


@topi_function
def sparse_to_dense(
    sparse_indices: IndexTensor, output_shape: Any, sparse_values: Tensor, default_value: Any = 0
) -> Tensor:
    """A tensor of one value, with others at some places.

    `sparse_indices` is one index, a row of them, or a matrix with a place in each row.
    """
    dims = shape_of(output_shape)
    default = as_element(
        prim.const(default_value, sparse_values.dtype)
        if isinstance(default_value, (int, float))
        else default_value
    )
    filled = injective(dims, lambda *i: default, "T_full")
    own = sparse_indices.shape[:1]

    def place(places: Sequence[Buffer], i: Indices) -> Indices:
        if sparse_indices.ndim < 2:
            return (from_start(load(places[0], *i), dims[0]),)
        return [from_start(load(places[0], *i, number(k)), size) for k, size in enumerate(dims)]

    return scatter(
        filled, [sparse_indices], sparse_values, own, place, COMBINE["update"], "sparse_to_dense"
    )


@topi_function
def matrix_set_diag(
    data: Tensor, diagonal: Tensor, k: int | tuple[int, int] = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """Matrices with a diagonal in the place of theirs: the main one, or the one `k` above it."""
    if isinstance(k, tuple) and k[0] != k[1]:
        raise OperandError(
            "k", f"is {k}", message="`topi.matrix_set_diag` sets one diagonal", code="RX0204"
        )
    offset = k[0] if isinstance(k, tuple) else k
    if data.ndim < 2 or diagonal.ndim != data.ndim - 1:
        raise OperandError(
            "diagonal", f"has rank {diagonal.ndim}", also={"data": f"has rank {data.ndim}"},
            message="`topi.matrix_set_diag` sets a vector for each matrix", code="RX0203",
        )  # fmt: skip

    def element(*i: Any) -> Any:
        *batch, row, column = i
        on = prim.EQ.make(column - row, prim.const(offset, row.dtype))
        along = row if offset >= 0 else column
        return if_then_else(on, diagonal[(*batch, along)], data[i])

    return injective(data.shape, element, "T_matrix_set_diag")
