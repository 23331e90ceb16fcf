"""Functions that do not promise `tir.noalias`, arranged for arrays that share no memory.

Most callers give such arrays, and say nothing of it. To compare the addresses of a matrix or two
takes no time beside what is done with them.
"""

from __future__ import annotations

from functools import reduce
from itertools import combinations

from relaxscript.ir.prim import INT64, Add, And, Call, Or, PrimExpr, const
from relaxscript.ir.scalar_functions import is_address_as_number, reinterpret
from relaxscript.ir.stmt_functor import all_parts
from relaxscript.ir.tir import Buffer, BufferStore, IfThenElse, PrimFunc
from relaxscript.ir.walk import walk
from relaxscript.transform.prim_func.memory_access import NOALIAS, has_noalias

from .elementwise import product_of

__all__ = ["arranged_where_apart", "asks_for_addresses", "promising"]

# Two or three comparisons are made for each pair of buffers of which one is stored.
_MOST_PAIRS = 32


def promising(func: PrimFunc) -> PrimFunc | None:
    """The function with the promise that its buffers share no memory.

    None where it promises that itself, or where a caller's memory is not known by its parameters.
    """
    if has_noalias(func) or len(func.buffer_map) < 2:
        return None
    plain = all(b.elem_offset is None and not b.strides for b in func.buffer_map.values())
    if not plain or len(_pairs(func)) > _MOST_PAIRS:
        return None
    promised: PrimFunc = func.with_attr(NOALIAS, True)
    return promised


def arranged_where_apart(func: PrimFunc, made: PrimFunc, otherwise: PrimFunc) -> PrimFunc:
    """The function that is made of `promising(func)`, where no result shares memory with others.

    Where one does, all is done as `otherwise` does it.

    def main(A, B, C):                      def main(A, B, C):
        ...                         →           if <C begins behind A, or ends before it> and ...:
                                                    <as if `tir.noalias` were promised>
                                                else:
                                                    ...
    """
    apart: list[PrimExpr] = [Or(_is_before(a, b), _is_before(b, a)) for a, b in _pairs(func)]
    attrs = {name: value for name, value in made.attrs.items() if name != NOALIAS}
    body = IfThenElse(reduce(And, apart), made.body, otherwise.body) if apart else made.body
    return made.replace(body=body, attrs=attrs)


def asks_for_addresses(func: PrimFunc) -> bool:
    """True if a function is what `arranged_where_apart` makes, and compares addresses."""
    if not isinstance(func.body, IfThenElse):
        return False
    return any(isinstance(e, Call) and is_address_as_number(e) for e in walk(func.body.condition))


def _pairs(func: PrimFunc) -> list[tuple[Buffer, Buffer]]:
    """The buffers of parameters of which one may be stored while the other is read or stored."""
    stored = {part.buffer.data for part in all_parts(func) if isinstance(part, BufferStore)}
    buffers = [func.buffer_map[p] for p in func.params if p in func.buffer_map]
    return [pair for pair in combinations(buffers, 2) if any(b.data in stored for b in pair)]


def _is_before(first: Buffer, second: Buffer) -> PrimExpr:
    """True if all of the memory of a buffer lies before that of another one."""
    size = product_of((*first.shape, const(first.dtype.itemsize, INT64)))
    return Add(_address(first), size) <= _address(second)


def _address(buffer: Buffer) -> PrimExpr:
    return reinterpret("int64", buffer.data)
