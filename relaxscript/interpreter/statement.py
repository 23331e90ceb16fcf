"""Statements as Python closures: loops, blocks, branches, stores.

Loops of every kind run one after the other, in order. Every element that is written is checked to
lie in its buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.ir import prim, tir
from relaxscript.semantics import tir_errors
from relaxscript.semantics.elements import lane_positions, require_inside, writer
from relaxscript.semantics.expression import compile_expr
from relaxscript.semantics.expression_context import ExpressionContext, Frame, Run
from relaxscript.semantics.statements import assertion_message, core_statements, start_of_axis

from .memory import allocate_memory, declare_buffer, has_memory, match_region, new_buffer, slot_of

__all__ = ["compile_body", "sequence"]


def sequence(steps: Sequence[Run]) -> Run:
    """The steps one after the other."""
    match steps:
        case [only]:
            return only
        case [first, second]:

            def both(f: Frame) -> None:
                first(f)
                second(f)

            return both

    def run(f: Frame) -> None:
        for step in steps:
            step(f)

    return run


def compile_body(cx: ExpressionContext, s: tir.Stmt) -> Run:
    """The statements of a body; raises `DiagnosticError` for what cannot be run."""
    parts = core_statements(s, lambda buffer: has_memory(cx, buffer))
    return sequence([compile_stmt(cx, part) for part in parts])


def compile_stmt(cx: ExpressionContext, s: tir.Stmt) -> Run:
    """One statement; of a declaration, what it does before its body."""
    match s:
        case tir.BufferStore():
            return compile_store(cx, s)
        case tir.For():
            return compile_loop(cx, s)
        case tir.BlockRealize():
            return compile_block(cx, s)
        case tir.IfThenElse():
            return compile_branch(cx, s)
        case tir.While():
            return compile_while(cx, s)
        case tir.AssertStmt():
            return compile_assertion(cx, s)
    return compile_declaration(cx, s)


def compile_declaration(cx: ExpressionContext, s: tir.Stmt) -> Run:
    match s:
        case tir.LetStmt(var, value):
            return assign_variable(cx, var, value)
        case tir.Evaluate(value):
            return compile_expr(cx, value)
        case tir.Allocate() | tir.AllocateConst():
            return allocate_memory(cx, s)
        case tir.DeclBuffer(buffer):
            return declare_buffer(cx, buffer, s.span)
    raise tir_errors.unsupported_statement(s)


# ------------------------------------------------------------ control


def compile_loop(cx: ExpressionContext, s: tir.For) -> Run:
    low, extent = compile_expr(cx, s.min), compile_expr(cx, s.extent)
    slot = cx.layout.define(s.loop_var)
    body = compile_body(cx, s.body)

    def run(f: Frame) -> None:
        start = low(f)
        stop = start + extent(f)
        for f[slot] in range(start, stop):
            body(f)

    return run


def compile_branch(cx: ExpressionContext, s: tir.IfThenElse) -> Run:
    condition, yes = compile_expr(cx, s.condition), compile_body(cx, s.then_case)
    no = sequence([]) if s.else_case is None else compile_body(cx, s.else_case)

    def run(f: Frame) -> None:
        if condition(f):
            yes(f)
        else:
            no(f)

    return run


def compile_while(cx: ExpressionContext, s: tir.While) -> Run:
    condition, body = compile_expr(cx, s.condition), compile_body(cx, s.body)

    def run(f: Frame) -> None:
        while condition(f):
            body(f)

    return run


def assign_variable(cx: ExpressionContext, var: prim.Var, value: prim.PrimExpr) -> Run:
    tir_errors.check_assignment(var, value)
    compute, slot = compile_expr(cx, value), cx.layout.define(var)

    def run(f: Frame) -> None:
        f[slot] = compute(f)

    return run


def compile_assertion(cx: ExpressionContext, s: tir.AssertStmt) -> Run:
    condition, message, span = compile_expr(cx, s.condition), assertion_message(s.message), s.span

    def run(f: Frame) -> None:
        if not condition(f):
            raise tir_errors.assertion_failed(message, span)

    return run


# ------------------------------------------------------------ blocks


def compile_block(cx: ExpressionContext, s: tir.BlockRealize) -> Run:
    block = s.block
    enter = [
        assign_variable(cx, axis.var, value)
        for axis, value in zip(block.iter_vars, s.iter_values, strict=True)
    ]
    enter += [new_buffer(cx, buffer, block.span) for buffer in block.alloc_buffers]
    enter += [match_region(cx, m) for m in block.match_buffers]
    if block.init is not None:
        enter.append(compile_init(cx, block, block.init))
    inner = sequence([*enter, compile_body(cx, block.body)])
    predicate = s.predicate
    if isinstance(predicate, prim.IntImm) and predicate.value:
        return inner
    return run_if(compile_expr(cx, predicate), inner)


def run_if(condition: Run, inner: Run) -> Run:
    def run(f: Frame) -> None:
        if condition(f):
            inner(f)

    return run


def compile_init(cx: ExpressionContext, block: tir.Block, init: tir.Stmt) -> Run:
    """Run `init` where all reduction axes are at their start."""
    starts = [
        (cx.layout.define(axis.var), compile_expr(cx, start_of_axis(axis)))
        for axis in block.iter_vars
        if axis.iter_type == "reduce"
    ]
    body = compile_body(cx, init)
    if len(starts) == 1:
        ((slot, start),) = starts
        return run_if(lambda f: f[slot] == start(f), body)
    return run_if(lambda f: all(f[slot] == start(f) for slot, start in starts), body)


def compile_store(cx: ExpressionContext, s: tir.BufferStore) -> Run:
    lanes = max((i.dtype.lanes for i in s.indices), default=1)
    slot = slot_of(cx, s.buffer, s.span)
    value = compile_expr(cx, s.value)
    indices = [compile_expr(cx, i) for i in s.indices]
    write = writer(s.buffer, s.span)
    if lanes == 1:
        run = store_scalar(slot, value, indices, write)
        return run if s.predicate is None else run_if(compile_expr(cx, s.predicate), run)
    mask = None if s.predicate is None else compile_expr(cx, s.predicate)

    def run_lanes(f: Frame) -> None:
        array = f[slot]
        places = lane_positions([i(f) for i in indices], lanes)
        numbers = value(f)
        on = [True] * lanes if mask is None else mask(f)
        for chosen, place in zip(on, places, strict=True):
            if chosen:
                require_inside(s.buffer, array, place, s.span)
        for chosen, place, x in zip(on, places, numbers, strict=True):
            if chosen:
                write(array, place, x)

    return run_lanes


def store_scalar(slot: int, value: Run, indices: list[Run], write: Any) -> Run:
    match indices:
        case [a]:

            def store1(f: Frame) -> None:
                write(f[slot], (a(f),), value(f))

            return store1
        case [a, b]:

            def store2(f: Frame) -> None:
                write(f[slot], (a(f), b(f)), value(f))

            return store2

    def store(f: Frame) -> None:
        write(f[slot], tuple([i(f) for i in indices]), value(f))

    return store
