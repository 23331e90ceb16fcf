"""One walk through a program, in the order of evaluation, that applies the criteria one by one.

Code RX03nn is criterion nn of the spec's "Well-Formedness Criteria"; those about annotations are
in `annotation_checker.py`. What is wrong is noted and the walk goes on, so all of it is found. It
takes no recursion, and looks at each node once for every place where it occurs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from relaxscript.arith import format_expr
from relaxscript.errors import OperandError
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import FloatImm, IntImm
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Var,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.op import ArgumentError, lookup
from relaxscript.sinfo import scalar_variables
from relaxscript.visitor import ScopedVisitor

from .annotation_checker import AnnotationChecker
from .call_graph import detect_recursion
from .violation import Violation, undeclared_recursion

__all__ = ["WellFormedChecker"]


class WellFormedChecker(ScopedVisitor):
    """Finds what of a module, or of a function alone, breaks which criterion: `found`."""

    def __init__(self, module: IRModule | None = None) -> None:
        super().__init__()
        self.found: list[Violation] = []
        self._module = module
        self._annotations = AnnotationChecker(module, self._note)
        # What the functions around this place are called, the innermost last.
        self._names: list[Expr | None] = []
        self._bound: set[Var] = set()
        # The function in which a variable of a dataflow block was bound.
        self._home: dict[Var, Function] = {}
        self._local: dict[Var, Function] = {}
        # Variables that are only other names, for variables or functions of the module.
        self._aliases: dict[Expr, Expr] = {}
        self._group: dict[str, int] = {}
        self._binding: Binding | None = None
        # Uses of variables that are not visible: explained when all that is bound is known.
        self._unbound: list[tuple[Var, Node, bool]] = []
        # What of them was told already, where one node uses a variable twice.
        self._told: set[tuple[Var, Node]] = set()

    def _note(
        self, number: int, message: str, node: Node, within: Node | None = None,
        help: str | None = None,
    ) -> None:  # fmt: skip
        self.found.append(Violation(f"RX03{number:02}", message, node, within, help))

    def module(self, module: IRModule) -> None:
        """Look at every function of a module, and at the module."""
        for number, group in enumerate(detect_recursion(module)):
            for var in group:
                self._group[var.name_hint] = number
        functions = module.relax_functions()
        for var, function in functions.items():
            symbol = (function.attrs or Attrs()).get("global_symbol", var.name_hint)
            if symbol != var.name_hint:
                self._note(
                    13, f"the function `{var.name_hint}` has the global symbol `{symbol}`",
                    function, help="let both be the same name",
                )  # fmt: skip
            if function.ret_struct_info is None and var.name_hint in self._group:
                own = self._group[var.name_hint]
                others = [n for n, g in self._group.items() if g == own and n != var.name_hint]
                self._report_undeclared(var.name_hint, function, others)
            self.function(function, var)
        if functions and all(f.is_private for f in functions.values()):
            self._note(
                12, "no function of the module can be called from outside",
                next(iter(functions.values())), help="give one of them a `global_symbol`",
            )  # fmt: skip

    def function(self, function: Function, name: GlobalVar | None = None) -> None:
        """Look at a function that is in no other."""
        self._name = name
        self.visit(function)
        self._explain_unbound()

    # -- functions and scopes ----------------------------------------------------------------------

    def enter(self, node: Node) -> None:
        match node:
            case Call():
                self._call(node)
            case Binding():
                self._binding = node
                if isinstance(node.value, Function):
                    self._local[node.var] = node.value
            case If() if self.in_dataflow:
                self._note(7, "`if` is not allowed in a dataflow block", node, self.path[-1])
            case Function():
                self._function(node)

    def leave(self, node: Node) -> None:
        if isinstance(node, Function):
            self._names.pop()

    def _function(self, function: Function) -> None:
        outside = self.path[-1] if self.path else None
        own = outside.var if isinstance(outside, Binding) else None
        self._names.append(own if self.path else self._name)
        attrs = function.attrs or Attrs()
        if attrs.get("relax.force_pure") and not function.is_pure:
            self._note(
                21, "`relax.force_pure` is set on a function that is not declared pure", function,
                help="leave it out, or declare the function pure",
            )  # fmt: skip

    def begin_scope(self, node: Function | SeqExpr) -> None:
        if isinstance(node, Function):
            for param in node.params:
                self._check_annotation(param.struct_info, node, 6)
            self._check_annotation(node.ret_struct_info, node, 4)

    def define(self, var: Var, by: Node) -> None:
        name = var.name_hint
        if isinstance(by, Binding):
            self._bound_value(by)
        if var in self._bound:
            self._note(2, f"`{name}` is bound twice", var, by, "bind a variable of its own")
        if isinstance(var, DataflowVar):
            self._home[var] = self.functions[-1]
            if not (isinstance(by, Binding) and isinstance(self.path[-2], DataflowBlock)):
                self._note(
                    1, f"the DataflowVar `{name}` is bound outside of a dataflow block", var,
                    by, "make it a Var",
                )  # fmt: skip
        self._bound.add(var)
        super().define(var, by)

    def _bound_value(self, binding: Binding) -> None:
        """Look at what is said of a variable, before it is in scope."""
        if isinstance(binding.value, (Var, GlobalVar)):
            self._aliases[binding.var] = self._aliases.get(binding.value, binding.value)
        if isinstance(binding, MatchCast):
            self._check_annotation(binding.struct_info, binding, 5)
        self._check_annotation(binding.var.struct_info, binding)

    def _check_annotation(
        self, info: StructInfo | None, within: Node, unbound: int | None = None
    ) -> None:
        if info is not None:
            relax_vars = self._annotations.check(info, within, self.shape_vars, unbound)
            for var in relax_vars:
                if var not in self.variables:
                    self._note(14, f"`{var.name_hint}` is not in scope here", info, within)
            if self._annotations.unbound:
                # What is known of a value that uses it is a consequence, and not told as well.
                self.bind_shape_vars(self._annotations.unbound)
                self._annotations.unbound.clear()

    # -- leaves ------------------------------------------------------------------------------------

    def leaf(self, expr: Expr) -> None:
        within = self.path[-1]
        match expr:
            case Var():
                self._use(expr, within)
            case ShapeExpr(values):
                self._sizes(values, expr, within)
            case PrimValue(value):
                if not isinstance(value, (IntImm, FloatImm)) or value.dtype.lanes != 1:
                    self._note(
                        18, f"a PrimValue holds a number, not `{format_expr(value)}`", expr, within,
                        "what is computed is written `R.prim_value(...)`",
                    )  # fmt: skip
            case GlobalVar(name):
                if self._module is not None and expr not in self._module:
                    self._note(2, f"the module has no function `{name}`", expr, within)
            case Op(name):
                self._note(9, f"the operator `{name}` may only be called", expr, within)

    def _sizes(self, values: Sequence[Any], expr: Expr, within: Node) -> None:
        for value in values:
            for v in scalar_variables(value):
                if v not in self.shape_vars:
                    message = f"`{v.name}` is used before it is bound"
                    self._note(5, message, expr, within, "bind it with `R.match_cast`")
                    self.bind_shape_vars((v,))

    def _use(self, var: Var, within: Node) -> None:
        if (var, within) in self._told:
            return
        if var not in self.variables:
            self._told.add((var, within))
            known = var in self._bound
            own = self._binding is not None and self._binding.var is var
            if own and not known:
                message = f"`{var.name_hint}` is used in its own binding"
                self._note(2, message, var, within, "only a function may refer to itself")
                return
            self._unbound.append((var, within, known))
        elif self._is_captured(var):
            self._told.add((var, within))
            self._note(
                11, f"`{var.name_hint}` belongs to the dataflow block around this function", var,
                within, "give it as a parameter",
            )  # fmt: skip
        function = self._local.get(var)
        if function is not None and function.ret_struct_info is None and self._is_inside(var):
            self._report_undeclared(var.name_hint, function)

    def _is_captured(self, var: Var) -> bool:
        """True if it belongs to a dataflow block around this function, which it does not name."""
        if not isinstance(var, DataflowVar) or self._home[var] is self.functions[-1]:
            return False
        return not self._is_inside(var)

    def _is_inside(self, name: Expr) -> bool:
        return any(own is name for own in self._names)

    def _report_undeclared(self, name: str, function: Function, others: Iterable[str] = ()) -> None:
        message = undeclared_recursion(name, others)
        violation = Violation("RX0308", message, function, None, "give it a `ret_struct_info`")
        if violation not in self.found[-1:]:
            self.found.append(violation)

    def _explain_unbound(self) -> None:
        """Say of each variable that was not visible why it was not."""
        for var, within, known in self._unbound:
            name = var.name_hint
            if var not in self._bound:
                self._note(2, f"nothing binds `{name}`", var, within)
            elif known and isinstance(var, DataflowVar):
                message = f"`{name}` is used outside of the dataflow block that binds it"
                self._note(1, message, var, within, "let the block output a Var")
            elif known:
                self._note(3, f"`{name}` is used outside of its scope", var, within)
            else:
                self._note(3, f"`{name}` is used before it is bound", var, within)
        self._unbound.clear()

    # -- calls -------------------------------------------------------------------------------------

    def _call(self, call: Call) -> None:
        if isinstance(call.op, Op):
            self._normal(call)
        elif self.in_dataflow and self._is_recursive(call.op):
            message = "a recursive call is not allowed in a dataflow block"
            self._note(7, message, call, None, "move it out of the dataflow block")
        for info in call.sinfo_args:
            self._check_annotation(info, call)

    def _is_recursive(self, callee: Expr) -> bool:
        callee = self._aliases.get(callee, callee)
        if not isinstance(callee, GlobalVar):
            return isinstance(callee, Var) and self._is_inside(callee)
        outermost = self._names[0]
        if not isinstance(outermost, GlobalVar):
            return False
        group = self._group.get(callee.name_hint)
        return group is not None and group == self._group.get(outermost.name_hint)

    def _normal(self, call: Call) -> None:
        """Criterion 23: the operator's own normal form changes nothing."""
        try:
            made = lookup(call.op).normalize(call)  # type: ignore[arg-type]
        except (OperandError, ArgumentError) as error:
            self._note(23, error.message or str(error), call, None, error.help)
            return
        if made is not call:
            name = getattr(call.op, "name", "")
            help = "let the pass `Normalize` or a BlockBuilder bring it there"
            self._note(23, f"the call of `{name}` is not in its normal form", call, None, help)
