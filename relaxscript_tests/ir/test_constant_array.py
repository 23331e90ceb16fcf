"""Constants hold elements that nobody can write into; what is so already is not copied."""

from __future__ import annotations

import mmap

import numpy as np
import pytest

from relaxscript import Constant
from relaxscript.ir.constant_array import given_up


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "elements"
    path.write_bytes(np.arange(8, dtype="float32").tobytes())
    return path


def test_elements_that_somebody_can_write_into_are_copied(path):
    given = np.arange(4.0)
    view = given[:]
    view.setflags(write=False)
    shared = np.frombuffer(bytearray(32), "float32")
    with path.open("r+b") as file:
        mapped = np.ndarray(8, "float32", buffer=mmap.mmap(file.fileno(), 0))
    for array in (given, view, shared, mapped):
        constant = Constant(array)
        assert address(constant.data) != address(array)
        assert not constant.data.flags.writeable
        if array.flags.writeable:
            array[:] = 9
            assert 9 not in constant.data


def test_elements_of_bytes_and_of_files_mapped_to_be_read_are_shared(path):
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    for array in (
        np.ndarray(8, "float32", buffer=mapped),
        np.memmap(path, "float32", "r"),
        np.frombuffer(path.read_bytes(), "float32"),
        np.frombuffer(path.read_bytes(), "float32").reshape(2, 4),
    ):
        constant = Constant(array)
        assert address(constant.data) == address(array)
        assert not constant.data.flags.writeable


def test_elements_in_another_order_are_copied():
    rows = np.frombuffer(np.arange(8, dtype="float32").tobytes(), "float32").reshape(2, 4)
    for array in (rows.T, rows[:, ::2], rows.view(">f4")):
        constant = Constant(array)
        assert constant.data.flags.c_contiguous
        assert constant.data.dtype.isnative
        assert constant.data.tolist() == array.tolist()


def test_a_new_array_that_its_maker_gives_up_is_shared_and_can_no_longer_be_written_into():
    array = np.arange(4.0)
    constant = Constant(given_up(array))
    assert address(constant.data) == address(array)
    for held in (array, constant.data):
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        constant.data.setflags(write=True)


def test_what_somebody_else_may_hold_is_not_given_up():
    array = np.arange(4.0)
    assert given_up(array[1:]).flags.writeable
    assert address(Constant(given_up(array[1:])).data) != address(array[1:])
