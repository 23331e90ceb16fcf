"""Rewriting a function binding by binding, through the block builder, which types what is new."""

from __future__ import annotations

from relaxscript.builder import BlockBuilder
from relaxscript.errors import Span, UnplacedError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Binding,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    If,
    SeqExpr,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import StructInfo

__all__ = ["BindingRewriter"]


class BindingRewriter:
    """Goes through a function in the order of evaluation; subclasses override `binding`.

    Branches and local functions are gone through as well, before the binding that they stand in.
    Variables stay the objects that they are, so nothing that mentions them changes. `keep` appends
    a binding as it is, `rebind` gives its variable another value, `emit` binds something new. A
    function in which everything is kept comes back as the same object.
    """

    def __init__(self, mod: IRModule, builder: BlockBuilder | None = None) -> None:
        self.mod = mod
        self.builder = builder or BlockBuilder(mod)
        self.changed = False

    # -- what subclasses say -----------------------------------------------------------------------

    def begin(self, func: Function) -> None:
        """Called inside a function before its first binding."""

    def binding(self, binding: Binding) -> None:
        """Append what becomes of a binding."""
        self.keep(binding)

    def result(self, func: Function, value: Expr) -> Expr:
        """Called behind the last binding of a function: what the function returns."""
        return value

    def yielded(self, value: Expr) -> Expr:
        """Called behind the last binding of a branch: what the branch gives."""
        return value

    def branch(self, branch: Expr) -> Expr:
        """A branch afterwards; overridden by who keeps track of what is in scope."""
        return self._branch(branch)

    # -- what they do it with ----------------------------------------------------------------------

    def keep(self, binding: Binding) -> None:
        """Append a binding as it is."""
        self.builder.emit_normalized(binding)

    def rebind(self, binding: Binding, value: Expr) -> None:
        """Bind the variable of a binding to another value of the same StructInfo."""
        self.changed = True
        normal = self._placed(value, binding.span)
        self.builder.emit_normalized(VarBinding.make(binding.var, normal, span=binding.span))

    def emit(self, value: Expr, name: str, span: Span | None) -> Var:
        """Bind a new variable; it stands nowhere in the source, so that nobody is shown it."""
        self.changed = True
        normal = self._placed(value, span)
        info = self._derived(normal, span)
        kind = DataflowVar if self.builder.current_block_is_dataflow() else Var
        var = kind.make(name, info)
        self.builder.emit_normalized(VarBinding.make(var, normal, span=span))
        return var

    def _derived(self, value: Expr, span: Span | None) -> StructInfo:
        try:
            return self.builder.struct_info(value)
        except UnplacedError as error:
            raise error.placed("a pass", span) from None

    def _placed(self, value: Expr, span: Span | None) -> Expr:
        try:
            return self.builder.normal(value)
        except UnplacedError as error:
            raise error.placed("a pass", span) from None

    # -- going through -----------------------------------------------------------------------------

    def function(self, func: Function, name: str = "function") -> Function:
        """The function afterwards; `func` itself where everything was kept."""
        outer, self.changed = self.changed, False
        self.builder.begin_function(name, func.params, func.is_pure, func.attrs)
        self.begin(func)
        body = self._body(func.body)
        self.builder.set_result(self.result(func, body), _body_span(func.body))
        made = self.builder.end_function(
            func.ret_struct_info, func.span, func.body.span, func.ret_span, checked=True
        )
        changed, self.changed = self.changed, outer or self.changed
        return made if changed else func

    def _body(self, expr: Expr) -> Expr:
        """Append the bindings of a SeqExpr; what it gives."""
        if not isinstance(expr, SeqExpr):
            return expr
        for block in expr.blocks:
            dataflow = isinstance(block, DataflowBlock)
            if dataflow:
                self.builder.begin_dataflow()
            for binding in block.bindings:
                self._through(binding)
            if dataflow:
                self.builder.end_dataflow(block.span)
        return expr.body

    def _through(self, binding: Binding) -> None:
        value = binding.value
        match value:
            case If():
                inner: Expr = self._choice(value)
            case Function():
                inner = self.function(value, binding.var.name_hint)
            case _:
                inner = value
        self.binding(binding if inner is value else binding.replace(value=inner))

    def _choice(self, value: If) -> If:
        with self.builder.context.branch(value.cond, True):
            yes = self.branch(value.true_branch)
        with self.builder.context.branch(value.cond, False):
            no = self.branch(value.false_branch)
        if yes is value.true_branch and no is value.false_branch:
            return value
        return value.replace(true_branch=yes, false_branch=no)

    def _branch(self, branch: Expr) -> Expr:
        outer, self.changed = self.changed, False
        self.builder.begin_scope()
        result = self.yielded(self._body(branch))
        made = self.builder.end_scope(result, branch.span, _body_span(branch))
        changed, self.changed = self.changed, outer or self.changed
        return made if changed else branch


def _body_span(body: Expr) -> Span | None:
    return body.body_span if isinstance(body, SeqExpr) else body.span
