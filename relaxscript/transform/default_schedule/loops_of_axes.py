"""Loops of blocks whose axes have values of several loops, as one loop for each axis."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.analysis.prim_funcs import expr_deep_equal
from relaxscript.arith import YES, Facts, prove_equal
from relaxscript.arith.index_algebra import is_one, is_zero
from relaxscript.ir.prim import INT64, BufferLoad, IntImm, PrimExpr, Var, cast
from relaxscript.ir.tir import Block, BlockRealize, BufferStore, IterVar, PrimFunc, Stmt
from relaxscript.ir.walk import walk
from relaxscript.transform.prim_func.lower_blocks import is_true
from relaxscript.transform.prim_func.memory_access import has_noalias
from relaxscript.transform.prim_func.vectorize_loop import never_fails

from .flat_indices import flat_index
from .loop_nests import Loop, loops_around, parts_of, with_parts
from .loop_writing import in_loops

__all__ = ["with_loops_of_axes"]


def with_loops_of_axes(func: PrimFunc) -> PrimFunc:
    """The function with a loop for each axis of a block in the place of loops by tiles.

    for i, j, ii in T.grid(8, 16, 8):               for i, j in T.grid(64, 16):
        with T.block("C"):                              with T.block("C"):
            vi = T.axis.spatial(64, i * 8 + ii) →           vi = T.axis.spatial(64, i)
            vj = T.axis.spatial(16, j)                      vj = T.axis.spatial(16, j)
            C[vi, vj] = A[vi, vj]                           C[vi, vj] = A[vi, vj]

    Each loop gives values to one axis, and these are all of the axis. An iteration stores at the
    axes that are not reduced, and reads what is stored there only. What is added up keeps its
    order. That is where nothing fails, and for functions that promise `tir.noalias`. The same
    object where each axis has the values of a loop.
    """
    parts = parts_of(func)
    if parts is None or not has_noalias(func):
        return func
    made = [_by_axes(func, part) for part in parts.parts]
    if all(new is old for new, old in zip(made, parts.parts)):
        return func
    return func.replace(body=with_parts(func.body, made))


def _by_axes(func: PrimFunc, part: Stmt) -> Stmt:
    found = loops_around(part)
    if found is None:
        return part
    loops, realize = found
    if not isinstance(realize, BlockRealize):
        return part
    if all(isinstance(value, (Var, IntImm)) for value in realize.iter_values):
        return part
    block = realize.block
    if not is_true(realize.predicate) or block.alloc_buffers or block.match_buffers:
        return part
    groups = [_loops_of(*pair, loops) for pair in zip(block.iter_vars, realize.iter_values)]
    known = [group for group in groups if group is not None]
    used = [loop for group in known for loop in group]
    if len(known) < len(groups) or len(used) != len(loops) or {*used} != {*loops}:
        return part
    reduced = [axis.iter_type == "reduce" for axis in block.iter_vars]
    sums = [loop for group, is_sum in zip(known, reduced) if is_sum for loop in group]
    in_order = sums == [loop for loop in loops if loop in sums]
    if not in_order or not _stores_at_axes(block) or not never_fails(func, part, lazily=True):
        return part
    own: list[Loop] = []
    values: list[PrimExpr] = []
    for axis, value, group in zip(block.iter_vars, realize.iter_values, known):
        if not group:
            values.append(value)
            continue
        assert axis.dom is not None, "the values of an axis are known"
        own.append(Loop(Var.make(group[-1].var.name, INT64), axis.dom.extent))
        values.append(own[-1].var)
    return in_loops(own, realize.replace(iter_values=tuple(values)))


def _loops_of(axis: IterVar, value: PrimExpr, loops: Sequence[Loop]) -> list[Loop] | None:
    """The loops whose values are those of an axis, from zero on and in their order."""
    if axis.dom is None or axis.var.dtype is not INT64 or not is_zero(axis.dom.min):
        return None
    by_var = {loop.var: loop for loop in loops}
    found = flat_index(value, list(by_var), Facts(), False)
    if found is None or not is_zero(found.base):
        return None
    if not found.terms:
        return [] if is_one(axis.dom.extent) else None
    # From the outside in, as the loops are.
    size = axis.dom.extent
    for var, stride in found.terms:
        extent = cast(by_var[var].extent, INT64)
        if prove_equal(extent * stride, size) is not YES:
            return None
        size = stride
    return [by_var[var] for var, _ in found.terms] if is_one(size) else None


def _stores_at_axes(block: Block) -> bool:
    """True if each element is stored by the block at its own axes, and read there only."""
    body, init = block.body, block.init
    stores = [body] if init is None else [body, init]
    spatial = {axis.var for axis in block.iter_vars if axis.iter_type == "spatial"}
    if any(axis.iter_type not in ("spatial", "reduce") for axis in block.iter_vars):
        return False
    if not isinstance(body, BufferStore) or body.predicate is not None:
        return False
    if init is not None and not (isinstance(init, BufferStore) and init.buffer is body.buffer):
        return False
    if {index for index in body.indices if isinstance(index, Var)} != spatial:
        return False
    accesses = (node for store in stores for node in walk(store))
    return all(
        len(node.indices) == len(body.indices)
        and all(map(expr_deep_equal, node.indices, body.indices))
        for node in accesses
        if isinstance(node, (BufferStore, BufferLoad)) and node.buffer.data is body.buffer.data
    )
