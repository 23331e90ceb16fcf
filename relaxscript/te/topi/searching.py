"""Places in sorted rows, by binary search. Source: TVM `topi.searchsorted`, numpy."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.tir import Buffer, Stmt
from relaxscript.te.compute import dtype_of, extern
from relaxscript.te.element import load
from relaxscript.te.tensor import Tensor
from relaxscript.tir_builder import TIRBuilder, make_buffer

from .operands import topi_function

__all__ = ["searchsorted"]


def is_less(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """True where `a` comes before `b` in sorted rows, at whose end NaN is."""
    if not a.dtype.is_float:
        return prim.LT.make(a, b)
    only_b_is_nan = prim.And.make(prim.NE.make(b, b), prim.EQ.make(a, a))
    return prim.Or.make(prim.LT.make(a, b), only_b_is_nan)


@topi_function
def searchsorted(
    sorted_sequence: Tensor, values: Tensor, right: bool = False, out_dtype: str = "int64"
) -> Tensor:
    """For each value the first place in a sorted row at which it can be put; `right`: the last.

    Of several rows, along the last axis, each is for the values at the same other indices.
    """
    if sorted_sequence.ndim not in (1, values.ndim) or not sorted_sequence.ndim:
        raise OperandError(
            "sorted_sequence", f"has rank {sorted_sequence.ndim}", code="RX0203",
            also={"values": f"has rank {values.ndim}"},
            message="`topi.searchsorted` takes one row, or as many axes as the values have",
        )  # fmt: skip
    dtype = dtype_of(out_dtype, "out_dtype")

    def statements(ins: Sequence[Buffer], outs: Sequence[Buffer]) -> Stmt:
        row, given = ins
        tb = TIRBuilder(rooted=False)

        def search(i: tuple[PrimExpr, ...]) -> None:
            # A place may be more than the dtype of the result holds: it is converted at the end.
            ends = tb.decl_buffer(make_buffer("ends", (2,), prim.INT64), needs_memory=True)
            tb.store(ends, [0], prim.const(0, prim.INT64))
            tb.store(ends, [1], prim.cast(row.shape[-1], prim.INT64))
            with tb.while_(load(ends, 0) < load(ends, 1)):
                middle = tb.let("middle", load(ends, 0) + (load(ends, 1) - load(ends, 0)) // 2)
                here = load(row, *(i[:-1] if row.ndim > 1 else ()), middle)
                before = is_less(here, load(given, *i))
                if right:
                    before = prim.Not.make(is_less(load(given, *i), here))
                with tb.if_(before):
                    with tb.then():
                        tb.store(ends, [0], middle + 1)
                    with tb.else_():
                        tb.store(ends, [1], middle)
            tb.store(outs[0], i, prim.cast(load(ends, 0), dtype))

        if given.ndim:
            with tb.grid(*given.shape) as i:
                search(tuple(i))
        else:
            search(())
        return tb.body()

    made: Tensor = extern(
        values.shape, [sorted_sequence, values], statements, name="searchsorted", dtype=dtype
    )
    return made
