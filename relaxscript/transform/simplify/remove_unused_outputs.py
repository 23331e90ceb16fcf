"""RemoveUnusedOutputs: private functions return no more than their callers look at."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from relaxscript.analysis.call_graph import values_in
from relaxscript.analysis.derive import Context
from relaxscript.analysis.unused import remove_all_unused
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
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import StructInfo, TupleStructInfo
from relaxscript.ir.walk import compounds, rewrite_compounds
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
        summaries: dict[Function, _Summary] = {}
        while (smaller := _without_unused(made, summaries)) is not made:
            made = smaller
        return mod if made is normal else made


def _fields(function: Function) -> tuple[StructInfo, ...]:
    """StructInfos of the fields that a function returns; empty where it returns no tuple."""
    info = function.ret_struct_info
    return info.fields if isinstance(info, TupleStructInfo) else ()


def _without_unused(mod: IRModule, summaries: dict[Function, _Summary]) -> IRModule:
    """The module without the fields that nobody uses now; `mod` itself where there are none."""
    calls = _changeable(mod, private_calls(mod))
    used = _used(mod, calls, summaries)
    left = {
        name: tuple(sorted(fields))
        for name, fields in used.items()
        if len(fields) < len(_fields(function_of(mod, name)))
    }
    if not left:
        return mod
    made = mod.clone()
    callers = {site.caller for name in left for site in calls[name]}
    changed = {**dict.fromkeys(left), **dict.fromkeys(callers)}
    for name in changed:
        function = function_of(mod, name)
        if name in left:
            result = summaries[function].result
            is_same = (
                result is not None and left.get(summaries[function].bound[result]) == left[name]
            )
            function = _with_fewer_results(function, left[name], is_same)
        made[name] = _with_smaller_tuples(function, left)
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


class _Summary(NamedTuple):
    """The uses that a function makes of the tuples that calls give it.

    `bound` has the callees by the variables. `taken` are the fields that are taken out, and `whole`
    the variables that are used in another way. `result` is one that the function returns as it is.
    """

    bound: Mapping[Var, str]
    taken: Collection[tuple[Var, int]]
    whole: Collection[Var]
    result: Var | None


def _summary(function: Function) -> _Summary:
    bound: dict[Var, str] = {}
    taken: list[tuple[Var, int]] = []
    whole: list[Var] = []
    assert isinstance(function.body, SeqExpr)
    for node in compounds(function):
        match node:
            case VarBinding(var=var, value=Call(op=GlobalVar(name))):
                bound[var] = name
            case TupleGetItem(tuple_value=Var() as var, index=index):
                taken.append((var, index))
            case _ if node is not function.body and node is not function:
                whole += [part for part in values_in(node) if isinstance(part, Var)]
    result = function.body.body
    returned = result if isinstance(result, Var) and result in bound else None
    return _Summary(
        bound, [each for each in taken if each[0] in bound], [v for v in whole if v in bound],
        returned,
    )  # fmt: skip


def _used(mod: IRModule, calls: Calls, summaries: dict[Function, _Summary]) -> dict[str, set[int]]:
    """The fields of the results of these functions that somebody uses."""
    used: dict[str, set[int]] = {name: set() for name in calls}
    everything = {name: range(len(_fields(function_of(mod, name)))) for name in calls}
    passed_on: dict[str, list[str]] = {name: [] for name in calls}
    todo: list[tuple[str, int]] = []
    for gvar, function in mod.relax_functions().items():
        summary = summaries.get(function) or summaries.setdefault(function, _summary(function))
        todo += [(summary.bound[var], index) for var, index in summary.taken]
        whole = [summary.bound[var] for var in summary.whole]
        if summary.result is not None:
            callee = summary.bound[summary.result]
            if gvar.name_hint in calls:
                passed_on[gvar.name_hint].append(callee)
            else:
                whole.append(callee)
        todo += [(name, i) for name in whole for i in everything.get(name, ())]
    while todo:
        name, index = todo.pop()
        if name in used and index not in used[name]:
            used[name].add(index)
            todo += [(callee, index) for callee in passed_on[name]]
    return used


# ---------------------------------------------------------------- what is returned instead


def _part(infos: tuple[StructInfo, ...], left: tuple[int, ...]) -> StructInfo:
    """The StructInfo of the fields that are left: of one, or of a tuple of them."""
    if len(left) == 1:
        return infos[left[0]]
    return TupleStructInfo(tuple([infos[index] for index in left]))


def _with_fewer_results(function: Function, left: tuple[int, ...], is_same: bool) -> Function:
    """The function that returns these fields only; `is_same` where its result has no others."""
    body = function.body
    assert isinstance(body, SeqExpr)
    info = _part(_fields(function), left)
    if is_same:
        return function.replace(ret_struct_info=info)
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


def _with_smaller_tuples(function: Function, left: Mapping[str, tuple[int, ...]]) -> Function:
    """The function with what calls give now in the place of what they gave."""
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
            case VarBinding(var=var, value=Call(args=args) as call) if var in smaller:
                # Written anew: what the old one gave is known of it.
                made = Call.make(call.op, args, call.attrs, call.sinfo_args, span=call.span)
                return VarBinding.make(smaller[var][0], made, span=node.span)
            case VarBinding(value=TupleGetItem(tuple_value=Var() as var, index=index)) if (
                var in smaller
            ):
                new, kept = smaller[var]
                if len(kept) == 1:
                    return node.replace(value=new)
                return node.replace(value=TupleGetItem.make(new, kept.index(index)))
            case SeqExpr(body=Var() as var) if var in smaller:
                return node.replace(body=smaller[var][0])
        return None

    return rewrite_compounds(function, step)
