"""Tensors for users who know them as `tvm.nd`: on the host numpy arrays with some methods more.

    x = nd.array([1.0, 2.0])
    x.numpy(), x.copyfrom(other), x.copyto(cpu(1))

A function that is called with an `NDArray` gives `NDArray`s. One that is called with arrays of
numpy only gives these. Registered functions that such a call reaches are given `NDArray`s too.

Source: TVM `tvm.nd.array`, `tvm.nd.NDArray`, `tvm.runtime.tensor`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import VMError, markup

from .values import Device, DeviceTensor, cpu, kind_of, to_device, to_tensor

__all__ = [
    "NDArray", "array", "as_given", "as_ndarray", "empty", "from_dlpack", "has_ndarray", "tensor",
]  # fmt: skip


class NDArray(np.ndarray[Any, Any]):
    """A tensor on the host: a numpy array that also has the methods of `tvm.nd.NDArray`."""

    @property
    def device(self) -> Device:  # type: ignore[override]
        """The device of the elements: the host."""
        return cpu()

    def _repr_html_(self) -> str:
        return markup.tensor(self.shape, (self.dtype.name, cpu()), repr(self))

    def numpy(self) -> np.ndarray[Any, Any]:
        """A C-contiguous copy as a plain numpy array."""
        return np.array(self, order="C")

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """The older name of `numpy`."""
        return self.numpy()

    def copyfrom(self, source_array: Any) -> NDArray:
        """Write the elements of another tensor of this shape into this one; gives this one.

        Takes whatever `numpy.asarray` takes, and tensors of any device; elements are converted.
        Raises `VMError` (RX0608) where the shapes differ.
        """
        given = source_array
        source = given.numpy() if isinstance(given, DeviceTensor) else np.asarray(given)
        if source.shape != self.shape:
            text = f"{kind_of(source)} cannot be copied into {kind_of(np.asarray(self))}"
            raise VMError(text, code="RX0608")
        self[...] = source
        return self

    def copyto(self, target: Any, mem_scope: str | None = None) -> Any:
        """Write the elements into another tensor, or copy them to a device; gives that tensor."""
        match target:
            case Device():
                return array(self, target)
            case DeviceTensor():
                np.asarray(target.data).view(NDArray).copyfrom(self)
                return target
            case np.ndarray():
                target.view(NDArray).copyfrom(self)
                return target
        raise VMError(f"elements cannot be copied into {kind_of(target)}", code="RX0608")


def array(arr: Any, device: Device | None = None, mem_scope: str | None = None) -> Any:
    """A tensor with the elements of `arr`: a copy, on `device` (the host unless given).

    Takes whatever `numpy.array` takes, and tensors of any device. On the host it is an `NDArray`.
    Raises `VMError` (RX0608) for elements that no tensor holds, and for a device that is not there.
    """
    own = arr.numpy() if isinstance(arr, DeviceTensor) else np.array(arr)
    if not own.dtype.isnative:
        own = own.astype(own.dtype.newbyteorder("="))
    return as_ndarray(to_device(to_tensor(own), device or cpu()))


tensor = array  # TVM's name for it since 0.22


def empty(
    shape: Any, dtype: str = "float32", device: Device | None = None, mem_scope: str | None = None
) -> Any:
    """A tensor with unspecified elements."""
    return as_ndarray(to_device(np.empty(tuple(shape), DataType(dtype).numpy), device or cpu()))


def from_dlpack(dltensor: Any) -> Any:
    """A tensor that shares the memory of any object that speaks DLPack."""
    return as_ndarray(to_tensor(dltensor))


# -- results as they were asked for ----------------------------------------------------------------


def as_given(args: Iterable[Any], result: Any) -> Any:
    """The result of a call: its tensors are `NDArray`s where an argument was one."""
    return as_ndarray(result) if has_ndarray(args) else result


def has_ndarray(values: Iterable[Any]) -> bool:
    """True if one of the values is an `NDArray`, or a tuple or list that holds one."""
    return any(
        has_ndarray(value) if type(value) in (tuple, list) else type(value) is NDArray
        for value in values
    )


def as_ndarray(value: Any) -> Any:
    """The same value; tensors of the host in it are `NDArray`s."""
    if type(value) is np.ndarray:
        return value.view(NDArray)
    if type(value) is tuple:
        return tuple(map(as_ndarray, value))
    return value
