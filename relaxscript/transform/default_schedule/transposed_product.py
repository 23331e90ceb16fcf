"""Products by a matrix whose columns are stored as rows: row by row, or by tiles."""

from __future__ import annotations

from relaxscript.ir.prim import IntImm, PrimExpr, const
from relaxscript.ir.tir import IfThenElse, PrimFunc

from .direct_product import LOW
from .nests import nests
from .processor import Processor
from .product import transposed_rows
from .rows import rows

__all__ = ["transposed_product"]


def transposed_product(func: PrimFunc, processor: Processor) -> PrimFunc | None:
    """The function whose product is by tiles if there are enough rows; None for others.

    for i, j, k in T.grid(m, n, 64):         if m < 12:
        with T.block("NT_matmul"):               for i, j in T.grid(m, n):
            ...                                      C[i, j] = ...  # vectors of both rows
            C[i, j] = C[i, j] +         →        else:
                A[i, k] * B[j, k]                    for tiles of rows and columns:
                                                         for k in range(64):
                                                             tile = fma(rows, columns, tile)

    Of few rows each is multiplied with the rows of B where these lie. For more of them copies of B
    are worth it.
    """
    count = transposed_rows(func)
    if count is None or (isinstance(count, IntImm) and count.value < LOW):
        return None
    many = nests(func, processor)
    if many is None or isinstance(count, IntImm):
        return many
    few = rows(func, processor)
    return many if few is None else _by(count, few, many)


def _by(count: PrimExpr, few: PrimFunc, many: PrimFunc) -> PrimFunc:
    is_low = count < const(LOW, count.dtype)
    return many.replace(body=IfThenElse(is_low, few.body, many.body))
