"""AppendLoss: a model and a loss as one function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relaxscript.analysis import free_symbolic_vars
from relaxscript.arith import NO
from relaxscript.builder import BlockBuilder
from relaxscript.builder.specialize import (
    Specialization,
    Specializer,
    evaluates_once,
    in_normal_form,
)
from relaxscript.errors import Diagnostic, DiagnosticError, Span
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr, Var as PrimVar
from relaxscript.ir.relax import (
    Attrs,
    BindingBlock,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.ir.struct_info import StructInfo, TupleStructInfo
from relaxscript.ir.walk import mentioned, substitute, walk
from relaxscript.sinfo import check_compatibility, definable_shape_vars, shape_var_mapping
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.function_names import global_var_named
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["AppendLoss"]


class AppendLoss(ModulePass):
    """Add a function that computes what the results of a function cost.

    Before, and `loss_function`, which a `Loss` makes:

        @R.function
        def main(x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 3), "float32")):
            with R.dataflow():
                y = R.matmul(x, w)
                R.output(y)
            return y

        def mse_loss(predictions: R.Tensor((2, 3), "float32"), targets: R.Tensor((2, 3), "float32"))

    After, besides `main`:

        @R.function
        def main_loss(
            x: R.Tensor((2, 4), "float32"),
            w: R.Tensor((4, 3), "float32"),
            targets: R.Tensor((2, 3), "float32"),
        ):
            with R.dataflow():
                y = R.matmul(x, w)
                lv = R.subtract(y, targets)
                lv_1 = R.multiply(lv, lv)
                gv = R.mean(lv_1)
                R.output(gv)
            return gv

    The first `num_backbone_outputs` results of the function `func_name` are the first arguments of
    the loss; its other parameters are added to those of the function. The results are the loss, and
    behind it those that it does not take: `(gv, state)`. The new function is called
    `new_func_name`, by default as the function with `_loss` behind. A result of which less is known
    than the loss asks for is checked where it runs.

    Raises `DiagnosticError`. RX0703 is for a function that is not there, RX0103 for a new name
    that is. RX0206 is for results that do not fit, RX0203 for fewer than the loss takes. RX0305 is
    for a loss with a dimension that none of its parameters binds.
    Source: TVM `relax.training.AppendLoss`.
    """

    adds_functions = True
    runs_once = True

    def __init__(
        self,
        func_name: str,
        loss_function: Function,
        num_backbone_outputs: int = 1,
        new_func_name: str | None = None,
    ) -> None:
        self.func_name = func_name
        self.loss_function = loss_function
        self.num_backbone_outputs = num_backbone_outputs
        self.new_func_name = new_func_name

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        var = global_var_named(mod, self.func_name, self.info.name, relax_only=True)
        name = self.new_func_name or f"{var.name_hint}_loss"
        if name in mod:
            message = f"the function with the loss would be called `{name}`, which is there already"
            help = "give it another name by `new_func_name`"
            raise DiagnosticError(Diagnostic("RX0103", message, mod[name].span, help=help))
        if unbound := free_symbolic_vars(self.loss_function):
            message = f"no parameter of the loss says what its dimension `{unbound[0].name}` is"
            help = "give one of its operands this dimension as it is"
            raise DiagnosticError(Diagnostic("RX0305", message, caller_span(), help=help))
        made = mod.clone()
        made[GlobalVar(name)] = append_loss(
            mod, mod[var], self.loss_function, self.num_backbone_outputs, name
        )
        return made


def append_loss(
    mod: IRModule, backbone: Function, loss: Function, taken: int, name: str
) -> Function:
    """The function `name` of a module that computes what `taken` results of `backbone` cost."""
    model, cost = (copy_with_new_vars(in_normal_form(f, mod)) for f in (backbone, loss))
    return _WithLoss(mod, model, cost, taken, name).function()


class _WithLoss(Specialization):
    """The function of a model and a loss while it is written; both are copies.

    Where the model ends with a dataflow block, and the loss is one, they become one block.
    """

    def __init__(
        self, mod: IRModule, backbone: Function, loss: Function, taken: int, name: str
    ) -> None:
        self.builder = BlockBuilder(mod)
        self.mod = mod
        self.backbone = backbone
        self.loss = loss
        self.taken = taken
        self.name = name
        value = _body(backbone).body
        # Results that are written as a tuple are told apart where they are.
        self.fields = list(value.fields) if isinstance(value, Tuple) else []
        info = self.builder.struct_info(value)
        self.results = list(info.fields) if isinstance(info, TupleStructInfo) else [info]
        if not isinstance(info, TupleStructInfo):
            self.fields = [value]
        blocks = (_body(backbone).blocks[-1:], _body(loss).blocks)
        self.is_merged = all(len(b) == 1 and isinstance(b[0], DataflowBlock) for b in blocks)

    def function(self) -> Function:
        """The function, in normal form."""
        self._require_fit()
        backbone, builder = self.backbone, self.builder
        sizes = self._sizes()
        targets = [_resized(param, sizes) for param in self.loss.params[self.taken :]]
        builder.begin_function(
            self.name, [*backbone.params, *targets], backbone.is_pure and self.loss.is_pure,
            self._attributes(),
        )  # fmt: skip
        given = self._write_backbone()
        result = self._write_loss(given[: self.taken], targets, sizes)
        if self.is_merged:
            if any(isinstance(var, DataflowVar) for var in mentioned(result)):
                result = builder.bind(result, "gv", outlives=True)
            builder.end_dataflow()
        rest = given[self.taken :]
        builder.set_result(Tuple.make((result, *rest)) if rest else result)
        return builder.end_function(span=backbone.span)

    def _require_fit(self) -> None:
        """Refuse a loss that takes more than there is, or what the results are not."""
        taken, results, params = self.taken, self.results, self.loss.params
        for noun, count in (("results", len(results)), ("parameters of the loss", len(params))):
            if not 0 < taken <= count:
                message = f"the loss of `{self.name}` takes {taken} results of the function"
                note = f"there are {count} {noun}"
                raise DiagnosticError(Diagnostic("RX0203", message, self._place(), notes=(note,)))
        wanted = [_info(param) for param in params[:taken]]
        sizes = shape_var_mapping(wanted, results[:taken])
        for place, (info, declared) in enumerate(zip(results, wanted)):
            if check_compatibility(info, substitute(declared, sizes)) is NO:
                which = "the result" if len(results) == 1 else f"result {place}"
                name = params[place].name_hint
                raise DiagnosticError(Diagnostic(
                    "RX0206", f"{which} of the function does not fit `{name}` of the loss",
                    self._place(),
                    notes=(f"{which} is `{info}`", f"`{name}` is `{declared}`"),
                    help="make the loss for what the function gives",
                ))  # fmt: skip

    def _place(self) -> Span | None:
        """The place of the results in the source."""
        return _body(self.backbone).body_span or self.backbone.span

    def _sizes(self) -> dict[PrimVar, PrimExpr]:
        """Sizes of the loss in terms of the parameters of the model, as far as these say them."""
        wanted = [_info(param) for param in self.loss.params[: self.taken]]
        known = TupleStructInfo.make(tuple(_info(param) for param in self.backbone.params))
        scope = set(definable_shape_vars(known))
        found = shape_var_mapping(wanted, self.results[: self.taken])
        return {
            var: size
            for var, size in found.items()
            if all(part in scope for part in walk(size) if isinstance(part, PrimVar))
        }

    def _attributes(self) -> Attrs | None:
        attrs = self.backbone.attrs
        if attrs is None or "global_symbol" not in attrs:
            return attrs
        return Attrs({**attrs, "global_symbol": self.name})

    def _write_backbone(self) -> list[Expr]:
        """Write the model; its results, of which the loss takes the first."""
        builder = self.builder
        body = _body(self.backbone)
        renamed: dict[Node, Node] = {}
        for place, block in enumerate(body.blocks):
            is_flow = isinstance(block, DataflowBlock)
            stays_open = self.is_merged and place == len(body.blocks) - 1
            if is_flow:
                builder.begin_dataflow()
            if stays_open:
                renamed = self._inner_variables(block)
            for binding in block.bindings:
                builder.emit_normalized(substitute(binding, renamed) if renamed else binding)
            if is_flow and not stays_open:
                builder.end_dataflow(block.span)
        if self.fields:
            return [substitute(field, renamed) for field in self.fields]
        return [
            builder.bind(TupleGetItem.make(body.body, k), outlives=k >= self.taken)
            for k in range(len(self.results))
        ]

    def _inner_variables(self, block: BindingBlock) -> dict[Node, Node]:
        """A variable of the block for each that only the loss wants of it."""
        if not self.fields:
            return {}
        seen = {var for field in self.fields[self.taken :] for var in mentioned(field)}
        return {
            var: DataflowVar.make(var.name_hint, var.struct_info, span=var.span)
            for var in (binding.var for binding in block.bindings)
            if not isinstance(var, DataflowVar) and var not in seen
        }

    def _write_loss(
        self, given: Sequence[Expr], targets: Sequence[Var], sizes: Mapping[PrimVar, PrimExpr]
    ) -> Expr:
        """Write the loss of some results; what it gives."""
        specializer = Specializer(self.mod, self.builder, self)
        for size, value in sizes.items():
            specializer.replace_scalar(size, value)
        for old, new in zip(self.loss.params[self.taken :], targets):
            specializer.replace_var(old, new)
        specializer.admit(self.loss.params[: self.taken], given, evaluates_once(self.loss))
        return specializer.result_of(self.loss.body)

    # -- what the specializer of the loss asks

    def dissolves(self, block: DataflowBlock) -> bool:
        return self.is_merged

    def variable(self, var: Var) -> Var:
        if not self.is_merged or isinstance(var, DataflowVar):
            return var
        if var in mentioned(_body(self.loss).body):
            return var
        return DataflowVar.make(var.name_hint, var.struct_info, span=var.span)


def _body(function: Function) -> SeqExpr:
    assert isinstance(function.body, SeqExpr), "the function is in normal form"
    return function.body


def _info(param: Var) -> StructInfo:
    assert param.struct_info is not None, "parameters of functions have a StructInfo"
    return param.struct_info


def _resized(param: Var, sizes: Mapping[PrimVar, PrimExpr]) -> Var:
    """A parameter of the loss as one of the function."""
    info = substitute(_info(param), dict(sizes))
    return param if info is param.struct_info else Var(param.name_hint, info)
