"""Names that users know as `tvm.nd`: tensors and devices. On the host a tensor is an ndarray."""

from __future__ import annotations

from numpy import ndarray as NDArray

from .runtime.arrays import array, empty, from_dlpack
from .runtime.values import Device, cpu, device

__all__ = ["Device", "NDArray", "array", "cpu", "device", "empty", "from_dlpack"]
