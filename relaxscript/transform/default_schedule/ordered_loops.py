"""Loops in the order in which rules know them: those of the result, then those of a sum."""

from __future__ import annotations

from operator import is_
from typing import NamedTuple

from relaxscript.analysis.prim_funcs import expr_deep_equal
from relaxscript.ir import prim
from relaxscript.ir.prim import BufferLoad, IntImm, PrimExpr, Var
from relaxscript.ir.tir import BlockRealize, BufferStore, PrimFunc, Stmt
from relaxscript.ir.walk import walk
from relaxscript.transform.prim_func.lower_blocks import is_true
from relaxscript.transform.prim_func.memory_access import has_noalias
from relaxscript.transform.prim_func.vectorize_loop import never_fails
from relaxscript.transform.schedule.accesses import accumulated

from .loop_nests import Loop, is_without, loops_around, parts_of, with_parts
from .loop_writing import in_loops

__all__ = ["with_ordered_loops"]


def with_ordered_loops(func: PrimFunc) -> PrimFunc:
    """The function with the loops of each nest in the order of the indices that it stores at.

    for i, k, j in T.grid(m, 64, n):            for i, j, k in T.grid(m, n, 64):
        C[i, j] = A[i, k] * B[k, j]     →           C[i, j] = C[i, j]
            + C[i, j]                                   + A[i, k] * B[k, j]

    Behind them are the loops over what is added up, in their order: so each sum has the bits that
    it had. It begins with the element that it is stored in. The loops of a block, and its axes, are
    ordered in the same way. That is where nothing fails, and for functions that promise
    `tir.noalias`. The same object where all is in order.
    """
    parts = parts_of(func)
    if parts is None or not has_noalias(func):
        return func
    made = [_ordered(func, part) for part in parts.parts]
    if all(new is old for new, old in zip(made, parts.parts)):
        return func
    return func.replace(body=with_parts(func.body, made))


class _Nest(NamedTuple):
    """Loops around one store, in a block or not; `variables` are those by which it is written."""

    loops: list[Loop]
    variables: list[Var]
    realize: BlockRealize | None
    store: BufferStore

    def written(self, order: list[Var], store: BufferStore) -> Stmt:
        """The nest with its loops in another order, and with another store."""
        places = [self.variables.index(var) for var in order]
        body: Stmt = store
        if self.realize is not None:
            block = self.realize.block
            by_value = dict(zip(self.realize.iter_values, block.iter_vars))
            axes = tuple([by_value[self.loops[place].var] for place in places])
            values = tuple([self.loops[place].var for place in places])
            block = block.replace(iter_vars=axes, body=store)
            body = self.realize.replace(iter_values=values, block=block)
        return in_loops([self.loops[place] for place in places], body)


def _ordered(func: PrimFunc, part: Stmt) -> Stmt:
    nest = _nest_of(part)
    if nest is None:
        return part
    order, store = _order_of(nest), _with_sum_first(nest.store)
    changes = store is not nest.store or any(a is not b for a, b in zip(order, nest.variables))
    if not changes or not never_fails(func, part, lazily=True):
        return part
    return nest.written(order, store)


def _nest_of(part: Stmt) -> _Nest | None:
    found = loops_around(part)
    if found is None:
        return None
    loops, body = found
    if not is_without([loop.extent for loop in loops], loops):
        return None
    variables, realize = [loop.var for loop in loops], None
    if isinstance(body, BlockRealize):
        realize, block = body, body.block
        if not is_true(realize.predicate) or block.alloc_buffers or block.match_buffers:
            return None
        axes = {value: axis.var for value, axis in zip(realize.iter_values, block.iter_vars)}
        if len(block.iter_vars) != len(loops) or {*axes} != {*variables}:
            return None
        variables, body = [axes[var] for var in variables], block.body
    if not isinstance(body, BufferStore) or body.predicate is not None:
        return None
    return _Nest(loops, variables, realize, body)


def _order_of(nest: _Nest) -> list[Var]:
    """The variables as the store has them, then those of a sum; as they are where it is none."""
    store = nest.store
    if len(store.indices) == len(nest.variables) and all(map(is_, store.indices, nest.variables)):
        return nest.variables
    result = [index for index in store.indices if not isinstance(index, IntImm)]
    inner = [var for var in nest.variables if var not in result]
    known = all(isinstance(index, Var) and index in nest.variables for index in result)
    if not known or len({*result}) < len(result):
        return nest.variables
    order = [var for var in result if isinstance(var, Var)] + inner
    if all(map(is_, order, nest.variables)):
        return nest.variables
    if inner and accumulated(store) is None:
        return nest.variables
    loads = [node for node in walk(store.value) if isinstance(node, BufferLoad)]
    own = [load for load in loads if load.buffer.data is store.buffer.data]
    if not all(all(map(expr_deep_equal, load.indices, store.indices)) for load in own):
        return nest.variables
    return order


def _with_sum_first(store: BufferStore) -> BufferStore:
    """A store of `x + C[i]` at `C[i]` as one of `C[i] + x`, which has the same bits."""
    value = store.value
    if not isinstance(value, (prim.Add, prim.Mul)) or not isinstance(value.b, BufferLoad):
        return store
    own = accumulated(store)
    if own is None or value.b is not own:
        return store
    swapped: PrimExpr = type(value)(own, value.a)
    return store.replace(value=swapped)
