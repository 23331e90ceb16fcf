"""Code for statements: loops, blocks, branches, stores.

The order of execution is that of `interpreter/tir.py`. Iterations of parallel loops and of loops
over threads run one after the other, as those of serial ones do. Vectorized loops are plain loops,
which LLVM vectorises where it can; unrolled loops of known and small extent are written out.
"""

from __future__ import annotations

from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim, tir
from relaxscript.ir.tir import ForKind
from relaxscript.semantics import tir_errors
from relaxscript.semantics.statements import assertion_message, core_statements, start_of_axis

from . import interrupts
from .context import FunctionContext
from .elements import emit_store
from .expression import assign_variable, emit, emit_for_variable, emit_variable
from .memory import allocate_memory, constant_data, declare_buffer, match_region, new_buffer
from .reductions import emit_counted_loop
from .shared_code import emit_shared_block, is_shared
from .workspace import allocate_workspace, is_row_of_calls

__all__ = ["emit_body"]

# So many copies of a statement an unrolled loop and those around it may make.
COPIES = 64


def emit_body(cx: FunctionContext, s: tir.Stmt) -> None:
    """Write a statement; raises `DiagnosticError` where there is no code for it."""
    for part in core_statements(s, lambda b: b in cx.places or b.data in cx.owners):
        emit_stmt(cx, part)


def emit_stmt(cx: FunctionContext, s: tir.Stmt) -> None:
    """One statement; of a declaration, what it does before its body."""
    match s:
        case tir.LetStmt():
            assign_variable(cx, s.var, s.value)
        case tir.BufferStore():
            emit_store(cx, s)
        case tir.For():
            emit_loop(cx, s)
        case tir.BlockRealize():
            emit_block(cx, s)
        case tir.IfThenElse():
            emit_branch(cx, s)
        case tir.While():
            emit_while(cx, s)
        case tir.AssertStmt():
            emit_assertion(cx, s)
        case _:
            emit_declaration(cx, s)


def emit_declaration(cx: FunctionContext, s: tir.Stmt) -> None:
    match s:
        case tir.Evaluate(value):
            emit(cx, value)
        case tir.Allocate(var, dtype, extents):
            cx.owners[var] = allocate_memory(cx, var.name, dtype, extents, s.span)
        case tir.AllocateConst(var):
            cx.owners[var] = constant_data(cx, s)
        case tir.DeclBuffer(buffer):
            declare_buffer(cx, buffer, s.span)
        case _:
            raise tir_errors.unsupported_statement(s)


def emit_loop(cx: FunctionContext, s: tir.For) -> None:
    if s.kind == ForKind.THREAD_BINDING:
        from relaxscript.transform.schedule.thread_loops import shared_by_threads

        found = shared_by_threads(cx.func, s)
        if found is not None:
            raise DiagnosticError(found)
    once = cx.asm.as_written and isinstance(s.extent, prim.IntImm) and s.extent.value == 1
    if (once or s.kind == ForKind.UNROLLED) and emit_unrolled(cx, s):
        return
    emit_counted_loop(cx, s.loop_var, s.min, s.extent, lambda: emit_loop_body(cx, s.body))


def emit_unrolled(cx: FunctionContext, s: tir.For) -> bool:
    """Write the body once for each value of the loop variable, unless these are too many."""
    if not (isinstance(s.min, prim.IntImm) and isinstance(s.extent, prim.IntImm)):
        return False
    start, count = s.min.value, s.extent.value
    if cx.copies * count > COPIES:
        return False
    outer, cx.copies = cx.copies, cx.copies * max(count, 1)
    for value in range(start, start + count):
        assign_variable(cx, s.loop_var, prim.const(value, s.loop_var.dtype))
        emit_loop_body(cx, s.body)
    cx.copies = outer
    return True


def emit_loop_body(cx: FunctionContext, s: tir.Stmt) -> None:
    """Write the body of a loop."""
    with cx.scope():
        emit_body(cx, s)


def emit_branch(cx: FunctionContext, s: tir.IfThenElse) -> None:
    asm = cx.asm
    yes, no, done = asm.name(), asm.name(), asm.name()
    asm.branch(emit(cx, s.condition), yes, no if s.else_case is not None else done)
    asm.begin(yes)
    with cx.scope(s.condition):
        emit_body(cx, s.then_case)
    asm.jump(done)
    if s.else_case is not None:
        asm.begin(no)
        with cx.scope(s.condition, unless=True):
            emit_body(cx, s.else_case)
        asm.jump(done)
    asm.begin(done)


def emit_while(cx: FunctionContext, s: tir.While) -> None:
    asm = cx.asm
    head, body, done = asm.name(), asm.name(), asm.name()
    rounds, since = interrupts.begin_loop(asm)
    asm.open_loop()
    asm.jump(head)
    asm.begin(head)
    asm.branch(emit(cx, s.condition), body, done)
    asm.begin(body)
    interrupts.begin_round(asm, rounds, since)
    with cx.scope(s.condition):
        emit_body(cx, s.body)
    asm.close_loop()
    asm.jump(head)
    asm.begin(done)


def emit_assertion(cx: FunctionContext, s: tir.AssertStmt) -> None:
    message, span = assertion_message(s.message), s.span
    condition = emit(cx, s.condition)
    fails = cx.asm.operation("xor", condition, cx.asm.number("i1", 1))
    cx.asm.fail_if(fails, lambda details: tir_errors.assertion_failed(message, span))
    cx.proofs.learn(s.condition)


def emit_block(cx: FunctionContext, s: tir.BlockRealize) -> None:
    block, asm = s.block, cx.asm
    has_predicate = not (isinstance(s.predicate, prim.IntImm) and s.predicate.value)
    if is_shared(s) and not has_predicate:
        with cx.scope():
            emit_shared_block(cx, s, lambda: emit_in_block(cx, block))
        return
    done = asm.name()
    if has_predicate:
        inside = asm.name()
        asm.branch(emit(cx, s.predicate), inside, done)
        asm.begin(inside)
    with cx.scope(s.predicate):
        for axis, value in zip(block.iter_vars, s.iter_values, strict=True):
            assign_variable(cx, axis.var, value)
        emit_in_block(cx, block)
    asm.jump(done)
    asm.begin(done)


def emit_in_block(cx: FunctionContext, block: tir.Block) -> None:
    """Write the code of a block whose axes have values."""
    if is_row_of_calls(block) and not cx.options.zero_memory:
        allocate_workspace(cx, block)
    else:
        for buffer in block.alloc_buffers:
            new_buffer(cx, buffer, block.span)
    for region in block.match_buffers:
        match_region(cx, region)
    if block.init is not None:
        emit_init(cx, block, block.init)
    emit_body(cx, block.body)


def emit_init(cx: FunctionContext, block: tir.Block, init: tir.Stmt) -> None:
    """Run `init` where all reduction axes are at their start."""
    asm = cx.asm
    inside, done = asm.name(), asm.name()
    condition = asm.number("i1", 1)
    for axis in block.iter_vars:
        if axis.iter_type == "reduce":
            start = emit_for_variable(cx, start_of_axis(axis), axis.var)
            at_start = asm.compare("icmp eq", emit_variable(cx, axis.var), start)
            condition = asm.operation("and", condition, at_start)
    asm.branch(condition, inside, done)
    asm.begin(inside)
    emit_loop_body(cx, init)
    asm.jump(done)
    asm.begin(done)
