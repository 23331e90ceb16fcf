"""Devices of each kind by name, `cuda(0)`: they can be named where there is none.

Source: TVM `tvm.cuda`, `tvm.opencl` and so on.
"""

from __future__ import annotations

from collections.abc import Callable

from .values import Device

__all__ = [
    "cuda", "ext_dev", "gpu", "hexagon", "metal", "opencl", "rocm", "vpi", "vulkan", "webgpu",
]  # fmt: skip


def _of_kind(kind: str) -> Callable[..., Device]:
    def made(dev_id: int = 0) -> Device:
        return Device(kind, dev_id)

    made.__name__ = made.__qualname__ = kind
    made.__doc__ = f"The {kind} device of that number, whether or not it is there."
    return made


# fmt: off
cuda    = _of_kind("cuda")
ext_dev = _of_kind("ext_dev")
gpu     = _of_kind("gpu")
hexagon = _of_kind("hexagon")
metal   = _of_kind("metal")
opencl  = _of_kind("opencl")
rocm    = _of_kind("rocm")
vpi     = _of_kind("vpi")
vulkan  = _of_kind("vulkan")
webgpu  = _of_kind("webgpu")
# fmt: on
