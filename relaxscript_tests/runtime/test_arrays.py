"""Tensors under the names of `tvm.nd`."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import VMError
from relaxscript.runtime import DeviceTensor
from relaxscript.runtime.arrays import NDArray, array, empty, from_dlpack


def test_array_copies_whatever_numpy_takes():
    given = np.array([1, 2], "float32")
    made = array(given)
    assert type(made) is NDArray
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


def test_an_array_gives_its_elements_as_a_plain_array_of_its_own():
    made = array([1.0, 2.0])
    for plain in (made.numpy(), made.asnumpy()):
        assert type(plain) is np.ndarray
        plain[0] = 7
    assert made[0] == 1


def test_an_array_takes_the_elements_of_another():
    made = array(np.zeros(2, "float32"))
    assert made.copyfrom([1, 2]) is made
    np.testing.assert_array_equal(made, np.array([1, 2], "float32"))
    np.testing.assert_array_equal(made.copyfrom(array([3, 4], rx.cpu(1))), [3, 4])
    with pytest.raises(
        VMError, match=r"a tensor of shape \(3,\) .* cannot be copied into .* \(2,\)"
    ):
        made.copyfrom(np.zeros(3))


def test_an_array_is_copied_into_another_and_to_a_device():
    made, host, there = array([1.0, 2.0]), np.zeros(2), array([0.0, 0.0], rx.cpu(1))
    assert made.copyto(host) is host
    assert made.copyto(there) is there
    np.testing.assert_array_equal(host, [1, 2])
    np.testing.assert_array_equal(there.numpy(), [1, 2])
    assert made.copyto(rx.cpu(1)).device == rx.cpu(1)
    assert type(made.copyto(rx.cpu())) is NDArray
    with pytest.raises(VMError, match="elements cannot be copied into a string"):
        made.copyto("there")


def test_an_array_is_on_the_host():
    assert array([1]).device == rx.cpu()
    assert rx.nd.tensor is rx.runtime.tensor is array
    assert rx.runtime.NDArray is rx.nd.NDArray is NDArray


def test_a_device_of_another_kind_has_a_name_and_holds_nothing():
    there = rx.cuda(1)
    assert (str(there), there.device_type, there.device_id) == ("cuda:1", 2, 1)
    assert not there.exist
    assert rx.device("cuda", 1) == there != rx.cpu(1)
    assert (rx.cpu().exist, rx.cpu().device_type) == (True, 1)
    assert {rx.gpu(), rx.device("gpu"), rx.device("cuda:0")} == {rx.cuda()}
    for make in (
        rx.ext_dev,
        rx.hexagon,
        rx.metal,
        rx.opencl,
        rx.rocm,
        rx.vpi,
        rx.vulkan,
        rx.webgpu,
    ):
        assert str(make(2)) == f"{make.__name__}:2"
    with pytest.raises(VMError, match="there is no device of kind `cuda` here; known: cpu, llvm"):
        array([1.0], there)


def test_the_facade_offers_them():
    assert rx.nd.array is array
    assert rx.vm.build is rx.build
    assert rx.target.Target is rx.Target
    assert rx.tir.IntImm("int64", 3).value == 3
