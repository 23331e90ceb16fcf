"""Traversal with scopes: what is bound, and where, at each point of a program.

A visitor goes through a program in the order of evaluation. Subclasses override the hooks that
they need, and read what is in scope from the attributes of the visitor:

    class UnboundShapes(ScopedVisitor):
        def __init__(self) -> None:
            super().__init__()
            self.found: list[Expr] = []

        def leaf(self, expr: Expr) -> None:
            if isinstance(expr, ShapeExpr) and not self.shape_vars.issuperset(variables(expr)):
                self.found.append(expr)

    visitor = UnboundShapes()
    visitor.visit(function)
    visitor.found  # the shapes that mention a variable which has no value where they are

`enter` and `leave` are called outside of the scope that a node opens, `begin_scope` and
`end_scope` inside. A visitor takes no recursion, so programs may be nested as deep as memory
allows. Its cost is that of looking at each node once for every place where it occurs. What
rewrites programs is an `ExprMutator`, which is a visitor too (`builder/mutator.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple

from relaxscript.ir.node import Node
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    If,
    MatchCast,
    Op,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.sinfo import definable_shape_vars

__all__ = ["ScopedVisitor"]


class _Scope(NamedTuple):
    """The bindings since a scope was opened, and whether it is in a dataflow block."""

    variables: list[Var]
    shape_vars: list[PrimVar]
    outer_dataflow: bool


class ScopedVisitor:
    """Goes through functions or expressions and keeps track of scopes.

    `variables` are the Relax variables in scope, with the binding or function that binds each.
    `shape_vars` are the shape variables in scope: parameters and match_casts bind them.
    `functions` are the functions around this place, the innermost last, and `path` all nodes
    around it. `in_dataflow` says whether the place belongs to a dataflow block.

    A parameter, or the variable of a match_cast, binds the shape variables that stand alone in its
    StructInfo. Bindings reach to the end of their SeqExpr, a DataflowVar to the end of its block.
    A local function sees what is bound around it, and the variable that it is bound to.
    """

    def __init__(self) -> None:
        self.variables: dict[Var, Node] = {}
        self.shape_vars: set[PrimVar] = set()
        self.functions: list[Function] = []
        self.path: list[Node] = []
        self.in_dataflow = False
        self._scopes: list[_Scope] = [_Scope([], [], False)]
        # For each open block, whether the place around it belongs to a dataflow block.
        self._around: list[bool] = []

    # -- hooks -------------------------------------------------------------------------------------

    def enter(self, node: Node) -> bool | None:
        """Look at a node that has parts, before these.

        False skips the parts, and `leave`; what a binding binds is in scope behind it all the same.
        """

    def leave(self, node: Node) -> None:
        """Look at a node that has parts, after these; what a binding binds is in scope by now."""

    def leaf(self, expr: Expr) -> None:
        """Look at an expression without parts; `path[-1]` is the node in which it is.

        An operator that is called is a part of its call, and does not come here.
        """

    def begin_scope(self, node: Function | SeqExpr) -> None:
        """Look at a function whose parameters are in scope, or at a SeqExpr before its blocks."""

    def end_scope(self, node: Function | SeqExpr) -> None:
        """Look at a function or SeqExpr when all that it binds is in scope for the last time."""

    def begin_branch(self, choice: If, taken: bool) -> None:
        """Called before each branch of an `If`; `taken` is what its condition is there."""

    def end_branch(self, choice: If, taken: bool) -> None:
        """Called behind each branch of an `If`."""

    def define(self, var: Var, by: Node) -> None:
        """Bring a Relax variable into scope, which a binding or the signature of `by` binds."""
        self.variables[var] = by
        self._scopes[-1].variables.append(var)

    def bind_shape_vars(self, shape_vars: Iterable[PrimVar]) -> None:
        """Bring shape variables into scope; those that have a value already keep it."""
        for v in shape_vars:
            if v not in self.shape_vars:
                self.shape_vars.add(v)
                self._scopes[-1].shape_vars.append(v)

    # -- going through -----------------------------------------------------------------------------

    # Whether a subclass looks at leaves: else they, which are most of a program, are passed by.
    _visits_leaves: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        cls._visits_leaves = cls.leaf is not ScopedVisitor.leaf

    def visit(self, root: Node) -> None:
        """Go through a function or another expression, a block or a binding, with all inside."""
        path, visits_leaves = self.path, self._visits_leaves
        # Nodes to enter, hooks of branches to call, and None where the innermost open node ends.
        todo: list[Any] = [root]
        while todo:
            item = todo.pop()
            if item is None:
                closing = _CLOSING.get(path[-1].__class__)
                if closing is not None:
                    closing(self, path[-1])
                self.leave(path.pop())
                continue
            opening = _OPENING.get(item.__class__)
            if opening is not None:
                if self.enter(item) is not False:
                    path.append(item)
                    todo.append(None)
                    opening(self, item, todo)
                elif isinstance(item, Binding):
                    self._bind(item)
            elif item.__class__ is tuple:
                hook, choice, taken = item
                hook(choice, taken)
            elif visits_leaves:
                self.leaf(item)

    # What opens a node puts on the list what is to be done inside of it, the first thing last.

    def _open_function(self, function: Function, todo: list[Any]) -> None:
        self._scopes.append(_Scope([], [], self.in_dataflow))
        self.in_dataflow = False
        self.functions.append(function)
        for param in function.params:
            self.define(param, function)
            if param.struct_info is not None:
                self.bind_shape_vars(definable_shape_vars(param.struct_info))
        self.begin_scope(function)
        todo.append(function.body)

    def _close_function(self, function: Function) -> None:
        self.end_scope(function)
        self.functions.pop()
        self._end_scope()

    def _open_sequence(self, seq: SeqExpr, todo: list[Any]) -> None:
        self._scopes.append(_Scope([], [], self.in_dataflow))
        self.begin_scope(seq)
        todo.append(seq.body)
        todo += reversed(seq.blocks)

    def _close_sequence(self, seq: SeqExpr) -> None:
        self.end_scope(seq)
        self._end_scope()

    def _end_scope(self) -> None:
        scope = self._scopes.pop()
        for var in scope.variables:
            self.variables.pop(var, None)
        self.shape_vars.difference_update(scope.shape_vars)
        self.in_dataflow = scope.outer_dataflow

    def _open_block(self, block: BindingBlock, todo: list[Any]) -> None:
        self._around.append(self.in_dataflow)
        self.in_dataflow = self.in_dataflow or block.__class__ is DataflowBlock
        todo += reversed(block.bindings)

    def _close_block(self, block: BindingBlock) -> None:
        self.in_dataflow = self._around.pop()
        if block.__class__ is DataflowBlock:
            for binding in block.bindings:
                if binding.var.__class__ is DataflowVar:
                    self.variables.pop(binding.var, None)

    def _open_binding(self, binding: Binding, todo: list[Any]) -> None:
        if binding.value.__class__ is Function:  # which may call itself
            self._bind(binding)
        todo.append(binding.value)

    def _close_binding(self, binding: Binding) -> None:
        if binding.value.__class__ is not Function:
            self._bind(binding)

    def _bind(self, binding: Binding) -> None:
        if isinstance(binding, MatchCast):
            self.bind_shape_vars(definable_shape_vars(binding.struct_info))
        self.define(binding.var, binding)

    def _open_choice(self, choice: If, todo: list[Any]) -> None:
        for branch, taken in ((choice.false_branch, False), (choice.true_branch, True)):
            todo += ((self.end_branch, choice, taken), branch, (self.begin_branch, choice, taken))
        todo.append(choice.cond)

    def _open_call(self, call: Call, todo: list[Any]) -> None:
        todo += reversed(call.args)
        if call.op.__class__ is not Op:
            todo.append(call.op)

    def _open_tuple(self, expr: Tuple, todo: list[Any]) -> None:
        todo += reversed(expr.fields)

    def _open_item(self, expr: TupleGetItem, todo: list[Any]) -> None:
        todo.append(expr.tuple_value)


_OPENING: dict[type[Node], Callable[[ScopedVisitor, Any, list[Any]], None]] = {
    Function: ScopedVisitor._open_function,
    SeqExpr: ScopedVisitor._open_sequence,
    BindingBlock: ScopedVisitor._open_block,
    DataflowBlock: ScopedVisitor._open_block,
    VarBinding: ScopedVisitor._open_binding,
    MatchCast: ScopedVisitor._open_binding,
    If: ScopedVisitor._open_choice,
    Call: ScopedVisitor._open_call,
    Tuple: ScopedVisitor._open_tuple,
    TupleGetItem: ScopedVisitor._open_item,
}

_CLOSING: dict[type[Node], Callable[[ScopedVisitor, Any], None]] = {
    Function: ScopedVisitor._close_function,
    SeqExpr: ScopedVisitor._close_sequence,
    BindingBlock: ScopedVisitor._close_block,
    DataflowBlock: ScopedVisitor._close_block,
    VarBinding: ScopedVisitor._close_binding,
    MatchCast: ScopedVisitor._close_binding,
}
