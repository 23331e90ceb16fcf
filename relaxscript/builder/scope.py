"""ScopeStack: functions and SeqExprs that are being written, and what is visible inside them."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from relaxscript.analysis.derive import Context
from relaxscript.analysis.purity import claims_purity
from relaxscript.arith import Facts
from relaxscript.errors import Diagnostic, DiagnosticError, InternalError, Span
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    BindingBlock,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    SeqExpr,
    Var,
    as_expr,
    own_attrs,
    remember_struct_info,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.walk import Substitution
from relaxscript.op import DeferredCheck
from relaxscript.sinfo import definable_shape_vars, erase_to_well_defined, free_shape_vars

__all__ = ["OpenFunction", "OpenSeqExpr", "ScopeStack", "no_open_function", "own_module"]


class OpenSeqExpr:
    """One SeqExpr that is being written: finished blocks and the open one."""

    __slots__ = ("around", "bindings", "blocks", "dataflow", "shape_vars", "signature", "vars")

    def __init__(self) -> None:
        self.blocks: list[BindingBlock] = []
        self.bindings: list[Binding] = []
        self.dataflow = False
        # What was written before each block that was begun by name; True where it began all.
        self.around: list[tuple[_Around, bool]] = []
        self.vars: list[Var] = []
        self.shape_vars: list[PrimVar] = []
        # Those of them that parameters bind: they are known as long as the function is.
        self.signature: frozenset[PrimVar] = frozenset()

    @property
    def is_empty(self) -> bool:
        """True before the first binding."""
        return not (self.bindings or self.blocks)

    @property
    def last_binding(self) -> Binding | None:
        """The last binding of the open block; None where it has none yet."""
        return self.bindings[-1] if self.bindings else None

    def substitute(self, others: Substitution) -> None:
        """Variables of the open block become others."""
        self.bindings = [others.apply(binding) for binding in self.bindings]
        self.vars = [others.get(var, var) for var in self.vars]

    def close_block(self, span: Span | None = None) -> None:
        """Finish the open block; empty ones are dropped, and neighbours of a kind are merged."""
        if self.bindings:
            kind = DataflowBlock if self.dataflow else BindingBlock
            bindings = tuple(self.bindings)
            if self.blocks and type(self.blocks[-1]) is kind:
                bindings = (*self.blocks.pop().bindings, *bindings)
            self.blocks.append(kind.make(bindings, span=span))
            self.bindings = []


class OpenFunction:
    """A function that is being written."""

    def __init__(self, name: str, params: Sequence[Var], pure: bool, attrs: Attrs) -> None:
        self.name = name
        self.params = tuple(params)
        self.pure = pure
        self.attrs = attrs
        self.result: Expr | None = None
        self.result_span: Span | None = None
        # By what the module will call it, once that was asked.
        self.global_var: GlobalVar | None = None
        self.depth = 0
        # What is known where the function is: it may be called elsewhere.
        self.outer_facts: Facts | None = None

    @property
    def checks_purity(self) -> bool:
        return claims_purity(self.pure, self.attrs)


class ScopeStack(ABC):
    """The stack of scopes of a builder, and what is known in them."""

    # False where control flow and impure calls may occur where they should not, for others to find.
    check_well_formed = True
    # False where what is ill-typed is made all the same: known is what it says of itself.
    check_types = True

    @abstractmethod
    def check_fits(
        self, given: StructInfo, wanted: StructInfo, operand: str, declared: str, code: str
    ) -> None:
        """Raise when a value cannot fit what was declared."""

    def struct_info(self, expr: Expr) -> StructInfo:
        """The StructInfo of an expression here."""
        return self.context.struct_info(expr)

    def __init__(self, mod: IRModule | None = None, *, shared: bool = False) -> None:
        if mod is not None and not isinstance(mod, IRModule):
            message = f"a builder starts from an `IRModule`, not from {mod!r}"
            raise DiagnosticError(Diagnostic("RX0201", message, caller_span()))
        self._module = IRModule() if mod is None else mod if shared else mod.clone()
        self._shares_module = shared
        self._frames: list[OpenFunction] = []
        self._scopes: list[OpenSeqExpr] = []
        # What was written here needs no second look.
        self._finished: set[Expr] = set()
        # What took the place of the variables of hand-built programs that had no StructInfo.
        self._typed: dict[Any, Var] = {}
        self._names: dict[str, int] = {}
        self._shape_scope: set[PrimVar] = set()
        # What was bound, in order; an index of it is made when somebody asks.
        self._log: list[Binding] = []
        self._index: dict[Var, Expr] = {}
        self.signatures: dict[str, StructInfo] = {}
        self.deferred_checks: list[DeferredCheck] = []
        # Whether there are calls that write into their arguments, after which they are not used.
        self.writes_in_place = False
        # Weakly: the two would hold each other, and all that was written, for the collector to end.
        builder = weakref.proxy(self)
        self.context = Context(
            self._module, self.signatures, lambda deferred: builder._defer_check(deferred)
        )
        self.context.shape_scope = self._shape_scope
        self.context.is_visible = lambda var: builder.is_visible(var)

    def _defer_check(self, deferred: DeferredCheck) -> None:
        """Note what to warn of; that something is inside of something is only checked."""
        if deferred.relation != "inside":
            self.deferred_checks.append(deferred)

    def share_signatures(self, signatures: dict[str, StructInfo]) -> None:
        """Look up what is known of functions by name in a mapping that others go on filling.

        The functions of a module share one: a copy for each would cost the square of their number.
        """
        self.signatures = self.context.signatures = signatures

    def get_unique_name(self, name_prefix: str) -> str:
        """`name_prefix`, with the first number appended that makes a new name where it is taken."""
        name, count = name_prefix, self._names.get(name_prefix, 0)
        while name in self._names:
            count += 1
            name = f"{name_prefix}{count}"
        self._names[name_prefix] = count
        self._names.setdefault(name, 0)
        return name

    # ---- scopes

    @property
    def current_scope(self) -> OpenSeqExpr:
        """The innermost SeqExpr that is being written; raises `DiagnosticError` where none is."""
        if not self._scopes:
            raise no_open_function()
        return self._scopes[-1]

    def begin_scope(self, params: Sequence[Var] | None = None) -> None:
        """Open a SeqExpr, in which `params` are known, and the shape variables that they define."""
        self._scopes.append(OpenSeqExpr())
        _define_parameters(self, params or ())

    def end_scope(
        self, body: Expr | None = None, span: Span | None = None, body_span: Span | None = None
    ) -> SeqExpr:
        """Close the SeqExpr; its result is `body`."""
        scope = self.current_scope
        result = as_expr(() if body is None else body)
        scope.close_block()
        self._scopes.pop()
        self._leave(scope)
        seq = SeqExpr.make(tuple(scope.blocks), result, body_span or result.span, span=span)
        info = self.struct_info(result)
        if scope.vars or scope.shape_vars:
            shapes = self._shape_scope | scope.signature
            info = erase_to_well_defined(info, self.is_visible, shapes, leaving=scope.shape_vars)
        remember_struct_info(seq, info)
        self._finished.add(seq)
        return seq

    def _leave(self, scope: OpenSeqExpr) -> None:
        self._shape_scope.difference_update(scope.shape_vars)

    def _define(self, var: Var) -> None:
        self._scopes[-1].vars.append(var)

    def is_visible(self, var: Var) -> bool:
        """True if a variable is bound where the next binding is."""
        # Asked only where a StructInfo has a variable for its shape, which is rare.
        return any(var is known for scope in self._scopes for known in scope.vars)

    def _define_shape_vars(self, info: StructInfo) -> None:
        for v in definable_shape_vars(info):
            if v not in self._shape_scope:
                self._shape_scope.add(v)
                self._scopes[-1].shape_vars.append(v)

    @property
    def has_open_scope(self) -> bool:
        """True if there is a place where a binding can be."""
        return bool(self._scopes)

    def is_in_scope(self, var: PrimVar) -> bool:
        """True if a shape variable is defined here."""
        return var in self._shape_scope

    def begin_dataflow(self) -> None:
        scope = self.current_scope
        scope.close_block()
        scope.dataflow = True

    def end_dataflow(self, span: Span | None = None) -> None:
        scope = self.current_scope
        scope.close_block(span)
        scope.dataflow = False

    def current_block_is_dataflow(self) -> bool:
        return bool(self._scopes) and self._scopes[-1].dataflow

    # ---- functions

    def begin_function(
        self, name: str, params: Sequence[Var], pure: bool = True, attrs: Attrs | None = None
    ) -> None:
        """Start a function; `end_function` gives it back. `function` is the safe way."""
        frame = OpenFunction(name, (), pure, own_attrs(attrs))
        frame.depth = len(self._scopes)
        frame.outer_facts, self.context.facts = self.context.facts, None
        self._frames.append(frame)
        self.begin_scope()
        self.add_parameters(params)

    def add_parameters(self, params: Sequence[Var]) -> None:
        """More parameters of the open function; they and their shape variables are in scope."""
        frame, scope = self._frames[-1], self._scopes[-1]
        frame.params = (*frame.params, *params)
        _define_parameters(self, params)
        scope.signature = frozenset(scope.shape_vars)

    def end_function(
        self, ret_struct_info: StructInfo | None = None, span: Span | None = None,
        body_span: Span | None = None, ret_span: Span | None = None, checked: bool = False,
    ) -> Function:  # fmt: skip
        """Finish the function whose result was given; a declared result is its result.

        `checked` says that the value was compared with what is declared already.
        """
        frame = self._frames[-1]
        if frame.result is None:
            raise InternalError(f"function `{frame.name}` is finished without a result")
        derived = self.struct_info(frame.result)
        leaving = self._scopes[-1].shape_vars
        body = self.end_scope(frame.result, body_span, frame.result_span)
        if ret_struct_info is None:
            infos = (p.struct_info for p in frame.params if p.struct_info is not None)
            known = set().union(*(free_shape_vars(info) for info in infos))
            known |= self._shape_scope
            ret_struct_info = erase_to_well_defined(
                derived, self.is_visible, known, leaving=leaving
            )
        elif not checked:
            self.check_fits(
                derived, ret_struct_info, "the result", "the return annotation", "RX0205"
            )
        self.context.facts = self._frames.pop().outer_facts
        return Function.make(
            frame.params, body, ret_struct_info, frame.pure, frame.attrs, ret_span, span=span
        )

    def abandon_function(self) -> None:
        """Forget the function that failed, so that the builder stays usable."""
        frame = self._frames.pop()
        self.context.facts = frame.outer_facts
        while len(self._scopes) > frame.depth:
            self._leave(self._scopes.pop())


def _define_parameters(stack: ScopeStack, params: Sequence[Var]) -> None:
    """Variables, and the shape variables that they define, are known in the innermost scope."""
    for param in params:
        stack._define(param)
        if param.struct_info is not None:
            stack._define_shape_vars(param.struct_info)


def no_open_function() -> DiagnosticError:
    """The error where a binding has no place."""
    return DiagnosticError(
        Diagnostic(
            "RX0105", "no function is open", caller_span(),
            help='write it inside `with bb.function("main", [x]):`',
        )
    )  # fmt: skip


def own_module(stack: ScopeStack) -> IRModule:
    """The module to write into: a copy, where functions were looked up in another's so far."""
    if stack._shares_module:
        stack._module = stack.context.module = stack._module.clone()
        stack._shares_module = False
    return stack._module


