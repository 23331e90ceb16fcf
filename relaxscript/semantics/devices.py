"""Operators on tensors of devices other than the host: they run where their operands are.

Source: spec "Destination Devices"; design of values at run time: what is not on the host is a
`DeviceTensor`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.errors import VMError
from relaxscript.runtime import Device, DeviceTensor
from relaxscript.runtime.values import tensor_device

__all__ = ["devices_of", "run_on_device"]


def devices_of(values: Sequence[Any]) -> list[Device]:
    """The devices of the tensors among values, tuples looked through, in the order of values."""
    found: dict[Device, None] = {}
    for value in values:
        if type(value) is tuple:
            found.update(dict.fromkeys(devices_of(value)))
        elif isinstance(value, (np.ndarray, DeviceTensor)):
            found[tensor_device(value)] = None
    return list(found)


def run_on_device(
    run: Callable[..., Any], values: Sequence[Any], callee: str, *, anywhere: bool
) -> Any:
    """`run(*values)` with the elements of tensors; tensors in the result are where the values are.

    Raises `VMError` (RX0606) for values on several devices, unless they may be `anywhere`.
    """
    devices = devices_of(values)
    if len(devices) > 1 and not anywhere:
        places = " and ".join(map(str, devices))
        raise VMError(f"{callee} cannot take operands on several devices, {places}", code="RX0606")
    result = run(*(_host_arrays(value) for value in values))
    return result if anywhere else _move_to_device(result, devices[0])


def _host_arrays(value: Any) -> Any:
    if type(value) is tuple:
        return tuple(map(_host_arrays, value))
    return value.data if isinstance(value, DeviceTensor) else value


def _move_to_device(value: Any, place: Device) -> Any:
    if type(value) is tuple:
        return tuple(_move_to_device(item, place) for item in value)
    return DeviceTensor(value, place) if isinstance(value, np.ndarray) else value
