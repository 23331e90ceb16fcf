"""The quick test of arguments: a small Python function written for one signature.

It accepts only what needs no conversion and fits at first sight: plain arrays and Python numbers of
exactly the declared dtypes. Everything else goes the slow way (`coercion.py`, `run_check.py`),
which converts, or says what is wrong. A signature costs 0.1 us for each array this way, against
1 us.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType

from .checks import (
    Check,
    Dim,
    DimAny,
    DimBind,
    DimConst,
    DimExpr,
    FuncCheck,
    Heap,
    PrimCheck,
    ShapeCheck,
    TensorCheck,
    TupleCheck,
)
from .values import prim_value, tensor_dtype

__all__ = ["Test", "quick_test"]

Test = Callable[[Sequence[Any]], Heap | None]

_NUMBERS = {"int64": "int", "float64": "float", "bool": "bool"}


class _NoQuickTest(Exception):
    """Values of this kind are looked through or converted: that is not quick."""


def quick_test(
    checks: Sequence[Check], num_args: int, heap_size: int, proved: Sequence[int] = ()
) -> Test:
    """A function from the arguments to the shape heap of the call, None for "not at first sight".

    Those in the positions `proved` are not looked at, but for the shape variables that take their
    values there. Other arguments without checks, and those of signatures with tuples, shapes or
    functions, never fit at first sight.
    """
    if num_args == 0:
        return lambda args: None if args else [None] * heap_size
    if len(checks) != num_args:
        return lambda args: None
    writer = _GuardWriter()
    try:
        for index in proved:
            writer.known(f"a{index}", checks[index])
        for index, check in enumerate(checks):
            if index not in proved:
                writer.argument(f"a{index}", check)
    except _NoQuickTest:
        return lambda args: None
    return writer.compiled(num_args, heap_size)


class _GuardWriter:
    """Collects the tests of a signature, those that need the heap last."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.tests: list[str] = []
        self.shapes: list[str] = []
        self.later: list[str] = []
        self.bound: dict[int, str] = {}
        self.scope: dict[str, Any] = {
            "ndarray": np.ndarray, "tensor_dtype": tensor_dtype, "ArithmeticError": ArithmeticError,
            "prim_value": prim_value,
        }  # fmt: skip

    def constant(self, value: Any) -> str:
        name = f"k{len(self.scope)}"
        self.scope[name] = value
        return name

    def argument(self, name: str, check: Check) -> None:
        match check:
            case TensorCheck(device=device, shape_slot=None) if device is None or device.is_host:
                self.tensor(name, check)
            case PrimCheck(dtype=dtype, value=dim) if dtype in _NUMBERS:
                self.kinds.append(f"{name}.__class__ is {_NUMBERS[dtype]}")
                if dtype == "int64":
                    self.tests.append(f"{-(1 << 63)} <= {name} < {1 << 63}")
                if isinstance(dim, DimBind):
                    self.tests.append(f"{name} >= 0")
                if dim is not None:
                    self.dim(name, dim)
            case _:
                raise _NoQuickTest

    def known(self, value: str, check: Check) -> None:
        """Take shape variables out of a value that fits."""
        match check:
            case TupleCheck(fields=fields):
                for i, inner in enumerate(fields):
                    self.known(f"{value}[{i}]", inner)
            case TensorCheck(dims=tuple(dims)) | ShapeCheck(dims=tuple(dims)):
                part = ".shape" if isinstance(check, TensorCheck) else ""
                for axis, dim in enumerate(dims):
                    if isinstance(dim, DimBind):
                        self.bound.setdefault(dim.slot, f"{value}{part}[{axis}]")
            case PrimCheck(value=DimBind(slot=slot)):
                self.bound.setdefault(slot, f"prim_value({value})")
            case FuncCheck(binds=binds) if binds:
                raise _NoQuickTest

    def tensor(self, name: str, check: TensorCheck) -> None:
        self.kinds.append(f"{name}.__class__ is ndarray")
        if check.dtype is None:
            self.tests.append(f"tensor_dtype({name}) is not None")
        else:  # numpy has one object for each of its dtypes, with rare exceptions
            dtype = DataType(check.dtype)
            if not dtype.has_numpy:
                raise _NoQuickTest
            self.tests.append(f"{name}.dtype is {self.constant(dtype.numpy)}")
        ndim = check.ndim if check.dims is None else len(check.dims)
        if ndim >= 0:
            self.tests.append(f"{name}.ndim == {ndim}")
        if check.dims:
            self.shapes.append(f"s{name} = {name}.shape")
            for axis, dim in enumerate(check.dims):
                self.dim(f"s{name}[{axis}]", dim)

    def dim(self, size: str, dim: Dim) -> None:
        match dim:
            case DimConst(value=value):
                self.later.append(f"{size} == {self.constant(value)}")
            case DimBind(slot=slot) if slot not in self.bound:
                self.bound[slot] = size
            case DimAny():
                pass
            case DimExpr(compute=compute):
                self.later.append(f"{size} == {self.constant(compute)}(heap)")
            case _:
                self.later.append(f"{size} == heap[{dim.slot}]")

    def compiled(self, count: int, heap_size: int) -> Test:
        names = "".join(f"a{i}, " for i in range(count))
        heap = ", ".join(self.bound.get(slot, "None") for slot in range(heap_size))
        lines = [
            f"if len(args) != {count}: return None",
            f"{names}= args",
            f"if not ({' and '.join([*self.kinds, *self.tests]) or True}): return None",
            *self.shapes,
            f"heap = [{heap}]",
            "try:",
            f"    return heap if {' and '.join(self.later) or True} else None",
            "except ArithmeticError: return None",  # the slow way says which dimension it is
        ]
        text = "def test(args):\n" + "\n".join(f"    {line}" for line in lines)
        exec(compile(text, f"{__file__}, test", "exec"), self.scope)  # ours in tracebacks, too
        test: Test = self.scope["test"]
        return test
