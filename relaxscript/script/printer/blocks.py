"""Blocks of PrimFuncs as syntax: axes, what they read and write, their initial statement."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod

from relaxscript.dtypes import DataType
from relaxscript.ir import prim, tir
from relaxscript.ir.same import structural_equal
from relaxscript.script.syntax import AXIS_LETTERS, TIR_INT_DTYPE

from . import tree
from .buffers import BufferPrinter
from .session import Session

__all__ = ["BlockPrinter"]


class BlockPrinter(BufferPrinter, ABC):
    """Adds blocks; the printer of functions says how a statement is written."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.loops: dict[prim.Var, tir.For] = {}

    @abstractmethod
    def inner(self, s: tir.Stmt) -> list[ast.stmt]:
        """The statements of a nested block of Python."""

    # block = "with" "T.block(" name ")" ":" axes signature buffers [init] body
    def block(self, s: tir.BlockRealize, realized: bool = True) -> ast.stmt:
        """A block with values for its axes; without `realized`, these only fill their places."""
        block = s.block
        body: list[ast.stmt] = []
        with self.names.scope():
            self.axes(s, body)
            if not self.is_true(s.predicate):
                body.append(self.mention("where", [self.scalar(s.predicate)]))
            self.signature_of(block, body)
            body += [self.allocation(buffer) for buffer in block.alloc_buffers]
            for match in block.match_buffers:
                source = self.region(match.source)
                made = self.buffer_call("match_buffer", match.buffer, [source])
                body.append(tree.assign(self.bind_buffer(match.buffer), made))
            if block.init is not None:
                context = tree.call(self.member("init"))
                body.append(tree.with_block(context, self.inner(block.init)))
            body += self.inner(block.body)
        alone = None if realized else tree.constant(True)
        name = tree.constant(block.name_hint)
        context = tree.call(self.member("block"), [name], no_realize=alone)
        return self.session.at(block, tree.with_block(context, body))

    def bare_block(self, block: tir.Block) -> ast.stmt:
        """A block that nobody gives values for its axes."""
        values = [
            axis.var if axis.dom is None else prim.IntImm.make(axis.var.dtype, 0)
            for axis in block.iter_vars
        ]
        always = prim.IntImm.make(prim.BOOL, 1)
        return self.block(tir.BlockRealize.make(tuple(values), always, block), realized=False)

    def signature_of(self, block: tir.Block, body: list[ast.stmt]) -> None:
        """What a block reads and writes, and its annotations."""
        body.append(self.mention("reads", [self.region(r) for r in block.reads]))
        body.append(self.mention("writes", [self.region(r) for r in block.writes]))
        if block.annotations:
            body.append(self.mention("block_attr", [self.value(block.annotations)]))

    def mention(self, word: str, args: list[ast.expr]) -> ast.stmt:
        """A statement `T.word(...)`."""
        return tree.statement(tree.call(self.member(word), args))

    # axes = names "=" "T.axis.remap(" ... ")" | { name "=" "T.axis." kind "(" ... ")" }
    def axes(self, s: tir.BlockRealize, body: list[ast.stmt]) -> None:
        axes = s.block.iter_vars
        pairs = list(zip(axes, s.iter_values))
        if not pairs:
            return
        sugar = self.session.options.syntax_sugar
        if sugar and all(self.is_remapped(axis, value) for axis, value in pairs):
            letters = "".join(AXIS_LETTERS[axis.iter_type] for axis in axes)
            values = tree.items([self.scalar(value) for value in s.iter_values])
            made = tree.call(self.member("axis.remap"), [tree.constant(letters), values])
            names = [self.axis_name(axis) for axis in axes]
            target = names[0] if len(names) == 1 else tree.items(names, ast.Tuple)
            body.append(tree.assign(target, made))
            return
        for axis, value in pairs:
            bound = self.axis(axis, value)
            body.append(tree.assign(self.axis_name(axis), bound))

    def is_remapped(self, axis: tir.IterVar, value: prim.PrimExpr) -> bool:
        """Whether an axis runs as a loop around it does."""
        loop = self.loops.get(value) if isinstance(value, prim.Var) else None
        if loop is None or axis.dom is None or axis.var.dtype != loop.loop_var.dtype:
            return False
        same = structural_equal(axis.dom.min, loop.min)
        return same and structural_equal(axis.dom.extent, loop.extent)

    def axis(self, axis: tir.IterVar, value: prim.PrimExpr) -> ast.expr:
        """`T.axis.spatial(64, i * 4 + j)`."""
        kind = axis.var.dtype
        args = [self.domain(axis.dom, kind), self.scalar(value, TIR_INT_DTYPE)]
        given = kind == value.dtype and kind.bits >= TIR_INT_DTYPE.bits
        dtype = None if given else tree.constant(str(kind))
        return tree.call(self.member(f"axis.{axis.iter_type}"), args, dtype=dtype)

    def domain(self, dom: tir.Range | None, kind: DataType) -> ast.expr:
        """The extent of an axis, or where it begins and ends; its numbers are of the axis' type."""
        if dom is None:
            return tree.constant(None)
        extent = self.scalar(dom.extent, kind)
        if isinstance(dom.min, prim.IntImm) and dom.min.value == 0:
            return extent
        stop = self.scalar(self.stop(dom.min, dom.extent), kind)
        return tree.items([self.scalar(dom.min, kind), stop], ast.Tuple)

    def axis_name(self, axis: tir.IterVar) -> ast.expr:
        name = self.names.define(axis.var, axis.var.name)
        return self.session.at(axis.var, tree.name(name))
