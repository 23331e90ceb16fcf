"""Tensors and objects of `nn`: values of the program that a method describes.

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        return (x * 2.0 + self.bias).reshape(-1, 4)

A `Tensor` is a Relax expression that has the operators of Python.

Source: TVM `relax.frontend.nn.core`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from relaxscript.builder.tensor_index import IndexMistake, index_steps
from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError, UnplacedError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.prim import IntImm, PrimExpr, as_dims
from relaxscript.ir.relax import Constant, Expr, ShapeExpr, TupleGetItem, Var
from relaxscript.ir.struct_info import (
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.opdef.operator import Operator
from relaxscript.script import relax as R
from relaxscript.script.names.relax_forms import const

from .default_dtype import as_dtype
from .shapes import Dim, as_shape
from .trace import bind_value, model_error

__all__ = [
    "Object", "Tensor", "apply", "expression", "no_elements", "packed_argument", "require_tensor",
    "tensor_info", "wrap_nested",
]  # fmt: skip


# Names that tensors of PyTorch have.
_INSTEAD = {
    "T": "`x.permute_dims()`",
    "contiguous": "the tensor itself: there are no strides",
    "expand": "`nn.op.broadcast_to(x, shape)`",
    "flatten": "`x.reshape(...)`",
    "float": '`x.astype("float32")`',
    "half": '`x.astype("float16")`',
    "permute": "`x.permute_dims(...)`",
    "size": "`x.shape`",
    "to": "`x.astype(dtype)`",
    "transpose": "`x.permute_dims(...)`, with all axes",
    "type": "`x.astype(dtype)`",
    "unsqueeze": "`nn.op.unsqueeze(x, dim)`",
    "view": "`x.reshape(...)`",
}


def _function_for(name: str) -> str | None:
    """The function of `nn.op`, or that of Relax, which takes the place of a method."""
    from . import op  # which is made of tensors

    if name in op.__all__:
        return f"`nn.op.{name}(x)`"
    if isinstance(getattr(R, name, None), Operator):
        return f'`nn.op.wrap_nested(R.{name}(x._expr), "{name}")`'
    return None


# The operators of Python by the names of numpy: what they call, and how the result is called.
_OPERATORS: Mapping[str, tuple[Callable[..., Any], str]] = {
    "add": (R.add, "add"), "subtract": (R.subtract, "subtract"), "multiply": (R.multiply, "mul"),
    "divide": (R.divide, "divide"), "floor_divide": (R.floor_divide, "floor_divide"),
    "remainder": (R.floor_mod, "floor_mod"), "power": (R.power, "power"),
    "matmul": (R.matmul, "matmul"), "bitwise_and": (R.bitwise_and, "bitwise_and"),
    "bitwise_or": (R.bitwise_or, "bitwise_or"), "bitwise_xor": (R.bitwise_xor, "bitwise_xor"),
    "left_shift": (R.left_shift, "left_shift"), "right_shift": (R.right_shift, "right_shift"),
    "less": (R.less, "less"), "less_equal": (R.less_equal, "less_equal"),
    "greater": (R.greater, "greater"), "greater_equal": (R.greater_equal, "greater_equal"),
    "negative": (R.negative, "neg"), "absolute": (R.abs, "abs"),
    "invert": (R.bitwise_not, "bitwise_not"),
}  # fmt: skip


def _infix(name: str) -> Callable[[Any, Any], Tensor]:
    return lambda self, other: apply(*_OPERATORS[name], self, other)


def _reflected(name: str) -> Callable[[Any, Any], Tensor]:
    return lambda self, other: apply(*_OPERATORS[name], other, self)


class Tensor:
    """A tensor of the program that is being exported; `_expr` is the Relax expression that it is.

    Operators of Python are those of `nn.op`; the other operand may be a number of Python or an
    array. Indices are those of numpy. Raises `DiagnosticError` (RX0201) for an expression that is
    known to be no tensor.
    """

    _expr: Expr

    def __init__(self, *, _expr: Expr) -> None:
        info = _expr.struct_info if isinstance(_expr, Expr) else None
        if not isinstance(info, TensorStructInfo):
            given = brief(_expr) if info is None else info.noun
            message = f"`nn.Tensor` is made of an expression that is a tensor, not {given}"
            raise DiagnosticError(Diagnostic("RX0201", message, caller_span()))
        self._expr = _expr

    @staticmethod
    def from_const(data: Any) -> Tensor:
        """A constant with these elements: whatever `numpy.array` takes."""
        return Tensor(_expr=_constant(np.asarray(data), None))

    @staticmethod
    def from_scalar(data: int | float | bool, dtype: str) -> Tensor:
        """A constant of rank 0."""
        return Tensor(_expr=_constant(data, as_dtype(dtype)))

    @staticmethod
    def from_struct_info(struct_info: TensorStructInfo, name: str = "tensor") -> Tensor:
        """A new variable of which this is known."""
        return Tensor(_expr=Var(name, struct_info))

    @staticmethod
    def placeholder(shape: Sequence[Dim], dtype: str, name: str = "tensor") -> Tensor:
        """A new variable of this shape and dtype; strings are names of new shape variables."""
        return Tensor(_expr=Var(name, tensor_info(as_shape(shape, "a placeholder"), dtype)))

    @property
    def struct_info(self) -> TensorStructInfo:
        """All that is known of the tensor before the program runs."""
        info = self._expr.struct_info
        assert isinstance(info, TensorStructInfo)
        return info

    @property
    def shape(self) -> list[Any]:
        """The dimensions: Python numbers, and expressions of shape variables.

        Raises `DiagnosticError` (RX0711) where they are not known before the program runs.
        """
        dims = self.struct_info.dims
        if dims is None:
            raise model_error(
                "the shape of the tensor is known only when the program runs",
                help="give it one: `x.reshape(...)`",
            )
        return [dim.value if isinstance(dim, IntImm) else dim for dim in dims]

    @property
    def ndim(self) -> int:
        """The rank; -1 where it is known only when the program runs."""
        return self.struct_info.ndim

    @property
    def dtype(self) -> str:
        """The dtype of the elements, by its name."""
        return str(self.struct_info.dtype)

    def __repr__(self) -> str:
        dims = self.struct_info.dims
        shape = "of unknown shape" if dims is None else f"({', '.join(map(str, self.shape))})"
        return f"{type(self).__name__}({shape}, {self.dtype!r})"

    def __getattr__(self, name: str) -> Any:
        instead = _INSTEAD.get(name) or _function_for(name)
        advice = f"; write {instead}" if instead else ""
        raise AttributeError(f"a tensor has no `{name}`{advice}", name=name, obj=self)

    def __bool__(self) -> bool:
        raise model_error(
            "a tensor has no truth value while the model is being exported",
            help="choose element by element: `nn.op.where(condition, a, b)`",
        )

    def __len__(self) -> int:
        """The size of the first axis. Raises RX0711 where that is not known, or there is none."""
        shape = self.shape
        if not shape:
            raise model_error("a tensor of rank 0 has no length")
        if not isinstance(shape[0], int):
            raise model_error(
                f"the length of the tensor is `{shape[0]}`, known only when the program runs",
                help="`x.shape[0]` is an expression for it",
            )
        return shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        """The parts along the first axis, whose size must be known."""
        for place in range(len(self)):
            yield self[place]

    def __getitem__(self, index: Any) -> Tensor:
        """The part at an index, as numpy has it: numbers, slices, `...`, None, a tensor of numbers.

        Raises `DiagnosticError` (RX0208) for what is no index, and one that is outside.
        """
        info = self.struct_info
        if info.ndim < 0:
            raise _index_error(IndexMistake("a tensor of unknown rank cannot be indexed", None))
        items = [_index_item(item) for item in (index if isinstance(index, tuple) else (index,))]
        try:
            steps = index_steps(
                info, items, lambda e: e.struct_info, lambda k: brief(items[k]), "nn.op"
            )
        except IndexMistake as mistake:
            raise _index_error(mistake) from None
        found = self
        for operator, given in steps:
            found = apply(operator, operator.script_name, found, *given)
        return found

    def __setitem__(self, index: Any, value: Any) -> None:
        raise model_error(
            "the elements of a tensor are not set",
            help="make another tensor: `nn.op.where(condition, a, b)`, `nn.op.concat([a, b], dim)`",
        )

    def __contains__(self, value: Any) -> bool:
        raise model_error(
            "what is in a tensor is known only when the program runs",
            help="compare element by element: `nn.op.equal(x, value)`",
        )

    def __float__(self) -> float:
        raise model_error(
            "a tensor is no number while the model is being exported",
            help="a tensor is an operand wherever a number is: leave it one",
        )

    __int__ = __complex__ = __round__ = __float__

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Nothing: numpy computes with elements, and the tensor has none. Raises RX0711."""
        raise no_elements()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """The result of the function of `nn.op`, or operator of Python, that is numpy's `ufunc`.

        Raises `DiagnosticError` (RX0711) where there is none.
        """
        from . import op  # which is made of tensors

        name = ufunc.__name__
        plain = method == "__call__" and not kwargs
        if plain and name in _OPERATORS:
            return apply(*_OPERATORS[name], *inputs)
        if plain and name in op.__all__:
            return getattr(op, name)(*inputs)
        called = f"np.{name}" if method == "__call__" else f"np.{name}.{method}"
        instead = _function_for(name) if method == "__call__" else None
        raise model_error(
            f"`{called}` is asked for a tensor of the program, which has no elements yet",
            help=f"write {instead}" if instead else "functions of tensors are those of `nn.op`",
        )

    __add__, __radd__ = _infix("add"), _reflected("add")
    __sub__, __rsub__ = _infix("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _infix("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _infix("divide"), _reflected("divide")
    __floordiv__, __rfloordiv__ = _infix("floor_divide"), _reflected("floor_divide")
    __mod__, __rmod__ = _infix("remainder"), _reflected("remainder")
    __pow__, __rpow__ = _infix("power"), _reflected("power")
    __matmul__, __rmatmul__ = _infix("matmul"), _reflected("matmul")
    __and__, __rand__ = _infix("bitwise_and"), _reflected("bitwise_and")
    __or__, __ror__ = _infix("bitwise_or"), _reflected("bitwise_or")
    __xor__, __rxor__ = _infix("bitwise_xor"), _reflected("bitwise_xor")
    __lshift__, __rlshift__ = _infix("left_shift"), _reflected("left_shift")
    __rshift__, __rrshift__ = _infix("right_shift"), _reflected("right_shift")
    __lt__, __le__ = _infix("less"), _infix("less_equal")
    __gt__, __ge__ = _infix("greater"), _infix("greater_equal")

    def __neg__(self) -> Tensor:
        return apply(*_OPERATORS["negative"], self)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return apply(*_OPERATORS["absolute"], self)

    def __invert__(self) -> Tensor:
        return apply(*_OPERATORS["invert"], self)

    def astype(self, dtype: str) -> Tensor:
        """The elements converted; the tensor itself where it has this dtype."""
        wanted = as_dtype(dtype)
        return self if self.dtype == wanted else apply(R.astype, "astype", self, wanted)

    def maximum(self, other: Any) -> Tensor:
        """The greater one of each two elements."""
        return apply(R.maximum, "maximum", self, other)

    def minimum(self, other: Any) -> Tensor:
        """The smaller one of each two elements."""
        return apply(R.minimum, "minimum", self, other)

    def reshape(self, *shape: Any) -> Tensor:
        """The elements in another shape, which is one tuple or several numbers."""
        dims = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return apply(R.reshape, "reshape", self, tuple(dims))

    def permute_dims(self, *axes: Any) -> Tensor:
        """The axes in another order, reversed without any; one tuple or several numbers."""
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        return apply(R.permute_dims, "permute_dims", self, tuple(order) or None)

    def repeat(self, repeats: int, axis: int | None = None) -> Tensor:
        """Each element as many times, along an axis or of the flattened tensor."""
        return apply(R.repeat, "repeat", self, repeats, axis)


def _index_item(item: Any) -> Any:
    """An item of an index: tensors are expressions, and lists arrays."""
    return np.asarray(item) if isinstance(item, list) else expression(item)


def _index_error(mistake: IndexMistake) -> Exception:
    """The mistake of an index at the user's line."""
    facts = tuple(f"the tensor {fact}" for place, fact in mistake.facts if place is None)
    found = Diagnostic("RX0208", mistake.message, caller_span(), notes=facts, help=mistake.help)
    return DiagnosticError(found)


def no_elements() -> Exception:
    """The error of numpy asking for the elements of a tensor of the program.

    The export knows the line: it is not that of numpy's Python.
    """
    message = "in an export a tensor has no elements, and numpy asks for them"
    help = "functions of tensors are those of `nn.op`"
    return DiagnosticError(Diagnostic("RX0711", message, None, help=help, nature="value"))


def _constant(data: Any, dtype: str | None) -> Constant:
    try:
        return const(data, dtype)
    except ValueError as error:
        raise DiagnosticError(Diagnostic("RX0201", str(error), caller_span())) from None


class Object:
    """A value that is no tensor, such as a cache; `_expr` is the Relax expression that it is."""

    def __init__(self, *, _expr: Expr, _name: str) -> None:
        if not isinstance(_expr, Var):
            _expr = bind_value(_expr, _name)
        self._expr = _expr


def tensor_info(shape: Sequence[Dim], dtype: str | None) -> TensorStructInfo:
    """The StructInfo of a tensor of this shape and dtype."""
    return TensorStructInfo(ShapeExpr(as_dims(shape)), DataType(as_dtype(dtype)))


def expression(value: Any) -> Any:
    """The Relax expression of a tensor or object; tuples and lists of them; others are as given."""
    match value:
        case Tensor() | Object():
            return value._expr
        case tuple() | list():
            return type(value)(map(expression, value))
    return value


def require_tensor(value: Any, what: str) -> Tensor:
    """The value itself. Raises `DiagnosticError` (RX0201) where it is no tensor; `what` is it."""
    if isinstance(value, Tensor):
        return value
    message = f"{what} is {brief(value)}, not a tensor"
    raise DiagnosticError(Diagnostic("RX0201", message, caller_span()))


def packed_argument(value: Any) -> Any:
    """An argument of a packed function as Relax has it: numbers and strings are values, too."""
    match value:
        case str():
            return R.str(value)
        case int() | float() | PrimExpr():
            return R.prim_value(value)
    return expression(value)


def apply(operator: Callable[..., Expr], name: str, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor that an operator of Relax gives for others, bound to a variable of this name."""
    operands = [arg._expr if isinstance(arg, Tensor) else expression(arg) for arg in args]
    named = {key: expression(value) for key, value in kwargs.items()} if kwargs else kwargs
    result: Tensor = wrap_nested(_call(operator, operands, named), name)
    return result


def _call(operator: Callable[..., Expr], args: list[Any], named: dict[str, Any]) -> Expr:
    """A call of an operator, whatever its operands are: nothing is computed at once."""
    if not isinstance(operator, Operator):
        return operator(*args, **named)
    try:
        return operator.build(args, named)
    except UnplacedError as error:
        raise error.as_diagnostic_error(f"R.{operator.script_name}", caller_span()) from None


def wrap_nested(expr: Expr, name: str) -> Any:
    """The value of an expression: a `Tensor`, or a tuple of what its fields are.

    The expression is bound to a variable first, called `name` as long as that is free. What is
    neither tensor nor tuple is an `Object`. Raises `DiagnosticError`: RX0711 outside of an export,
    and what the operator says of its operands.
    """
    if not isinstance(expr, (Var, Constant)):
        expr = bind_value(expr, name)
    match expr.struct_info:
        case TensorStructInfo():
            return Tensor(_expr=expr)
        case TupleStructInfo(fields):
            parts = range(len(fields))
            return tuple(wrap_nested(TupleGetItem.make(expr, k), f"{name}_{k}") for k in parts)
        case _:
            return Object(_expr=expr, _name=name)
