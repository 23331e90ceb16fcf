"""The work of a kernel, roughly: how often its innermost statements run.

This and the bytes that a kernel goes through decide whether other threads may run meanwhile. So a
guess is enough: branches count as taken, and where an extent depends
on an outer loop it is that of the first round.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from relaxscript.arith.format import format_expr
from relaxscript.ir import prim, tir
from relaxscript.ir.relax import GlobalVar

__all__ = ["Rounds", "rounds_of"]

# So many different products of extents are added up; with more, nothing is said.
_MOST = 8


class Rounds(NamedTuple):
    """A number of runs of statements: a factor, `times`, and the extents it is multiplied with."""

    times: int
    extents: tuple[prim.PrimExpr, ...]


class _Unknown(Exception):
    """The statements run as often as other functions or data say."""


def rounds_of(func: tir.PrimFunc) -> list[Rounds] | None:
    """The runs of the innermost statements, in the variables of loops and dimensions.

    None where that is not known.
    """
    found: dict[str, Rounds] = {}
    try:
        for rounds in _rounds(func.body, Rounds(1, ())):
            key = "*".join(sorted(map(format_expr, rounds.extents)))
            before = found.get(key, Rounds(0, rounds.extents))
            found[key] = Rounds(before.times + rounds.times, rounds.extents)
            if len(found) > _MOST:
                return None
    except _Unknown:
        return None
    return list(found.values())


def _rounds(stmt: tir.Stmt | None, outer: Rounds) -> Iterator[Rounds]:
    match stmt:
        case None:
            return
        case tir.SeqStmt(seq):
            for part in seq:
                yield from _rounds(part, outer)
        case tir.For(extent=prim.IntImm(value=size), body=body):
            yield from _rounds(body, Rounds(outer.times * size, outer.extents))
        case tir.For(extent=extent, body=body):
            yield from _rounds(body, Rounds(outer.times, (*outer.extents, extent)))
        case tir.IfThenElse(then_case=yes, else_case=no):
            yield from _rounds(yes, outer)
            yield from _rounds(no, outer)
        case tir.BlockRealize(block=block):
            yield from _rounds(block.init, outer)
            yield from _rounds(block.body, outer)
        case tir.Evaluate(prim.Call(op=GlobalVar())) | tir.While():
            raise _Unknown
        case tir.BufferStore() | tir.Evaluate():
            yield outer
        case _:
            yield from _rounds(stmt.body, outer)  # type: ignore[attr-defined]
