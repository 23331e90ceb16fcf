"""Storages and the tensors in them: what is known, what they share, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.dtypes import DataType
from relaxscript.ir import relax

from .inference import OBJECT, dim, obliged, prim_var, ranked, refused, result, shape, tensor

BYTES, FLOATS = DataType("uint8"), DataType("float32")


def test_a_storage_is_an_object_of_so_many_bytes() -> None:
    assert result(R.memory.alloc_storage, (24,), 0, "global", "uint8") == "object"
    assert result(R.vm.alloc_storage, (dim("n"), 2), 0, "float32") == "object"
    assert R.memory.alloc_storage.meaning((24,), 0, "global", BYTES).size == 24
    assert R.memory.alloc_storage.meaning((24,), 0, "global", FLOATS).size == 24
    assert R.vm.alloc_storage.meaning((2, 3), 0, FLOATS, "global").size == 24


@pytest.mark.parametrize("operator", [R.memory.alloc_tensor, R.vm.alloc_tensor], ids=repr)
def test_a_tensor_shares_the_memory_of_its_storage(operator: R.Operator) -> None:
    storage = np.zeros(32, "uint8")
    first = operator.meaning(storage, 8, (2, 3), FLOATS)
    second = operator.meaning(storage, 8, (6,), FLOATS)
    first[...] = 7
    assert second.tolist() == [7] * 6
    for offset in (-1, 12):
        with pytest.raises(ValueError, match="the storage has 32 bytes"):
            operator.meaning(storage, offset, (2, 3), FLOATS)


@pytest.mark.parametrize("operator", [R.memory.alloc_tensor, R.vm.alloc_tensor], ids=repr)
def test_what_is_known_of_a_tensor_in_a_storage(operator: R.Operator) -> None:
    assert result(operator, OBJECT, 0, (dim("n"), 4), "float16") == "(n, 4) float16"
    assert result(operator, OBJECT, prim_var("int64"), shape(ndim=2), "int8") == "rank 2 int8 held"
    assert result(operator, OBJECT, 0, (2,), relax.Var("d", OBJECT.struct_info)) == "(2,) void"
    assert refused(operator, shape(2), 0, (2,), "int8").fact == "is a shape, not a storage"
    assert refused(operator, OBJECT, -4, (2,), "int8").fact == "is -4"
    assert refused(operator, OBJECT, 0.5, (2,), "int8").code == "RX0202"
    assert refused(operator, OBJECT, 0, (-2,), "int8").fact == "has the dimension -2"


@pytest.mark.parametrize("wrong", ["float31", 3, None, relax.StringImm("int33")])
def test_a_data_type_is_one(wrong: Any) -> None:
    error = refused(R.builtin.alloc_tensor, (2,), wrong, 0)
    assert (error.operand, error.code) == ("dtype", "RX0201")
    assert (error.fact or "").endswith('not a dtype, such as "float32"')


def test_a_tensor_is_allocated() -> None:
    assert result(R.builtin.alloc_tensor, (2, dim("n")), "float32", 0) == "(2, n) float32"
    assert refused(R.builtin.alloc_tensor, (2,), "float32", tensor(2)).operand == (
        "runtime_device_index"
    )
    assert refused(R.memory.alloc_storage, (2,), 0.5, "global", "int8").code == "RX0202"
    assert refused(R.vm.alloc_storage, (2,), OBJECT, "int8").code == "RX0201"


def test_what_is_given_back_is_nothing() -> None:
    assert result(R.memory.kill_storage, OBJECT) == "[]"
    assert result(R.memory.kill_tensor, tensor(2)) == "[]"
    assert result(R.vm.kill_object, OBJECT) == "[]"
    assert refused(R.memory.kill_tensor, OBJECT).code == "RX0201"
    assert not R.memory.kill_storage.pure
    assert not R.vm.kill_object.pure


def test_a_view_is_the_same_bytes_in_another_shape_or_dtype() -> None:
    x = np.arange(6, dtype="int32").reshape(2, 3)
    assert R.memory.view(x, (3, 2)).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert R.memory.view(x, (4, 3), "int16")[:, 0].tolist() == [0, 0, 3, 0]
    assert R.memory.view(x, (2,), None, 16).tolist() == [4, 5]
    assert R.memory.view(x, dtype="float32").dtype == np.float32
    assert R.memory.ensure_zero_offset(x).tolist() == x.tolist()


def test_the_shape_of_a_view() -> None:
    view = R.memory.view
    assert result(view, tensor("n", 4), (4, dim("n"))) == "(4, n) float32"
    assert result(view, tensor("n", 4), None, "int32") == "(n, 4) int32"
    assert result(view, ranked(2), (3, 3)) == "(3, 3) float32"
    assert result(view, tensor(4), shape(ndim=2)) == "rank 2 float32 held"
    assert obliged(view, tensor("n"), (4,)) == ["data: 16 inside n * 4"]
    assert result(R.memory.ensure_zero_offset, tensor("n", 4)) == "(n, 4) float32"


def test_a_view_ends_where_its_tensor_ends() -> None:
    view = R.memory.view
    assert refused(view, tensor(4), (5,)).fact == "has 16 bytes"
    assert refused(view, tensor(4), (4,), None, 4).fact == "has 16 bytes"
    assert refused(view, tensor(4), None, "float64").help == "give the shape of the view"
    assert refused(view, tensor(4), None, None, -4).fact == "is -4"
    assert refused(view, tensor(4), (-1,)).fact == "has the dimension -1"
    with pytest.raises(ValueError, match="0 to 20 are asked for"):
        view.meaning(np.zeros(4, "float32"), (5,))
