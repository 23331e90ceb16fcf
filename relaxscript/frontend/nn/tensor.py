"""Tensors, parameters and objects of `nn`: values of the program that a method describes.

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        return (x * 2.0 + self.bias).reshape(-1, 4)

A `Tensor` is a Relax expression that has the operators of Python. A `Parameter` is one that the
model owns by name, with or without data.

Source: TVM `relax.frontend.nn.core`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError, UnplacedError, VMError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.prim import IntImm, PrimExpr, as_dims
from relaxscript.ir.relax import Constant, Expr, ShapeExpr, TupleGetItem, Var
from relaxscript.ir.struct_info import (
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.opdef.operator import Operator
from relaxscript.runtime.arrays import NDArray, as_ndarray
from relaxscript.runtime.values import DeviceTensor, has_method, kind_of, tensor_dtype, to_tensor
from relaxscript.script import relax as R
from relaxscript.script.names.relax_forms import const

from .default_dtype import as_dtype
from .shapes import Dim, as_shape
from .trace import Trace, bind_value, model_error

__all__ = [
    "Object", "Parameter", "Tensor", "apply", "expression", "packed_argument", "require_tensor",
    "tensor_info", "weights_error", "wrap_nested",
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


class Tensor:
    """A tensor of the program that is being exported; `_expr` is the Relax expression that it is.

    Operators of Python are those of `nn.op`; the other operand may be a number of Python. Raises
    `DiagnosticError` (RX0201) for an expression that is known to be no tensor.
    """

    _expr: Expr
    # An array on the left leaves its operators to those of the tensor.
    __array_ufunc__ = None

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

    def __add__(self, other: Any) -> Tensor:
        return apply(R.add, "add", self, other)

    def __radd__(self, other: Any) -> Tensor:
        return apply(R.add, "add", other, self)

    def __sub__(self, other: Any) -> Tensor:
        return apply(R.subtract, "subtract", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return apply(R.subtract, "subtract", other, self)

    def __mul__(self, other: Any) -> Tensor:
        return apply(R.multiply, "mul", self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return apply(R.multiply, "mul", other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return apply(R.divide, "divide", self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return apply(R.divide, "divide", other, self)

    def __matmul__(self, other: Any) -> Tensor:
        return apply(R.matmul, "matmul", self, other)

    def __neg__(self) -> Tensor:
        return apply(R.negative, "neg", self)

    def __lt__(self, other: Any) -> Tensor:
        return apply(R.less, "less", self, other)

    def __le__(self, other: Any) -> Tensor:
        return apply(R.less_equal, "less_equal", self, other)

    def __gt__(self, other: Any) -> Tensor:
        return apply(R.greater, "greater", self, other)

    def __ge__(self, other: Any) -> Tensor:
        return apply(R.greater_equal, "greater_equal", self, other)

    def astype(self, dtype: str) -> Tensor:
        """The elements converted; the tensor itself where it has this dtype."""
        return self if self.dtype == dtype else apply(R.astype, "astype", self, dtype)

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


class Parameter(Tensor):
    """A tensor that a model owns: of this shape and dtype, with data or before it has them.

    Strings in the shape are shape variables, one for each name in a function. `attrs` are for
    whoever transforms the model.
    """

    def __init__(self, shape: Sequence[Dim], dtype: str | None = None) -> None:
        self.attrs: dict[str, Any] = {}
        self._shape = as_shape(shape, "a parameter")
        self._dtype = as_dtype(dtype)
        self._data: Any = None
        self._own = self._variable()

    def _variable(self) -> Var:
        return Var("param", tensor_info(self._shape, self._dtype))

    def info_with(self, dims: Callable[[Sequence[Dim]], Sequence[Any]]) -> TensorStructInfo:
        """The StructInfo of the parameter in a function; `dims` gives its shape there."""
        known = self._own.struct_info
        if isinstance(known, TensorStructInfo) and not any(isinstance(d, str) for d in self._shape):
            return known
        return tensor_info(tuple(dims(self._shape)), self._dtype)

    @property
    def _expr(self) -> Expr:  # type: ignore[override]
        trace = Trace.current()
        if trace is None:
            return self._own
        found = trace.values.get(self)
        if found is None and (path := trace.path_of(self)) is not None:
            raise model_error(
                f"`{path}` is used in a method that is given no parameters",
                help='its spec says `"$": {"param_mode": "none"}`: write "plain" or "packed"',
            )
        if found is None:
            raise model_error(
                "a parameter is used that the model which is exported does not own",
                help="make it in `__init__`, as an attribute of a module; "
                "modules in a list or dict belong in `nn.ModuleList` or `nn.ModuleDict`",
            )
        return found

    @property
    def struct_info(self) -> TensorStructInfo:
        """The shape and dtype of the parameter; in an export with the function's own variables."""
        trace = Trace.current()
        known = self._own if trace is None else trace.values.get(self, self._own)
        info = known.struct_info
        assert isinstance(info, TensorStructInfo)
        return info

    @property
    def data(self) -> Any:
        """The elements, or None before there are any. Setting them makes no copy of an array.

        Takes arrays and what speaks DLPack. Raises `DiagnosticError` (RX0712) for what is no
        tensor, or one of another shape or dtype.
        """
        return self._data

    @data.setter
    def data(self, data: Any) -> None:
        if data is None:
            self._data = None
            return
        array, mistake = self.fit(data)
        if mistake is not None:
            raise weights_error(f"the parameter {mistake}")
        self._data = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """The elements, so that a parameter is taken wherever an array is: saved, bound, passed.

        Not in an export, where the parameter is a variable. Raises `ValueError` there, and for a
        parameter without data.
        """
        if Trace.current() is not None:
            raise ValueError("in an export it has no elements; operators are those of `nn.op`")
        if self._data is None:
            raise ValueError("it has no data")
        plain = self._data.numpy() if isinstance(self._data, DeviceTensor) else self._data
        return np.array(plain, dtype) if copy else np.asarray(plain, dtype)

    def fit(self, data: Any) -> tuple[Any, str | None]:
        """Data as the array that the parameter would hold, and what is wrong with them, if it is.

        Shape variables of the parameter fit any size.
        """
        if isinstance(data, Parameter):
            data = data.data
            if data is None:
                return None, "would get its data of a parameter that has none"
        try:
            if getattr(data, "requires_grad", False) and has_method(data, "detach"):
                data = data.detach()
            array = to_tensor(data)
        except VMError as error:
            return None, f"takes a tensor: {error.diagnostic.message}"
        dtype = tensor_dtype(array)
        sizes = tuple(dim if isinstance(dim, int) else None for dim in self._shape)
        if len(sizes) != len(array.shape) or any(
            size not in (None, given) for size, given in zip(sizes, array.shape)
        ):
            shape = "(" + ", ".join(map(str, self._shape)) + ("," * (len(sizes) == 1)) + ")"
            return None, f"is of shape {shape}, the data are {kind_of(array)}"
        if dtype != self._dtype:
            return None, f"is {self._dtype}, the data are {dtype}"
        return array if isinstance(array, DeviceTensor) else as_ndarray(array), None

    def to(self, dtype: str | None = None) -> None:
        """Change the dtype of the parameter; its data are converted."""
        if dtype is None or (new := as_dtype(dtype)) == self._dtype:
            return
        self._dtype = new
        self._own = self._variable()
        if self._data is not None:
            self._data = _converted(self._data, new)


