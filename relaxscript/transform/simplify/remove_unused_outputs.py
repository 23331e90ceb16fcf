"""RemoveUnusedOutputs: private functions return no more than their callers look at."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from relaxscript.analysis.derive import Context
from relaxscript.analysis.unused import (
    consolidate,
    droppable_variables,
    remove_all_unused,
)
from relaxscript.arith import YES
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    Expr,
    Function,
    GlobalVar,
    If,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import StructInfo, TupleStructInfo
from relaxscript.ir.variable_shapes import has_variable_shape
from relaxscript.ir.walk import compounds, mentioned, rewrite_compounds, variables
from relaxscript.sinfo import check_compatibility, definable_shape_vars
from relaxscript.transform.normalize.normalize import normalize_module
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .canonicalize_bindings import canonical_form
from .private_calls import Calls, function_of, infos_of, joined, private_calls

__all__ = ["RemoveUnusedOutputs"]


class RemoveUnusedOutputs(ModulePass):
    """Return from private functions only those fields of tuples that some caller takes out.

    Before:

        @R.function(private=True)
        def split(x: R.Tensor((4,), "float32")):
            with R.dataflow():
                y = R.exp(x)
                z = R.log(x)
                R.output(y, z)
            return (y, z)

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            both = cls.split(x)
            y = both[0]
            return y

    After:

        @R.function(private=True)
        def split(x: R.Tensor((4,), "float32")):
            with R.dataflow():
                y = R.exp(x)
                R.output(y)
            return y

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            y = cls.split(x)
            return y

    One field that is left is returned by itself, without a tuple. Functions that change are brought
    into the form of `CanonicalizeBindings`. What computed a field goes as it does in
    `DeadCodeElimination`. So chains and recursion settle: a field that only such a field needed
    goes, too. A result whose check may fail stays whole. So does that of a function which is used
    as a value, or which nobody calls.

    Source: TVM `relax.transform.RemoveUnusedOutputs`.
    """

    changes_signatures = True
    changes_failures = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        functions = mod.relax_functions().values()
        if not any(function.is_private and _fields(function) for function in functions):
            return mod
        made = normal = normalize_module(mod, check_well_formed=False)
        while (smaller := _without_unused(made)) is not made:
            made = smaller
        return mod if made is normal else made


def _fields(function: Function) -> tuple[StructInfo, ...]:
    """StructInfos of the fields that a function returns; empty where it returns no tuple."""
    info = function.ret_struct_info
    return info.fields if isinstance(info, TupleStructInfo) else ()


def _without_unused(mod: IRModule) -> IRModule:
    """The module without the fields that nobody uses now; `mod` itself where there are none."""
    calls = _changeable(mod, private_calls(mod))
    if not calls:
        return mod
    uses = _Uses(mod, calls)
    needed = uses.needed()
    left = {}
    for name in calls:
        count = len(_fields(function_of(mod, name)))
        kept = tuple([index for index in range(count) if (name, index) in needed])
        if len(kept) < count:
            left[name] = kept
    if not left:
        return mod
    made = mod.clone()
    callers = {site.caller for name in left for site in calls[name]}
    changed = {**dict.fromkeys(left), **dict.fromkeys(callers)}
    for name in changed:
        function = function_of(mod, name)
        if name in left:
            function = _with_fewer_results(function, left, left[name], uses.bound)
        dead = {var for var in uses.droppable[name] if var not in needed}
        made[name] = _with_smaller_tuples(function, left, dead)
    for name in changed:
        canonical, _ = canonical_form(function_of(made, name), made)
        made[name] = remove_all_unused(canonical, module=made)
    return made


# ---------------------------------------------------------------- which fields are used


def _changeable(mod: IRModule, calls: Calls) -> Calls:
    """Those functions that return a tuple, in whose place a part of it may be returned."""
    context = Context(mod)
    found = {}
    for name, sites in calls.items():
        function = function_of(mod, name)
        bindings = [site.binding for site in sites]
        is_sure = all(_is_as_declared(binding, context) for binding in bindings)
        if _fields(function) and sites and is_sure and _is_sure_to_return(function, context):
            found[name] = sites
    return found


def _is_sure_to_return(function: Function, context: Context) -> bool:
    """True if what a function gives is sure to be what it says."""
    assert isinstance(function.body, SeqExpr)
    known, declared = context.struct_info(function.body.body), function.ret_struct_info
    assert declared is not None
    if not isinstance(known, TupleStructInfo) or len(known.fields) != len(_fields(function)):
        return False
    in_scope = {v for p in infos_of(function.params) for v in definable_shape_vars(p)}
    return check_compatibility(known, declared, in_scope=in_scope) is YES


def _is_as_declared(binding: Binding, context: Context) -> bool:
    """True if a call gives what its variable says, without a check that may fail."""
    if not isinstance(binding, VarBinding):
        return False
    declared, known = binding.var.struct_info, context.struct_info(binding.value)
    return declared is None or check_compatibility(known, declared) is YES


# A field of what a function returns: the name of the function, and the index.
Field = tuple[str, int]
Need = Var | Field


class _Uses:
    """The variables and fields that are needed, through all functions of a module at once.

    `needs` has what a variable or a field needs where something needs it; `todo` begins with what
    is needed in any case.
    """

    def __init__(self, mod: IRModule, calls: Calls) -> None:
        self.mod, self.calls = mod, calls
        self.needs: dict[Need, list[Need]] = {}
        self.todo: list[Need] = []
        # The variables of calls, and those whose bindings may go, by function.
        self.bound: dict[Var, str] = {}
        self.droppable: dict[str, set[Node]] = {}
        for gvar, function in mod.relax_functions().items():
            self._look_at(gvar.name_hint, function)

    def needed(self) -> set[Need]:
        """All that something needs."""
        found: set[Need] = set()
        while self.todo:
            one = self.todo.pop()
            if one not in found:
                found.add(one)
                self.todo += self.needs.get(one, ())
        return found

    def _look_at(self, name: str, function: Function) -> None:
        droppable = self.droppable[name] = droppable_variables(function, self.mod)
        for node in compounds(function):
            match node:
                case VarBinding(var=var, value=Call(op=GlobalVar(callee))) if callee in self.calls:
                    self.bound[var] = callee
        returned = function.body if name in self.calls else None
        for node in compounds(function):
            if isinstance(node, VarBinding) and node.var in droppable:
                self.needs[node.var] = self._of(node)
            elif node is not returned:
                self.todo += self._of(node)
        if returned is not None:
            assert isinstance(returned, SeqExpr)
            for index in range(len(_fields(function))):
                self.needs[name, index] = self._field(returned.body, index)

    def _of(self, node: Node) -> list[Need]:
        """The needs of a part of a function, without those of the parts that come by themselves."""
        match node:
            case Binding(var=var, value=value):
                return [*self._in(value), *_in_info(var.struct_info)]
            case If(cond=cond):
                return self._in(cond)
            case SeqExpr(body=body):
                return self._in(body)
            case Function(params=params, ret_struct_info=result):
                infos = [*infos_of(params), result]
                return [var for info in infos for var in _in_info(info)]
        return []

    def _field(self, result: Expr, index: int) -> list[Need]:
        """The needs of one field of a result."""
        if isinstance(result, Tuple):
            return self._in(result.fields[index])
        if isinstance(result, Var) and result in self.bound:
            return [result, (self.bound[result], index)]
        return self._in(result)

    def _in(self, value: Expr) -> list[Need]:
        """The needs of an expression."""
        if isinstance(value, (If, Function)):
            return []  # their parts come by themselves
        match value:
            case TupleGetItem(tuple_value=Var() as var, index=index) if var in self.bound:
                return [var, (self.bound[var], index)]
        found: list[Need] = []
        for var in mentioned(value):
            found.append(var)
            if (callee := self.bound.get(var)) is not None:
                count = len(_fields(function_of(self.mod, callee)))
                found += [(callee, index) for index in range(count)]
        return found


def _in_info(info: StructInfo | None) -> list[Need]:
    """The variables that hold shapes in a StructInfo."""
    if info is None or not has_variable_shape(info):
        return []
    return [var for var in variables(info) if isinstance(var, Var)]


# ---------------------------------------------------------------- what is returned instead


def _part(infos: tuple[StructInfo, ...], left: tuple[int, ...]) -> StructInfo:
    """The StructInfo of the fields that are left: of one, or of a tuple of them."""
    if len(left) == 1:
        return infos[left[0]]
    return TupleStructInfo(tuple([infos[index] for index in left]))


def _with_fewer_results(
    function: Function,
    every: Mapping[str, tuple[int, ...]],
    left: tuple[int, ...],
    bound: Mapping[Var, str],
) -> Function:
    """The function that returns these fields only; `every` has those that are left of others."""
    body = function.body
    assert isinstance(body, SeqExpr)
    info = _part(_fields(function), left)
    if isinstance(body.body, Var) and every.get(bound.get(body.body, "")) == left:
        return function.replace(ret_struct_info=info)  # what it hands on has no others either
    blocks, result = body.blocks, body.body
    if isinstance(result, Tuple):
        fields: list[Expr] = [result.fields[index] for index in left]
    else:
        assert isinstance(result, Var)
        assert isinstance(result.struct_info, TupleStructInfo)
        known = result.struct_info.fields
        items = [
            VarBinding.make(
                Var.make(f"{result.name_hint}_{index}", known[index]),
                TupleGetItem.make(result, index), span=result.span,
            )
            for index in left
        ]  # fmt: skip
        blocks = joined(blocks, (BindingBlock.make(tuple(items)),)) if items else blocks
        fields = [item.var for item in items]
    made = fields[0] if len(fields) == 1 else Tuple.make(tuple(fields))
    return function.replace(body=body.replace(blocks=blocks, body=made), ret_struct_info=info)


Smaller = Mapping[Var, tuple[Var, tuple[int, ...]]]


def _with_smaller_tuples(
    function: Function, left: Mapping[str, tuple[int, ...]], dead: Collection[Node]
) -> Function:
    """The function with what calls give now; bindings of `dead` variables are gone."""
    smaller: dict[Var, tuple[Var, tuple[int, ...]]] = {}
    for node in compounds(function):
        match node:
            case VarBinding(var=var, value=Call(op=GlobalVar(name))) if name in left:
                assert isinstance(var.struct_info, TupleStructInfo)
                info = _part(var.struct_info.fields, left[name])
                new = type(var).make(var.name_hint, info, span=var.span)
                smaller[var] = (new, left[name])

    def step(node: Node) -> Node | None:
        match node:
            case BindingBlock(bindings=bindings):
                kept = tuple([b for b in bindings if b.var not in dead])
                return node.replace(bindings=kept) if len(kept) < len(bindings) else None
            case VarBinding(var=var) if var not in dead:
                return _with_less(node, smaller)
            case SeqExpr(blocks=blocks, body=result):
                if not all(block.bindings for block in blocks):
                    node = node.replace(blocks=consolidate(blocks))
                found = smaller.get(result) if isinstance(result, Var) else None
                return node if found is None else node.replace(body=found[0])
        return None

    return rewrite_compounds(function, step)


def _with_less(binding: VarBinding, smaller: Smaller) -> VarBinding | None:
    """The binding of a call that gives less, or of a field of it; None for one that stays."""
    match binding:
        case VarBinding(var=var, value=Call(args=args) as call) if var in smaller:
            # Written anew: what the old one gave is known of it.
            made = Call.make(call.op, args, call.attrs, call.sinfo_args, span=call.span)
            return VarBinding.make(smaller[var][0], made, span=binding.span)
        case VarBinding(value=TupleGetItem(tuple_value=Var() as var, index=i)) if var in smaller:
            new, kept = smaller[var]
            value = new if len(kept) == 1 else TupleGetItem.make(new, kept.index(i))
            return binding.replace(value=value)
    return None
