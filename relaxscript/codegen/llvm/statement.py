"""Code for statements: loops, blocks, branches, stores.

The order of execution is that of `interpreter/tir.py`. Parallel loops run one after the other, as
serial ones do; vectorized loops are plain loops, which LLVM vectorises where it can; unrolled loops
of known and small extent are written out.
"""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.interpreter import failure
from relaxscript.interpreter.realized import realized
from relaxscript.interpreter.tir import flat, start_of, text_of
from relaxscript.ir import prim, tir
from relaxscript.ir.tir import ForKind
from relaxscript.ir.tir_compute import BufferRealize, Prefetch

from . import interrupts
from .external import External

__all__ = ["Statements"]

# So many copies of a statement an unrolled loop and those around it may make.
COPIES = 64


class Statements(External):
    """Writes statements into one function; `copies` is how often unrolled loops repeat them."""

    copies = 1

    def run(self, s: tir.Stmt) -> None:
        """Write a statement; raises `DiagnosticError` where there is no code for it."""
        for part in flat(s):
            self.statement(part)

    def statement(self, s: tir.Stmt) -> None:
        """One statement; of a declaration, what it does before its body."""
        match s:
            case tir.BufferStore():
                self.store(s)
            case tir.For():
                self.loop(s)
            case tir.BlockRealize():
                self.block(s)
            case tir.Block():
                self.block(tir.BlockRealize.make((), prim.const(True), s, span=s.span))
            case tir.IfThenElse():
                self.branch(s)
            case tir.While():
                self.repeat(s)
            case tir.AssertStmt():
                self.assertion(s)
            case BufferRealize(buffer):
                known = buffer in self.places or buffer.data in self.owners
                self.run(realized(s, known))
            case _:
                self.declaration(s)

    def declaration(self, s: tir.Stmt) -> None:
        match s:
            case tir.LetStmt(var, value):
                self.assign(var, value)
            case tir.Evaluate(value):
                if not isinstance(value, (prim.StringImm, prim.Immediate)):
                    self.emit(value)
            case tir.AttrStmt():
                failure.check_hint(s)
            case tir.Allocate(var, dtype, extents):
                self.owners[var] = self.allocate(var.name, dtype, extents, s.span)
            case tir.AllocateConst(var):
                self.owners[var] = self.constant_data(s)
            case tir.DeclBuffer(buffer):
                if buffer.data is None or buffer.data not in self.owners:
                    self.new_buffer(buffer, s.span)
                else:
                    self.view(buffer, self.owners[buffer.data], s.span)
            case Prefetch():
                return
            case _:
                raise failure.not_run(s)

    # ------------------------------------------------------------ control

    def loop(self, s: tir.For) -> None:
        if s.kind == ForKind.THREAD_BINDING:
            raise failure.invalid(
                "RX0505", "a loop over the threads of a GPU cannot run on the CPU", s.span
            )
        if s.kind == ForKind.UNROLLED and self.unroll(s):
            return
        self.counted(s.loop_var, s.min, s.extent, lambda: self.inside(s.body))

    def unroll(self, s: tir.For) -> bool:
        """Write the body once for each value of the loop variable, unless these are too many."""
        if not (isinstance(s.min, prim.IntImm) and isinstance(s.extent, prim.IntImm)):
            return False
        start, count = s.min.value, s.extent.value
        if self.copies * count > COPIES:
            return False
        outer, self.copies = self.copies, self.copies * max(count, 1)
        for value in range(start, start + count):
            self.assign(s.loop_var, prim.const(value, s.loop_var.dtype))
            self.inside(s.body)
        self.copies = outer
        return True

    def inside(self, s: tir.Stmt) -> None:
        """Write the body of a loop."""
        with self.scope():
            self.run(s)

    def branch(self, s: tir.IfThenElse) -> None:
        asm = self.asm
        yes, no, done = asm.name(), asm.name(), asm.name()
        asm.branch(self.emit(s.condition), yes, no if s.else_case is not None else done)
        asm.begin(yes)
        with self.scope(s.condition):
            self.run(s.then_case)
        asm.jump(done)
        if s.else_case is not None:
            asm.begin(no)
            with self.scope(s.condition, unless=True):
                self.run(s.else_case)
            asm.jump(done)
        asm.begin(done)

    def repeat(self, s: tir.While) -> None:
        asm = self.asm
        head, body, done = asm.name(), asm.name(), asm.name()
        rounds, since = interrupts.begin_loop(asm)
        asm.jump(head)
        asm.begin(head)
        asm.branch(self.emit(s.condition), body, done)
        asm.begin(body)
        interrupts.begin_round(asm, rounds, since)
        with self.scope(s.condition):
            self.run(s.body)
        asm.jump(head)
        asm.begin(done)

    def assertion(self, s: tir.AssertStmt) -> None:
        message, span = text_of(s.message), s.span
        condition = self.emit(s.condition)
        fails = self.asm.operation("xor", condition, self.asm.number("i1", 1))
        self.asm.fail_if(fails, lambda details: failure.assertion_failed(message, span))
        self.proofs.learn(s.condition)

    # ------------------------------------------------------------ blocks

    def block(self, s: tir.BlockRealize) -> None:
        block, asm = s.block, self.asm
        failure.check_axes(s)
        done = asm.name()
        if not (isinstance(s.predicate, prim.IntImm) and s.predicate.value):
            inside = asm.name()
            asm.branch(self.emit(s.predicate), inside, done)
            asm.begin(inside)
        with self.scope(s.predicate):
            self.enter(block, s.iter_values)
            self.run(block.body)
        asm.jump(done)
        asm.begin(done)

    def enter(self, block: tir.Block, values: Sequence[prim.PrimExpr]) -> None:
        """What a block does before its body."""
        for axis, value in zip(block.iter_vars, values, strict=True):
            self.assign(axis.var, value)
        for buffer in block.alloc_buffers:
            self.new_buffer(buffer, block.span)
        for region in block.match_buffers:
            self.match(region)
        if block.init is not None:
            self.initialisation(block, block.init)

    def initialisation(self, block: tir.Block, init: tir.Stmt) -> None:
        """Run `init` where all reduction axes are at their start."""
        asm = self.asm
        inside, done = asm.name(), asm.name()
        condition = asm.number("i1", 1)
        for axis in block.iter_vars:
            if axis.iter_type == "reduce":
                start = self.fitted(start_of(axis), axis.var)
                at_start = asm.compare("icmp eq", self.values[axis.var], start)
                condition = asm.operation("and", condition, at_start)
        asm.branch(condition, inside, done)
        asm.begin(inside)
        self.inside(init)
        asm.jump(done)
        asm.begin(done)
