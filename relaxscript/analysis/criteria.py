"""One walk through a program, in the order of evaluation, that applies the criteria one by one.

Code RX03nn is criterion nn of the spec's "Well-Formedness Criteria"; those about annotations stand
in `annotation_criteria.py`. What is wrong is noted and the walk goes on, so all of it is found. It
takes no recursion, and looks at each node once for every place where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from relaxscript.arith import format_expr
from relaxscript.errors import OperandError
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import FloatImm, IntImm, Var as PrimVar
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    BindingBlock,
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
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.op import ArgumentError, lookup
from relaxscript.sinfo import definable_shape_vars, scalar_variables

from .annotation_criteria import AnnotationCriteria
from .call_graph import detect_recursion
from .violation import Finding, undeclared_recursion

__all__ = ["Criteria"]


class _Frame:
    """A function that the walk is in: what it is called, and whether its place is in a block."""

    def __init__(self, function: Function, name: Var | GlobalVar | None, dataflow: bool) -> None:
        self.function = function
        self.name = name
        self.outer_dataflow = dataflow


class Criteria:
    """Finds what of a module, or of a function alone, breaks which criterion: `found`."""

    def __init__(self, module: IRModule | None = None) -> None:
        self.found: list[Finding] = []
        self._module = module
        self._annotations = AnnotationCriteria(module, self._note)
        # Steps to be taken, the next one last, and what each is about.
        self._todo: list[tuple[Callable[[Any], None], Any]] = []
        self._visible: set[Var] = set()
        self._shapes: set[PrimVar] = set()
        self._scopes: list[tuple[list[Var], list[PrimVar]]] = []
        self._bound: set[Var] = set()
        self._frames: list[_Frame] = []
        # The function in which a variable of a dataflow block was bound.
        self._home: dict[Var, _Frame] = {}
        self._local: dict[Var, Function] = {}
        # Variables that are only other names, for variables or functions of the module.
        self._aliases: dict[Expr, Expr] = {}
        self._group: dict[str, int] = {}
        self._dataflow = False
        self._binding: Binding | None = None
        # Uses of variables that are not visible: explained when all that is bound is known.
        self._unbound: list[tuple[Var, Node, bool]] = []
        # What of them was told already, where one node uses a variable twice.
        self._told: set[tuple[Var, Node]] = set()

    def _note(
        self, number: int, message: str, node: Node, within: Node | None = None,
        help: str | None = None,
    ) -> None:  # fmt: skip
        self.found.append(Finding(f"RX03{number:02}", message, node, within, help))

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
                self._undeclared(var.name_hint, function, others)
            self.function(function, var)
        if functions and all(f.is_private for f in functions.values()):
            self._note(
                12, "no function of the module can be called from outside",
                next(iter(functions.values())), help="give one of them a `global_symbol`",
            )  # fmt: skip

    def function(self, function: Function, name: GlobalVar | None = None) -> None:
        """Look at a function that stands in no other."""
        self._enter_function((function, name))
        while self._todo:
            step, about = self._todo.pop()
            step(about)
        self._explain_unbound()

    def _then(self, *steps: tuple[Callable[[Any], None], Any]) -> None:
        self._todo.extend(reversed(steps))

    # -- functions and scopes ----------------------------------------------------------------------

    def _enter_function(self, about: tuple[Function, Var | GlobalVar | None]) -> None:
        function, name = about
        self._frames.append(_Frame(function, name, self._dataflow))
        self._dataflow = False
        self._scopes.append(([], []))
        attrs = function.attrs or Attrs()
        if attrs.get("relax.force_pure") and not function.is_pure:
            self._note(
                21, "`relax.force_pure` stands on a function that is not declared pure", function,
                help="leave it out, or declare the function pure",
            )  # fmt: skip
        for param in function.params:
            self._define(param, function, False)
            if param.struct_info is not None:
                self._bind_shapes(definable_shape_vars(param.struct_info))
        for param in function.params:
            self._annotated(param.struct_info, function, 6)
        self._annotated(function.ret_struct_info, function, 4)
        self._then((self._expr, (function.body, function)), (self._leave_function, None))

    def _leave_function(self, _: None) -> None:
        self._dataflow = self._frames.pop().outer_dataflow
        self._leave_scope(None)

    def _leave_scope(self, _: None) -> None:
        variables, shapes = self._scopes.pop()
        self._visible.difference_update(variables)
        self._shapes.difference_update(shapes)

    def _define(self, var: Var, within: Node, in_dataflow: bool) -> None:
        name = var.name_hint
        if var in self._bound:
            self._note(2, f"`{name}` is bound twice", var, within, "bind a variable of its own")
        if isinstance(var, DataflowVar):
            self._home[var] = self._frames[-1]
            if not in_dataflow:
                self._note(
                    1, f"the DataflowVar `{name}` is bound outside of a dataflow block", var,
                    within, "make it a Var",
                )  # fmt: skip
        self._bound.add(var)
        self._visible.add(var)
        self._scopes[-1][0].append(var)

    def _bind_shapes(self, variables: Iterable[PrimVar]) -> None:
        for v in variables:
            if v not in self._shapes:
                self._shapes.add(v)
                self._scopes[-1][1].append(v)

    def _annotated(self, info: StructInfo | None, within: Node, unbound: int | None = None) -> None:
        if info is not None:
            relax_vars = self._annotations.check(info, within, self._shapes, unbound)
            for var in relax_vars:
                if var not in self._visible:
                    self._note(14, f"`{var.name_hint}` is not in scope here", info, within)
            if self._annotations.unbound:
                # What is known of a value that uses it is a consequence, and not told as well.
                self._bind_shapes(self._annotations.unbound)
                self._annotations.unbound.clear()

    # -- blocks and bindings -----------------------------------------------------------------------

    def _block(self, block: BindingBlock) -> None:
        dataflow = isinstance(block, DataflowBlock)
        steps: list[tuple[Callable[[Any], None], Any]] = [
            (self._value, (binding, dataflow)) for binding in block.bindings
        ]
        self._then(*steps, (self._leave_block, (block, self._dataflow)))
        self._dataflow = self._dataflow or dataflow

    def _leave_block(self, about: tuple[BindingBlock, bool]) -> None:
        block, self._dataflow = about
        if isinstance(block, DataflowBlock):
            variables = (b.var for b in block.bindings)
            self._visible.difference_update(v for v in variables if isinstance(v, DataflowVar))

    def _value(self, about: tuple[Binding, bool]) -> None:
        binding, _ = about
        self._binding = binding
        if isinstance(binding.value, Function):
            # It may call itself by the variable that it is bound to.
            self._local[binding.var] = binding.value
            self._defined(about)
            self._then((self._enter_function, (binding.value, binding.var)))
        else:
            self._then((self._expr, (binding.value, binding)), (self._defined, about))

    def _defined(self, about: tuple[Binding, bool]) -> None:
        binding, dataflow = about
        if isinstance(binding.value, (Var, GlobalVar)):
            self._aliases[binding.var] = self._aliases.get(binding.value, binding.value)
        if isinstance(binding, MatchCast):
            self._bind_shapes(definable_shape_vars(binding.struct_info))
            self._annotated(binding.struct_info, binding, 5)
        self._annotated(binding.var.struct_info, binding)
        self._define(binding.var, binding, dataflow)

    # -- expressions -------------------------------------------------------------------------------

    def _exprs(self, exprs: Sequence[Expr], within: Node) -> None:
        self._then(*((self._expr, (expr, within)) for expr in exprs))

    def _expr(self, about: tuple[Expr, Node]) -> None:
        expr, within = about
        match expr:
            case Var():
                self._use(expr, within)
            case Call():
                self._call(expr)
            case Tuple(fields):
                self._exprs(fields, expr)
            case TupleGetItem(value):
                self._exprs((value,), expr)
            case SeqExpr(blocks, body):
                self._scopes.append(([], []))
                inside = ((self._block, block) for block in blocks)
                self._then(*inside, (self._expr, (body, expr)), (self._leave_scope, None))
            case If(cond, true_branch, false_branch):
                if self._dataflow:
                    self._note(7, "`if` cannot stand in a dataflow block", expr, within)
                self._exprs((cond, true_branch, false_branch), expr)
            case Function():
                self._enter_function((expr, None))
            case _:
                self._leaf(expr, within)

    def _leaf(self, expr: Expr, within: Node) -> None:
        """What has no expressions inside."""
        match expr:
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
                if v not in self._shapes:
                    message = f"`{v.name}` is used before it is bound"
                    self._note(5, message, expr, within, "bind it with `R.match_cast`")
                    self._bind_shapes((v,))

    def _use(self, var: Var, within: Node) -> None:
        if (var, within) in self._told:
            return
        if var not in self._visible:
            self._told.add((var, within))
            known = var in self._bound
            own = self._binding is not None and self._binding.var is var
            if own and not known:
                message = f"`{var.name_hint}` stands on the right of its own binding"
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
            self._undeclared(var.name_hint, function)

    def _is_captured(self, var: Var) -> bool:
        """Whether it belongs to a dataflow block around this function, which it does not name."""
        if not isinstance(var, DataflowVar) or self._home[var] is self._frames[-1]:
            return False
        return not self._is_inside(var)

    def _is_inside(self, name: Expr) -> bool:
        return any(frame.name is name for frame in self._frames)

    def _undeclared(self, name: str, function: Function, others: Iterable[str] = ()) -> None:
        message = undeclared_recursion(name, others)
        finding = Finding("RX0308", message, function, None, "give it a `ret_struct_info`")
        if finding not in self.found[-1:]:
            self.found.append(finding)

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
            self._exprs(call.args, call)
        else:
            if self._dataflow and self._is_recursive(call.op):
                message = "a recursive call cannot stand in a dataflow block"
                self._note(7, message, call, None, "move it out of the dataflow block")
            self._exprs((call.op, *call.args), call)
        for info in call.sinfo_args:
            self._annotated(info, call)

    def _is_recursive(self, callee: Expr) -> bool:
        callee = self._aliases.get(callee, callee)
        if not isinstance(callee, GlobalVar):
            return isinstance(callee, Var) and self._is_inside(callee)
        outermost = self._frames[0].name
        if outermost is None:
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
