"""Devices in scripts, `R.device("cpu", 1)`: a kind and a number, for `R.hint_on_device`."""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.errors import AdvisedValueError
from relaxscript.ir.module import Target, VDevice
from relaxscript.runtime.devices import of_kind
from relaxscript.runtime.values import DEVICE_ALIASES, DEVICE_KINDS

from .safe_callables import safe_callables

__all__ = [
    "cpu", "cuda", "device", "ext_dev", "gpu", "hexagon", "metal", "opencl", "rocm", "vpi",
    "vulkan", "webgpu",
]  # fmt: skip


def device(dev: str | int, dev_id: int | None = None) -> VDevice:
    """The device of a kind ("cpu", or its number in DLPack) and an index: "cuda:1" names both.

    Raises `ValueError` for what names no device.
    """
    if not isinstance(dev_id, int | None) or isinstance(dev_id, bool) or (dev_id or 0) < 0:
        raise ValueError("the number of a device is a whole number from 0 on")
    if isinstance(dev, int) and not isinstance(dev, bool) and dev in DEVICE_KINDS:
        return VDevice(Target(DEVICE_KINDS[dev]), dev_id or 0)
    if not isinstance(dev, str):
        raise ValueError(f"{dev!r} is no kind of device")
    kind, _, index = dev.partition(":")
    kind = DEVICE_ALIASES.get(kind, kind)
    if kind not in DEVICE_KINDS.values() or (
        index and (dev_id is not None or not index.isdecimal())
    ):
        help = 'write a kind and a number, as in "cpu:1"'
        raise AdvisedValueError(f'"{dev}" names no device', help)
    return VDevice(Target(kind), int(index or dev_id or 0))


def _of_kind(kind: str) -> Callable[..., VDevice]:
    made = of_kind(kind, device)
    made.__module__ = __name__  # a mistake in its call is one in a name of scripts
    return made


# fmt: off
cpu     = _of_kind("cpu")
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

safe_callables(
    cpu, cuda, device, ext_dev, gpu, hexagon, metal, opencl, rocm, vpi, vulkan, webgpu,
)  # fmt: skip
