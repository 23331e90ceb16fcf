"""Targets and virtual devices: the forms in which they are given, and their names."""

from __future__ import annotations

from typing import Any

import pytest

import relaxscript as rx
from relaxscript.ir.module import Target, VDevice
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal


@pytest.mark.parametrize(
    "given",
    ["llvm -mcpu=znver4", {"kind": "llvm", "mcpu": "znver4"}, Target("llvm", {"mcpu": "znver4"})],
)
def test_a_target_is_given_as_text_as_mapping_or_as_one(given: Any) -> None:
    for target in (Target(given), VDevice(given, 1).target):
        assert (target.kind, dict(target.attrs)) == ("llvm", {"mcpu": "znver4"})


def test_the_specification_has_names_of_its_own() -> None:
    device = VDevice("llvm -mcpu=znver4", 1, "local")
    assert (device.tgt, device.dev_id, device.mem_scope) == (device.target, 1, "local")
    assert device.target.tag == "llvm -mcpu=znver4"
    assert device.target.config == {"kind": "llvm", "mcpu": "znver4"}
    assert structural_equal(Target(device.target.config), Target(device.target.tag))
    assert (Target().kind, Target(None).kind) == ("", "")


def test_the_processor_is_another_name_of_a_target() -> None:
    assert structural_equal(VDevice("cpu", 1), VDevice("llvm", 1))
    assert structural_equal(VDevice({"kind": "cpu", "mcpu": "x"}), VDevice("llvm -mcpu=x"))
    info = TensorStructInfo((2,), "float32", "cpu:1")
    assert structural_equal(info.vdevice, VDevice("llvm", 1))


@pytest.mark.parametrize(
    ("device", "short"),
    [
        (VDevice("llvm"), "llvm:0"),
        (VDevice("cpu", 2), "llvm:2"),
        (VDevice("cuda -arch=sm_80", 1, "shared"), "cuda -arch=sm_80:1:shared"),
    ],
)
def test_people_leave_the_usual_memory_scope_out(device: VDevice, short: str) -> None:
    assert device.short == short


def test_devices_are_counted_from_zero() -> None:
    with pytest.raises(ValueError, match=r"`VDevice\.vdevice_id` counts from 0, and is -1"):
        VDevice("llvm", -1)


@pytest.mark.parametrize(
    ("given", "said"), [(3, 'a string such as "llvm"'), ({}, 'needs a "kind"')]
)
def test_what_is_no_target_is_refused(given: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        VDevice(given)
    with pytest.raises((TypeError, ValueError), match=said):
        Target(given)


def test_the_target_that_is_entered_is_the_current_one() -> None:
    assert Target.current() is None
    with pytest.raises(ValueError, match=r"no target is entered; write `with Target\(\"llvm\"\):`"):
        Target.current(allow_none=False)
    with Target("llvm") as outer, Target("reference") as inner:
        assert Target.current() is inner
        assert outer.kind == "llvm"
    assert Target.current() is None


def test_a_target_is_left_when_what_stands_in_it_raises() -> None:
    with pytest.raises(KeyError), Target("llvm"):
        raise KeyError
    assert Target.current() is None


def test_a_device_has_the_target_that_compiles_for_it() -> None:
    assert Target.from_device(rx.cpu(1)).kind == Target.from_device("cpu").kind == "llvm"
    assert Target.from_device(rx.cuda()).kind == "cuda"
