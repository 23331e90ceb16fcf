"""FuseTIR: functions of calls of PrimFuncs become PrimFuncs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relaxscript.analysis.mentioned_functions import mentioned_functions
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr, Var as PrimVar
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    Expr,
    Function,
    GlobalVar,
    If,
    SeqExpr,
    Tuple,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import ShapeStructInfo, StructInfo, TensorStructInfo
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import compounds, rewrite_top_down, substitute
from relaxscript.op.calls import call_tir
from relaxscript.op.inplace import call_tir_inplace
from relaxscript.op.results import NEW
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .joined_function import Joined, JoinedFunctions
from .tir_calls import tensors_of

__all__ = ["FuseTIR"]


class FuseTIR(ModulePass):
    """Make one PrimFunc of each private function that `FuseOps` made.

    Before:

        @R.function(private=True)
        def fused_exp_negative(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            R.func_attr({"Primitive": True})
            with R.dataflow():
                lv = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((4,), "float32"))
                gv = R.call_tir(cls.negative, (lv,), out_sinfo=R.Tensor((4,), "float32"))
                R.output(gv)
            return gv

        y: R.Tensor((4,), "float32") = cls.fused_exp_negative(x)

    After:

        @T.prim_func(private=True)
        def fused_exp_negative(x: T.Buffer((4,), "float32"), T_neg_intermediate: ...):
            T_exp_intermediate = T.alloc_buffer((4,))
            ...  # the loops of `exp`, then those of `negative`

        y = R.call_tir(cls.fused_exp_negative, (x,), out_sinfo=R.Tensor((4,), "float32"))

    What only these functions called is not there afterwards. A function stays where its PrimFuncs
    cannot be joined: one whose body is no block of loops, or that leaves out elements of a tensor
    which others read. So it does where it is used in another way than by a call that is bound.

    Source: TVM `relax.transform.FuseTIR`.
    """

    changes_signatures = True
    removes_functions = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        primitive = {g: f for g, f in mod.relax_functions().items() if _is_primitive(f)}
        if not primitive:
            return mod
        joining = JoinedFunctions(mod)
        joined: dict[str, Joined] = {}
        for gvar, func in primitive.items():
            made = joining.join(func)
            if made is not None:
                joined[gvar.name_hint] = made
        calls = _replacements(mod, joined)
        if not joined:
            return mod
        made_module = mod.clone()
        for gvar, func in mod.relax_functions().items():
            found = joined.get(gvar.name_hint)
            made_module[gvar] = _rewritten(func, calls) if found is None else found.function
        _remove_unused(made_module, mod, joining)
        return made_module


def _is_primitive(func: Function) -> bool:
    return func.is_private and bool((func.attrs or Attrs()).get("Primitive"))


def _replacements(mod: IRModule, joined: dict[str, Joined]) -> dict[Call, Call]:
    """The calls in the place of others; what is used in another way leaves `joined`."""
    calls: dict[str, dict[Call, Call]] = {name: {} for name in joined}
    # Those that can be joined call nothing but PrimFuncs.
    others = [f for gvar, f in mod.relax_functions().items() if gvar.name_hint not in joined]
    for func in others:
        bound: set[Expr] = set()
        for node in compounds(func):
            if node.__class__ is VarBinding:
                bound.add(node.value)
            for name in [gvar.name_hint for gvar in _functions_in(node)]:
                joined.pop(name, None)
            if node.__class__ is Call and isinstance(node.op, GlobalVar):
                name = node.op.name_hint
                if name in joined:
                    made = _call(node, joined[name]) if node in bound else None
                    if made is None:
                        del joined[name]
                    else:
                        calls[name][node] = made
    return {old: new for name in joined for old, new in calls[name].items()}


def _functions_in(node: Node) -> Sequence[GlobalVar]:
    """The functions of the module that a node mentions as values."""
    match node:
        case Call(args=found) | Tuple(fields=found):
            return [e for e in found if isinstance(e, GlobalVar)]
        case Binding(value=GlobalVar() as found) | SeqExpr(body=GlobalVar() as found):
            return [found]
        case Function(body=GlobalVar() as found):
            return [found]
    return ()


def _call(call: Call, joined: Joined) -> Call | None:
    """The call of a PrimFunc in the place of one of the function; None where sizes are unknown."""
    sizes = _sizes(call, joined)
    if sizes is None:
        return None
    result = call.known_info if tensors_of(call.known_info) else substitute(joined.result, sizes)
    assert result is not None, "either is there"
    pairs = list(zip(call.args, joined.params))
    tensors = tuple([arg for arg, info in pairs if isinstance(info, TensorStructInfo)])
    rest = [arg for arg, info in pairs if not isinstance(info, TensorStructInfo)]
    args: tuple[Expr, ...] = (call.op, Tuple.make(tensors), *rest)
    attrs, op = None, call_tir.op
    if any(index != NEW for index in joined.indices):
        attrs, op = Attrs({"inplace_indices": joined.indices}), call_tir_inplace.op
    made = Call.make(op, args, attrs, (result,), span=call.span)
    remember_struct_info(made, result)
    return made


def _sizes(call: Call, joined: Joined) -> dict[PrimVar, PrimExpr] | None:
    """The sizes of a call for the shape variables of a function; None where one is unknown."""
    sizes: dict[PrimVar, PrimExpr] = {}
    if len(call.args) != len(joined.params):
        return None
    for arg, info in zip(call.args, joined.params):
        given, own = _sizes_in(struct_info_of_leaf(arg)), _sizes_in(info)
        if given is None or own is None or len(given) != len(own):
            return None
        sizes.update([(var, size) for var, size in zip(own, given) if isinstance(var, PrimVar)])
    return sizes


def _sizes_in(info: StructInfo | None) -> Sequence[PrimExpr] | None:
    match info:
        case TensorStructInfo(dims=dims):
            return dims
        case ShapeStructInfo(values=values):
            return values
    return None


def _rewritten(func: Function, calls: Mapping[Call, Call]) -> Function:
    """A function with other calls."""

    def step(node: Node) -> Node | None:
        if not isinstance(node, Binding) or isinstance(node.value, (If, Function)):
            return None
        made = calls.get(node.value) if isinstance(node.value, Call) else None
        return node if made is None else VarBinding.make(node.var, made, span=node.span)

    return rewrite_top_down(func, step) if calls else func


def _remove_unused(mod: IRModule, before: IRModule, joining: JoinedFunctions) -> None:
    """Take away the private PrimFuncs that were joined, where nothing mentions them any more."""
    unused = {name for name in joining.templates if before[name].is_private}
    for func in mod.relax_functions().values():
        for node in compounds(func):
            if node.__class__ is Call and isinstance(node.op, GlobalVar):
                unused.discard(node.op.name_hint)
            unused.difference_update([gvar.name_hint for gvar in _functions_in(node)])
    # Whatever a PrimFunc mentions stays, whether anybody calls that one or not.
    for gvar, member in before.functions.items():
        template = joining.templates.get(gvar.name_hint)
        if template is not None:
            unused.difference_update([mentioned.name_hint for mentioned in template.mentioned])
        elif unused and isinstance(member, PrimFunc):
            unused -= mentioned_functions(member)
    for name in unused:
        del mod[name]