@contextmanager
def attempt(stack: ScopeStack) -> Iterator[None]:
    """Write bindings that are all forgotten again if one of them raises."""
    scope, depth, frames = stack._scopes[-1], len(stack._scopes), len(stack._frames)
    blocks, last = len(scope.blocks), scope.blocks[-1:]
    bindings, written, dataflow = scope.bindings, len(scope.bindings), scope.dataflow
    seen, sizes, facts = len(scope.vars), len(scope.shape_vars), stack.context.facts
    try:
        yield
    except BaseException:
        while len(stack._scopes) > depth:
            stack._leave(stack._scopes.pop())
        del stack._frames[frames:], bindings[written:], scope.vars[seen:]
        scope.blocks[max(0, blocks - 1) :] = last
        scope.bindings, scope.dataflow, stack.context.facts = bindings, dataflow, facts
        stack._shape_scope.difference_update(scope.shape_vars[sizes:])
        del scope.shape_vars[sizes:]
        raise


_Around = tuple[list[BindingBlock], list[Binding], bool]


def open_block(stack: ScopeStack, dataflow: bool) -> _Around:
    """Write a block apart from what was written in this scope so far; give it to `close_block`."""
    scope = stack._scopes[-1]
    around = (scope.blocks, scope.bindings, scope.dataflow)
    scope.blocks, scope.bindings, scope.dataflow = [], [], dataflow
    return around


