"""What a `DLTensor` says of a tensor."""

from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime import DeviceTensor, DLTensor, PackedFunc, cpu
from relaxscript.runtime.dlpack import dl_tensor

DATA_TYPES = {
    "int8": (0, 8), "uint16": (1, 16), "int64": (0, 64), "float16": (2, 16), "float64": (2, 64),
    "bool": (6, 8), "bfloat16": (4, 16), "float8_e4m3fn": (10, 8), "float8_e5m2": (12, 8),
}  # fmt: skip


@pytest.mark.parametrize("name", DATA_TYPES)
def test_a_data_type_is_a_code_and_a_width(name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    made = dl_tensor(np.zeros(2, dtype)).dtype
    assert ((made.code, made.bits), made.lanes) == (DATA_TYPES[name], 1)


def test_shape_and_strides_count_elements():
    array = np.zeros((4, 6), "int16")[::2, 1::3]
    made = dl_tensor(array)
    assert (made.ndim, made.shape[:2], made.strides[:2]) == (2, [2, 2], [12, 3])
    assert (made.data, made.byte_offset) == (array.ctypes.data, 0)
    assert (made.device.device_type, made.device.device_id) == (1, 0)
    assert dl_tensor(DeviceTensor(array, cpu(3))).device.device_id == 3


def test_what_dlpack_has_no_data_type_for_is_refused():
    with pytest.raises(VMError, match="DLPack has no dtype for an array of shape") as caught:
        dl_tensor(np.zeros(2, object))
    assert caught.value.code == "RX0610"


def test_a_stride_of_half_elements_is_passed_as_a_copy_and_written_back():
    def twice(tensor):
        values = ctypes.cast(tensor.contents.data, ctypes.POINTER(ctypes.c_int32))
        for i in range(tensor.contents.shape[0]):
            values[i * tensor.contents.strides[0]] *= 2

    signature = ctypes.CFUNCTYPE(None, ctypes.POINTER(DLTensor))
    fields = np.zeros(3, [("a", "i4"), ("b", "i2")])
    fields["a"] = [1, 2, 3]
    PackedFunc.from_ctypes("twice", signature(twice))(fields["a"])
    assert fields["a"].tolist() == [2, 4, 6]
