"""Names that users know as `relax.distributed`: meshes of devices, and tensors on them."""

from __future__ import annotations

from .ir.distributed import DeviceMesh, Placement, PlacementSpec, PlacementSpecKind
from .ir.struct_info import DTensorStructInfo
from .script.names.relax_distributed import device_mesh

__all__ = [
    "DTensorStructInfo", "DeviceMesh", "Placement", "PlacementSpec", "PlacementSpecKind",
    "device_mesh",
]  # fmt: skip