def _constant(data: Any, dtype: str | None) -> Constant:
    try:
        return const(data, dtype)
    except ValueError as error:
        raise DiagnosticError(Diagnostic("RX0201", str(error), caller_span())) from None


def _converted(array: Any, dtype: str) -> NDArray:
    plain = array.numpy() if isinstance(array, DeviceTensor) else array
    converted: NDArray = as_ndarray(np.asarray(plain).astype(DataType(dtype).numpy))
    return converted


class Object:
    """A value that is no tensor, such as a cache; `_expr` is the Relax expression that it is."""

    def __init__(self, *, _expr: Expr, _name: str) -> None:
        if not isinstance(_expr, Var):
            _expr = bind_value(_expr, _name)
        self._expr = _expr


def tensor_info(shape: Sequence[Dim], dtype: str | None) -> TensorStructInfo:
    """The StructInfo of a tensor of this shape and dtype."""
    return TensorStructInfo(ShapeExpr(as_dims(shape)), DataType(as_dtype(dtype)))


def weights_error(message: str, help: str | None = None, notes: Sequence[str] = ()) -> Exception:
    """The error of data that are not those of the parameters, at the user's line."""
    return DiagnosticError(
        Diagnostic("RX0712", message, caller_span(), notes=tuple(notes), help=help)
    )


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
