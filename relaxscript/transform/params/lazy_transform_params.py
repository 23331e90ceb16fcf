"""LazyTransformParams: weights are fetched, and what is made of them stored, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relaxscript.analysis.weight_names import NUM_INPUT, PARAM_NAMES
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import const
from relaxscript.ir.relax import (
    Attrs,
    BindingBlock,
    Call,
    Expr,
    ExternFunc,
    Function,
    PrimValue,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import ObjectStructInfo, TupleStructInfo
from relaxscript.ir.walk import Substitution, free_vars
from relaxscript.transform.normalize.remove_purity_checking import FORCE_PURE
from relaxscript.transform.normalize.to_non_dataflow import to_non_dataflow
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass
from relaxscript.transform.specialize.bind_weights import with_fields

from .fetched_weights import with_fetched
from .joined_blocks import joined_blocks
from .private_copies import with_new_signatures
from .set_results import has_results, with_set
from .weight_parameters import number_of_inputs

__all__ = ["LazyTransformParams"]

_OBJECT = ObjectStructInfo()


class LazyTransformParams(ModulePass):
    """Have functions that transform weights fetch each of them, and store what they make of them.

    Before:

        @R.function
        def main_transform_params(
            params: R.Tuple(R.Tensor((4, 3), "float32"), R.Tensor((4,), "float32")),
        ):
            w = params[0]
            b = params[1]
            w_t = R.permute_dims(w)
            return (b, w_t)

    After:

        @R.function(pure=False)
        def main_transform_params():
            b_untyped = R.call_packed("get_item", R.prim_value(1), sinfo_args=R.Object)
            b = R.match_cast(b_untyped, R.Tensor((4,), "float32"))
            R.call_packed("set_item", R.prim_value(0), b, sinfo_args=R.Object)
            w_untyped = R.call_packed("get_item", R.prim_value(0), sinfo_args=R.Object)
            w = R.match_cast(w_untyped, R.Tensor((4, 3), "float32"))
            w_t = R.permute_dims(w)
            R.call_packed("set_item", R.prim_value(1), w_t, sinfo_args=R.Object)
            return ()

    These are the functions whose names end in "transform_params". Each weight is fetched before its
    first use, by its position: in the tuple, where all weights are one, or among the parameters
    after the inputs. `fget_item` and `fset_item` name
    the packed functions; with None for one, weights stay parameters, or results are returned.
    The expressions of `extra_get_item_params` and `extra_set_item_params` are given before the
    position; variables among them become parameters, behind the inputs. Dataflow blocks become
    ordinary ones, since the calls have effects. What the module itself calls is a private copy of
    the function as it was.

    Raises `DiagnosticError` (RX0712) for a `num_input` that is no number of parameters. Source: TVM
    `relax.transform.LazyTransformParams`.
    """

    changes_signatures = True
    adds_functions = True
    trusts_checks = True

    def __init__(
        self,
        fget_item: str | None = "get_item",
        fset_item: str | None = "set_item",
        extra_get_item_params: Sequence[Expr] | None = None,
        extra_set_item_params: Sequence[Expr] | None = None,
    ) -> None:
        self.fget_item = fget_item
        self.fset_item = fset_item
        self.extra_get_item_params = tuple(extra_get_item_params or ())
        self.extra_set_item_params = tuple(extra_set_item_params or ())

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        changed = {
            var: made
            for var, function in mod.relax_functions().items()
            if var.name_hint.endswith("transform_params")
            and (made := self._lazy(function, var.name_hint)) is not function
        }
        return with_new_signatures(mod, changed)

    def _lazy(self, before: Function, name: str) -> Function:
        count = number_of_inputs(before, name) or 0
        fetches = self.fget_item is not None and count < len(before.params)
        stores = self.fset_item is not None and has_results(before)
        if not fetches and not stores:
            return before
        function, extra = to_non_dataflow(before), list[Var]()
        own = self._own_variables(extra, fetches, stores)
        if stores:
            put = self._call(self.fset_item, own, self.extra_set_item_params)
            function = with_set(function, put, _OBJECT)
        if fetches:
            function, weights = _with_single_weights(function, count)
            call = self._call(self.fget_item, own, self.extra_get_item_params)
            function = with_fetched(function, function.params[:count], weights, call)
        inputs, rest = function.params[:count], function.params[count:]
        attrs = dict(function.attrs or Attrs())
        attrs.pop(FORCE_PURE, None)
        if fetches:
            attrs.pop(PARAM_NAMES, None)
        if NUM_INPUT in attrs or extra:
            attrs[NUM_INPUT] = count + len(extra)
        return function.replace(
            params=(*inputs, *extra, *rest), is_pure=False, attrs=Attrs(attrs) if attrs else None
        )

    def _own_variables(self, extra: list[Var], fetches: bool, stores: bool) -> Substitution:
        """Variables of one function for those that are given; they are added to `extra`."""
        own = Substitution()
        given = (
            *(self.extra_get_item_params if fetches else ()),
            *(self.extra_set_item_params if stores else ()),
        )
        for var in dict.fromkeys(v for each in given for v in free_vars(each)):
            if isinstance(var, Var):
                extra.append(Var.make(var.name_hint, var.struct_info))
                own[var] = extra[-1]
        return own

    def _call(
        self, name: str | None, own: Substitution, extra: Sequence[Expr]
    ) -> Callable[..., Expr]:
        """The calls of a packed function with a position, and with a value if there is one."""
        assert name is not None
        given = tuple([own.apply(each) for each in extra])

        def call(index: int, *value: Expr) -> Expr:
            position = PrimValue.make(const(index, "int64"))
            return Call.make(ExternFunc.make(name), (*given, position, *value), None, (_OBJECT,))

        return call


def _with_single_weights(function: Function, count: int) -> tuple[Function, tuple[Var, ...]]:
    """The function with a variable for each weight, also where all of them are one tuple."""
    weights, body = function.params[count:], function.body
    info = weights[0].struct_info
    assert isinstance(body, SeqExpr)
    if len(weights) > 1 or not isinstance(info, TupleStructInfo):
        return function, weights
    whole = weights[0]
    names = _names_of_fields(body, whole)
    fields = {
        i: Var.make(names.get(i, f"{whole.name_hint}_{i}"), field, span=whole.span)
        for i, field in enumerate(info.fields)
    }
    body = with_fields(body, {whole: fields})
    if whole in free_vars(body):
        again = VarBinding.make(whole, Tuple.make(tuple(fields.values())), span=whole.span)
        body = body.replace(blocks=joined_blocks((BindingBlock.make((again,)), *body.blocks)))
    single = tuple(fields.values())
    return function.replace(params=(*function.params[:count], *single), body=body), single


def _names_of_fields(body: SeqExpr, whole: Var) -> dict[int, str]:
    """The names under which the function has the fields of a tuple."""
    return {
        binding.value.index: binding.var.name_hint
        for block in body.blocks
        for binding in reversed(block.bindings)
        if isinstance(binding.value, TupleGetItem) and binding.value.tuple_value is whole
    }
