"""Functions with some of their variables given: parameters, and the shape variables they bind.

A `Specializer` writes a body again with what takes the place of variables. All that is known of
values is derived anew: where `n` is 3 by now, what follows from it is static. `bind.py`
specialises functions by it, `inline.py` bodies for the arguments of a call.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, cast

from relaxscript.analysis.derive import nature_of_misfit
from relaxscript.analysis.inplace_use import writes_in_place
from relaxscript.analysis.normal_form import is_normal
from relaxscript.analysis.purity import claims_purity
from relaxscript.arith import NO, YES, simplify
from relaxscript.errors import DiagnosticError, OperandError, Remark, Span, UnplacedError
from relaxscript.ir import walk
from relaxscript.ir.known_results import is_closed
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm, PrimExpr, Var as PrimVar
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    Op,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.sinfo import (
    check_compatibility,
    definable_shape_vars,
    explain_mismatch,
    shape_var_mapping,
)

from .block_builder import BlockBuilder
from .mutator import ExprMutator, is_known_alike, with_parts
from .scope import attempt

__all__ = ["Specialization", "Specializer", "evaluates_once", "in_normal_form"]


def in_normal_form(func: Function, mod: IRModule | None) -> Function:
    """The function in normal form; `func` itself where it is."""
    if is_normal(func):
        return func
    normal = BlockBuilder(mod).normalize(func)
    assert isinstance(normal, Function)
    return normal


def evaluates_once(func: Function) -> bool:
    """True if two evaluations of a constant are not the same as one: somebody may write into it."""
    if not claims_purity(func.is_pure, func.attrs):
        return True
    return any(isinstance(node, Call) and writes_in_place(node) for node in walk.compounds(func))


class _Simplified(walk.Substitution):
    """A substitution that computes what it changes: `n + 1` with 3 for `n` is 4.

    What is known of a variable is not looked at: whoever writes its binding decides on that.
    """

    def __init__(self, mapping: Mapping[Node, Node] | None = None) -> None:
        self._scalars: dict[Node, Node] = {}
        super().__init__(mapping)

    def __setitem__(self, old: Node, new: Node) -> None:
        super().__setitem__(old, new)
        if isinstance(old, PrimVar):
            self._scalars[old] = new

    def apply(self, root: walk.N) -> walk.N:
        if not self._mapping or (isinstance(root, StructInfo) and is_closed(root)):
            return root
        made: Node | None = None
        if isinstance(root, Var):
            made = self.get(root, root)
        elif isinstance(root, Call):
            made = self.in_call(root)
        elif isinstance(root, TensorStructInfo):
            made = self._of_tensor(root)
        return (
            walk.rewrite_top_down(root, self._replacement) if made is None else cast(walk.N, made)
        )

    def _of_tensor(self, info: TensorStructInfo) -> TensorStructInfo | None:
        """A tensor whose sizes are numbers and variables, at a tenth of a walk; None for others."""
        sizes, scalars = info.dims, self._scalars
        if sizes is None or not all(d.__class__ in (IntImm, PrimVar) for d in sizes):
            return None
        made: list[Any] = [scalars.get(size, size) for size in sizes]
        if all(map(operator.is_, made, sizes)):
            return info
        shape = ShapeExpr.make(tuple(made), span=None if info.shape is None else info.shape.span)
        return TensorStructInfo.make(shape, info.dtype, info.vdevice, info.ndim, span=info.span)

    def _replacement(self, node: Node) -> Node | None:
        match node:
            case PrimVar() | Var():
                found: Node = self.get(node, node)
                return found
            case Call():
                return self.in_call(node)
            case PrimExpr():
                made = walk.substitute(node, self._scalars)
                return made if made is node else simplify(made)
            case TensorStructInfo(shape=Var() as held) if (shape := self.get(held)) is not None:
                return TensorStructInfo(shape, node.dtype, node.vdevice)  # of the rank of `shape`
        return None


class Specialization:
    """The work of a specialiser beside putting leaves in the place of variables.

    `dissolves` is asked of dataflow blocks: the bindings of one that is dissolved go into what is
    open around it. `variable` is the variable of a binding afterwards: itself, or another one that
    is of its dataflow block or not. `replacement` gives another value for a binding, or None.
    """

    def begin(self) -> None:
        """Called where the first binding of the function is to be written."""

    def dissolves(self, block: DataflowBlock) -> bool:
        return False

    def variable(self, var: Var) -> Var:
        return var

    def replacement(self, binding: Binding) -> Expr | None:
        return None


class Specializer(ExprMutator):
    """Writes a program with leaves in the place of variables, of Relax and of shapes.

    Parameters are given their values in two steps. `match` says what the shape variables of all of
    them are. `admit` puts each value into its place, behind a match_cast where it may not fit.
    Calls of functions that the module does not have keep the StructInfo that they were declared
    with.
    """

    def __init__(
        self,
        mod: IRModule | None = None,
        builder: BlockBuilder | None = None,
        steps: Specialization | None = None,
    ) -> None:
        super().__init__(mod, builder)
        self._replaced = _Simplified()
        self._steps = Specialization() if steps is None else steps

    def replace_scalar(self, var: PrimVar, by: PrimExpr) -> None:
        """Put a scalar in the place of a shape variable, in all that follows."""
        self._replaced[var] = by

    def match(
        self, params: Sequence[Var], values: Sequence[StructInfo]
    ) -> Mapping[PrimVar, PrimExpr]:
        """Give the shape variables of parameters the sizes of what is known of their values."""
        sizes = shape_var_mapping([param.struct_info for param in params], values)
        for var, size in sizes.items():
            self.replace_scalar(var, size)
        return sizes

    def admit(self, params: Sequence[Var], values: Sequence[Expr], once: bool) -> None:
        """Put each value into the place of its parameter; raises `OperandError` if it cannot fit.

        `once` says that each is evaluated where this is, and never again.
        """
        for param, value in zip(params, values):
            self.replace_var(param, self._admitted(param, value, once))

    def _admitted(self, param: Var, value: Expr, once: bool) -> Expr:
        builder, context = self.builder, self.builder.context
        if isinstance(value, Tuple) or (once and isinstance(value, Constant)):
            value = builder.bind(value, param.name_hint, span=value.span)
        leaf = builder.operand(value, param.name_hint)
        given = builder.struct_info(leaf)
        wanted = self._replaced.apply(param.struct_info)
        scope = context.shape_scope or ()
        answer = check_compatibility(given, wanted, context.facts, in_scope=scope)
        if answer is YES:
            return leaf
        if answer is NO:
            reason = explain_mismatch(given, wanted, context.facts, in_scope=scope)
            raise OperandError(
                f"the value of `{param.name_hint}`",
                Remark(reason) if reason else f"is {given.noun}",
                code="RX0206",
                message=f"this value does not fit the parameter `{param.name_hint}`",
                help=f"the parameter is `{param.struct_info!r}`, the value `{given!r}`",
                nature=nature_of_misfit(given, wanted),
            )
        return builder.bind_match_cast(leaf, wanted, param.name_hint, span=param.span)

    # -- going through -----------------------------------------------------------------------------

    def _substitute(self, expr: Expr) -> Expr:
        return self._replaced.apply(expr)

    def begin(self, func: Function) -> None:
        if len(self.functions) == 1:
            self._steps.begin()

    def enter(self, node: Node) -> bool | None:
        if isinstance(node, DataflowBlock) and self._steps.dissolves(node):
            return None
        if isinstance(node, VarBinding) and isinstance(node.value, Function):
            # It may call itself, by a variable of which something else is known by now.
            var, made = node.var, self._steps.variable(node.var)
            info = self._replaced.apply(var.struct_info)
            if made is not var or info is not var.struct_info:
                self.replace_var(var, type(made).make(var.name_hint, info, span=var.span))
        return super().enter(node)

    def leave(self, node: Node) -> None:
        if not (isinstance(node, DataflowBlock) and self._steps.dissolves(node)):
            super().leave(node)

    def binding(self, binding: Binding) -> None:
        other = self._steps.replacement(binding)
        value = binding.value if other is None else other
        var = binding.var
        made = var if isinstance(value, Function) else self._steps.variable(var)
        if made is var:
            self._write(binding, value)
            return
        self._write(with_parts(binding, made, binding.value), value)
        self.replace_var(var, self._replaced.get(made, made))

    def result_of(self, body: Expr) -> Expr:
        """Write the bindings of a body where the builder is; its result is a leaf."""
        assert isinstance(body, SeqExpr)
        self.visit(body)
        return self._substitute(body.body)

    def applied(self, info: StructInfo) -> StructInfo:
        """A declared StructInfo, in terms of what takes the place of variables."""
        return self._replaced.apply(info)

    def _write(self, binding: Binding, value: Expr) -> None:
        var, before = binding.var, self.original
        if isinstance(value, Function):
            self._write_function(binding, value, self._replaced.get(var, var))
        elif self._calls_unknown(value):
            new = self._with_info(var, self._replaced.apply(var.struct_info))
            self.changed = self.changed or new is not before.var
            self.keep(binding if new is var else binding.replace(var=new))
        elif (
            value is binding.value
            and var is before.var
            and is_known_alike(value, before.value)
            and not self._mentions_replaced(binding)
        ):
            self.keep(binding)
        elif isinstance(value, Call) and not isinstance(value.op, Op):
            self._write_call(binding, value)
        else:
            self.retype(binding, value)

    def _write_call(self, binding: Binding, call: Call) -> None:
        """Bind the call of a function, whose arguments may be known by now not to fit.

        The program is none the less one, and may not come to the call: a match_cast fails there.
        """
        try:
            with attempt(self.builder):
                self.retype(binding, call)
        except (UnplacedError, DiagnosticError):
            cast = self._with_cast_args(call)
            if cast is None:
                raise
            self.retype(binding, cast)

    def _with_cast_args(self, call: Call) -> Call | None:
        """The call with its arguments behind a match_cast to what the function takes."""
        builder = self.builder
        callee = builder.struct_info(self._substitute(call.op))
        if not isinstance(callee, FuncStructInfo) or callee.params is None:
            return None
        if len(callee.params) != len(call.args):
            return None
        # The variables of a signature are its own: each call has others.
        taken = TupleStructInfo.make(tuple(callee.params))
        scope = builder.context.shape_scope or ()
        own = [v for v in definable_shape_vars(taken) if v not in scope]
        taken = walk.substitute(taken, {v: PrimVar(v.name, v.dtype) for v in own})
        given = Tuple.make(tuple([self._substitute(arg) for arg in call.args]))
        fields = builder.bind_match_cast(given, taken, "args")
        args = [builder.bind(TupleGetItem.make(fields, i), "arg") for i in range(len(call.args))]
        return call.replace(args=tuple(args))

    def _write_function(self, binding: Binding, function: Function, var: Var) -> None:
        """Bind a local function, of whose result more may be known than its variable says."""
        info = self._derive_struct_info(function, binding.span)
        if var.struct_info is not None and not structural_equal(info, var.struct_info):
            known = type(var).make(var.name_hint, info, span=var.span)
            self.replace_var(var, known)
            self.replace_var(binding.var, known)
            function, var = walk.substitute(function, {var: known}), known
            self.changed = True
        same = var is binding.var and function is binding.value
        self.keep(binding if same else with_parts(binding, var, function))

    def _calls_unknown(self, value: Expr) -> bool:
        return (
            isinstance(value, Call)
            and isinstance(value.op, GlobalVar)
            and value.op not in self.mod
            and value.op.name_hint not in self.builder.signatures
        )

    def _derive_struct_info(self, value: Expr, span: Span | None) -> StructInfo:
        if self._calls_unknown(value):
            return self._replaced.apply(self.original.var.struct_info)
        return super()._derive_struct_info(value, span)

    def _info_of_result(self, func: Function, before: Expr, value: Expr) -> StructInfo | None:
        """As declared, unless the value is known to be more than before, and to be as declared."""
        declared = super()._info_of_result(func, before, value)
        if declared is None or value is before:
            return declared
        context = self.builder.context
        old, new = (self._derive_struct_info(expr, expr.span) for expr in (before, value))
        if structural_equal(self._replaced.apply(old), new):
            return declared
        scope = context.shape_scope or ()
        answer = check_compatibility(new, declared, context.facts, in_scope=scope)
        return None if answer is YES else declared
