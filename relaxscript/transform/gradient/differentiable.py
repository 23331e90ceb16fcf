"""The demands of `Gradient` on a function: its form, its parameters, the scalar it returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relaxscript.analysis.derive import is_pure_callee
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest, quantity
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Binding,
    Call,
    DataflowBlock,
    Function,
    GlobalVar,
    If,
    Op,
    SeqExpr,
    Tuple,
    Var,
)
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.op import lookup
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf

from .adjoint_function import TargetScalar

__all__ = ["find_target", "require_one_block", "wanted_params"]


# ---------------------------------------------------------------- the form


def require_one_block(mod: IRModule, name: str, func: Function) -> None:
    """Refuse a function with other bindings than those of one dataflow block.

    Blocks of a kind are one, so that there is something between two of them.
    """
    blocks = func.body.blocks if isinstance(func.body, SeqExpr) else ()
    plain = [block for block in blocks if not isinstance(block, DataflowBlock)]
    outside = [binding for block in plain for binding in block.bindings]
    if outside:
        effects = (binding for binding in outside if _reason(mod, binding) is not None)
        binding = next(effects, outside[0])
        reason, help = _reason(mod, binding) or _OUTSIDE
        var = binding.var.name_hint
        message = f"`{name}` cannot be differentiated: {reason.format(var)}"
        at = binding.value.span or binding.span
        raise DiagnosticError(Diagnostic("RX0713", message, at, help=help))


_OUTSIDE = (
    "`{}` is bound outside of a dataflow block",
    "make it one block: `ConvertToDataflow()`, or `with R.dataflow():` around all of it",
)


def _reason(mod: IRModule, binding: Binding) -> tuple[str, str] | None:
    """The reason why a binding is in no dataflow block, and what helps; None without one."""
    value = binding.value
    if isinstance(value, If):
        return "`{}` is the value of an `if`", "choose element by element: `R.where(c, a, b)`"
    if isinstance(value, Call) and _is_impure(mod, value):
        return "the call that gives `{}` has side effects", "take it out of the function"
    return None


def _is_impure(mod: IRModule, call: Call) -> bool:
    if isinstance(call.op, Op):
        return not lookup(call.op).pure
    if isinstance(call.op, GlobalVar):
        return not is_pure_callee(mod.struct_info(call.op))
    return not is_pure_callee(struct_info_of_leaf(call.op))


# ---------------------------------------------------------------- parameters


def wanted_params(name: str, func: Function, wanted: Any) -> list[int]:
    """The places of the parameters by which a function is differentiated.

    `wanted` are these or their names. None stands for all that are tensors, or tuples of tensors.
    """
    infos = [struct_info_of_leaf(param) for param in func.params]
    if wanted is None:
        return [place for place, info in enumerate(infos) if all(map(_is_tensor, _leaves(info)))]
    given = [wanted] if isinstance(wanted, (Var, str)) else list(wanted)
    places: list[int] = []
    for one in given:
        place = _place_of(name, func, one)
        param = func.params[place]
        if place in places:
            message = f"`require_grads` has `{param.name_hint}` twice"
            raise DiagnosticError(Diagnostic("RX0103", message, param.span, help="give it once"))
        if not all(map(_is_float, _leaves(infos[place]))):
            message = f"there is no gradient by `{param.name_hint}`, which is `{infos[place]!r}`"
            help = "gradients are by tensors of floats, and by tuples of them"
            raise DiagnosticError(Diagnostic("RX0713", message, param.span, help=help))
        places.append(place)
    return places


def _place_of(name: str, func: Function, wanted: Var | str) -> int:
    """The place of a parameter; raises `DiagnosticError` (RX0101) where it is none."""
    names = [param.name_hint for param in func.params]
    if isinstance(wanted, str):
        if wanted in names:
            return names.index(wanted)
    elif wanted in func.params:
        return func.params.index(wanted)
    hint = wanted if isinstance(wanted, str) else wanted.name_hint
    message = f"`{name}` has no parameter `{hint}`"
    help = did_you_mean(nearest(hint, names), f"there are {', '.join(names)}" if names else None)
    if hint in names:
        message = f"the variable `{hint}` is no parameter of `{name}`, which has another one"
        help = f'give its name, "{hint}", or `mod["{name}"].params[{names.index(hint)}]`'
    raise DiagnosticError(Diagnostic("RX0101", message, func.span, help=help))


def _leaves(info: StructInfo) -> Iterator[StructInfo]:
    if isinstance(info, TupleStructInfo):
        for field in info.fields:
            yield from _leaves(field)
    else:
        yield info


def _is_tensor(info: StructInfo) -> bool:
    return isinstance(info, TensorStructInfo)


def _is_float(info: StructInfo) -> bool:
    return isinstance(info, TensorStructInfo) and (info.dtype.is_float or info.dtype.is_void)


# ---------------------------------------------------------------- the target


def find_target(name: str, func: Function, index: int) -> TargetScalar:
    """The scalar that a function returns, alone or as a field of a tuple."""
    body = func.body
    value = body.body if isinstance(body, SeqExpr) else body
    info = struct_info_of_leaf(value)
    count = len(info.fields) if isinstance(info, TupleStructInfo) else 1
    if not 0 <= index < count:
        message = f"`target_index` is {index}, but `{name}` gives {quantity(count, 'value')}"
        help = f"give a number from 0 to {count - 1}" if count > 1 else None
        raise DiagnosticError(Diagnostic("RX0103", message, value.span or func.span, help=help))
    place = None
    if isinstance(value, Tuple):
        value = value.fields[index]
        info = struct_info_of_leaf(value)
    elif isinstance(info, TupleStructInfo):
        info, place = info.fields[index], index
    if not (isinstance(info, TensorStructInfo) and info.dtype.is_float and info.ndim == 0):
        text = (
            f"`{value.name_hint}` is `{info!r}`" if isinstance(value, Var) else f"it is `{info!r}`"
        )
        message = f"the target of a gradient is a scalar, a float tensor of rank 0: {text}"
        help = "end the function with a loss: `R.sum(...)`, `R.mean(...)`"
        raise DiagnosticError(Diagnostic("RX0713", message, value.span or func.span, help=help))
    return TargetScalar(value, info, place)
