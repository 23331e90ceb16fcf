"""Tensors on several devices: meshes of devices, and how a tensor is placed on a mesh.

    mesh = DeviceMesh((2, 2), Range(0, 4))
    placement = Placement.from_text("S[0], R")      # rows over the first axis of the mesh

Source: TVM `relax.distributed` (DeviceMesh, Placement, PlacementSpec) for names and text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from relaxscript.errors import AdvisedValueError, quantity

from .field_types import brief
from .node import Node, field, node
from .prim import IntImm
from .tir import Range
from .vdevice import GlobalInfo

if TYPE_CHECKING:
    from .struct_info import TensorStructInfo

__all__ = [
    "DeviceMesh", "Placement", "PlacementMistake", "PlacementSpec", "PlacementSpecKind",
    "as_placement", "placement_mistake", "shard_counts",
]  # fmt: skip


class PlacementSpecKind(IntEnum):
    """Either a tensor is cut along an axis of a mesh, or each device has it as it is."""

    kSharding = 0
    kReplica = 1


def _whole(value: Any) -> int:
    if isinstance(value, IntImm):
        return int(value.value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"it is counted in whole numbers, not {brief(value)}")
    return int(value.__index__())


def _sizes(value: Any) -> tuple[int, ...]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"the shape of a mesh is a tuple such as `(2, 2)`, not {brief(value)}")
    return tuple(map(_whole, value))


def _device_ids(value: Any) -> tuple[int, ...]:
    """The numbers of devices: listed, or as a range of TIR, of scripts or of Python."""
    if isinstance(value, Range):
        first = _whole(value.min)
        return tuple(range(first, first + _whole(value.extent)))
    if hasattr(value, "begin") and hasattr(value, "end"):
        return tuple(range(_whole(value.begin), _whole(value.end)))
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"devices are listed, or `Range(0, 4)`, not {brief(value)}")
    return tuple(map(_whole, value))


@node
class DeviceMesh(GlobalInfo):
    """Devices by their numbers in an array of some shape; equal to one of the same devices.

    `device_ids` are in the order of the array, or a `Range`. It is one of a module's global infos.
    """

    shape: tuple[int, ...] = field(convert=_sizes)
    device_ids: tuple[int, ...] = field(convert=_device_ids)

    def _check(self) -> None:
        if any(size < 1 for size in self.shape):
            raise ValueError(
                f"an axis of a mesh has at least one device; the shape is {self.shape}"
            )
        count, places = len(self.device_ids), prod(self.shape)
        if count != places:
            raise AdvisedValueError(
                f"a mesh of shape {self.shape} has {quantity(places, 'device')}, and {count} "
                f"{'is' if count == 1 else 'are'} numbered",
                f"number its devices: `I.Range(0, {places})`",
            )
        if any(number < 0 for number in self.device_ids):
            raise ValueError("the numbers of devices count from 0")
        if len(set(self.device_ids)) < count:
            twice = next(n for n in self.device_ids if self.device_ids.count(n) > 1)
            raise ValueError(f"the device {twice} is in the mesh twice")

    @property
    def device_range(self) -> Range | None:
        """The numbers of the devices as a range, where one follows the other."""
        first = self.device_ids[0]
        follow = range(first, first + len(self.device_ids))
        return Range(first, follow.stop) if self.device_ids == tuple(follow) else None

    @property
    def size(self) -> int:
        """The number of devices."""
        return len(self.device_ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and _said(self) == _said(other)

    def __hash__(self) -> int:
        return hash(_said(self))

    def __str__(self) -> str:
        devices = ", ".join(map(str, self.device_ids))
        return f"{self.shape} of the devices {devices}"


def _said(mesh: DeviceMesh) -> tuple[Any, ...]:
    return mesh.shape, mesh.device_ids


@node
class PlacementSpec(Node):
    """The axis of a tensor that is cut along one axis of a mesh, or -1: each device has all."""

    axis: int = -1

    def _check(self) -> None:
        if self.axis < -1:
            raise ValueError(f"`PlacementSpec.axis` counts from 0, and is {self.axis}")

    @staticmethod
    def sharding(axis: int) -> PlacementSpec:
        """Each device has its part of the tensor along `axis`."""
        if axis < 0:
            raise ValueError(f"the axis that is sharded counts from 0, and is {axis}")
        return PlacementSpec(axis)

    @staticmethod
    def replica() -> PlacementSpec:
        """Each device has the whole tensor."""
        return PlacementSpec()

    @property
    def kind(self) -> PlacementSpecKind:
        """Sharding or replica."""
        return PlacementSpecKind.kReplica if self.axis < 0 else PlacementSpecKind.kSharding

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlacementSpec) and self.axis == other.axis

    def __hash__(self) -> int:
        return hash(self.axis)

    def __str__(self) -> str:
        return "R" if self.axis < 0 else f"S[{self.axis}]"

    def __repr__(self) -> str:
        made = "replica()" if self.axis < 0 else f"sharding({self.axis})"
        return f"PlacementSpec.{made}"


@node
class Placement(Node):
    """The way in which a tensor lies on a mesh, for each axis of the mesh: "S[0], R" as text."""

    dim_specs: tuple[PlacementSpec, ...] = field(convert=tuple)

    @staticmethod
    def from_text(text: str) -> Placement:
        """The placement of a text, `"S[0], R"`; raises `ValueError` for what is none."""
        found: list[PlacementSpec] = []
        place = 0
        while found_word := _WORD.match(text, place):
            axis = found_word["axis"]
            found.append(PlacementSpec(-1 if axis is None else int(axis)))
            place = found_word.end()
        if text[place:].strip():
            raise AdvisedValueError(
                f'"{text}" is not a placement',
                'write `S[axis]` or `R` for each axis of the mesh, as in `"S[0], R"`',
            )
        return Placement(tuple(found))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Placement) and self.dim_specs == other.dim_specs

    def __hash__(self) -> int:
        return hash(self.dim_specs)

    def __str__(self) -> str:
        return ", ".join(map(str, self.dim_specs))

    def __repr__(self) -> str:
        return f'Placement.from_text("{self}")'


_WORD = re.compile(r"[\s,]*(?:R|S\s*\[\s*(?P<axis>[0-9]{1,9})\s*\])")


def as_placement(value: Any) -> Any:
    """A placement from its text; anything else is left as it is."""
    return Placement.from_text(value) if isinstance(value, str) else value


def shard_counts(mesh: DeviceMesh, placement: Placement) -> dict[int, int]:
    """The number of parts into which a placement cuts each axis of a tensor that it cuts."""
    counts: dict[int, int] = {}
    for spec, size in zip(placement.dim_specs, mesh.shape):
        if spec.axis >= 0:
            counts[spec.axis] = counts.get(spec.axis, 1) * size
    return counts


class PlacementMistake(NamedTuple):
    """A reason why a tensor cannot lie on a mesh as it is said to; `fix` is another placement."""

    message: str
    help: str
    fix: str | None = None


def placement_mistake(
    tensor: TensorStructInfo, mesh: DeviceMesh, placement: Placement
) -> PlacementMistake | None:
    """The first reason why a tensor cannot lie on a mesh so: ranks, axes, or what does not divide.

    What is not known of the tensor is no mistake, and a dimension that is no number is not known.
    """
    specs, axes = placement.dim_specs, len(mesh.shape)
    if tensor.vdevice is not None:
        message = "a distributed tensor is on the devices of its mesh, and on no other"
        return PlacementMistake(message, "leave `vdevice` out")
    if len(specs) != axes:
        whole = ", ".join([*map(str, specs), *["R"] * axes][:axes])
        return PlacementMistake(
            f'the placement "{placement}" is for {quantity(len(specs), "axis")} of a mesh, and '
            f"the mesh has {quantity(axes, 'axis')}",
            f'write `"{whole}"`', f'"{whole}"',
        )  # fmt: skip
    for axis, count in shard_counts(mesh, placement).items():
        if -1 < tensor.ndim <= axis:
            return PlacementMistake(
                f'the placement "{placement}" cuts axis {axis}, and the rank of the tensor is '
                f"{tensor.ndim}",
                "axes count from 0; `R` leaves the tensor whole",
            )
        dim = None if tensor.dims is None else tensor.dims[axis]
        if isinstance(dim, IntImm) and dim.value % count:
            return PlacementMistake(
                f"axis {axis} has {quantity(dim.value, 'element')}, which {count} devices cannot "
                "share evenly",
                f"cut an axis that {count} divides, or write `R` in its place",
            )
    return None
