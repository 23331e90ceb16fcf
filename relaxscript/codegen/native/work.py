"""The work of a kernel, roughly: how often its innermost statements run.

This and the bytes that a kernel goes through decide whether other threads may run meanwhile. So a
guess is enough: branches count as taken, and where an extent depends
on an outer loop it is that of the first round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from relaxscript.arith.format import format_expr
from relaxscript.ir import prim, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.walk import substitute
from relaxscript.semantics.prim_func_abi import PrimFuncSignature

__all__ = ["Rounds", "rounds_of"]

# So many different products of extents are added up; with more, nothing is said.
_MOST = 8


class Rounds(NamedTuple):
    """A number of runs of statements: a factor, `times`, and the extents it is multiplied with."""

    times: int
    extents: tuple[prim.PrimExpr, ...]


_Known = dict[tir.PrimFunc, list[Rounds] | None]


class _Unknown(Exception):
    """The statements run as often as other functions or data say."""


def rounds_of(
    func: tir.PrimFunc, module: IRModule, known: _Known | None = None
) -> list[Rounds] | None:
    """The runs of the innermost statements, in the variables of loops and dimensions.

    Those of the PrimFuncs of `module` that are called count as well. None where it is not known.
    What was found of these is in `known`, for the layers of a network call the same ones.
    """
    known = {} if known is None else known
    if func not in known:
        known[func] = _rounds_of(func, module, known)
    return known[func]


def _rounds_of(func: tir.PrimFunc, module: IRModule, known: _Known) -> list[Rounds] | None:
    found: dict[str, Rounds] = {}
    try:
        for rounds in _Reader(func, module, known).rounds(func.body, Rounds(1, ())):
            key = "*".join(sorted(map(format_expr, rounds.extents)))
            before = found.get(key, Rounds(0, rounds.extents))
            found[key] = Rounds(before.times + rounds.times, rounds.extents)
            if len(found) > _MOST:
                return None
    except _Unknown:
        return None
    return list(found.values())


class _Reader:
    """Reads the statements of a PrimFunc; `buffers` are those over each pointer, as it goes on."""

    def __init__(self, func: tir.PrimFunc, module: IRModule, known: _Known) -> None:
        self.module = module
        self.known = known
        self.buffers = {buffer.data: buffer for buffer in func.buffer_map.values()}

    def rounds(self, stmt: tir.Stmt, outer: Rounds) -> Iterator[Rounds]:
        match stmt:
            case tir.SeqStmt() | tir.IfThenElse() | tir.BlockRealize():
                for part in self.parts(stmt):
                    yield from self.rounds(part, outer)
            case tir.For(extent=prim.IntImm(value=size), body=body):
                yield from self.rounds(body, Rounds(outer.times * size, outer.extents))
            case tir.For(extent=extent, body=body):
                yield from self.rounds(body, Rounds(outer.times, (*outer.extents, extent)))
            case tir.Evaluate(prim.Call(op=GlobalVar() as callee, args=args)):
                yield from self.rounds_of_call(callee, args, outer)
            case tir.While():
                raise _Unknown
            case tir.BufferStore() | tir.Evaluate():
                yield outer
            case _:
                inner = getattr(stmt, "body", None)  # a hint, such as a prefetch, has none
                yield from [outer] if inner is None else self.rounds(inner, outer)

    def parts(self, stmt: tir.SeqStmt | tir.IfThenElse | tir.BlockRealize) -> list[tir.Stmt]:
        """The statements in one of several, each of which runs as often."""
        match stmt:
            case tir.SeqStmt(seq):
                return list(seq)
            case tir.IfThenElse(then_case=yes, else_case=no):
                return [yes] if no is None else [yes, no]
        block = stmt.block
        self.buffers |= {buffer.data: buffer for buffer in block.alloc_buffers}
        return [block.body] if block.init is None else [block.init, block.body]

    def rounds_of_call(
        self, callee: GlobalVar, args: Sequence[prim.PrimExpr], outer: Rounds
    ) -> Iterator[Rounds]:
        """The runs in a function that is called, in the variables of who calls it."""
        function = self.module[callee] if callee in self.module else None  # noqa: SIM401
        if not isinstance(function, tir.PrimFunc):
            raise _Unknown
        inner = rounds_of(function, self.module, self.known)
        if inner is None:
            raise _Unknown
        signature, sizes = PrimFuncSignature(function), dict[prim.Var, prim.PrimExpr]()
        for var, source in zip(signature.variables, signature.sources, strict=True):
            passed = args[source.param]
            buffer = self.buffers.get(passed) if isinstance(passed, prim.Var) else None
            if buffer is None or source.kind != "dimension" or source.axis >= buffer.ndim:
                raise _Unknown
            sizes[var] = buffer.shape[source.axis]
        for times, extents in inner:
            here = [substitute(e, sizes) for e in extents]
            known = math.prod([e.value for e in here if isinstance(e, prim.IntImm)])
            left = [e for e in here if not isinstance(e, prim.IntImm)]
            yield Rounds(outer.times * times * known, (*outer.extents, *left))