def close_block(stack: ScopeStack, around: _Around, span: Span | None) -> list[BindingBlock]:
    """The blocks since `open_block`: one, unless blocks of another kind were begun inside."""
    scope = stack._scopes[-1]
    scope.close_block(span)
    made = scope.blocks
    scope.blocks, scope.bindings, scope.dataflow = around
    return made


def append_block(stack: ScopeStack, block: BindingBlock) -> None:
    """Write a block whose bindings are written; neighbours of a kind are merged."""
    scope = stack._scopes[-1]
    scope.close_block()
    if scope.blocks and type(scope.blocks[-1]) is type(block):
        last = scope.blocks.pop()
        block = last.replace(bindings=(*last.bindings, *block.bindings))
    if block.bindings:
        scope.blocks.append(block)


def drop_scope(stack: ScopeStack) -> None:
    """Close the innermost SeqExpr and make nothing of it."""
    stack._leave(stack._scopes.pop())


def is_finished(stack: ScopeStack, body: Expr) -> bool:
    """True if a SeqExpr was written by this builder, so that it is in normal form."""
    return body in stack._finished


@contextmanager
def attempt_scope(stack: ScopeStack) -> Iterator[None]:
    """Write a SeqExpr, which is ended inside; where something raises it never was begun."""
    depth = len(stack._scopes)
    stack.begin_scope()
    try:
        yield
    except BaseException:
        while len(stack._scopes) > depth:
            drop_scope(stack)
        raise


def has_bindings(stack: ScopeStack, open_only: bool = False) -> bool:
    """True if something was written into the innermost SeqExpr, or into its open block."""
    scope = stack._scopes[-1]
    return bool(scope.bindings or (scope.blocks and not open_only))
