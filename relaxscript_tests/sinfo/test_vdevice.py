"""Devices taken over from another StructInfo, and whether nothing else differs."""

from __future__ import annotations

import pytest

from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.sinfo import differs_in_devices_only, with_vdevice_of

ANY = TensorStructInfo((4,), "float32")
ON0 = TensorStructInfo((4,), "float32", "llvm:0")
ON1 = TensorStructInfo((4,), "float32", "llvm:1")


@pytest.mark.parametrize(
    ("info", "known", "placed"),
    [
        (ANY, ON1, ON1),
        (TupleStructInfo([ANY, ON0]), TupleStructInfo([ON1, ON1]), TupleStructInfo([ON1, ON0])),
        (FuncStructInfo([ANY], ANY), FuncStructInfo([ON0], ON1), FuncStructInfo([ON0], ON1)),
    ],
)
def test_a_device_that_is_not_said_is_taken_over(
    info: StructInfo, known: StructInfo, placed: StructInfo
) -> None:
    assert structural_equal(with_vdevice_of(info, known), placed)


@pytest.mark.parametrize(
    ("info", "known"),
    [
        (ON0, ON1), (ANY, ANY), (ANY, None), (ANY, ObjectStructInfo()), (ObjectStructInfo(), ON1),
        (TupleStructInfo([ANY]), TupleStructInfo([ON0, ON0])), (TupleStructInfo([ON0]), ON1),
    ],
)  # fmt: skip
def test_what_has_nothing_to_take_over_stays_the_same_object(
    info: StructInfo, known: StructInfo | None
) -> None:
    assert with_vdevice_of(info, known) is info


def test_whether_only_devices_keep_one_from_being_accepted_as_another() -> None:
    assert differs_in_devices_only(ANY, ON1)
    assert differs_in_devices_only(TupleStructInfo([ANY, ON0]), TupleStructInfo([ON1, ANY]))
    assert not differs_in_devices_only(ON0, ON1)
    assert not differs_in_devices_only(ANY, ANY)
    assert not differs_in_devices_only(TensorStructInfo(("n",), "float32"), ON1)
    assert not differs_in_devices_only(ObjectStructInfo(), ON1)
