"""Calls of what is written otherwise: tensor expressions, PrimFuncs, packed functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relaxscript.frontend.nn.tensor import Tensor, expression, packed_argument, wrap_nested
from relaxscript.frontend.nn.trace import current_builder, model_error
from relaxscript.ir.field_types import brief
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr, ShapeExpr
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import relax as R

__all__ = ["extern", "tensor_expr_op", "tensor_ir_inplace_op", "tensor_ir_op"]


def tensor_expr_op(
    tensor_expr_func: Callable[..., Any], name_hint: str, args: Sequence[Any], *,
    attrs: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """The result of a function of tensor expressions, which becomes a PrimFunc of the module.

    The function is called with a `te.Tensor` for each tensor in `args`, and with the others as they
    are; it gives one tensor or a list of them. `attrs` are those of the PrimFunc.

        nn.op.tensor_expr_op(lambda a: te.compute(a.shape, lambda *i: a(*i) + 1), "inc", [x])
    """
    builder = current_builder(name_hint)
    if not callable(tensor_expr_func):
        raise model_error(
            f"`{name_hint}` is called as a function of tensor expressions, "
            f"this is {brief(tensor_expr_func)}",
            help="`nn.op.tensor_ir_op` takes PrimFuncs",
        )
    call = builder.call_te(
        tensor_expr_func, *expression(_listed(args)), primfunc_name_hint=name_hint,
        primfunc_attrs=attrs,
    )  # fmt: skip
    return wrap_nested(call, name_hint)


def tensor_ir_op(func: PrimFunc, name_hint: str, args: Any, out: Any) -> Any:
    """The results of a PrimFunc, which the module gets under this name.

    `args` are its tensors and, behind them, integers for its scalar parameters. `out` is a tensor
    of the shape and dtype of the result, or a list of them: `nn.Tensor.placeholder` makes such.
    """
    callee = _added(func, name_hint)
    tensors, integers = _operands(args)
    return wrap_nested(R.call_tir(callee, tensors, _described(out), integers), name_hint)


def tensor_ir_inplace_op(
    func: PrimFunc, name_hint: str, args: Any, inplace_indices: int | Sequence[int], out: Any
) -> Any:
    """The results of a PrimFunc that writes them into its arguments.

    `inplace_indices` has for each result the argument that becomes it; -1 is a new tensor. A tensor
    that is written to must not be used afterwards. Else as `tensor_ir_op`.
    """
    callee = _added(func, name_hint)
    tensors, integers = _operands(args)
    indices = [inplace_indices] if isinstance(inplace_indices, int) else list(inplace_indices)
    call = R.call_tir_inplace(callee, tensors, indices, _described(out), integers)
    return wrap_nested(call, name_hint)


def extern(name: str, args: Any, out: Any) -> Any:
    """The results of a packed function, which it writes into new tensors: its last arguments.

    `args` are tensors, numbers and strings. `out` is a tensor of the shape and dtype of the result,
    or a list of them: `nn.Tensor.placeholder` makes such.
    """
    operands = tuple(map(packed_argument, _listed(args)))
    return wrap_nested(R.call_dps_packed(name, operands, _described(out)), name)


def _added(func: PrimFunc, name: str) -> Any:
    """The name of a PrimFunc in the module that is written, which gets it."""
    builder = current_builder(name)
    if not isinstance(func, PrimFunc):
        raise model_error(
            f"`{name}` is called as a PrimFunc, this is {brief(func)}",
            help="write one with `@T.prim_func`; `nn.op.tensor_expr_op` takes tensor expressions",
        )
    return builder.add_func(func, name)


def _operands(args: Any) -> tuple[list[Expr], Any]:
    """The tensors of a PrimFunc, and the integers for its scalar parameters."""
    tensors: list[Expr] = []
    integers: list[Any] = []
    for arg in _listed(args):
        match arg:
            case Tensor():
                tensors.append(arg._expr)
            case ShapeExpr(values):
                integers.extend(values)
            case int() | PrimExpr():
                integers.append(arg)
            case _:
                raise model_error(
                    f"a PrimFunc takes tensors and integers, this is {brief(arg)}",
                    help="make a tensor of it: `nn.Tensor.from_const(...)`",
                )
    return tensors, R.shape(integers) if integers else None


def _listed(args: Any) -> list[Any]:
    return list(args) if isinstance(args, (list, tuple)) else [args]


def _described(out: Any) -> StructInfo | list[Any]:
    """The StructInfo of results, by tensors like them."""
    if isinstance(out, (list, tuple)):
        return [_described(each) for each in out]
    if not isinstance(out, Tensor):
        raise model_error(
            f"`out` is a tensor like the result, or a list of them, this is {brief(out)}",
            help='write for example `nn.Tensor.placeholder((2, 3), "float32")`',
        )
    return out.struct_info
