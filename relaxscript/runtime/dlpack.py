"""Tensors as C functions know them by the DLPack standard: `DLTensor const *`.

    library.scale.argtypes = [ctypes.POINTER(DLTensor), ctypes.POINTER(DLTensor)]
    register_func("my.scale", PackedFunc.from_ctypes("my.scale", library.scale))

Source: `dlpack.h` of DLPack 1.1.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from relaxscript.errors import VMError

from .values import DeviceTensor, kind_of, tensor_dtype

__all__ = ["DLTensor", "dl_tensor"]

_CPU = 1
_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 6}
_SMALL_FLOATS = {
    "float8_e3m4": 7, "float8_e4m3": 8, "float8_e4m3b11fnuz": 9, "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11, "float8_e5m2": 12, "float8_e5m2fnuz": 13, "float8_e8m0fnu": 14,
}  # fmt: skip


class _DLDevice(ctypes.Structure):
    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class _DLDataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class DLTensor(ctypes.Structure):
    """The struct of that name; strides count elements. It is valid while the call lasts."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


def dl_tensor(tensor: np.ndarray[Any, Any] | DeviceTensor) -> DLTensor:
    """A tensor whose strides count whole elements, without a copy.

    Raises `VMError` (RX0610) for elements that DLPack has no dtype for.
    """
    array = tensor.data if isinstance(tensor, DeviceTensor) else tensor
    index = tensor.device.index if isinstance(tensor, DeviceTensor) else 0
    sizes = ctypes.c_int64 * max(array.ndim, 1)
    return DLTensor(
        data=array.ctypes.data,
        device=_DLDevice(_CPU, index),
        ndim=array.ndim,
        dtype=_data_type(array),
        shape=sizes(*array.shape),
        strides=sizes(*(step // array.itemsize for step in array.strides)),
        byte_offset=0,
    )


def _data_type(array: np.ndarray[Any, Any]) -> _DLDataType:
    dtype = tensor_dtype(array)
    kind = "" if dtype is None else str(dtype).rstrip("0123456789")
    code = _CODES.get(kind, _SMALL_FLOATS.get(str(dtype)))
    if code is None:
        raise VMError(f"DLPack has no dtype for {kind_of(array)}", code="RX0610")
    return _DLDataType(code, 8 * array.itemsize, 1)
