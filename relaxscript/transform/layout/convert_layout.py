"""ConvertLayout: convolutions and their like in the layouts that are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relaxscript.errors import Diagnostic, DiagnosticError, UnplacedError, quantity
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call, Function, Op
from relaxscript.ir.walk import compounds
from relaxscript.opdef.operator import Operator, operator_named
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .layout_converter import LayoutConverter

__all__ = ["ConvertLayout"]


class ConvertLayout(FunctionPass):
    """Rewrite the convolutions of dataflow blocks to the layouts of `desired_layouts`.

    `ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]})` names the layouts of the operands, in
    their order. A last one is that of the result, which else has the layout of the first operand.
    The names of operators may be without "relax.". Before, in a dataflow block:

        lv = R.nn.conv2d(x, w)
        gv = R.nn.relu(lv)

    After:

        lv = R.permute_dims(x, axes=[0, 2, 3, 1])
        lv1 = R.permute_dims(w, axes=[0, 2, 3, 1])
        lv2 = R.nn.conv2d(lv, lv1, data_layout="NHWC", kernel_layout="OHWI", out_layout="NHWC")
        lv3 = R.nn.relu(lv2)
        gv = R.permute_dims(lv3, axes=[0, 3, 1, 2])

    What follows takes its operands as they come, as far as its operator has a rule of layouts
    (`opdef/layout.py`): those on elements, reductions, poolings, normalizations and others. Each
    value is brought into another layout once, and where that is needed: for operators without a
    rule, for other functions, and where it leaves its block. Constants are brought there too, for
    `FoldConstant` to do so ahead.

    Packed layouts such as "NCHW4c" are reached by `R.layout_transform`. A convolution stays whose
    channels are not proved to be a multiple of what is packed. One that packs already stays, too.

    Raises `DiagnosticError`: RX0103 for an operator that has no layouts, and another number of them
    than it has; RX0204, at the call, for a layout of other axes than the operand's.

    Source: TVM `relax.transform.ConvertLayout`.
    """

    tolerance = 1e-4

    def __init__(self, desired_layouts: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self._desired: dict[str, tuple[str, ...]] = {}
        for name, layouts in desired_layouts.items():
            operator = _operator(name)
            self._desired[operator.name] = _checked(operator, tuple(layouts))

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        calls = (node for node in compounds(func) if isinstance(node, Call))
        if not any(isinstance(call.op, Op) and call.op.name in self._desired for call in calls):
            return func
        return LayoutConverter(mod, func, self._desired).function(func)


def _operator(name: str) -> Operator:
    """The operator of a name, with or without "relax."; one that has layouts."""
    try:
        operator = operator_named(name if name.startswith("relax.") else f"relax.{name}")
    except UnplacedError as error:
        raise error.as_diagnostic_error("ConvertLayout", caller_span()) from None
    if not _layout_names(operator) or "layout" not in operator.rules:
        raise _refused(
            f"`{operator.name}` has no layouts to be asked for",
            'convolutions have, such as "relax.nn.conv2d", and poolings',
        )
    return operator


def _layout_names(operator: Operator) -> list[str]:
    """The attributes of an operator that are layouts: those of its operands, of its result."""
    names = [p.name for p in operator.parameters if p.kind == "attribute"]
    return [name for name in names if name.rpartition("_")[2] == "layout"]


def _checked(operator: Operator, layouts: tuple[str, ...]) -> tuple[str, ...]:
    names = _layout_names(operator)
    least = len(names) - ("out_layout" in names)
    if not least <= len(layouts) <= len(names):
        takes = ", ".join(f"`{name}`" for name in names)
        raise _refused(
            f"`{operator.name}` is given {quantity(len(layouts), 'layout')}, "
            f"and has {quantity(least, 'operand')} with a layout",
            f"write, in this order, {takes}" + (", the last if need be" if len(names) > 1 else ""),
        )
    return layouts


def _refused(message: str, help: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic("RX0103", message, caller_span(), help=help))
