"""Loops, and axes of blocks, as two: one over parts, and one inside of a part."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from relaxscript.arith import Facts
from relaxscript.arith.index_algebra import IndexAlgebra, is_one
from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, FloorDiv, FloorMod, PrimExpr, Var, cast, const
from relaxscript.ir.stmt_functor import inner_statements
from relaxscript.ir.tir import BlockRealize, For, IterVar, Range, Stmt
from relaxscript.ir.walk import rewrite

from .loop_nests import loops_around

__all__ = ["with_divided_loops"]

_ALGEBRA = IndexAlgebra(Facts())


class _Parts(NamedTuple):
    """The variables of two loops in the place of one, and the number of iterations of the inner."""

    outer: Var
    inner: Var
    number: PrimExpr

    def value(self) -> PrimExpr:
        return self.outer * self.number + self.inner


def with_divided_loops(body: Stmt, numbers: Mapping[Var, PrimExpr]) -> Stmt | None:
    """A body in which some loops, and axes of blocks, are two; None where one of them cannot be.

    for t in range(512):                    for t_outer, t_inner in T.grid(8, 64):
        C[t] = T.float32(0)         →           C[t_outer * 64 + t_inner] = T.float32(0)

    The inner one has as many iterations as `numbers` says. Quotients and remainders by this number
    are the variables themselves. So are the loops that give an axis its
    values, and the axes to which a loop gives them.
    """
    found = _with_axes(body, numbers)
    parts = {
        var: _Parts(
            Var.make(f"{var.name}_outer", INT64), Var.make(f"{var.name}_inner", INT64), number
        )
        for var, number in found.items()
    }
    try:
        return rewrite(body, partial(_divided, parts))
    except _NotDivided:
        return None


class _NotDivided(Exception):
    """A loop that cannot be two."""


def _with_axes(body: Stmt, numbers: Mapping[Var, PrimExpr]) -> dict[Var, PrimExpr]:
    """The same numbers, and those of the loops and axes that have the same values."""
    made = dict(numbers)
    stack = [body]
    while stack:
        at = stack.pop()
        if isinstance(at, BlockRealize):
            for axis, value in zip(at.block.iter_vars, at.iter_values):
                if isinstance(value, Var) and (axis.var in made or value in made):
                    number = made[axis.var] if axis.var in made else made[value]
                    made.setdefault(axis.var, number)
                    made.setdefault(value, number)
        stack += inner_statements(at)
    return made


def _divided(parts: Mapping[Var, _Parts], node: Node) -> Node | None:
    match node:
        case For(loop_var=var) if var in parts:
            return _divided_loop(node, parts[var])
        case BlockRealize(block=block) if any(axis.var in parts for axis in block.iter_vars):
            return _divided_axes(node, parts)
    return None


def _divided_loop(loop: For, part: _Parts) -> Stmt:
    found = loops_around(loop.replace(body=loop.body))
    number = _quotient(loop.extent, part)
    if found is None or loop.loop_var.dtype is not INT64:
        raise _NotDivided
    body = rewrite(loop.body, _InParts({loop.loop_var: part}))
    inner = loop.replace(loop_var=part.inner, extent=part.number, body=body)
    return loop.replace(loop_var=part.outer, extent=number, body=inner)


class _InParts:
    """Puts two variables in the place of one; what is a part by a division is one of them."""

    def __init__(self, parts: Mapping[Var, _Parts]) -> None:
        self.parts = parts
        self.values = {var: part.value() for var, part in parts.items()}
        self.by_value = {id(value): parts[var] for var, value in self.values.items()}

    def __call__(self, node: Node) -> Node | None:
        match node:
            case Var():
                return self.values.get(node)
            case FloorDiv(a=a, b=by) if id(a) in self.by_value:
                part = self.by_value[id(a)]
                number = _ALGEBRA.quotient(by, part.number)
                if number is not None:
                    return part.outer if is_one(number) else FloorDiv(part.outer, number)
            case FloorMod(a=a, b=by) if id(a) in self.by_value:
                part = self.by_value[id(a)]
                number = _ALGEBRA.quotient(by, part.number)
                if number is not None and is_one(number):
                    return part.inner
                if number is not None:
                    return FloorMod(part.outer, number) * part.number + part.inner
        return None


def _quotient(extent: PrimExpr, part: _Parts) -> PrimExpr:
    number = _ALGEBRA.quotient(cast(extent, INT64), part.number)
    if number is None:
        raise _NotDivided
    return number


def _divided_axes(realize: BlockRealize, parts: Mapping[Var, _Parts]) -> BlockRealize:
    block = realize.block
    axes, values = list[IterVar](), list[PrimExpr]()
    given: dict[Var, _Parts] = {}
    for axis, value in zip(block.iter_vars, realize.iter_values, strict=True):
        part = parts.get(axis.var)
        if part is None:
            axes.append(axis)
            values.append(value)
            continue
        if not isinstance(value, Var) or axis.dom is None or axis.var.dtype is not INT64:
            raise _NotDivided
        given[axis.var] = part
        whole = Range(axis.dom.min, _quotient(axis.dom.extent, part))
        axes += [
            axis.replace(dom=whole, var=part.outer),
            axis.replace(dom=Range(const(0, INT64), part.number), var=part.inner),
        ]
        values += [parts[value].outer, parts[value].inner]
    made = block.replace(
        iter_vars=tuple(axes), body=rewrite(block.body, _InParts(given)), reads=(), writes=(),
        init=None if block.init is None else rewrite(block.init, _InParts(given)),
    )  # fmt: skip
    return realize.replace(iter_values=tuple(values), block=made)
