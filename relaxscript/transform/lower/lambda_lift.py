"""LambdaLift: functions inside functions become functions of the module.

Start at `LambdaLift`; `_Lifter` goes through one function of the module, and moves what is local to
it out of it. Outer functions go first. What was nested in one that was lifted is local to a
function of the module then. Its turn comes with that one.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from relaxscript.analysis import call_purity
from relaxscript.arith import YES
from relaxscript.builder import ExprMutator
from relaxscript.errors import DiagnosticError, OperandError, Span
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    MatchCast,
    SeqExpr,
    ShapeExpr,
    Tuple,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import (
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TupleStructInfo,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import children, compounds, rewrite, substitute, variables
from relaxscript.op import Trait, traits_of
from relaxscript.op.base import (
    compute_prim_value,
    invoke_closure,
    invoke_pure_closure,
    make_closure,
)
from relaxscript.semantics.make_closure import CAPTURED, LOCAL_NAME
from relaxscript.sinfo import (
    definable_shape_vars,
    is_subtype,
    shape_var_mapping,
    struct_info_parts,
)
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .held_shapes import check_held_shapes, erase_in_types, prepend_binding

__all__ = ["LambdaLift"]

_GLOBAL_SYMBOL = "global_symbol"


class LambdaLift(ModulePass):
    """Move local functions into the module; what they capture becomes their last parameters.

    Before:

        @R.function
        def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
            @R.function
            def plus(z: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                s = R.add(z, x)
                return s

            r = plus(y)
            return r

    After:

        @R.function(private=True)
        def main_plus(z: R.Tensor((4,), "float32"), x: R.Tensor((4,), "float32")):
            s = R.add(z, x)
            return s

        @R.function
        def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
            plus = R.make_closure(cls.main_plus, (x,))
            r = R.invoke_pure_closure(plus, (y,), sinfo_args=R.Tensor((4,), "float32"))
            return r

    A function that captures nothing is called by its name. Captured shape variables that no
    captured value tells come last, as one shape (those of scalars, as values before it).
    A function that calls itself calls the lifted one directly. With `direct=True` all calls of a
    known function do. Then two attributes keep its name in the program, `main.plus`, and the number
    of captured parameters. All shape variables in it are parameters of their own then, also those
    that captured values tell. What is captured is in the order of its definition.
    Source: TVM `relax.transform.LambdaLift`.
    """

    adds_functions = True
    opt_level = 1
    required = ("Normalize",)

    def __init__(self, *, direct: bool = False) -> None:
        self.direct = direct

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        if not any(map(_has_local_functions, mod.relax_functions().values())):
            return mod
        lifting = _Lifting(mod.clone(), self.direct)
        lifting.pending.extend(mod.relax_functions().items())
        while lifting.pending:
            var, function = lifting.pending.popleft()
            if _has_local_functions(function):
                made = _Lifter(lifting, var, function).function(function, var.name_hint)
                lifting.module[var] = lifting.changed[var] = made
        if lifting.erases:
            # Types of functions say no more of held shapes than the lifted functions do.
            for var, function in lifting.changed.items():
                lifting.module[var] = erase_in_types(function)
        return lifting.module


def _has_local_functions(function: Function) -> bool:
    return next(_local_functions(function), None) is not None


def _local_functions(function: Function) -> Iterator[Var]:
    """The variables that the functions inside a function are bound to."""
    for node in compounds(function):
        if isinstance(node, VarBinding) and isinstance(node.value, Function):
            yield node.var


@dataclass
class _Lifting:
    """The module that is being made; `pending` are the functions that are still to be looked at.

    `changed` are those that are written anew or lifted. `erases` says that one of these had a shape
    in its signature that a variable holds.
    """

    module: IRModule
    direct: bool
    pending: deque[tuple[GlobalVar, Function]] = field(default_factory=deque)
    signatures: dict[str, StructInfo] = field(default_factory=dict)
    changed: dict[GlobalVar, Function] = field(default_factory=dict)
    erases: bool = False

    def name(self, outer: GlobalVar, local: Var) -> GlobalVar:
        """The name of a lifted function: `main_inner` for `inner` of `main`, made unique."""
        base = f"{outer.name_hint}_{local.name_hint}"
        names = (base if count == 0 else f"{base}_{count}" for count in itertools.count())
        return GlobalVar(next(name for name in names if name not in self.module))

    def add(self, var: GlobalVar, function: Function) -> None:
        """Put a lifted function into the module."""
        self.module[var] = self.changed[var] = function
        self.pending.append((var, function))

    def without_held_shapes(self, function: Function) -> Function:
        """A function whose body checks the shapes in its signature that variables hold."""
        checked = check_held_shapes(function)
        self.erases = self.erases or checked is not function
        return checked


@dataclass
class _Uses:
    """The uses of a local function: its calls, and if it is mentioned in another way."""

    calls: list[Call] = field(default_factory=list)
    as_value: bool = False


class _Lifted(NamedTuple):
    """A local function as it is now: its name, and what is to be given for its last parameters.

    `is_direct` says that calls name it, `keeps_type` that the same is known of it as before.
    """

    name: GlobalVar
    captured: tuple[Expr, ...]
    is_direct: bool
    keeps_type: bool


class _Lifter(ExprMutator):
    """Lifts what is local to one function of the module, and calls it as what it is now.

    `dims` are the shape variables that are known by now in that function itself. With each is said
    if it is a dimension, not a scalar.
    """

    def __init__(self, lifting: _Lifting, owner: GlobalVar, func: Function) -> None:
        super().__init__(lifting.module)
        self.builder.share_signatures(lifting.signatures)
        self.lifting = lifting
        self.owner = owner
        self.func = func
        self.uses = _uses(func)
        self.killed = _killed(func)
        self.dims: dict[prim.Var, bool] = {}
        self.order: dict[Node, int] = {}  # of definition
        self.lifted: dict[Node, _Lifted] = {}
        self.values: dict[prim.Var, Var] = {}  # of shape variables, as values to be captured
        self.used: dict[Function, list[Node]] = {}  # all variables in local functions

    # -- going through -----------------------------------------------------------------------------

    def enter(self, node: Node) -> bool | None:
        match node:
            case VarBinding(value=Function() as function):
                used = self.used[function] = variables(function)
                if self.lifted.keys().isdisjoint(used):
                    self.write(node, function)  # as it is: what is inside of it has its turn later
                    return False
        return super().enter(node)

    def define(self, var: Var, by: Node) -> None:
        super().define(var, by)
        self.order.setdefault(var, len(self.order))

    def begin(self, func: Function) -> None:
        if func is self.func:
            self._define([param.struct_info for param in func.params])

    def binding(self, binding: Binding) -> None:
        is_own = len(self.functions) == 1
        match binding:
            case VarBinding(var=var, value=Function() as function) if is_own:
                self._lift(binding, var, function)
                return
            case VarBinding(value=Call() as call):
                made = self._call(call)
                if made is not call:
                    self.changed = True
                    binding = binding.replace(value=made)
            case MatchCast(struct_info=info) if is_own:
                self._define([info])
        self.keep(binding)

    def _define(self, infos: Sequence[StructInfo]) -> None:
        """Take note of the shape variables that values, matched together, bind."""
        found = {v: False for info in infos for v in definable_shape_vars(info)}
        for part in (part for info in infos for part in struct_info_parts(info)):
            if not isinstance(part, (PrimStructInfo, TupleStructInfo)):
                found.update((v, True) for v in definable_shape_vars(part) if v in found)
        for v, is_dimension in found.items():
            self.dims.setdefault(v, is_dimension)
            self.order.setdefault(v, len(self.order))

    def _call(self, call: Call) -> Call:
        """A call as it is now. What was known of its result is not derived again."""
        assert isinstance(self.original.value, Call)
        lifted = self.lifted.get(self.original.value.op)
        if lifted is None:
            return call
        if lifted.is_direct:
            call = call.replace(op=lifted.name, args=(*call.args, *lifted.captured))
        elif lifted.captured:
            is_pure = call_purity(call, self.builder.context)
            op = invoke_pure_closure.op if is_pure else invoke_closure.op
            given = Tuple.make(call.args, call.arg_spans)
            result = self.builder.struct_info(call)
            return Call.make(op, (call.op, given), None, (result,), span=call.span)
        known = self.original.value.known_info
        if lifted.keeps_type and known is not None:
            remember_struct_info(call, known)
        return call

    # -- lifting -----------------------------------------------------------------------------------

    def _lift(self, binding: VarBinding, var: Var, function: Function) -> None:
        """Put a local function into the module, and what it is now in the place of it."""
        self.changed = True
        lifted = self.lifted[var] = self._make(function, var)
        if lifted.captured:
            made = _closure(lifted.name, lifted.captured, function)
            if lifted.keeps_type:
                remember_struct_info(made, self.builder.struct_info(var))
            self.keep(binding.replace(value=made))
            return
        if self.lifting.direct:
            self.keep(binding.replace(value=lifted.name))
        self.replace_var(var, lifted.name)

    def _make(self, function: Function, var: Var) -> _Lifted:
        used = self.used.get(function) or variables(function)
        captured, sizes, scalars = self._find_captures(function, var, used)
        # The values of shape variables as parameters: one by one, or the sizes as one shape.
        values = [Var(v.name, PrimStructInfo.make(v.dtype, v)) for v in scalars]
        shape = (ShapeExpr.make(sizes),) if sizes else ()
        shapes = [Var("shape", ShapeStructInfo.make(sizes, len(sizes)))] if sizes else []
        params = [*captured, *values, *shapes]
        name = self.lifting.name(self.owner, var)
        ret = function.ret_struct_info
        made = function.replace(
            params=(*function.params, *params), attrs=self._attrs(function, var, len(params)),
            ret_struct_info=self.builder.struct_info(function.body) if ret is None else ret,
        )  # fmt: skip
        calls_itself = var in used
        shared = {*captured, *(v for v in used if v in self.dims)}
        # What is known of it, which is asked for where it calls itself.
        header = made.replace(body=SeqExpr.make((), Tuple.make(()))) if calls_itself else made
        finished = _rename(self.lifting.without_held_shapes(header), shared)
        self.lifting.signatures[name.name_hint] = self.builder.struct_info(finished)
        info = self.builder.struct_info
        keeps_type = structural_equal(info(var), info(function))
        args = (*captured, *values, *shape)
        is_direct = self._takes_all(name, args, var, function)
        if calls_itself:
            made = _bind_itself(made, var, name, args, is_direct)
            finished = _rename(self.lifting.without_held_shapes(made), shared)
        self.lifting.add(name, finished)
        given = [self._scalar(v, function.span) for v in scalars]
        is_called = is_direct and self.lifting.direct
        return _Lifted(name, (*captured, *given, *shape), is_called, keeps_type)

    def _find_captures(
        self, function: Function, var: Var, used: Sequence[Node]
    ) -> tuple[list[Var], tuple[prim.Var, ...], list[prim.Var]]:
        """Variables, sizes and scalars of the scope around a function that it needs."""
        captured = [v for v in used if isinstance(v, Var) and v in self.variables and v is not var]
        dims = [v for v in used if isinstance(v, prim.Var) and v in self.dims]
        if self.lifting.direct:  # then each is shown by its name, in the order of its definition
            inside, order = set(used), self.order.__getitem__
            scalars = [v for v in dims if self.values.get(v) not in inside]
            return sorted(captured, key=order), (), sorted(scalars, key=order)
        given = {v for c in captured for v in definable_shape_vars(c.struct_info)}
        missing = [v for v in dims if v not in given and not self._always_given(function, var, v)]
        sizes = tuple([v for v in missing if self.dims[v]])
        return captured, sizes, [v for v in missing if not self.dims[v]]

    def _attrs(self, function: Function, var: Var, captured: int) -> Attrs:
        """The attributes of a lifted function."""
        attrs = (function.attrs or Attrs()).without(_GLOBAL_SYMBOL)
        if self.lifting.direct:
            outer = (self.func.attrs or Attrs()).get(LOCAL_NAME, self.owner.name_hint)
            named = {LOCAL_NAME: f"{outer}.{var.name_hint}", CAPTURED: captured}
            attrs = Attrs({**attrs, **named})
        return attrs

    def _scalar(self, v: prim.Var, span: Span | None) -> Var:
        """Bind the value of a shape variable, for a closure to capture."""
        known = self.values.get(v)
        if known is not None and known in self.variables:
            return known
        value = Call.make(compute_prim_value.op, (ShapeExpr.make((v,)),), None, ())
        made = self.emit(value, v.name, span)
        if not isinstance(made, DataflowVar):
            self.values[v] = made
            self.define(made, self.original)  # a function that calls this one may capture it
        return made

    def _always_given(self, function: Function, var: Var, size: prim.Var) -> bool:
        """True if each call of a function gives it the shape variable with an argument.

        Then it need not be captured: the value that a parameter binds is the one that it has.
        """
        uses = self.uses[var]
        if uses.as_value:
            return False
        params = [param.struct_info for param in function.params]
        if not any(size in definable_shape_vars(info) for info in params):
            return False
        info = self.builder.struct_info
        return all(
            shape_var_mapping(params, map(info, call.args)).get(size) is size for call in uses.calls
        )

    def _fits(self, call: Call, func: Function) -> bool:
        """True if the arguments are sure to be what the parameters of a local function say."""
        return len(call.args) == len(func.params) and all(
            is_subtype(self.builder.struct_info(arg), param.struct_info) is YES
            for arg, param in zip(call.args, func.params)
        )

    def _takes_all(self, name: GlobalVar, args: Sequence[Expr], var: Var, func: Function) -> bool:
        """True if the calls of a local function may give the lifted one what it captures.

        A call that cannot succeed is left to fail when it runs. What the program gives back is in
        closures only.
        """
        for call in self.uses[var].calls:
            if self._fits(call, func):
                continue
            try:
                self.builder.struct_info(call.replace(op=name, args=(*call.args, *args)))
            except (DiagnosticError, OperandError):
                return False
        return not any(isinstance(arg, DataflowVar) or arg in self.killed for arg in args)


def _bind_itself(
    function: Function, var: Var, name: GlobalVar, args: tuple[Expr, ...], direct: bool
) -> Function:
    """A lifted function in which `var`, which it was bound to, is what it is now."""
    if not args:
        return substitute(function, {var: name})
    closure = _closure(name, args, function)
    again = Var.make(var.name_hint, var.struct_info, span=var.span)

    def step(node: Node) -> Node | None:
        if node is var:
            return again
        if direct and isinstance(node, Call) and node.op is again:
            return node.replace(op=name, args=(*node.args, *args))
        return None

    body: Expr = rewrite(function.body, step)
    if again in variables(body):
        body = prepend_binding(body, VarBinding.make(again, closure, span=var.span))
    return function.replace(body=body)


def _uses(function: Function) -> dict[Var, _Uses]:
    """The uses of each function inside a function, by its variable."""
    found = {var: _Uses() for var in _local_functions(function)}
    for node in compounds(function):
        # A definition and a callee come before arguments, and are no mention as a value.
        first = node.var if isinstance(node, Binding) else None
        if isinstance(node, Call) and node.op in found:
            first = node.op
            found[node.op].calls.append(node)
        for child in children(node):
            if child is first:
                first = None
            elif isinstance(child, Var) and child in found:
                found[child].as_value = True
    return found


def _killed(function: Function) -> set[Node]:
    """The variables that a function gives back by itself."""
    calls = (node for node in compounds(function) if isinstance(node, Call))
    return {arg for call in calls if Trait.FREES in traits_of(call.op) for arg in call.args}


def _closure(name: GlobalVar, args: tuple[Expr, ...], function: Function) -> Call:
    return Call.make(make_closure.op, (name, Tuple.make(args)), None, (), span=function.span)


def _rename(function: Function, shared: Container[Node]) -> Function:
    """A function with new variables for those that are `shared` with others: no two share one."""

    def step(node: Node) -> Node | None:
        match node:
            case Var(name_hint=name, struct_info=info) if node in shared:
                return type(node).make(name, info, span=node.span)
            case prim.Var(name=name, dtype=dtype) if node in shared:
                return prim.Var.make(name, dtype, span=node.span)
        return None

    return rewrite(function, step)
