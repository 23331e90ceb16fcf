"""Products and convolutions by numpy, whose BLAS computes them: a code generator, whole.

model = jit(RunCodegen()(partition_for_numpy(mod)))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from relaxscript.dpl.constructors import is_op, wildcard
from relaxscript.dpl.pattern import DFPattern
from relaxscript.ir.constant_array import in_c_order
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import (
    Attrs,
    Call,
    Constant,
    Expr,
    Function,
    Op,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.op.binary import add
from relaxscript.op.linear_algebra import matmul
from relaxscript.op.nn.activation import relu
from relaxscript.op.nn.convolution import conv2d
from relaxscript.runtime import register_func
from relaxscript.transform.fuse.fuse_ops_by_pattern import FuseOpsByPattern
from relaxscript.transform.fuse.fusion_pattern import FusionPattern, PatternCheckContext

from .merge_composite_functions import MergeCompositeFunctions
from .pattern_registry import get_patterns_with_prefix, register_patterns

__all__ = ["partition_for_numpy"]

_CODEGEN = "numpy_blas"
Array = np.ndarray[Any, Any]
Values = dict[Expr, Any]
# What a binding does: it gives a value to a variable.
_Run = Callable[[Values], None]


def partition_for_numpy(mod: IRModule, bind_constants: bool = True) -> IRModule:
    """The module in which products and convolutions are functions for the code generator of numpy.

    A bias that is added and a relu go with them. They are float32 or float64, in dataflow blocks,
    and convolutions have the layouts NCHW and OIHW and one group. `RunCodegen` then makes calls of
    packed functions of them. Sums are in the order of BLAS, so results are as near as sums of
    floats are.
    """
    patterns = get_patterns_with_prefix(f"{_CODEGEN}.")
    grouped = FuseOpsByPattern(patterns, bind_constants=bind_constants)(mod)
    return MergeCompositeFunctions()(grouped)


# -- what is taken ---------------------------------------------------------------------------------


def _patterns() -> list[FusionPattern]:
    """The patterns, the largest ones last: these are tried first."""
    made = []
    for word, name in (("matmul", matmul.name), ("conv2d", conv2d.name)):
        for ending, with_bias, activation in (
            ("", False, None), ("_relu", False, relu.name),
            ("_bias", True, None), ("_bias_relu", True, relu.name),
        ):  # fmt: skip
            product = is_op(name)(wildcard(), wildcard())
            pattern: DFPattern = product
            if with_bias:
                pattern = is_op(add.name)(product, wildcard())
            if activation is not None:
                pattern = is_op(activation)(pattern)
            parts = {"product": product}
            made.append(FusionPattern(f"{_CODEGEN}.{word}{ending}", pattern, parts, _is_taken))
    return made


def _is_taken(context: PatternCheckContext) -> bool:
    """True for what numpy computes as the operators do."""
    product = context.annotated_expr["product"]
    assert isinstance(product, Call)
    infos = [context.matched_expr.struct_info, *[arg.struct_info for arg in product.args]]
    dtypes = {str(info.dtype) if isinstance(info, TensorStructInfo) else "" for info in infos}
    if len(dtypes) > 1 or not dtypes <= {"float32", "float64"}:
        return False
    result = infos[0]
    if not isinstance(result, TensorStructInfo) or result.dims is None:
        return False
    attrs = product.attrs or Attrs()
    if attrs.get("out_dtype") not in (None, "", result.dtype):
        return False
    layouts = (attrs.get("data_layout"), attrs.get("kernel_layout"), attrs.get("out_layout"))
    return _callee(product) == matmul.name or (
        layouts[:2] == ("NCHW", "OIHW")
        and layouts[2] in (None, "", "NCHW")
        and attrs.get("groups") == 1
    )


# -- the code generator ----------------------------------------------------------------------------


def _generate(
    functions: Sequence[Function], options: Mapping[str, Any], constants: Mapping[Expr, str]
) -> dict[str, Callable[..., None]]:
    """A callable for each function, by its symbol."""
    return {str((f.attrs or Attrs())["global_symbol"]): _kernel(f) for f in functions}


def _kernel(func: Function) -> Callable[..., None]:
    """A function as a callable that writes into the arrays that it is given last."""
    run = _compile(func)
    count = len(func.params)

    def kernel(*args: Any) -> None:
        made = run(args[:count])
        results = made if isinstance(made, tuple) else (made,)
        for array, result in zip(args[count:], results, strict=True):
            np.copyto(array, result)

    return kernel


def _compile(func: Function) -> Callable[[Sequence[Any]], Any]:
    """A function as a Python function of its arguments."""
    body = func.body
    assert isinstance(body, SeqExpr)
    local: dict[Expr, Callable[[Sequence[Any]], Any]] = {}
    steps: list[tuple[Var, Callable[[Values], Any]]] = []
    for block in body.blocks:
        for binding in block.bindings:
            assert isinstance(binding, VarBinding)
            value = binding.value
            if isinstance(value, Function):
                local[binding.var] = _compile(value)
            else:
                steps.append((binding.var, _evaluator(value, local)))
    result = _evaluator(body.body, local)

    def run(args: Sequence[Any]) -> Any:
        values: Values = dict(zip(func.params, args))
        for var, step in steps:
            values[var] = step(values)
        return result(values)

    return run


def _evaluator(
    value: Expr, local: Mapping[Expr, Callable[[Sequence[Any]], Any]]
) -> Callable[[Values], Any]:
    """The value of an expression of the values of variables."""
    match value:
        case Constant(data):
            elements = in_c_order(data)
            return lambda values: elements
        case Tuple(fields):
            parts = [_evaluator(field, local) for field in fields]
            return lambda values: tuple([part(values) for part in parts])
        case TupleGetItem(held, index):
            whole = _evaluator(held, local)
            return lambda values: whole(values)[index]
        case Call(op=op, args=args):
            operands = [_evaluator(arg, local) for arg in args]
            compute = local.get(op)
            if compute is None:
                compute = _computation(value)
            run = compute
            return lambda values: run([operand(values) for operand in operands])
    return lambda values: values[value]


def _callee(call: Call) -> str:
    return call.op.name if isinstance(call.op, Op) else ""


def _computation(call: Call) -> Callable[[Sequence[Any]], Any]:
    """The computation of an operator, one of those in the patterns."""
    name = _callee(call)
    if name == matmul.name:
        return lambda operands: np.matmul(*operands)
    if name == add.name:
        return lambda operands: np.add(*operands)
    if name == relu.name:
        return lambda operands: np.maximum(operands[0], 0)
    attrs = call.attrs or Attrs()
    sizes = [_integers(attrs[key]) for key in ("strides", "padding", "dilation")]
    return lambda operands: _convolve(operands[0], operands[1], *sizes)


def _integers(values: Any) -> tuple[int, ...]:
    """The numbers of an attribute, which a script may write as one or as several."""
    given: Sequence[Any] = values if isinstance(values, tuple) else (values,)
    return tuple([value.value if isinstance(value, IntImm) else int(value) for value in given])


def _convolve(
    data: Array, weight: Array, strides: tuple[int, ...], padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> Array:  # fmt: skip
    """The products of the windows of an image and the weights, as one product of matrices."""
    (down, right), (by_row, by_column) = _both(strides), _both(dilation)
    top, left, bottom, end = padding if len(padding) == 4 else _both(padding) * 2
    padded = np.pad(data, ((0, 0), (0, 0), (top, bottom), (left, end)))
    rows, columns = ((n - 1) * by + 1 for n, by in zip(weight.shape[2:], (by_row, by_column)))
    windows = sliding_window_view(padded, (rows, columns), axis=(2, 3))
    windows = windows[:, :, ::down, ::right, ::by_row, ::by_column]
    made: Array = np.tensordot(windows, weight, axes=((1, 4, 5), (1, 2, 3)))
    return made.transpose(0, 3, 1, 2)


def _both(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return sizes * 2 if len(sizes) == 1 else sizes


register_patterns(_patterns())
register_func(f"relax.ext.{_CODEGEN}", _generate, override=True)
