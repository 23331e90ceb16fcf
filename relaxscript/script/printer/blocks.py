"""Blocks of PrimFuncs as syntax: axes, what they read and write, their initial statement."""

from __future__ import annotations

import ast

from relaxscript.dtypes import DataType
from relaxscript.ir import prim, tir
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.script.names.syntax import AXIS_LETTERS, TIR_INT_DTYPE

from . import tree
from .tir_context import TIRPrinter

__all__ = ["print_axis", "print_bare_block", "print_block"]


# block = "with" "T.block(" name ")" ":" axes signature buffers [init] body
def print_block(cx: TIRPrinter, s: tir.BlockRealize, realized: bool = True) -> ast.stmt:
    """A block with values for its axes; without `realized`, these only fill their places."""
    block = s.block
    body: list[ast.stmt] = []
    with cx.names.scope():
        print_axes(cx, s, body)
        if not cx.is_true(s.predicate):
            body.append(statement_of(cx, "where", [cx.scalar(s.predicate)]))
        print_signature(cx, block, body)
        body += [cx.allocation(buffer) for buffer in block.alloc_buffers]
        for match in block.match_buffers:
            source = cx.region(match.source)
            made = cx.buffer_call("match_buffer", match.buffer, [source])
            body.append(tree.assign(cx.bind_buffer(match.buffer), made))
        if block.init is not None:
            context = tree.call(cx.member("init"))
            body.append(tree.with_block(context, cx.inner(block.init)))
        body += cx.inner(block.body)
    alone = None if realized else tree.constant(True)
    name = tree.constant(block.name_hint)
    context = tree.call(cx.member("block"), [name], no_realize=alone)
    return cx.session.at(block, tree.with_block(context, body))


def print_bare_block(cx: TIRPrinter, block: tir.Block) -> ast.stmt:
    """A block that nobody gives values for its axes."""
    values = [
        axis.var if axis.dom is None else prim.IntImm.make(axis.var.dtype, 0)
        for axis in block.iter_vars
    ]
    always = prim.IntImm.make(prim.BOOL, 1)
    return print_block(cx, tir.BlockRealize.make(tuple(values), always, block), realized=False)


def print_signature(cx: TIRPrinter, block: tir.Block, body: list[ast.stmt]) -> None:
    """Print what a block reads and writes, and its annotations."""
    body.append(statement_of(cx, "reads", [cx.region(r) for r in block.reads]))
    body.append(statement_of(cx, "writes", [cx.region(r) for r in block.writes]))
    if block.annotations:
        body.append(statement_of(cx, "block_attr", [cx.value(block.annotations)]))


def statement_of(cx: TIRPrinter, word: str, args: list[ast.expr]) -> ast.stmt:
    """A statement `T.word(...)`."""
    return tree.statement(tree.call(cx.member(word), args))


# axes = names "=" "T.axis.remap(" ... ")" | { name "=" "T.axis." kind "(" ... ")" }
def print_axes(cx: TIRPrinter, s: tir.BlockRealize, body: list[ast.stmt]) -> None:
    axes = s.block.iter_vars
    pairs = list(zip(axes, s.iter_values))
    if not pairs:
        return
    sugar = cx.session.options.syntax_sugar
    if sugar and all(is_remapped(cx, axis, value) for axis, value in pairs):
        letters = "".join(AXIS_LETTERS[axis.iter_type] for axis in axes)
        values = tree.items([cx.scalar(value) for value in s.iter_values])
        made = tree.call(cx.member("axis.remap"), [tree.constant(letters), values])
        names = [define_axis(cx, axis) for axis in axes]
        target = names[0] if len(names) == 1 else tree.items(names, ast.Tuple)
        body.append(tree.assign(target, made))
        return
    for axis, value in pairs:
        bound = print_axis(cx, axis, value)
        body.append(tree.assign(define_axis(cx, axis), bound))


def is_remapped(cx: TIRPrinter, axis: tir.IterVar, value: prim.PrimExpr) -> bool:
    """True if an axis runs as a loop around it does."""
    loop = cx.loops.get(value) if isinstance(value, prim.Var) else None
    if loop is None or axis.dom is None or axis.var.dtype != loop.loop_var.dtype:
        return False
    same = structural_equal(axis.dom.min, loop.min)
    return same and structural_equal(axis.dom.extent, loop.extent)


def print_axis(cx: TIRPrinter, axis: tir.IterVar, value: prim.PrimExpr) -> ast.expr:
    """`T.axis.spatial(64, i * 4 + j)`."""
    kind = axis.var.dtype
    args = [print_domain(cx, axis.dom, kind), cx.scalar(value, TIR_INT_DTYPE)]
    given = kind == value.dtype and kind.bits >= TIR_INT_DTYPE.bits
    dtype = None if given else tree.constant(str(kind))
    return tree.call(cx.member(f"axis.{axis.iter_type}"), args, dtype=dtype)


def print_domain(cx: TIRPrinter, dom: tir.Range | None, kind: DataType) -> ast.expr:
    """The extent of an axis, or where it begins and ends; its numbers are of the axis' type."""
    if dom is None:
        return tree.constant(None)
    extent = cx.scalar(dom.extent, kind)
    if isinstance(dom.min, prim.IntImm) and dom.min.value == 0:
        return extent
    stop = cx.scalar(cx.stop(dom.min, dom.extent), kind)
    return tree.items([cx.scalar(dom.min, kind), stop], ast.Tuple)


def define_axis(cx: TIRPrinter, axis: tir.IterVar) -> ast.expr:
    name = cx.names.define(axis.var, axis.var.name)
    return cx.session.at(axis.var, tree.name(name))
