"""Matrices with rows and columns exchanged, as operators write them."""

from __future__ import annotations

from relaxscript.ir.relax import Call, Expr
from relaxscript.op.manipulate.axes import permute_dims

from .algebraic_rewriter import AlgebraicRewriter, dims_of

__all__ = ["permutation_of", "transpose", "transposed_operand"]


def permutation_of(call: Call) -> tuple[int, ...] | None:
    """The axes of a call of `permute_dims`, counted from 0; None where the rank is not known."""
    dims = dims_of(call.args[0])
    if dims is None:
        return None
    axes = permute_dims.attributes(call)["axes"]
    rank = len(dims)
    return tuple(range(rank))[::-1] if axes is None else tuple([axis % rank for axis in axes])


def transpose(tensor: Expr, rank: int) -> Expr:
    """A tensor of matrices with rows and columns exchanged."""
    made: Expr = permute_dims(tensor, None if rank == 2 else _exchanged(rank))
    return made


def _exchanged(rank: int) -> tuple[int, ...]:
    return (*range(rank - 2), rank - 1, rank - 2)


def transposed_operand(at: AlgebraicRewriter, expr: Expr) -> Expr | None:
    """The tensor whose matrices an expression is, rows and columns exchanged; None for others."""
    found = at.definition(expr)
    if not isinstance(found, Call) or found.op is not permute_dims.op:
        return None
    axes = permutation_of(found)
    if axes is None or len(axes) < 2 or axes != _exchanged(len(axes)):
        return None
    return found.args[0]
