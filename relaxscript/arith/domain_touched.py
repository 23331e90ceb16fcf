"""The part of a buffer that a statement touches.

Source: TVM `DomainTouched` (parameters and meaning).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.stmt_functor import parts_of_tir
from relaxscript.ir.tir import (
    AttrStmt,
    Block,
    BlockRealize,
    Buffer,
    BufferStore,
    For,
    IterVar,
    LetStmt,
    Range,
    Stmt,
)

from .arguments import wrong
from .eval_set import eval_interval
from .facts import Facts
from .index_algebra import IndexAlgebra
from .int_set import IntervalSet, neg_inf, pos_inf

__all__ = ["domain_touched"]

_Domains = Mapping[Var, IntervalSet]


def domain_touched(
    stmt: Stmt, buffer: Buffer, consider_loads: bool = True, consider_stores: bool = True
) -> list[Range]:
    """A Range for each axis of `buffer` that has in it all indices at which `stmt` touches it.

    The list is empty where it touches nothing. The whole axis is touched where no bounds of an
    index are found. Conditions are left out of account, and a buffer that is read or written by its
    pointer is not seen. Raises `TypeError` for what is no statement or buffer.
    """
    if not isinstance(stmt, Stmt):
        raise wrong("domain_touched.stmt", "a statement", stmt)
    if not isinstance(buffer, Buffer):
        raise wrong("domain_touched.buffer", "a Buffer", buffer)
    touched = _Touched(buffer)
    stack: list[tuple[Any, _Domains]] = [(stmt, {})]
    while stack:
        node, domains = stack.pop()
        match node:
            case prim.BufferLoad() if node.buffer is buffer and consider_loads:
                touched.add(node.indices, domains)
            case BufferStore() if node.buffer is buffer and consider_stores:
                touched.add(node.indices, domains)
            case Block(match_buffers=matched):
                for match in matched:
                    if match.source.buffer is buffer:
                        touched.add_region(match.source.region, domains)
        inner = _inside(node, domains)
        stack.extend((part, inner) for part in parts_of_tir(node))
    return touched.ranges()


def _inside(node: Node, domains: _Domains) -> _Domains:
    """The domains of the variables that are defined inside of a node too."""
    match node:
        case For(loop_var=var, min=low, extent=extent):
            return {**domains, var: IntervalSet(low, low + extent - 1)}
        case LetStmt(var=var, value=value) | prim.Let(var=var, value=value):
            return {**domains, var: eval_interval(value, domains, _FACTS)}
        case AttrStmt(node=IterVar(var=var), attr_key="thread_extent", value=extent):
            return {**domains, var: IntervalSet(0, extent - 1)}
        case BlockRealize(iter_values=values, block=block):
            new = {
                axis.var: eval_interval(value, domains, _FACTS)
                for axis, value in zip(block.iter_vars, values)
            }
            return {**domains, **new}
    return domains


_FACTS = Facts(nonnegative=False)


class _Touched:
    """The intervals of the indices at which a buffer is touched."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.algebra = IndexAlgebra()
        self.ends: list[tuple[PrimExpr, PrimExpr]] = []

    def add(self, indices: tuple[PrimExpr, ...], domains: _Domains) -> None:
        """One touch."""
        self._add([(index, index) for index in indices], domains)

    def add_region(self, region: tuple[Range, ...], domains: _Domains) -> None:
        """A touch of all of a region."""
        self._add([(axis.min, axis.min + (axis.extent - 1)) for axis in region], domains)

    def _add(self, spans: list[tuple[PrimExpr, PrimExpr]], domains: _Domains) -> None:
        found = [self._ends(axis, first, last, domains) for axis, (first, last) in enumerate(spans)]
        known = self.ends or found
        self.ends = [
            (self.algebra.least(low, least), self.algebra.largest(high, most))
            for (low, high), (least, most) in zip(known, found)
        ]

    def _ends(
        self, axis: int, first: PrimExpr, last: PrimExpr, domains: _Domains
    ) -> tuple[PrimExpr, PrimExpr]:
        low = eval_interval(first, domains, _FACTS).min_value
        high = eval_interval(last, domains, _FACTS).max_value
        if isinstance(last, prim.Ramp) or low is neg_inf() or high is pos_inf():
            size = self.buffer.shape[axis]
            return prim.like(0, size), size - 1
        return low, high

    def ranges(self) -> list[Range]:
        """The Ranges of all axes."""
        return [
            Range.from_min_extent(low, self.algebra.simplify(high - low + 1))
            for low, high in self.ends
        ]
