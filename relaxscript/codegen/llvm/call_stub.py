"""The fast way into compiled code: a small Python function written for one signature.

It tests that the arguments are exactly what the code expects (numpy arrays of the right dtype
and shape, compact, aligned, writable where they are written; numbers in range) and hands over
addresses and dimensions. Whatever fails a test goes the slow way, which decides what is wrong, if
anything.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from relaxscript.ir import prim
from relaxscript.semantics import scalar
from relaxscript.semantics.prim_func_abi import BufferParam, PrimFuncSignature, ScalarParam

__all__ = ["fast_call"]

# Python reads no more than 200 brackets within each other.
_DEEPEST = 100
_SYMBOLS = {prim.Add: "+", prim.Sub: "-", prim.Mul: "*", prim.FloorDiv: "//", prim.FloorMod: "%"}


def _data_offset() -> int | None:
    """The offset of the address of its elements in an array object, if it is as numpy documents.

    `PyArrayObject` begins with the object header, then `char *data`.
    """
    probe, offset = np.zeros(3, "int64"), object.__basicsize__
    found = ctypes.c_void_p.from_address(id(probe) + offset).value
    return offset if found == probe.ctypes.data else None


def _pointer_text(name: str, offset: int | None) -> str:
    return f"{name}.ctypes.data" if offset is None else f"at(id({name}) + {offset})"


class _Unknown(Exception):
    """There is no quick test for this signature."""


class _StubWriter:
    """Collects the tests and operands for the parameters of a signature."""

    def __init__(self, signature: PrimFuncSignature) -> None:
        self.signature = signature
        self.offset = _data_offset()
        self.names = [f"a{i}" for i in range(len(signature.params))]
        self.steps: list[str] = []
        self.tests: list[str] = []
        self.operands: list[str] = []
        self.constants: dict[str, Any] = {}
        self.variables: dict[prim.Var, str] = {}

    def write(self) -> None:
        for i, param in enumerate(self.signature.params):
            match param:
                case BufferParam(buffer=buffer, dtype=dtype) if not buffer.strides:
                    self.array(i, param, dtype)
                case ScalarParam(var=var):
                    self.number(self.names[i], var)
                case _:
                    raise _Unknown
        pairs = zip(self.signature.variables, self.signature.sources, strict=True)
        for var, source in pairs:
            text = f"s{source.param}[{source.axis}]" if source.kind == "dimension" else "0"
            self.variables[var] = text
            self.operands.append(text)
            if var.dtype.bits < 64:
                self.tests.append(f"{text} <= {scalar.limits(var.dtype)[1]}")
        for extent in self.signature.checks:
            expected = self.text(extent.expected)
            actual = f"s{extent.param}[{extent.axis}]" if extent.kind == "dimension" else "0"
            self.tests.append(f"{actual} == {expected}")

    def array(self, i: int, param: BufferParam, dtype: np.dtype[Any]) -> None:
        name = self.names[i]
        self.constants[f"d{i}"] = dtype
        self.steps.append(f"if {name}.__class__ is not ndarray: return slow(args)")
        layout = f"{name}.flags.carray"
        if i not in self.signature.written:
            self.steps.append(f"f{i} = {name}.flags")
            layout = f"f{i}.c_contiguous and f{i}.aligned"
        self.steps.append(f"s{i} = {name}.shape")
        ndim = param.buffer.ndim
        self.tests.append(f"{name}.dtype is d{i} and len(s{i}) == {ndim} and {layout}")
        self.operands.append(_pointer_text(name, self.offset))

    def number(self, name: str, var: prim.Var) -> None:
        dtype = var.dtype
        if dtype.is_integer:
            low, high = scalar.limits(dtype)
            self.tests.append(f"{name}.__class__ is int and {low} <= {name} <= {high}")
        elif dtype in ("float32", "float64"):
            self.tests.append(f"{name}.__class__ is float")
        elif dtype.is_bool:
            self.tests.append(f"{name}.__class__ is bool")
        else:
            raise _Unknown
        self.variables[var] = name
        self.operands.append(name)

    def text(self, e: prim.PrimExpr, depth: int = 0) -> str:
        """A dimension as an expression of Python."""
        match e:
            case _ if depth > _DEEPEST:
                raise _Unknown
            case prim.IntImm(value=value):
                return str(value)
            case prim.Var() if e in self.variables:
                return self.variables[e]
            case prim.FloorDiv(b=b) | prim.FloorMod(b=b) if (
                not isinstance(b, prim.IntImm) or b.value == 0
            ):
                raise _Unknown
            case prim.Binary(a, b) if type(e) in _SYMBOLS:
                left, right = self.text(a, depth + 1), self.text(b, depth + 1)
                return f"({left} {_SYMBOLS[type(e)]} {right})"
        raise _Unknown


def fast_call(
    signature: PrimFuncSignature, returns: bool, tools: Mapping[str, Any]
) -> Callable[..., Any]:
    """The function that calls a kernel; `tools` are its slow way, entry, details and result."""
    writer = _StubWriter(signature)
    try:
        writer.write()
    except _Unknown:
        slow: Callable[..., Any] = tools["slow"]
        return lambda *args: slow(args)
    names = "".join(f"{name}, " for name in writer.names)
    given = ", ".join(["local.address", *writer.operands])
    lines = [
        f"if len(args) != {len(writer.names)}: return slow(args)",
        f"{names}= args" if names else "",
        *writer.steps,
        *(f"if not ({test}): return slow(args)" for test in writer.tests),
        f"status = entry({given})",
        "if status: finish(status)",
        "return finish(0)" if returns else "",
    ]
    scope: dict[str, Any] = {
        "ndarray": np.ndarray, "at": ctypes.c_void_p.from_address, **tools, **writer.constants,
    }  # fmt: skip
    text = "def call(*args):\n" + "\n".join(f"    {line}" for line in lines if line)
    exec(compile(text, f"{__file__}, call", "exec"), scope)  # ours in tracebacks, too
    call: Callable[..., Any] = scope["call"]
    return call
