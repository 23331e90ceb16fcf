"""Visitors of Relax by TVM's names: one hook for each kind of expression, binding and block.

    @relax.expr_functor.visitor
    class Operators(PyExprVisitor):
        def __init__(self) -> None:
            self.names: list[str] = []

        def visit_op_(self, op: Op) -> None:
            self.names.append(op.name)

    operators = Operators()
    operators.visit_expr(function)

What rewrites is in `expr_mutator.py`. Passes of ours derive from `ScopedVisitor` and `ExprMutator`,
which say what is in scope and take no recursion. Source: TVM `relax.expr_functor`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, TypeVar

from relaxscript.errors import Diagnostic, DiagnosticError, Span
from relaxscript.errors.suggest import did_you_mean, nearest
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)

__all__ = [
    "HOOKS", "SORTS", "ExprFunctor", "PyExprVisitor", "check_hooks", "nested_too_deeply",
    "no_such_node", "own_hooks", "visitor",
]  # fmt: skip

C = TypeVar("C", bound="type[ExprFunctor]")

# What is visited, by the method that visits whatever is of its sort, and the hook of each kind.
EXPRESSIONS: dict[type[Node], str] = {
    Constant: "visit_constant_",
    Tuple: "visit_tuple_",
    DataflowVar: "visit_dataflow_var_",
    Var: "visit_var_",
    ShapeExpr: "visit_shape_expr_",
    ExternFunc: "visit_extern_func_",
    GlobalVar: "visit_global_var_",
    Function: "visit_function_",
    Call: "visit_call_",
    SeqExpr: "visit_seq_expr_",
    If: "visit_if_",
    Op: "visit_op_",
    TupleGetItem: "visit_tuple_getitem_",
    PrimValue: "visit_prim_value_",
    StringImm: "visit_string_imm_",
    DataTypeImm: "visit_data_type_imm_",
}
BINDINGS: dict[type[Node], str] = {
    VarBinding: "visit_var_binding_",
    MatchCast: "visit_match_cast_",
}
BLOCKS: dict[type[Node], str] = {
    BindingBlock: "visit_binding_block_",
    DataflowBlock: "visit_dataflow_block_",
}
DEFINITIONS: dict[type[Node], str] = {
    Var: "visit_var_def_",
    DataflowVar: "visit_dataflow_var_def_",
}
SORTS = {
    "visit_expr": EXPRESSIONS,
    "visit_binding": BINDINGS,
    "visit_binding_block": BLOCKS,
    "visit_var_def": DEFINITIONS,
}
HOOKS = (*SORTS, *(hook for kinds in SORTS.values() for hook in kinds.values()))


class ExprFunctor:
    """A function of expressions by their kind: `visit_expr` calls the hook of what it is given.

    No hook does anything here. A class that derives from this one writes those that it needs, with
    whatever results; an expression without its hook raises `NotImplementedError`.
    Source: TVM `relax.ExprFunctor`.
    """

    def visit_expr(self, expr: Expr) -> Any:
        """The result of the hook for an expression of this kind."""
        return self._dispatch("visit_expr", expr)

    def visit_binding(self, binding: Binding) -> Any:
        """The result of the hook for a binding: `visit_var_binding_` or `visit_match_cast_`."""
        return self._dispatch("visit_binding", binding)

    def visit_binding_block(self, block: BindingBlock) -> Any:
        """The result of the hook for a block: `visit_binding_block_` or `visit_dataflow_block_`."""
        return self._dispatch("visit_binding_block", block)

    def visit_var_def(self, var: Var) -> Any:
        """The result of the hook for a variable where it is bound."""
        return self._dispatch("visit_var_def", var)

    def _dispatch(self, visit: str, node: Any) -> Any:
        hook = SORTS[visit].get(node.__class__)
        if hook is None:
            raise no_such_node(self, visit, node)
        return getattr(self, hook)(node)

    def _missing(self, hook: str) -> NoReturn:
        raise NotImplementedError(f"`{type(self).__name__}` has no `{hook}`")

    def visit_constant_(self, op: Constant) -> Any:
        self._missing("visit_constant_")

    def visit_tuple_(self, op: Tuple) -> Any:
        self._missing("visit_tuple_")

    def visit_dataflow_var_(self, op: DataflowVar) -> Any:
        self._missing("visit_dataflow_var_")

    def visit_var_(self, op: Var) -> Any:
        self._missing("visit_var_")

    def visit_shape_expr_(self, op: ShapeExpr) -> Any:
        self._missing("visit_shape_expr_")

    def visit_extern_func_(self, op: ExternFunc) -> Any:
        self._missing("visit_extern_func_")

    def visit_global_var_(self, op: GlobalVar) -> Any:
        self._missing("visit_global_var_")

    def visit_function_(self, op: Function) -> Any:
        self._missing("visit_function_")

    def visit_call_(self, op: Call) -> Any:
        self._missing("visit_call_")

    def visit_seq_expr_(self, op: SeqExpr) -> Any:
        self._missing("visit_seq_expr_")

    def visit_if_(self, op: If) -> Any:
        self._missing("visit_if_")

    def visit_op_(self, op: Op) -> Any:
        self._missing("visit_op_")

    def visit_tuple_getitem_(self, op: TupleGetItem) -> Any:
        self._missing("visit_tuple_getitem_")

    def visit_prim_value_(self, op: PrimValue) -> Any:
        self._missing("visit_prim_value_")

    def visit_string_imm_(self, op: StringImm) -> Any:
        self._missing("visit_string_imm_")

    def visit_data_type_imm_(self, op: DataTypeImm) -> Any:
        self._missing("visit_data_type_imm_")

    def visit_var_binding_(self, binding: VarBinding) -> Any:
        self._missing("visit_var_binding_")

    def visit_match_cast_(self, binding: MatchCast) -> Any:
        self._missing("visit_match_cast_")

    def visit_binding_block_(self, block: BindingBlock) -> Any:
        self._missing("visit_binding_block_")

    def visit_dataflow_block_(self, block: DataflowBlock) -> Any:
        self._missing("visit_dataflow_block_")

    def visit_var_def_(self, var: Var) -> Any:
        self._missing("visit_var_def_")

    def visit_dataflow_var_def_(self, var: DataflowVar) -> Any:
        self._missing("visit_dataflow_var_def_")


class PyExprVisitor(ExprFunctor):
    """Goes through expressions, bindings and blocks, and calls the hook of each.

    A hook goes on inside by `super().visit_call_(call)`, or does not. Order: the callee before the
    arguments, the value of a binding before its variable, parameters before the body. Without a
    hook of its own, `visit_dataflow_var_def_` is `visit_var_def_`. What is known of an expression
    is no part of it. What has no hooks is passed by without recursion, however deep it is.
    Source: TVM `relax.PyExprVisitor`.
    """

    # The hooks of the class by what they visit; None where the parts are next.
    _specific: ClassVar[dict[type[Node], Any]] = {}
    # The same, where `visit_expr` and its like come first if the class has its own.
    _hooks: ClassVar[dict[type[Node], Any]] = {}
    _definitions: ClassVar[dict[type[Node], Any]] = {}
    _sees_spans: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        own = own_hooks(cls, PyExprVisitor)
        cls._sees_spans = cls.visit_span is not PyExprVisitor.visit_span
        cls._specific, cls._hooks = {}, {}
        for sort, kinds in SORTS.items():
            found = {kind: own.get(hook) for kind, hook in kinds.items()}
            if sort == "visit_var_def":
                plain = found[Var] or (PyExprVisitor.visit_var_def_ if cls._sees_spans else None)
                found = {Var: plain, DataflowVar: found[DataflowVar] or plain}
                cls._definitions = {kind: own.get(sort, hook) for kind, hook in found.items()}
            else:
                cls._hooks |= {kind: own.get(sort, hook) for kind, hook in found.items()}
                cls._specific |= found

    def visit_expr(self, expr: Expr) -> None:
        """Visit an expression by the hook of its kind."""
        self._visit(expr, "visit_expr")

    def visit_binding(self, binding: Binding) -> None:
        """Visit a binding by its hook."""
        self._visit(binding, "visit_binding")

    def visit_binding_block(self, block: BindingBlock) -> None:
        """Visit a block by its hook."""
        self._visit(block, "visit_binding_block")

    def visit_var_def(self, var: Var) -> None:
        """Visit a variable where it is bound, by the hook for that."""
        self._dispatch("visit_var_def", var)

    def _visit(self, node: Any, visit: str) -> None:
        if node.__class__ not in SORTS[visit]:
            raise no_such_node(self, visit, node)
        hook = self._specific.get(node.__class__)
        try:
            if hook is None:
                _visit_parts(self, node)
            else:
                hook(self, node)
        except RecursionError:
            raise nested_too_deeply(self, node.span) from None

    def visit_span(self, span: Span) -> None:
        """Visit the place in the source of whatever is visited by default and has one."""

    def visit_constant_(self, op: Constant) -> None:
        _visit_parts(self, op)

    def visit_tuple_(self, op: Tuple) -> None:
        _visit_parts(self, op)

    def visit_dataflow_var_(self, op: DataflowVar) -> None:
        _visit_parts(self, op)

    def visit_var_(self, op: Var) -> None:
        _visit_parts(self, op)

    def visit_shape_expr_(self, op: ShapeExpr) -> None:
        _visit_parts(self, op)

    def visit_extern_func_(self, op: ExternFunc) -> None:
        _visit_parts(self, op)

    def visit_global_var_(self, op: GlobalVar) -> None:
        _visit_parts(self, op)

    def visit_function_(self, op: Function) -> None:
        _visit_parts(self, op)

    def visit_call_(self, op: Call) -> None:
        _visit_parts(self, op)

    def visit_seq_expr_(self, op: SeqExpr) -> None:
        _visit_parts(self, op)

    def visit_if_(self, op: If) -> None:
        _visit_parts(self, op)

    def visit_op_(self, op: Op) -> None:
        _visit_parts(self, op)

    def visit_tuple_getitem_(self, op: TupleGetItem) -> None:
        _visit_parts(self, op)

    def visit_prim_value_(self, op: PrimValue) -> None:
        _visit_parts(self, op)

    def visit_string_imm_(self, op: StringImm) -> None:
        _visit_parts(self, op)

    def visit_data_type_imm_(self, op: DataTypeImm) -> None:
        _visit_parts(self, op)

    def visit_var_binding_(self, binding: VarBinding) -> None:
        _visit_parts(self, binding)

    def visit_match_cast_(self, binding: MatchCast) -> None:
        _visit_parts(self, binding)

    def visit_binding_block_(self, block: BindingBlock) -> None:
        _visit_parts(self, block)

    def visit_dataflow_block_(self, block: DataflowBlock) -> None:
        _visit_parts(self, block)

    def visit_var_def_(self, var: Var) -> None:
        if self._sees_spans and var.span is not None:
            self.visit_span(var.span)

    def visit_dataflow_var_def_(self, var: DataflowVar) -> None:
        self.visit_var_def_(var)


def _visit_parts(visitor: PyExprVisitor, node: Node) -> None:
    """Visit what is inside of a node; what has no hook gives way to its own parts."""
    hooks, sees_spans = visitor._hooks, visitor._sees_spans
    pending: list[Any] = []
    _push_parts(visitor, node, pending)
    if sees_spans and node.span is not None:
        visitor.visit_span(node.span)
    while pending:
        item = pending.pop()
        kind = item.__class__
        if kind is tuple:  # a variable where it is bound, and the hook for that
            item[0](visitor, item[1])
            continue
        hook = hooks.get(kind, _NO_KIND)
        if hook is None:
            if sees_spans and item.span is not None:
                visitor.visit_span(item.span)
            if kind not in _LEAVES:
                _push_parts(visitor, item, pending)
        elif hook is _NO_KIND:
            raise no_such_node(visitor, "visit_expr", item)
        else:
            hook(visitor, item)


_NO_KIND = object()
_LEAVES = frozenset({
    Constant, DataTypeImm, DataflowVar, ExternFunc, GlobalVar, Op, PrimValue, ShapeExpr, StringImm,
    Var,
})  # fmt: skip


def _push_parts(visitor: PyExprVisitor, node: Any, pending: list[Any]) -> None:
    """Put the parts of a node on a stack, the first one last."""
    kind = node.__class__
    if kind is VarBinding or kind is MatchCast:
        hook = visitor._definitions.get(node.var.__class__)
        if hook is not None:
            pending.append((hook, node.var))
        pending.append(node.value)
    elif kind is Call:
        pending += node.args[::-1]
        pending.append(node.op)
    elif kind is Tuple:
        pending += node.fields[::-1]
    elif kind is TupleGetItem:
        pending.append(node.tuple_value)
    elif kind is BindingBlock or kind is DataflowBlock:
        pending += node.bindings[::-1]
    elif kind is SeqExpr:
        pending.append(node.body)
        pending += node.blocks[::-1]
    elif kind is If:
        pending += (node.false_branch, node.true_branch, node.cond)
    elif kind is Function:
        pending.append(node.body)
        hooks = visitor._definitions
        pending += [
            (hook, param)
            for param in reversed(node.params)
            if (hook := hooks.get(param.__class__)) is not None
        ]


def own_hooks(cls: type[ExprFunctor], base: type[ExprFunctor]) -> dict[str, Callable[..., Any]]:
    """The hooks that a class has of its own, where those of `base` are the defaults."""
    hooks = {name: getattr(cls, name) for name in HOOKS}
    return {name: hook for name, hook in hooks.items() if hook is not getattr(base, name)}


def no_such_node(functor: ExprFunctor, visit: str, node: Any) -> DiagnosticError:
    """The error where something else is given than what is visited."""
    help = None
    if isinstance(node, IRModule):
        help = "visit its functions: `for function in mod.relax_functions().values(): ...`"
    name = f"{type(functor).__name__}.{visit}"
    message = f"`{name}` does not visit {brief(node)}"
    return DiagnosticError(Diagnostic("RX0201", message, caller_span(), help=help))


def nested_too_deeply(functor: ExprFunctor, span: Span | None) -> DiagnosticError:
    """The error where hooks that call each other have used up Python's stack."""
    message = f"the program is nested too deeply for the hooks of `{type(functor).__name__}`"
    help = "bring it into normal form (`relax.transform.Normalize()`), or split it into functions"
    return DiagnosticError(Diagnostic("RX0104", message, span or caller_span(), help=help))


