"""PrimFuncs that write their result into an operand, where that is proved to give the same.

A result is written by one loop nest, each element once. An operand can take it where that nest
reads only the element that it writes. No other nest reads the operand later. What they read before
does not matter. What is not understood is not proved.
"""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.analysis.op_pattern import overwritten_buffers
from relaxscript.arith import YES, prove_equal, simplify
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BufferLoad, IntImm, PrimExpr, Var
from relaxscript.ir.relax import Attrs
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    Buffer,
    BufferRegion,
    BufferStore,
    For,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
)
from relaxscript.ir.walk import Substitution, rewrite, walk

__all__ = ["write_in_place"]


def write_in_place(func: PrimFunc, operands: Sequence[Var], result: Var) -> PrimFunc | None:
    """The PrimFunc that writes the result into its operand, None where that is not proved.

    `operands` and `result` are parameters. Several operands are one and the same tensor: only the
    first of them stays a parameter. The result is none any more.
    """
    buffers = [func.buffer_map[param] for param in operands]
    target = func.buffer_map[result]
    if target in buffers or not all(_is_alike(buffer, target) for buffer in buffers):
        return None
    if target not in overwritten_buffers(func) or not _is_safe(func.body, buffers, target):
        return None
    gone = {*operands[1:], result}
    one = Substitution(dict.fromkeys((*buffers[1:], target), buffers[0]))
    attrs = (func.attrs or Attrs()).without("global_symbol")
    return func.replace(
        params=tuple(param for param in func.params if param not in gone),
        buffer_map={p: b for p, b in func.buffer_map.items() if p not in gone},
        body=rewrite(one.apply(func.body), _with_each_region_once),
        attrs=attrs or None,
    )


def _with_each_region_once(node: Node) -> Node | None:
    """A block that says once what it reads, though operands that it read are one now."""
    if not isinstance(node, Block):
        return None
    reads: list[BufferRegion] = []
    for region in node.reads:
        if not any(structural_equal(region, other) for other in reads):
            reads.append(region)
    return None if len(reads) == len(node.reads) else node.replace(reads=tuple(reads))


def _is_alike(a: Buffer, b: Buffer) -> bool:
    """True for compact buffers of one dtype and shape."""
    return (
        a.dtype is b.dtype
        and not a.strides
        and not b.strides
        and len(a.shape) == len(b.shape)
        and all(prove_equal(x, y) is YES for x, y in zip(a.shape, b.shape))
    )


def _is_safe(body: Stmt, operands: Sequence[Buffer], result: Buffer) -> bool:
    """True if no element of an operand is read after the result is written there."""
    is_written = False
    for nest in _nests(body):
        stored = {node.buffer for node in walk(nest) if isinstance(node, BufferStore)}
        loaded = {node.buffer for node in walk(nest) if isinstance(node, BufferLoad)}
        if not stored.isdisjoint(operands):
            return False
        if result in stored:
            if is_written or result in loaded or not _reads_what_it_writes(nest, operands):
                return False
            is_written = True
        elif not loaded.isdisjoint(operands if is_written else (result,)):
            return False
    return is_written


def _nests(body: Stmt) -> list[Stmt]:
    """The statements of a function that run one after the other."""
    found: list[Stmt] = []
    pending = [body]
    while pending:
        match stmt := pending.pop():
            case SeqStmt(seq=parts):
                pending += reversed(parts)
            case BlockRealize(block=block) if not block.iter_vars and block.init is None:
                pending.append(block.body)
            case _:
                found.append(stmt)
    return found


def _reads_what_it_writes(nest: Stmt, operands: Sequence[Buffer]) -> bool:
    """True for loops around one store, each element once, and loads of that element only."""
    loops: list[Var] = []
    names = Substitution()
    values: list[PrimExpr] = []
    stmt = nest
    while not isinstance(stmt, BufferStore):
        match stmt:
            case For(loop_var=var, min=low, extent=extent, body=body):
                values += [low, extent]
                if isinstance(extent, IntImm) and extent.value == 1:
                    names[var] = low
                else:
                    loops.append(var)
                stmt = body
            case BlockRealize(outer, predicate, block) if not block.match_buffers:
                if block.init is not None or block.alloc_buffers:
                    return False
                values += [*outer, predicate]
                for axis, value in zip(block.iter_vars, outer):
                    names[axis.var] = names.apply(value)
                stmt = block.body
            case LetStmt(value=value, body=body):
                values.append(value)
                stmt = body
            case _:
                return False
    written = [_index(index, names) for index in stmt.indices]
    if stmt.predicate is not None or sorted(map(id, filter(_is_var, written))) != _ids(loops):
        return False
    loads = [load for value in (*values, stmt.value) for load in _loads(value, operands)]
    return all(_is_same(written, [_index(i, names) for i in load.indices]) for load in loads)


def _ids(loops: Sequence[Var]) -> list[int]:
    return sorted(map(id, loops))


def _is_var(e: PrimExpr) -> bool:
    return isinstance(e, Var)


def _index(index: PrimExpr, names: Substitution) -> PrimExpr:
    """An index in terms of the loops around."""
    found = names.apply(index)
    return found if isinstance(found, (Var, IntImm)) else simplify(found)


def _is_same(indices: Sequence[PrimExpr], others: Sequence[PrimExpr]) -> bool:
    return all(prove_equal(a, b) is YES for a, b in zip(indices, others))


def _loads(value: Node, operands: Sequence[Buffer]) -> list[BufferLoad]:
    loads = [node for node in walk(value) if isinstance(node, BufferLoad)]
    return [load for load in loads if load.buffer in operands]
