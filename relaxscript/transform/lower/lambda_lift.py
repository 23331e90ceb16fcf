"""LambdaLift: functions inside functions become functions of the module.

Start at `LambdaLift`; `_Scope` goes through one function of the module, and `_Scope.lift` moves one
local function out of it. Outer functions go first. What was nested in one that was lifted is
local to a function of the module then. Its turn comes with that one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from relaxscript.analysis import Context, call_purity
from relaxscript.arith import YES
from relaxscript.errors import DiagnosticError, OperandError, Span
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
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
    SeqExpr,
    ShapeExpr,
    Tuple,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import (
    children,
    compounds,
    free_vars,
    mentioned,
    rewrite,
    substitute,
    variables,
)
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
    of captured parameters. Captured shape variables are parameters of their own then.
    Source: TVM `relax.transform.LambdaLift`.
    """

    opt_level = 1
    required = ("Normalize",)

    def __init__(self, *, direct: bool = False) -> None:
        self.direct = direct

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        if not any(_local_functions(function) for function in mod.relax_functions().values()):
            return mod
        lifting = _Lifting(mod.clone(), self.direct)
        lifting.pending.extend(mod.relax_functions().items())
        while lifting.pending:
            var, function = lifting.pending.pop(0)
            local = _local_functions(function)
            made = _Scope(lifting, var, function).function() if local else function
            if local or var.name_hint in lifting.signatures:
                # Types of functions say no more of held shapes than the lifted functions do.
                lifting.module[var] = _erase_in_types(made)
        return lifting.module


def _local_functions(function: Function) -> dict[Var, Function]:
    """The functions inside a function, by the variables that they are bound to."""
    return {
        node.var: node.value
        for node in compounds(function)
        if isinstance(node, VarBinding) and isinstance(node.value, Function)
    }