def check_hooks(cls: type[ExprFunctor], noun: str) -> None:
    """Refuse a class with a method that is nearly called like a hook, so that nothing calls it."""
    theirs = [base for base in cls.__mro__ if not base.__module__.startswith(f"{__package__}.")]
    for name in [name for base in theirs for name in vars(base)]:
        meant = _meant_hook(name)
        if meant is not None:
            message = f"no {noun} has a hook `{name}`, so nothing calls `{cls.__name__}.{name}`"
            help = did_you_mean(meant)
            raise DiagnosticError(Diagnostic("RX0101", message, caller_span(), help=help))


def _meant_hook(name: str) -> str | None:
    """The hook that a method was most likely meant to be; a name of somebody's own is none."""
    if not name.startswith("visit_") or name in HOOKS or name == "visit_span":
        return None
    rest = name.removeprefix("visit_")
    hooks = {hook.removeprefix("visit_"): hook for hook in HOOKS}
    if f"{rest}_" in hooks:
        return hooks[f"{rest}_"]
    near = nearest(rest, hooks) if name.endswith("_") else None
    return None if near is None else hooks[near]


def visitor(visitor_cls: C) -> C:
    """A decorator for classes of visitors: it refuses methods that are nearly called like a hook.

    A visitor works without it, too. Source: TVM `relax.expr_functor.visitor`.
    """
    check_hooks(visitor_cls, "visitor")
    return visitor_cls


PyExprVisitor.__init_subclass__()  # it may be used as it is
