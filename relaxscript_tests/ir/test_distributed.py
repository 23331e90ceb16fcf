"""Meshes of devices and placements of tensors on them."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest

from relaxscript.ir import Range
from relaxscript.ir.distributed import (
    DeviceMesh,
    Placement,
    PlacementSpec,
    PlacementSpecKind,
)
from relaxscript.ir.module import VDevice
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.struct_info import DTensorStructInfo, TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal, structural_hash
from relaxscript.script import ir as I

SQUARE = DeviceMesh((2, 2), Range(0, 4))


def test_devices_are_listed_or_a_range_of_any_sort() -> None:
    meshes = [
        SQUARE, DeviceMesh([2, 2], [0, 1, 2, 3]), DeviceMesh((2, 2), range(4)),
        DeviceMesh((2, 2), I.Range(0, 4)),
    ]  # fmt: skip
    assert all(mesh == SQUARE and hash(mesh) == hash(SQUARE) for mesh in meshes)
    assert SQUARE.device_ids == (0, 1, 2, 3)
    assert SQUARE.size == 4


def test_meshes_of_other_shapes_or_devices_are_others() -> None:
    others = [DeviceMesh((4,), range(4)), DeviceMesh((2, 2), [0, 2, 1, 3])]
    assert all(other != SQUARE and not structural_equal(other, SQUARE) for other in others)
    assert SQUARE != (2, 2)


def test_devices_that_follow_each_other_are_a_range() -> None:
    devices = DeviceMesh((3,), [4, 5, 6]).device_range
    assert devices is not None
    assert structural_equal(devices, Range(4, 7))
    assert DeviceMesh((2,), [1, 0]).device_range is None


def test_a_mesh_without_axes_is_one_device() -> None:
    assert DeviceMesh((), Range(0, 1)).device_ids == (0,)


@pytest.mark.parametrize(
    ("shape", "devices", "message"),
    [
        ((2, 2), range(3), "a mesh of shape (2, 2) has 4 devices, and 3 are numbered"),
        ((1,), (), "a mesh of shape (1,) has 1 device, and 0 are numbered"),
        ((), (1, 2), "a mesh of shape () has 1 device, and 2 are numbered"),
        ((2,), (1,), "a mesh of shape (2,) has 2 devices, and 1 is numbered"),
        ((0,), (), "an axis of a mesh has at least one device; the shape is (0,)"),
        ((2,), (0, -1), "the numbers of devices count from 0"),
        ((2,), (3, 3), "the device 3 is in the mesh twice"),
        ((2, 1.5), (0,), "whole numbers, not float (1.5)"),
        ("22", (0,), "`DeviceMesh.shape` must be a sequence"),
        ((1,), "0", "`DeviceMesh.device_ids` must be a sequence"),
        ((1,), Range(0, PrimVar("n", "int64")), "each an int, not Range"),
    ],
)  # fmt: skip
def test_a_mesh_that_cannot_be_says_why(shape: Any, devices: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        DeviceMesh(shape, devices)


def test_a_placement_is_its_text() -> None:
    placement = Placement([PlacementSpec.sharding(1), PlacementSpec.replica()])
    for text in ("S[1], R", "S[1],R", " S [ 1 ] R "):
        assert Placement.from_text(text) == placement
    assert str(placement) == "S[1], R"
    assert repr(placement) == 'Placement.from_text("S[1], R")'
    assert repr(placement.dim_specs) == "(PlacementSpec.sharding(1), PlacementSpec.replica())"
    kinds = [spec.kind for spec in placement.dim_specs]
    assert kinds == [PlacementSpecKind.kSharding, PlacementSpecKind.kReplica]
    assert [spec.axis for spec in placement.dim_specs] == [1, -1]
    assert Placement.from_text("").dim_specs == ()
    assert len({placement, Placement.from_text("S[1], R"), Placement.from_text("R, R")}) == 2


@pytest.mark.parametrize("text", ["S", "S[]", "S[-1]", "S[a]", "X", "R; R", "S[0], T"])
def test_a_text_that_is_no_placement_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a placement; write `S"):
        Placement.from_text(text)


@pytest.mark.parametrize("make", [lambda: PlacementSpec(-2), lambda: PlacementSpec.sharding(-1)])
def test_axes_that_are_cut_count_from_0(make: Any) -> None:
    with pytest.raises(ValueError, match="counts from 0"):
        make()


@pytest.mark.parametrize(
    ("tensor", "placement", "message"),
    [
        (TensorStructInfo((4,)), "S[0]", 'and the mesh has 2 axes; write `"S[0], R"`'),
        (TensorStructInfo((4,)), "R, S[0], R", "is for 3 axes of a mesh, and the mesh has 2 axes"),
        (TensorStructInfo((4,)), "S[1], R", "cuts axis 1, and the rank of the tensor is 1"),
        (TensorStructInfo((5,)), "S[0], R", "axis 0 has 5 elements, which 2 devices cannot share"),
        (TensorStructInfo((6,)), "S[0], S[0]", "axis 0 has 6 elements, which 4 devices cannot"),
        (TensorStructInfo((4,), vdevice=VDevice("llvm")), "R, R", "on the devices of its mesh"),
    ],
)  # fmt: skip
def test_a_tensor_that_cannot_lie_so_says_why(
    tensor: TensorStructInfo, placement: str, message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        DTensorStructInfo(tensor, SQUARE, Placement.from_text(placement))


def test_what_is_not_known_of_a_tensor_may_be_cut() -> None:
    n = PrimVar("n", "int64")
    for tensor in (TensorStructInfo((n, 3)), TensorStructInfo(), TensorStructInfo(ndim=2)):
        made = DTensorStructInfo(tensor, SQUARE, "S[0], R")
        assert made.placement == Placement.from_text("S[0], R")
        assert (made.ndim, made.dtype) == (tensor.ndim, tensor.dtype)


def test_distributed_tensors_are_the_same_by_what_they_say() -> None:
    one, same = (
        DTensorStructInfo(TensorStructInfo((4,)), DeviceMesh((2, 2), range(4)), "S[0], R")
        for _ in range(2)
    )
    assert one == same
    assert structural_hash(one) == structural_hash(same)
    assert pickle.loads(pickle.dumps(one)) == one
    for other in (
        DTensorStructInfo(TensorStructInfo((4,)), SQUARE, "R, R"),
        DTensorStructInfo(TensorStructInfo((4,)), DeviceMesh((2, 2), range(4, 8)), "S[0], R"),
        DTensorStructInfo(TensorStructInfo((8,)), SQUARE, "S[0], R"),
    ):
        assert one != other
        assert structural_hash(one) != structural_hash(other)
