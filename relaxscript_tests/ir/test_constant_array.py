"""Constants hold elements that nobody can write into; what is so already is not copied."""

from __future__ import annotations

import mmap

import numpy as np
import pytest

from relaxscript import Constant


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
