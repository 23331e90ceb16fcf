"""Tensors for users who know them as `tvm.nd`: on the host they are plain numpy arrays.

Source: TVM `tvm.nd.array`, `tvm.nd.empty`, `tvm.nd.from_dlpack`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.dtypes import DataType

from .values import Device, DeviceTensor, cpu, to_device, to_tensor

__all__ = ["array", "empty", "from_dlpack"]


def array(arr: Any, device: Device | None = None, mem_scope: str | None = None) -> Any:
    """A tensor with the elements of `arr`: a copy, on `device` (the host unless given).

    Takes whatever `numpy.array` takes, and tensors of any device. On the host it is an ndarray.
    Raises `VMError` (RX0608) for elements that no tensor holds.
    """
    own = arr.numpy() if isinstance(arr, DeviceTensor) else np.array(arr)
    if not own.dtype.isnative:
        own = own.astype(own.dtype.newbyteorder("="))
    return to_device(to_tensor(own), device or cpu())


def empty(
    shape: Any, dtype: str = "float32", device: Device | None = None, mem_scope: str | None = None
) -> Any:
    """A tensor with unspecified elements."""
    return to_device(np.empty(tuple(shape), DataType(dtype).numpy), device or cpu())


def from_dlpack(dltensor: Any) -> Any:
    """A tensor that shares the memory of any object that speaks DLPack."""
    return to_tensor(dltensor)
