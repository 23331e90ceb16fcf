"""Names that users know as `tvm.nd`: tensors and devices. On the host a tensor is a numpy array."""

from __future__ import annotations

from .runtime.arrays import NDArray, array, empty, from_dlpack, tensor
from .runtime.values import Device, cpu, device

__all__ = ["Device", "NDArray", "array", "cpu", "device", "empty", "from_dlpack", "tensor"]
