"""Rewriting functions through the block builder, which normalises and types whatever is new.

A mutator is a visitor that writes each function again, binding by binding. Subclasses say what
takes the place of a value:

    class Simplify(ExprMutator):
        '''Negating twice does nothing.'''

        def value(self, expr: Expr) -> Expr:
            match expr:
                case Call(op=negative.op, args=(Var() as x,)):
                    match self.builder.lookup_binding(x):
                        case Call(op=negative.op, args=(Var() as y,)) if y in self.variables:
                            return y
            return expr

    function = Simplify(module).function(function)

Where one value becomes several bindings, override `binding`, and call `keep`, `replace_value` and
`emit`.
"""

from __future__ import annotations

from collections.abc import Container
from typing import ClassVar

from relaxscript.arith import YES, Facts
from relaxscript.errors import Span, UnplacedError
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    If,
    MatchCast,
    Op,
    SeqExpr,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import StructInfo, equal_at_a_glance
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import Substitution, compounds, mentioned, substitute
from relaxscript.sinfo import check_compatibility, facts_in_branch
from relaxscript.visitor import ScopedVisitor

from .block_builder import BlockBuilder
from .normal_form import info_behind_block, is_left_to_run_time

__all__ = ["ExprMutator", "is_known_alike", "with_parts"]


