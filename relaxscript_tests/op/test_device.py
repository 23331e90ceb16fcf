"""Operators that say where a value is: what they take, and what is known of the result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript as rx
import relaxscript.op as R
from relaxscript.errors import OperandError
from relaxscript.ir.module import VDevice
from relaxscript.ir.struct_info import TensorStructInfo, TupleStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.op import PlainContext

from .inference import OBJECT, refused, shape, tensor

X = tensor("n", 3)


def inferred(operator: Any, *args: Any) -> Any:
    return operator.infer(operator.build(args), PlainContext())


def test_a_tensor_that_was_moved_is_on_the_device() -> None:
    info = inferred(R.to_vdevice, X, "llvm:1")
    assert info.dims == X.struct_info.dims
    assert str(info.vdevice) == "llvm:1:global"


def test_every_field_of_a_tuple_is_moved() -> None:
    info = inferred(R.to_vdevice, (X, (X,)), VDevice("llvm", 1))
    assert isinstance(info, TupleStructInfo)
    assert str(info.fields[0].vdevice) == "llvm:1:global"
    assert str(info.fields[1].fields[0].vdevice) == "llvm:1:global"


def test_the_processor_is_another_name_of_its_target() -> None:
    assert str(inferred(R.to_vdevice, X, "cpu:1").vdevice) == "llvm:1:global"
    assert str(inferred(R.to_vdevice, X, "cpu").vdevice) == "llvm:0:global"


@pytest.mark.parametrize("other", [shape(2, 3), OBJECT])
def test_only_tensors_can_be_moved(other: Any) -> None:
    assert refused(R.to_vdevice, other, "llvm").code == "RX0201"
    assert refused(R.to_vdevice, (X, other), "llvm").code == "RX0201"
    assert refused(R.hint_on_device, other, "cpu").code == "RX0201"


@pytest.mark.parametrize("given", [1, None, "llvm:one", X])
def test_a_virtual_device_is_one_or_its_text(given: Any) -> None:
    with pytest.raises(OperandError, match="must be a virtual device") as caught:
        R.to_vdevice.build((X, given))
    assert (caught.value.operand, caught.value.code) == ("dst_vdevice", "RX0204")


@pytest.mark.parametrize("given", [1, None, "llvm:one", X])
def test_a_hint_names_a_device(given: Any) -> None:
    with pytest.raises(OperandError, match="must be a device"):
        R.hint_on_device.build((X, given))


def test_a_hint_takes_a_device_of_the_run_time_or_its_text() -> None:
    wanted = VDevice("cpu", 1)
    for given in (rx.cpu(1), "cpu:1", wanted):
        call = R.hint_on_device.build((X, given))
        assert structural_equal(call.attrs["dst_vdevice"], wanted)


def test_a_hint_leaves_open_where_its_result_is() -> None:
    assert inferred(R.hint_on_device, X, "cuda:0") is X.struct_info
    held = tensor(2).replace(struct_info=TensorStructInfo((2,), "float32", VDevice("llvm", 1)))
    assert structural_equal(inferred(R.hint_on_device, held, "cpu:0"), tensor(2).struct_info)


def test_a_moved_array_is_a_copy() -> None:
    array = np.ones(3, "float32")
    moved = R.to_vdevice(array, "llvm:0")
    assert moved is not array
    assert (moved == array).all()
