"""The evaluator of PrimFuncs: each statement becomes a Python closure, run over numpy arrays.

`evaluate(func, args)` is the meaning of a PrimFunc; compiled code must do the same. Loops of every
kind run one after the other, in order; every element that is read or written is checked to lie in
its buffer; new memory is filled with values that show when they are used (NaN, the least integer).

Start with `evaluate`, then `Statements.compile`. Expressions stand in `expression.py`, numbers in
`scalar.py`, arguments in `signature.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from relaxscript.errors import Span, VMError
from relaxscript.ir import prim, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.tir_compute import BufferRealize, Prefetch
from relaxscript.runtime.stack_guard import lacks_stack
from relaxscript.semantics import tir_errors
from relaxscript.semantics.error_context import located
from relaxscript.semantics.expression import Frame, Returned, Run, positions, require_inside, writer
from relaxscript.semantics.lower_buffer_realize import realized
from relaxscript.semantics.prim_func_abi import Signature
from relaxscript.semantics.statements import assertion_message, flattened, start_of_axis

from .memory import Memory

__all__ = ["evaluate"]


def evaluate(func: tir.PrimFunc, args: Sequence[Any], module: IRModule | None = None) -> Any:
    """Run a PrimFunc; it writes into the arrays that it is given.

    `args` are numpy arrays for buffers and Python numbers for scalars, in the order of
    `func.params`; `module` holds the functions that it calls. Gives what `T.ret` returns, else
    None. Raises `VMError` where arguments do not fit the signature, an index is out of bounds, an
    integer is divided by zero or an assertion fails, and `DiagnosticError` where the program has
    no meaning on a CPU.
    """
    with np.errstate(all="ignore"):
        try:
            return _call(func, args, module)
        except RecursionError as error:
            if lacks_stack(error):
                raise
            raise VMError(
                "the PrimFunc calls itself or nests expressions too deeply", code="RX0609"
            ) from None


def _call(
    func: tir.PrimFunc, args: Sequence[Any], module: IRModule | None, span: Span | None = None
) -> Any:
    """Run a function for the call at `span`, which is told where the arguments do not fit."""
    program = _program(func)
    with located(span):
        frame = program.signature.bind(args)
    frame.extend([None] * (program.size - len(frame)))

    def call(function: GlobalVar, operands: list[Any], span: Span | None) -> Any:
        return _call(_function(function, module, span), operands, module, span)

    frame[0] = call
    try:
        program.run(frame)
    except Returned as returned:
        return returned.value
    return None


def _function(var: GlobalVar, module: IRModule | None, span: Span | None) -> tir.PrimFunc:
    found = module[var] if module is not None and var in module else None
    if not isinstance(found, tir.PrimFunc):
        raise tir_errors.undefined("PrimFunc", var.name_hint, span)
    return found


class Program:
    """A PrimFunc as closures."""

    def __init__(self, func: tir.PrimFunc) -> None:
        self.signature = Signature(func)
        statements = Statements(self.signature)
        body = statements.compile_statement(func.body)
        preparation = statements.preparation
        self.run: Run = sequence([*preparation, body])
        self.size = self.signature.scope.size


@lru_cache(maxsize=256)
def _program(func: tir.PrimFunc) -> Program:
    return Program(func)


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


class Statements(Memory):
    """Compiles statements."""

    def compile_statement(self, s: tir.Stmt) -> Run:
        return sequence([self.statement(part) for part in flattened(s)])

    def statement(self, s: tir.Stmt) -> Run:
        """One statement; of a declaration, what it does before its body."""
        match s:
            case tir.BufferStore():
                return self.store(s)
            case tir.For():
                return self.loop(s)
            case tir.BlockRealize():
                return self.block(s)
            case tir.Block():
                return self.block(tir.BlockRealize.make((), prim.const(True), s, span=s.span))
            case tir.Allocate() | tir.AllocateConst():
                return self.allocate(s)
            case tir.DeclBuffer(buffer):
                return self.declare(buffer, s.span)
        return self.control(s)

    def control(self, s: tir.Stmt) -> Run:
        match s:
            case tir.IfThenElse():
                return self.branch(s)
            case tir.While():
                return self.repeat(s)
            case tir.LetStmt(var, value):
                return self.assign(var, value)
            case tir.Evaluate(value):
                return self.effect(value)
            case tir.AttrStmt():
                return self.hint(s)
            case tir.AssertStmt():
                return self.assertion(s)
            case BufferRealize(buffer):
                return self.compile_statement(realized(s, self.has_memory(buffer)))
            case Prefetch():
                return sequence([])
        raise tir_errors.not_run(s)

    # ------------------------------------------------------------ control

    def loop(self, s: tir.For) -> Run:
        low, extent = self.compile(s.min), self.compile(s.extent)
        slot = self.scope.define(s.loop_var)
        body = self.compile_statement(s.body)

        def run(f: Frame) -> None:
            start = low(f)
            stop = start + extent(f)
            for f[slot] in range(start, stop):
                body(f)

        return run

    def branch(self, s: tir.IfThenElse) -> Run:
        condition, yes = self.compile(s.condition), self.compile_statement(s.then_case)
        no = sequence([]) if s.else_case is None else self.compile_statement(s.else_case)

        def run(f: Frame) -> None:
            if condition(f):
                yes(f)
            else:
                no(f)

        return run

    def repeat(self, s: tir.While) -> Run:
        condition, body = self.compile(s.condition), self.compile_statement(s.body)

        def run(f: Frame) -> None:
            while condition(f):
                body(f)

        return run

    def assign(self, var: prim.Var, value: prim.PrimExpr) -> Run:
        tir_errors.check_assignment(var, value)
        compute, slot = self.compile(value), self.scope.define(var)

        def run(f: Frame) -> None:
            f[slot] = compute(f)

        return run

    def effect(self, value: prim.PrimExpr) -> Run:
        return sequence([]) if isinstance(value, prim.StringImm) else self.compile(value)

    def hint(self, s: tir.AttrStmt) -> Run:
        tir_errors.check_hint(s)
        return sequence([])

    def assertion(self, s: tir.AssertStmt) -> Run:
        condition, message, span = self.compile(s.condition), assertion_message(s.message), s.span

        def run(f: Frame) -> None:
            if not condition(f):
                raise tir_errors.assertion_failed(message, span)

        return run

    # ------------------------------------------------------------ blocks

    def block(self, s: tir.BlockRealize) -> Run:
        block = s.block
        tir_errors.check_axes(s)
        enter = [
            self.assign(axis.var, value)
            for axis, value in zip(block.iter_vars, s.iter_values, strict=True)
        ]
        enter += [self.allocation(buffer, block.span) for buffer in block.alloc_buffers]
        enter += [self.match(m) for m in block.match_buffers]
        if block.init is not None:
            enter.append(self.initialisation(block, block.init))
        inner = sequence([*enter, self.compile_statement(block.body)])
        predicate = s.predicate
        if isinstance(predicate, prim.IntImm) and predicate.value:
            return inner
        return self.guarded(self.compile(predicate), inner)

    def guarded(self, condition: Run, inner: Run) -> Run:
        def run(f: Frame) -> None:
            if condition(f):
                inner(f)

        return run

    def initialisation(self, block: tir.Block, init: tir.Stmt) -> Run:
        """Run `init` where all reduction axes are at their start."""
        starts = [
            (self.scope.define(axis.var), self.compile(start_of_axis(axis)))
            for axis in block.iter_vars
            if axis.iter_type == "reduce"
        ]
        body = self.compile_statement(init)
        if len(starts) == 1:
            ((slot, start),) = starts
            return self.guarded(lambda f: f[slot] == start(f), body)
        return self.guarded(lambda f: all(f[slot] == start(f) for slot, start in starts), body)

    def store(self, s: tir.BufferStore) -> Run:
        lanes = max((i.dtype.lanes for i in s.indices), default=1)
        tir_errors.check_store(s, s.buffer.dtype.with_lanes(lanes))
        slot = self.buffer(s.buffer, s.span)
        value = self.compile(s.value)
        indices = [self.compile(i) for i in s.indices]
        write = writer(s.buffer, s.span)
        if lanes == 1:
            run = _scalar_store(slot, value, indices, write)
            return run if s.predicate is None else self.guarded(self.compile(s.predicate), run)
        mask = None if s.predicate is None else self.compile(s.predicate)

        def run_lanes(f: Frame) -> None:
            array = f[slot]
            places = positions([i(f) for i in indices], lanes)
            numbers = value(f)
            on = [True] * lanes if mask is None else mask(f)
            for chosen, place in zip(on, places, strict=True):
                if chosen:
                    require_inside(s.buffer, array, place, s.span)
            for chosen, place, x in zip(on, places, numbers, strict=True):
                if chosen:
                    write(array, place, x)

        return run_lanes


def _scalar_store(slot: int, value: Run, indices: list[Run], write: Any) -> Run:
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
