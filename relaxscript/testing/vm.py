"""Packed functions for tests of the machine, `test.vm.add` and others; an import registers them.

Source: TVM `relax.testing.vm`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.runtime.machine import VirtualMachine
from relaxscript.runtime.packed_func import register_func
from relaxscript.runtime.values import Device

from .compare import assert_allclose_tree

__all__ = ["check_saved_func"]


@register_func("test.vm.move", override=True)
def _move(src: Any) -> Any:
    return src


@register_func("test.vm.add", override=True)
def _add(a: Any, b: Any) -> Any:
    return np.asarray(np.add(a, b))


@register_func("test.vm.mul", override=True)
def _mul(a: Any, b: Any) -> Any:
    return np.asarray(np.multiply(a, b))


@register_func("test.vm.equal_zero", override=True)
def _equal_zero(a: Any) -> Any:
    return np.asarray(np.equal(a, 0).all())


@register_func("test.vm.subtract_one", override=True)
def _subtract_one(a: Any) -> Any:
    return np.asarray(np.subtract(a, np.asarray(a).dtype.type(1)))


@register_func("test.vm.identity", override=True)
def _identity(a: Any, result: Any) -> None:
    result[:] = a


@register_func("test.vm.tile", override=True)
def _tile(a: Any, result: Any) -> None:
    result[:] = np.tile(a, (1, 2))


@register_func("test.vm.add_scalar", override=True)
def _add_scalar(a: Any, b: Any) -> Any:
    return a + b


@register_func("test.vm.get_device_id", override=True)
def _get_device_id(device: Device) -> int:
    return device.index


@register_func("test.vm.check_if_defined", override=True)
def _check_if_defined(value: Any) -> bool:
    return value is not None


def check_saved_func(vm: VirtualMachine, func_name: str, *inputs: Any) -> Any:
    """The result of a function, after a saved call of it has given the same.

    Raises `AssertionError` where it does not. Source: TVM `relax.testing.vm.check_saved_func`.
    """
    saved = f"{func_name}_saved"
    vm.save_function(func_name, saved, *inputs)
    result = vm[func_name](*inputs)
    assert_allclose_tree(vm[saved](), result, 1e-7, 1e-7)
    return result
