"""Devices of each kind by name, `cuda(0)`: they can be named where there is none.

Source: TVM `tvm.cuda`, `tvm.opencl` and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .values import Device

__all__ = [
    "cuda", "ext_dev", "gpu", "hexagon", "metal", "opencl", "rocm", "vpi", "vulkan", "webgpu",
]  # fmt: skip

D = TypeVar("D")


def of_kind(kind: str, make: Callable[[str, int], D], more: str = "") -> Callable[..., D]:
    """The function of that name which makes a device of the kind; `more` ends its docstring."""

    def made(dev_id: int = 0) -> D:
        return make(kind, dev_id)

    made.__name__ = made.__qualname__ = kind
    made.__doc__ = f"The {kind} device of that number{more}."
    return made


def _of_kind(kind: str) -> Callable[..., Device]:
    return of_kind(kind, Device, ", whether or not it is there")


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