@dataclass
class _Lifting:
    """The module that is being made; `pending` are the functions that are still to be looked at."""

    module: IRModule
    direct: bool
    pending: list[tuple[GlobalVar, Function]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.signatures: dict[str, StructInfo] = {}
        self.context = Context(self.module, self.signatures)

    def name(self, outer: GlobalVar, local: Var) -> GlobalVar:
        """The name of a lifted function: `main_inner` for `inner` of `main`, made unique."""
        base = f"{outer.name_hint}_{local.name_hint}"
        names = (base if count == 0 else f"{base}_{count}" for count in itertools.count())
        return GlobalVar(next(name for name in names if name not in self.module))

    def add(self, var: GlobalVar, function: Function) -> None:
        """Put a lifted function into the module."""
        self.module[var] = function
        self.pending.append((var, function))


@dataclass
class _Uses:
    """The uses of a local function: its calls, and if it is mentioned in another way."""

    calls: list[Call] = field(default_factory=list)
    as_value: bool = False


class _Scope:
    """One function of the module, in which local functions are replaced binding by binding.

    `dims` are the shape variables that are known by now, and whether they are dimensions, not
    scalars. `replaced` are the names of lifted functions that capture nothing, by the variables
    that stood for them. `closures` are the names and captured arguments of the others.
    """

    def __init__(self, lifting: _Lifting, owner: GlobalVar, func: Function) -> None:
        self.lifting = lifting
        self.owner = owner
        self.context = lifting.context
        self.func = func
        self.uses = _uses(func)
        self.killed = _killed(func) if self.uses else set[Node]()
        self.dataflow = False
        self.before: list[Binding] = []  # what is to be bound before the closure at hand
        self.dims: dict[prim.Var, bool] = {}
        self.replaced: dict[Node, GlobalVar] = {}
        self.closures: dict[Node, tuple[GlobalVar, tuple[Expr, ...]]] = {}
        self.direct: set[Node] = set()  # those of `closures` that are called by their names
        self.typed: set[Node] = set()  # the variables that are known as just what was lifted
        self._define([param.struct_info for param in func.params])

    def function(self) -> Function:
        """The function afterwards."""
        return self.func.replace(body=self._sequence(self.func.body))

    def _define(self, infos: Sequence[StructInfo]) -> None:
        """Take note of the shape variables that values, matched together, bind."""
        found: dict[prim.Var, bool] = {}
        stack = list(reversed(infos))
        while stack:
            info = stack.pop()
            if isinstance(info, TupleStructInfo):
                stack.extend(reversed(info.fields))
                continue
            dimension = not isinstance(info, PrimStructInfo)
            for v in definable_shape_vars(info):
                found[v] = found.get(v, False) or dimension
        self.dims.update((v, known) for v, known in found.items() if v not in self.dims)

    # -- going through -----------------------------------------------------------------------------

    def _sequence(self, expr: Expr) -> Expr:
        if not isinstance(expr, SeqExpr):
            return self.replace_uses(expr)
        blocks: list[BindingBlock] = []
        for block in expr.blocks:
            self.dataflow = isinstance(block, DataflowBlock)
            bindings = tuple(made for old in block.bindings for made in self._binding(old))
            blocks.append(block.replace(bindings=bindings))
        return expr.replace(blocks=_merge_blocks(blocks), body=self.replace_uses(expr.body))

    def _binding(self, binding: Binding) -> list[Binding]:
        """The bindings that stand in the place of one."""
        match binding:
            case VarBinding(var=var, value=Function() as function):
                return self._local_function(binding, var, function)
            case VarBinding(value=If() as choice):
                made: Expr = choice.replace(
                    true_branch=self._sequence(choice.true_branch),
                    false_branch=self._sequence(choice.false_branch),
                )
                self.dataflow = False  # where there is a choice, there is none
                return [binding.replace(value=made)]
            case MatchCast(struct_info=info):
                self._define([info])
        value = self.replace_uses(binding.value)
        return [binding if value is binding.value else binding.replace(value=value)]

    def _local_function(self, binding: VarBinding, var: Var, function: Function) -> list[Binding]:
        name, args = self.lift(function, var)
        if not args:
            self.replaced[var] = name
            return [binding.replace(value=name)] if self.lifting.direct else []
        self.closures[var] = name, args
        before, self.before = self.before, []
        closure = _closure(name, args, function)
        if var in self.typed:
            remember_struct_info(closure, self.context.struct_info(var))
        return [*before, binding.replace(value=closure)]

    def _fits(self, call: Call, func: Function) -> bool:
        """True if the arguments are sure to be what the parameters of a local function say."""
        return len(call.args) == len(func.params) and all(
            is_subtype(self.context.struct_info(arg), param.struct_info) is YES
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
                self.context.struct_info(call.replace(op=name, args=(*call.args, *args)))
            except (DiagnosticError, OperandError):
                return False
        return not any(isinstance(arg, DataflowVar) or arg in self.killed for arg in args)

    def replace_uses(self, expr: Expr) -> Expr:
        """An expression in which lifted functions are called as what they are now."""
        if not self.replaced and not self.closures:
            return expr
        if isinstance(expr, Call) and not self._are_used(expr.args):  # as most bindings are
            return self._call(expr) if self._are_used((expr.op,)) else expr
        return rewrite(expr, self._replace_use) if self._are_used((expr,)) else expr

    def _are_used(self, exprs: Sequence[Expr]) -> bool:
        """True if expressions mention lifted functions."""
        mentions = (v for expr in exprs for v in mentioned(expr))
        return any(v in self.replaced or v in self.closures for v in mentions)

    def _replace_use(self, node: Node) -> Node | None:
        if isinstance(node, Var):
            return self.replaced.get(node)
        return self._call(node) if isinstance(node, Call) else None

    def _call(self, call: Call) -> Call:
        """A call as it is now. What was known of its result is not derived again."""
        callee = call.op
        if callee in self.replaced:
            made = call.replace(op=self.replaced[callee])
        elif callee in self.direct:
            name, args = self.closures[callee]
            made = call.replace(op=name, args=(*call.args, *args))
        elif callee in self.closures:
            is_pure = call_purity(call, self.context)
            op = invoke_pure_closure.op if is_pure else invoke_closure.op
            given = Tuple.make(call.args, call.arg_spans)
            # The type of a closure mentions dimensions around it, which have their values here.
            context = Context(self.lifting.module, self.lifting.signatures)
            context.shape_scope = self.dims.keys()
            result = context.struct_info(call)
            return Call.make(op, (callee, given), None, (result,), span=call.span)
        else:
            return call
        if callee in self.typed and call.known_info is not None:
            remember_struct_info(made, call.known_info)
        return made

    # -- lifting -----------------------------------------------------------------------------------

    def lift(self, func: Function, var: Var) -> tuple[GlobalVar, tuple[Expr, ...]]:
        """Put a local function into the module; its name, and the arguments that it captures."""
        function = self.replace_uses(func)
        assert isinstance(function, Function)
        captured = [v for v in free_vars(function) if isinstance(v, Var) and v is not var]
        given = {v for c in captured for v in definable_shape_vars(c.struct_info)}
        inside = variables(function)
        dims = [v for v in inside if isinstance(v, prim.Var) and v in self.dims]
        missing = [v for v in dims if v not in given and not self._always_given(func, var, v)]
        if self.lifting.direct:  # then each is shown by its name
            asked = set(missing)
            others = [v for v in self.dims if v in asked] if asked else []
        else:
            others = [v for v in missing if not self.dims[v]]
        sizes = tuple(v for v in missing if self.dims[v] and not self.lifting.direct)
        scalars = [Var(v.name, PrimStructInfo.make(v.dtype, v)) for v in others]
        shape = (ShapeExpr.make(sizes),) if sizes else ()
        params = [*captured, *scalars]
        if sizes:
            params.append(Var("shape", ShapeStructInfo.make(sizes, len(sizes))))
        name = self.lifting.name(self.owner, var)
        ret = function.ret_struct_info
        lifted = function.replace(
            params=(*function.params, *params), attrs=self._attrs(function, var, len(params)),
            ret_struct_info=self.context.struct_info(function.body) if ret is None else ret,
        )  # fmt: skip
        calls_itself = any(v is var for v in inside)
        # What is known of it, which is asked for where it calls itself.
        header = lifted.replace(body=SeqExpr.make((), Tuple.make(()))) if calls_itself else lifted
        made = _rename_variables(_check_held_shapes(header))
        self.lifting.signatures[name.name_hint] = self.context.struct_info(made)
        if structural_equal(self.context.struct_info(var), self.context.struct_info(func)):
            self.typed.add(var)
        args = (*captured, *scalars, *shape)
        direct = self._takes_all(name, args, var, func)
        if direct and self.lifting.direct:
            self.direct.add(var)
        if calls_itself:
            lifted = _bind_itself(lifted, var, name, args, direct)
            made = _rename_variables(_check_held_shapes(lifted))
        self.lifting.add(name, made)
        bound = [self._scalar(param, func.span) for param in scalars]
        return name, (*captured, *bound, *shape)

    def _attrs(self, function: Function, var: Var, captured: int) -> Attrs | None:
        """The attributes of a lifted function."""
        attrs = (function.attrs or Attrs()).without(_GLOBAL_SYMBOL)
        if self.lifting.direct:
            outer = (self.func.attrs or Attrs()).get(LOCAL_NAME, self.owner.name_hint)
            named = {LOCAL_NAME: f"{outer}.{var.name_hint}", CAPTURED: captured}
            attrs = Attrs({**attrs, **named})
        return attrs or None

    def _scalar(self, param: Var, span: Span | None) -> Var:
        """Bind the value of a shape variable, for a closure to capture."""
        kind = DataflowVar if self.dataflow else Var
        info = param.struct_info
        assert isinstance(info, PrimStructInfo)
        made = kind.make(param.name_hint, info)
        value = Call.make(compute_prim_value.op, (ShapeExpr.make((info.value,)),), None, ())
        self.before.append(VarBinding.make(made, value, span=span))
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
        return all(
            shape_var_mapping(params, map(self.context.struct_info, call.args)).get(size) is size
            for call in uses.calls
        )


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
        body = _prepend_binding(body, VarBinding.make(again, closure, span=var.span))
    return function.replace(body=body)


def _uses(function: Function) -> dict[Var, _Uses]:
    """The uses of each function inside a function, by its variable."""
    found = {var: _Uses() for var in _local_functions(function)}
    for node in compounds(function) if found else ():
        inside = children(node)
        for child in {id(c): c for c in inside if isinstance(c, Var) and c in found}.values():
            uses, mentions = found[child], sum(c is child for c in inside)
            if isinstance(node, Binding) and node.var is child:
                mentions -= 1
            if isinstance(node, Call) and node.op is child:
                uses.calls.append(node)
                mentions -= 1
            uses.as_value = uses.as_value or mentions > 0
    return found


def _killed(function: Function) -> set[Node]:
    """The variables that a function gives back by itself."""
    calls = (node for node in compounds(function) if isinstance(node, Call))
    return {arg for call in calls if Trait.FREES in traits_of(call.op) for arg in call.args}


def _closure(name: GlobalVar, args: tuple[Expr, ...], function: Function) -> Call:
    return Call.make(make_closure.op, (name, Tuple.make(args)), None, (), span=function.span)


def _check_held_shapes(function: Function) -> Function:
    """A function in whose parameters and result no variable holds a shape; the body checks it.

    In a script parameters do not see those behind them, and results see none.
    """
    params: list[Var] = []
    body = function.body
    for param in reversed(function.params):
        info = _erase_held_shapes(param.struct_info)
        if info is not param.struct_info:
            given = type(param).make(param.name_hint, info, span=param.span)
            cast = MatchCast.make(param, given, param.struct_info, span=param.span)
            body, param = _prepend_binding(body, cast), given
        params.append(param)
    ret = function.ret_struct_info
    assert isinstance(body, SeqExpr)
    if ret is not None and _erase_held_shapes(ret) is not ret:
        result = Var("result", ret)
        cast = MatchCast.make(result, body.body, ret, span=body.body_span)
        blocks = (*body.blocks, BindingBlock.make((cast,)))
        body = SeqExpr.make(_merge_blocks(blocks), result, body.body_span, span=body.span)
        ret = _erase_held_shapes(ret)
    return function.replace(params=tuple(reversed(params)), body=body, ret_struct_info=ret)


def _erase_held_shapes(info: StructInfo) -> StructInfo:
    """`info` without shapes that are held by variables; ranks stay."""
    return rewrite(
        info,
        lambda n: (
            n.replace(shape=None)
            if isinstance(n, TensorStructInfo) and isinstance(n.shape, Var)
            else None
        ),
    )


def _erase_in_types(function: Function) -> Function:
    """A function whose function types have no shapes in them that are held by variables."""
    if not any(_has_type_with_held_shape(info) for info in _annotations(function)):
        return function
    return rewrite(
        function, lambda n: _erase_held_shapes(n) if isinstance(n, FuncStructInfo) else None
    )


def _annotations(function: Function) -> Iterator[StructInfo | None]:
    """The annotations of the values in a function."""
    for node in compounds(function):
        match node:
            case Function(params=params, ret_struct_info=ret):
                yield from (param.struct_info for param in params)
                yield ret
            case Binding(var=var):
                yield var.struct_info
                if isinstance(node, MatchCast):
                    yield node.struct_info
            case Call(sinfo_args=infos):
                yield from infos


def _has_type_with_held_shape(info: StructInfo | None) -> bool:
    if info is None or not info.is_compound:
        return False
    types = (part for part in struct_info_parts(info) if isinstance(part, FuncStructInfo))
    return any(_erase_held_shapes(part) is not part for part in types)


def _merge_blocks(blocks: Sequence[BindingBlock]) -> tuple[BindingBlock, ...]:
    """Blocks without empty ones, neighbours of a kind made one."""
    found: list[BindingBlock] = []
    for block in blocks:
        if found and type(found[-1]) is type(block):
            before = found.pop()
            found.append(before.replace(bindings=(*before.bindings, *block.bindings)))
        elif block.bindings:
            found.append(block)
    return tuple(found)


def _prepend_binding(body: Expr, binding: Binding) -> Expr:
    """A body that begins with a binding."""
    assert isinstance(body, SeqExpr)
    blocks = (BindingBlock.make((binding,)), *body.blocks)
    return SeqExpr.make(_merge_blocks(blocks), body.body, body.body_span, span=body.span)


def _rename_variables(function: Function) -> Function:
    """A function all of whose variables are new, since no two functions share one."""

    def step(node: Node) -> Node | None:
        match node:
            case Var(name_hint=name, struct_info=info):
                return type(node).make(name, info, span=node.span)
            case prim.Var(name=name, dtype=dtype):
                return prim.Var.make(name, dtype, span=node.span)
        return None

    return rewrite(function, step)
