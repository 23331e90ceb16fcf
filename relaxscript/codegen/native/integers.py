"""The arithmetic of dimensions in an entry: exact in 64 bits, or the slow way."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from relaxscript.codegen.llvm.ir_writer import FunctionWriter, Value
from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.semantics import scalar

__all__ = ["Integers", "Unwritable", "i64"]

_EXACT: Mapping[str, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
}  # fmt: skip


class Unwritable(Exception):
    """A dimension is computed in a way for which there is no text."""


def i64(value: int) -> Value:
    """A literal."""
    return Value("i64", str(value))


class Integers:
    """Computes integers in a function; `doubts` are conditions that must not hold, to be tested."""

    def __init__(self, asm: FunctionWriter) -> None:
        self.asm = asm
        self.doubts: list[Value] = []

    def doubt(self, predicate: str, a: Value, b: Value) -> None:
        """Take the slow way, soon, where a comparison holds."""
        if a == b and predicate == "icmp ne":
            return
        self.doubts.append(self.asm.compare(predicate, a, b))

    def integer(self, e: prim.PrimExpr, values: Mapping[prim.Var, Value]) -> Value:
        """The value of an expression of integers; the slow way where 64 bits are too few for it."""
        match e:
            case prim.IntImm(value=value) if e.dtype.is_integer and e.dtype != "uint64":
                return i64(value)
            case prim.Var() if e in values:
                return values[e]
            case prim.Binary(a, b) if e.dtype.is_integer and e.dtype != "uint64":
                x, y = self.integer(a, values), self.integer(b, values)
                found = self.binary(e, x, y)
                self.limit(found, e.dtype)
                return found
        raise Unwritable

    def binary(self, e: prim.Binary, x: Value, y: Value) -> Value:
        asm = self.asm
        match e:
            case prim.Add() | prim.Sub() | prim.Mul():
                name = {prim.Add: "add", prim.Sub: "sub", prim.Mul: "mul"}[type(e)]
                return self.exact(name, x, y)
            case prim.Min() | prim.Max():
                predicate = "icmp slt" if isinstance(e, prim.Min) else "icmp sgt"
                return asm.choose(asm.compare(predicate, x, y), x, y)
            case (
                prim.FloorDiv(b=prim.IntImm(value=by)) | prim.FloorMod(b=prim.IntImm(value=by))
            ) if by > 0:
                rest = asm.operation("srem", x, y)
                below = asm.compare("icmp slt", rest, i64(0))
                if isinstance(e, prim.FloorMod):
                    return asm.choose(below, asm.operation("add", rest, y), rest)
                one = asm.convert("zext", below, "i64")
                return asm.operation("sub", asm.operation("sdiv", x, y), one)
        raise Unwritable

    def exact(self, name: str, x: Value, y: Value) -> Value:
        """A sum, difference or product; the slow way where it has more than 64 bits."""
        if not x.text.startswith("%") and not y.text.startswith("%"):
            found = _EXACT[name](int(x.text), int(y.text))
            if -(1 << 63) <= found < 1 << 63:
                return i64(found)
        made, wraps = self.asm.overflowing(f"s{name}", x, y)
        self.doubts.append(wraps)
        return made

    def limit(self, value: Value, dtype: DataType) -> None:
        """Go the slow way for an integer that is none of a narrow type."""
        if dtype.is_integer and dtype.bits < 64:
            low, high = scalar.limits(dtype)
            self.doubt("icmp slt", value, i64(int(low)))
            self.doubt("icmp sgt", value, i64(int(high)))
