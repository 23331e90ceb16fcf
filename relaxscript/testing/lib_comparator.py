"""LibCompareVMInstrument: the kernels of a program beside those of another library.

Source: TVM `relax.testing.lib_comparator`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from relaxscript.runtime.arrays import array
from relaxscript.runtime.executable import Executable
from relaxscript.runtime.machine import VMInstrumentReturnKind
from relaxscript.runtime.values import Device, DeviceTensor, device as device_named

from .compare import assert_allclose

__all__ = ["LibCompareVMInstrument"]


class LibCompareVMInstrument:
    """An instrument that runs each kernel a second time, by a library, and compares results.

        vm.set_instrument(LibCompareVMInstrument(kernels, cpu()))

    `mod` has the other kernels by name: a mapping of callables, or an executable that was built of
    the same PrimFuncs. They write into their last argument, which is a tensor on `device`. With
    `verbose` it is said what agrees and what `mod` has not. A difference beyond `rtol` and `atol`
    is an `AssertionError` with the name of the kernel. Source: TVM
    `relax.testing.lib_comparator.LibCompareVMInstrument`.
    """

    def __init__(
        self, mod: Mapping[str, Callable[..., Any]] | Executable, device: Device | str,
        verbose: bool = True, rtol: float = 1e-5, atol: float = 1e-5,
    ) -> None:  # fmt: skip
        self.mod = mod.externals if isinstance(mod, Executable) else mod
        self.device = device_named(device)
        self.verbose = verbose
        self.rtol = rtol
        self.atol = atol
        self.counter = 0

    def compare(
        self,
        name: str,
        ref_args: Sequence[Any],
        new_args: Sequence[Any],
        ret_indices: Iterable[int],
    ) -> None:
        """Compare what both have written into the arguments at some places."""
        for place in ret_indices:
            try:
                assert_allclose(new_args[place], ref_args[place], self.rtol, self.atol)
            except AssertionError as error:
                raise AssertionError(f"call {self.counter}, of `{name}`: {error}") from None
        if self.verbose:
            print(f"[{self.counter}] {name} agrees")

    def skip_instrument(
        self, func: Any, name: str, before_run: bool, ret_val: Any, *args: Any
    ) -> bool:
        """True for a call that is not compared; classes that derive from this one say which."""
        return False

    def __call__(self, func: Any, name: str, before_run: bool, ret_val: Any, *args: Any) -> int:
        """Look at a packed call, before it and after it."""
        go_on = VMInstrumentReturnKind.NO_OP
        tensors = all(isinstance(arg, (np.ndarray, DeviceTensor)) for arg in args)
        if before_run or name.startswith("vm.builtin.") or not tensors or not args:
            return go_on
        other = self.mod.get(name)
        if other is None:
            if self.verbose:
                print(f"`{name}` is in one library only")
            return go_on
        if self.skip_instrument(func, name, before_run, ret_val, *args):
            return go_on
        self.counter += 1
        new_args = [array(arg, self.device) for arg in args]
        result = new_args[-1].data if isinstance(new_args[-1], DeviceTensor) else new_args[-1]
        result[...] = 0
        other(*new_args)
        self.compare(name, args, new_args, (len(args) - 1,))
        return go_on
