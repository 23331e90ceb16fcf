"""Tensors under the names of `tvm.nd`."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import VMError
from relaxscript.runtime import DeviceTensor
from relaxscript.runtime.arrays import array, empty, from_dlpack


def test_array_copies_whatever_numpy_takes():
    given = np.array([1, 2], "float32")
    made = array(given)
    assert type(made) is np.ndarray
    assert made is not given
    np.testing.assert_array_equal(made, given)
    assert array([[1, 2]]).shape == (1, 2)


def test_array_moves_to_a_device_and_back():
    there = array([1.5], rx.cpu(1))
    assert isinstance(there, DeviceTensor)
    assert there.device == rx.cpu(1)
    np.testing.assert_array_equal(array(there), [1.5])


def test_array_refuses_what_no_tensor_holds():
    with pytest.raises(VMError, match="is no tensor"):
        array(["text"])


def test_empty_has_shape_and_dtype():
    assert (empty((2, 3), "int8").shape, empty((2,), "int8").dtype) == ((2, 3), np.int8)
    assert empty((2,), device=rx.cpu(1)).device == rx.cpu(1)


def test_from_dlpack_shares_memory():
    given = np.arange(3)
    from_dlpack(given)[0] = 7
    assert given[0] == 7


def test_the_facade_offers_them():
    assert rx.nd.array is array
    assert rx.vm.build is rx.build
    assert rx.target.Target is rx.Target
    assert rx.tir.IntImm("int64", 3).value == 3