class ExprMutator(ScopedVisitor):
    """Writes functions in normal form again; what does not change stays the same object.

    Branches and local functions come before the binding that contains them. A variable of which
    something else is known afterwards is replaced by a new one, in all that follows. `changed`
    says whether anything changed so far. `operators` are the names of those whose calls are
    replaced, where there are no others to look at: a function without any stays as it is.
    `original` is the binding at hand as it was, before what replaces variables was put into it.
    """

    operators: ClassVar[frozenset[str] | None] = None

    def __init__(self, mod: IRModule | None = None, builder: BlockBuilder | None = None) -> None:
        super().__init__()
        self.builder = builder or BlockBuilder(mod, shared=mod is not None)
        self.mod = mod if mod is not None else self.builder.get()
        self.changed = False
        self._name = "function"
        # What takes the place of variables; it is applied to whatever follows.
        self._replaced = Substitution()
        # Functions, branches and choices that are written, until what holds them is.
        self._written: list[Expr] = []
        # Around each open function and branch: whether anything changed there, and what is known.
        self._outer: list[tuple[bool, Facts | None]] = []

    def function(self, func: Function, name: str = "function") -> Function:
        """The function afterwards; `func` itself where nothing changed."""
        if self.operators is not None and not _calls_any(func, self.operators):
            return func
        self._name = name
        self.visit(func)
        made = self._written.pop()
        assert isinstance(made, Function)
        return made

    # -- what subclasses say -----------------------------------------------------------------------

    def value(self, expr: Expr) -> Expr:
        """The replacement of a value that is bound; `expr` itself leaves it as it is."""
        return expr

    def binding(self, binding: Binding) -> None:
        """Write what becomes of a binding, whose branches or local function are written by now."""
        made = self.value(binding.value)
        same = made is binding.value and is_known_alike(made, self.original.value)
        if same and not self._mentions_replaced(binding):
            self.keep(binding)
        else:
            self.retype(binding, made)

    def param_info(self, param: Var) -> StructInfo | None:
        """The StructInfo of a parameter afterwards, of the function or of a local one."""
        return param.struct_info

    def begin(self, func: Function) -> None:
        """Called inside a function before its first binding."""

    def result(self, func: Function, value: Expr) -> Expr:
        """Called behind the last binding of a function: what the function returns."""
        return value

    def result_info(self, func: Function) -> StructInfo | None:
        """The return annotation of a function afterwards."""
        info = func.ret_struct_info
        return info if info is None or not self._replaced else self._replaced.apply(info)

    def branch_result(self, choice: If, value: Expr) -> Expr:
        """Called behind the last binding of a branch: what the branch gives."""
        return value

    def attributes(self, func: Function) -> Attrs | None:
        """The attributes of a function afterwards."""
        return func.attrs

    # -- what they do it with ----------------------------------------------------------------------

    def keep(self, binding: Binding) -> None:
        """Write a binding as it is."""
        self.builder.emit_normalized(binding)

    def rebind(self, binding: Binding, value: Expr) -> None:
        """Bind the variable of a binding to a value of the same StructInfo; no cast stays one."""
        self.changed = True
        normal = self._normal(value, binding.span)
        self.keep(VarBinding.make(binding.var, normal, span=binding.span))

    def replace_value(self, binding: Binding, value: Expr) -> None:
        """Write a binding with another value, of which the same is known; a cast stays one."""
        if isinstance(binding, MatchCast):
            self.changed = True
            self.keep(binding.replace(value=self._normal(value, binding.span)))
        else:
            self.rebind(binding, value)

    def retype(self, binding: Binding, value: Expr) -> None:
        """Bind another value, of which another StructInfo may be known: that is derived again."""
        self.changed = True
        var, before = binding.var, self.original
        declared = var.struct_info
        known = None if declared is None else self._replaced.apply(declared)
        if isinstance(binding, MatchCast):
            cast, operand = self._replaced.apply(binding.struct_info), self._operand(value, binding)
            new = self._with_info(var, known)
            self.keep(MatchCast.make(new, operand, cast, span=binding.span))
            return
        # What was written here is in normal form.
        normal = value if isinstance(value, (If, Function)) else self._normal(value, binding.span)
        info = self._derive_struct_info(normal, binding.span)
        old = self._derive_struct_info(before.value, before.span)
        same = known is not None and (
            info is old
            or equal_at_a_glance(info, known)
            or structural_equal(info, old)
            or is_left_to_run_time(self.builder, known, (old, info))
        )
        if not same:
            known = info if isinstance(var, DataflowVar) else info_behind_block(info)
        new = self._with_info(var, known)
        if new is not var and isinstance(normal, Function):  # which may call itself
            normal = substitute(normal, {var: new})
        self.keep(VarBinding.make(new, normal, span=binding.span))

    def emit(self, value: Expr, name: str, span: Span | None) -> Var:
        """Bind a new variable; it is nowhere in the source, so that nobody is shown it."""
        self.changed = True
        normal = self._normal(value, span)
        info = self._derive_struct_info(normal, span)
        kind = DataflowVar if self.builder.current_block_is_dataflow() else Var
        var = kind.make(name, info)
        self.builder.emit_normalized(VarBinding.make(var, normal, span=span))
        return var

    def replace_var(self, var: Var, by: Expr) -> None:
        """Put a leaf in the place of a variable, in all that follows."""
        self._replaced[var] = by

    def _with_info(self, var: Var, info: StructInfo | None) -> Var:
        """The variable, or a new one of which `info` is known."""
        if var.struct_info is info or (
            info is not None
            and var.struct_info is not None
            and structural_equal(var.struct_info, info)
        ):
            return var
        new = type(var).make(var.name_hint, info, span=var.span)
        self.replace_var(var, new)
        return new

    def _operand(self, value: Expr, binding: Binding) -> Expr:
        try:
            return self.builder.operand(value)
        except UnplacedError as error:
            raise error.as_diagnostic_error("a pass", binding.span) from None

    def _derive_struct_info(self, value: Expr, span: Span | None) -> StructInfo:
        try:
            return self.builder.struct_info(value)
        except UnplacedError as error:
            raise error.as_diagnostic_error("a pass", span) from None

    def _normal(self, value: Expr, span: Span | None) -> Expr:
        try:
            return self.builder.normal(value)
        except UnplacedError as error:
            raise error.as_diagnostic_error("a pass", span) from None

    # -- going through -----------------------------------------------------------------------------

    def _mentions_replaced(self, binding: Binding) -> bool:
        """True if an annotation of a binding mentions a variable that was replaced."""
        if not self._replaced:
            return False
        infos = [binding.var.struct_info]
        if isinstance(binding, MatchCast):
            infos.append(binding.struct_info)
        return any(i is not None and self._replaced.apply(i) is not i for i in infos)

    def _substitute(self, expr: Expr) -> Expr:
        if isinstance(expr, Var):
            found: Expr = self._replaced.get(expr, expr)
            return found
        if not self._replaced:
            return expr
        if expr.__class__ is Call and (made := self._replaced.in_call(expr)) is not None:
            return made
        if any(self._replaced.get(v) is not None for v in mentioned(expr)):
            return self._replaced.apply(expr)
        return expr

    def enter(self, node: Node) -> bool | None:
        if isinstance(node, Binding):
            if isinstance(node.value, (If, Function)):
                return None
            self.write(node, self._substitute(node.value))
            return False
        match node:
            case If() | Function() if self.path and not isinstance(self.path[-1], Binding):
                return False  # such a program is not in normal form
            case DataflowBlock():
                self.builder.begin_dataflow()
            case Function():
                self._begin_function(node)
        return None

    def _begin_function(self, func: Function) -> None:
        holder = self.path[-1] if self.path else None
        name = holder.var.name_hint if isinstance(holder, Binding) else self._name
        self._open()
        attrs = self.attributes(func)
        params = tuple([self._param(param) for param in func.params])
        same = all(new is old for new, old in zip(params, func.params))
        self.changed = not same or attrs is not func.attrs
        self.builder.begin_function(name, func.params if same else params, func.is_pure, attrs)

    def _param(self, param: Var) -> Var:
        info = self.param_info(param)
        if info is not None and self._replaced:
            info = self._replaced.apply(info)
        return self._with_info(param, info)

    def begin_scope(self, node: Function | SeqExpr) -> None:
        if isinstance(node, Function):
            self.begin(node)

    def end_scope(self, node: Function | SeqExpr) -> None:
        if isinstance(node, Function):
            value, span = _result_of(node.body)
            made = self.result(node, self._substitute(value))
            self.builder.set_result(made, span)
            info = self._info_of_result(node, value, made)
            self.changed |= made is not value or info is not node.ret_struct_info
            function = self.builder.end_function(
                info, node.span, node.body.span, node.ret_span, checked=True
            )
            self._written.append(function if self.changed else node)
            self._close()

    def _info_of_result(self, func: Function, before: Expr, value: Expr) -> StructInfo | None:
        """The return annotation; None, to derive it, where a value that had it no longer has."""
        declared = self.result_info(func)
        if declared is None or value is before:
            return declared
        context = self.builder.context
        answers = [
            check_compatibility(
                self._derive_struct_info(expr, expr.span), declared, context.facts,
                in_scope=context.shape_scope or (),
            )
            for expr in (before, value)
        ]  # fmt: skip
        return declared if answers[1] in (YES, answers[0]) else None

    def begin_branch(self, choice: If, taken: bool) -> None:
        self._open()
        context = self.builder.context
        cond = self._substitute(choice.cond)
        context.facts = facts_in_branch(context.struct_info(cond), taken, context.facts)
        self.builder.begin_scope()

    def end_branch(self, choice: If, taken: bool) -> None:
        branch = choice.true_branch if taken else choice.false_branch
        value, span = _result_of(branch)
        made = self.branch_result(choice, self._substitute(value))
        self.changed |= made is not value
        written = self.builder.end_scope(made, branch.span, span)
        self._written.append(written if self.changed else branch)
        self._close()

    def _open(self) -> None:
        self._outer.append((self.changed, self.builder.context.facts))
        self.changed = False

    def _close(self) -> None:
        changed, self.builder.context.facts = self._outer.pop()
        self.changed = self.changed or changed

    def leave(self, node: Node) -> None:
        match node:
            case Binding():
                self.write(node, self._written.pop())
            case If(cond):
                no, yes = self._written.pop(), self._written.pop()
                made = node.replace(cond=self._substitute(cond), true_branch=yes, false_branch=no)
                self._written.append(made)
            case DataflowBlock():
                self.builder.end_dataflow(node.span)

    def write(self, binding: Binding, value: Expr) -> None:
        """Write what becomes of a binding; `value` is what its value is by now."""
        self.original = binding
        if value is not binding.value:
            self.changed = True
            binding = with_parts(binding, binding.var, value)
        self.binding(binding)


def is_known_alike(value: Expr, before: Expr) -> bool:
    """True for a value itself, and for a call that got leaves of which the same is known.

    Such a call is in normal form, and typed. To look at it again costs as much as to write it.
    """
    if value is before:
        return True
    known = before.known_info
    return value.__class__ is Call and known is not None and value.known_info is known


def with_parts(binding: Binding, var: Var, value: Expr) -> Binding:
    """A binding of another variable or value, at a seventh of what `replace` takes."""
    if binding.__class__ is VarBinding:
        return VarBinding.make(var, value, span=binding.span)
    return binding.replace(var=var, value=value)


def _calls_any(func: Function, operators: Container[str]) -> bool:
    """True if a function calls one of the operators with these names."""
    calls = (node for node in compounds(func) if isinstance(node, Call))
    return any(isinstance(call.op, Op) and call.op.name in operators for call in calls)


def _result_of(body: Expr) -> tuple[Expr, Span | None]:
    """The result of a body or branch, and where that is."""
    return (body.body, body.body_span) if isinstance(body, SeqExpr) else (body, body.span)
