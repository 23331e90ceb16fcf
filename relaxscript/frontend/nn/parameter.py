"""Parameters: tensors that a model owns by name, with or without data.

Source: TVM `relax.frontend.nn.core.Parameter`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError, VMError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.relax import Expr, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.runtime.arrays import NDArray, as_ndarray
from relaxscript.runtime.values import DeviceTensor, has_method, kind_of, tensor_dtype, to_tensor

from .default_dtype import as_dtype
from .shapes import Dim, as_shape
from .tensor import Tensor, no_elements, tensor_info
from .trace import Trace, model_error

__all__ = ["Parameter", "weights_error"]


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
            raise no_elements()
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


def weights_error(message: str, help: str | None = None, notes: Sequence[str] = ()) -> Exception:
    """The error of data that are not those of the parameters, at the user's line."""
    return DiagnosticError(
        Diagnostic("RX0712", message, caller_span(), notes=tuple(notes), help=help)
    )


def _converted(array: Any, dtype: str) -> NDArray:
    plain = array.numpy() if isinstance(array, DeviceTensor) else array
    converted: NDArray = as_ndarray(np.asarray(plain).astype(DataType(dtype).numpy))
    return converted
