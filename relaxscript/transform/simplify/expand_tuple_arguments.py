"""ExpandTupleArguments: private functions take what is in tuples, not the tuples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from relaxscript.analysis.unused import remove_all_unused
from relaxscript.builder import ExprMutator
from relaxscript.errors import Span
from relaxscript.ir.module import IRModule
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
from relaxscript.transform.normalize.normalize import normalize_module
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .canonicalize_bindings import canonical_form
from .private_calls import function_of, infos_of, joined, private_calls

__all__ = ["ExpandTupleArguments"]


class ExpandTupleArguments(ModulePass):
    """Give the fields of tuples to private functions, each as an argument of its own.

    Before:

        @R.function(private=True)
        def total(pair: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
            y = R.add(pair[0], pair[1])
            return y

        @R.function
        def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")):
            y = cls.total((x, w))
            return y

    After:

        @R.function(private=True)
        def total(pair_0: R.Tensor((4,), "float32"), pair_1: R.Tensor((4,), "float32")):
            y = R.add(pair_0, pair_1)
            return y

        @R.function
        def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")):
            y = cls.total(x, w)
            return y

    Tuples in tuples are expanded, too. Where a function needs the tuple as a whole, it makes it.
    Functions whose bindings change are brought into the form of `CanonicalizeBindings`. Those that
    are used as values, and those with `num_input`, stay.

    Source: TVM `relax.transform.ExpandTupleArguments`.
    """

    changes_signatures = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        if not any(_takes_tuples(function) for function in mod.relax_functions().values()):
            return mod
        made = normal = normalize_module(mod, check_well_formed=False)
        # What held a function as a value may be gone, and then that one is only called.
        while (flatter := _expanded(made)) is not made:
            made = flatter
        return mod if made is normal else made


def _takes_tuples(function: Function) -> bool:
    return function.is_private and any(map(_is_tuple, infos_of(function.params)))


def _is_tuple(info: StructInfo) -> bool:
    return isinstance(info, TupleStructInfo)


def _expanded(mod: IRModule) -> IRModule:
    """The module with tuples expanded where that can be done now; `mod` itself if nowhere."""
    calls = {
        name: sites
        for name, sites in private_calls(mod).items()
        if _takes_tuples(function_of(mod, name))
    }
    if not calls:
        return mod
    made = mod.clone()
    for name in calls:
        made[name] = _with_fields(function_of(mod, name))
    callers = {site.caller for sites in calls.values() for site in sites}
    for name in {**dict.fromkeys(calls), **dict.fromkeys(callers)}:
        params = {each: function_of(mod, each).params for each in calls}
        function = _ArgumentExpander(made, params).function(function_of(made, name), name)
        canonical, _ = canonical_form(function, made)
        made[name] = remove_all_unused(canonical, module=made, keep_failures=True)
    return made


def _with_fields(function: Function) -> Function:
    """The function with parameters for fields; it makes the tuples itself."""
    params: list[Var] = []
    bindings: list[Binding] = []
    for param in function.params:
        params += _fields_of(param, bindings)
    body = function.body
    assert isinstance(body, SeqExpr)
    blocks = joined((BindingBlock.make(tuple(bindings)),), body.blocks)
    return function.replace(params=tuple(params), body=body.replace(blocks=blocks))


def _fields_of(param: Var, bindings: list[Binding]) -> Iterator[Var]:
    """The parameters in the place of one, and the bindings that make it of them."""
    info = param.struct_info
    if not isinstance(info, TupleStructInfo):
        yield param
        return
    fields = [Var.make(f"{param.name_hint}_{i}", each) for i, each in enumerate(info.fields)]
    for field in fields:
        yield from _fields_of(field, bindings)
    bindings.append(VarBinding.make(param, Tuple.make(tuple(fields)), span=param.span))


class _ArgumentExpander(ExprMutator):
    """Gives the fields of tuples to functions; `params` are what these took before."""

    def __init__(self, mod: IRModule, params: Mapping[str, Sequence[Var]]) -> None:
        super().__init__(mod)
        self.params = params

    def binding(self, binding: Binding) -> None:
        match binding.value:
            case Call(op=GlobalVar(name), args=args) as call if name in self.params:
                given: list[Expr] = []
                for param, arg in zip(infos_of(self.params[name]), args):
                    given += self._fields(param, arg, call.span)
                # What it gives is known: nothing is to be derived of the call that there was.
                made = Call.make(call.op, tuple(given), call.attrs, call.sinfo_args, span=call.span)
                self.replace_value(binding, made)
                return
        super().binding(binding)

    def _fields(self, wanted: StructInfo, given: Expr, span: Span | None) -> Iterator[Expr]:
        """The fields of an argument for a parameter, those of fields as well."""
        if not isinstance(wanted, TupleStructInfo):
            yield given
            return
        for index, info in enumerate(wanted.fields):
            if isinstance(given, Tuple):
                field: Expr = given.fields[index]
            else:
                field = self.emit(TupleGetItem.make(given, index), "field", span)
            yield from self._fields(info, field, span)
