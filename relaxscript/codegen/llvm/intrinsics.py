"""Code for intrinsics: instructions of LLVM, functions of the C library, a few formulas.

`emit_float` writes a function of floats for `float` and `double`; functions of the C library end in
`f` for `float`. The 16-bit floats are `float`s here, and the caller rounds the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from relaxscript.dtypes import DataType
from relaxscript.ir.intrinsic import FUSED

from .ir_writer import PURE, FunctionWriter, Value, element_of

__all__ = [
    "C_FUNCTIONS", "INTEGER_INTRINSICS", "emit_float", "next_after", "rounded_to_odd", "with_room",
]  # fmt: skip

Emit = Callable[[FunctionWriter, Sequence[Value], DataType], Value]

# Exact operations, which LLVM has for vectors too.
_INSTRUCTIONS = {
    "tir.ceil": "ceil", "tir.copysign": "copysign", "tir.fabs": "fabs", "tir.floor": "floor",
    "tir.nearbyint": "rint", "tir.round": "round", "tir.sqrt": "sqrt", "tir.trunc": "trunc",
}  # fmt: skip

# Functions of the C library, applied lane by lane.
_LIBRARY = {
    f"tir.{name}": name
    for name in (
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "erf", "exp",
        "exp2", "fmod", "hypot", "ldexp", "log", "log10", "log1p", "log2", "pow", "sin", "sinh",
        "tan", "tanh",
    )
}  # fmt: skip

C_FUNCTIONS = [name + end for name in (*_LIBRARY.values(), "fma") for end in ("", "f")]


def emit_float(asm: FunctionWriter, name: str, args: Sequence[Value], dtype: DataType) -> Value:
    """The value of a function of floats, which the caller rounds to `dtype`."""
    if name in _INSTRUCTIONS:
        return asm.intrinsic(_INSTRUCTIONS[name], args)
    if name in _LIBRARY:
        return library(asm, _LIBRARY[name], args)
    if name == FUSED:
        return _fuse(asm, args, dtype)
    x = args[0]
    one = asm.number(x.type, 1.0)
    match name:
        case "tir.exp10":
            return library(asm, "pow", [asm.number(x.type, 10.0), x])
        case "tir.rsqrt":
            return asm.operation("fdiv", one, asm.intrinsic("sqrt", [x]))
        case "tir.sigmoid":
            exp = library(asm, "exp", [asm.value(x.type, f"fneg {x}")])
            return asm.operation("fdiv", one, asm.operation("fadd", one, exp))
        case "tir.isnan":
            return asm.compare("fcmp uno", x, x)
    infinite = asm.number(x.type, float("inf"))
    test = "fcmp oeq" if name == "tir.isinf" else "fcmp one"
    return asm.compare(test, asm.intrinsic("fabs", [x]), infinite)


def library(asm: FunctionWriter, name: str, args: Sequence[Value]) -> Value:
    """A call of a function of the C library for each lane."""
    element = element_of(args[0].type)
    symbol = name + ("f" if element == "float" else "")
    lanes = int(args[0].type[1:].split()[0]) if args[0].type.startswith("<") else 1
    return asm.join(
        [asm.call(symbol, element, [asm.extract(a, i) for a in args], PURE) for i in range(lanes)]
    )


def _fuse(asm: FunctionWriter, args: Sequence[Value], dtype: DataType) -> Value:
    """A product and a sum rounded once; of narrow types, a `float` from which one more rounding is.

    Products of narrow numbers are exact as doubles. Where their sum is not, its last bit is set, so
    that it is no middle between two narrower numbers.
    """
    if dtype.element in ("float32", "float64"):
        # Where the CPU has no such instruction, LLVM calls the function of the C library.
        asm.sites.declare("fma", "declare double @fma(double, double, double)")
        asm.sites.declare("fmaf", "declare float @fmaf(float, float, float)")
        return asm.intrinsic("fma", args)
    a, b, c = (asm.convert("fpext", x, "double") for x in args)
    product = asm.operation("fmul", a, b)
    total = asm.operation("fadd", product, c)
    added = asm.operation("fsub", total, product)
    lost = asm.operation(
        "fadd",
        asm.operation("fsub", product, asm.operation("fsub", total, added)),
        asm.operation("fsub", c, added),
    )
    zero = asm.number(total.type, 0.0)
    bits = asm.convert("bitcast", total, "i64")
    one = asm.number(bits.type, 1)
    outwards = asm.compare(
        "icmp eq", asm.compare("fcmp ogt", lost, zero), asm.compare("fcmp ogt", total, zero)
    )
    below = asm.choose(outwards, bits, asm.operation("sub", bits, one))
    inexact = asm.compare("fcmp one", lost, zero)
    odd = asm.choose(inexact, asm.operation("or", below, one), bits)
    return rounded_to_odd(asm, asm.convert("bitcast", odd, "double"))


def rounded_to_odd(asm: FunctionWriter, x: Value) -> Value:
    """A `float` near a double; inexact ones are odd, so rounding them again is not twice."""
    near = asm.convert("fptrunc", x, "float")
    back = asm.convert("fpext", near, "double")
    size, wanted = asm.intrinsic("fabs", [back]), asm.intrinsic("fabs", [x])
    beyond = asm.compare("fcmp ogt", size, wanted)
    bits = asm.convert("bitcast", near, "i32")
    down = asm.operation("sub", bits, asm.convert("zext", beyond, "i32"))
    odd = asm.operation("or", down, asm.number(bits.type, 1))
    inexact = asm.compare("fcmp one", back, x)
    return asm.convert("bitcast", asm.choose(inexact, odd, bits), "float")


def with_room(asm: FunctionWriter, x: Value, dtype: DataType) -> Value:
    """An integer of 64 bits; where a double has no room for it, one between the same `float`s."""
    nothing, unsaid, mark, room = (asm.number(x.type, n) for n in (0, 0xFFF, 0x800, 1 << 53))
    lost = asm.compare("icmp ne", asm.operation("and", x, unsaid), nothing)
    high = asm.operation("and", x, asm.number(x.type, -0x1000))
    if dtype.kind == "int":
        size = asm.operation("add", x, room)
        large = asm.compare("icmp ugt", size, asm.number(x.type, 1 << 54))
    else:
        large = asm.compare("icmp ugt", x, room)
    marked = asm.choose(lost, asm.operation("or", high, mark), x)
    return asm.choose(large, marked, x)


def next_after(asm: FunctionWriter, args: Sequence[Value], dtype: DataType) -> Value:
    """The neighbour of the first operand towards the second, on the bits of the dtype."""
    a, b = args
    bits_of = f"i{dtype.bits}"
    stored = asm.convert("bitcast", asm.to_memory(a, dtype), bits_of)
    one = asm.number(stored.type, 1)
    zero = asm.number(a.type, 0.0)
    grows = asm.compare("icmp eq", asm.compare("fcmp ogt", b, a), asm.compare("fcmp ogt", a, zero))
    moved = asm.choose(grows, asm.operation("add", stored, one), asm.operation("sub", stored, one))
    sign = asm.number(stored.type, -(1 << (dtype.bits - 1)))
    towards = asm.convert("bitcast", asm.to_memory(b, dtype), bits_of)
    smallest = asm.operation("or", asm.operation("and", towards, sign), one)
    moved = asm.choose(asm.compare("fcmp oeq", a, zero), smallest, moved)
    target = element_of(asm.memory_type(dtype))
    near = asm.from_memory(asm.convert("bitcast", moved, target), dtype)
    near = asm.choose(asm.compare("fcmp oeq", a, b), b, near)
    nan = asm.number(a.type, float("nan"))
    return asm.choose(asm.compare("fcmp uno", a, b), nan, near)


# ---------------------------------------------------------------- integers


def _bitwise(instruction: str) -> Emit:
    return lambda asm, args, dtype: asm.operation(instruction, args[0], args[1])


def _invert(asm: FunctionWriter, args: Sequence[Value], dtype: DataType) -> Value:
    ones = asm.number(args[0].type, 1 if dtype.is_bool else -1)
    return asm.operation("xor", args[0], ones)


_LITERAL = re.compile(r"(?:splat \(i\d+ )?(\d+)\)?")


def _is_known_to_fit(n: Value, dtype: DataType) -> bool:
    """True if a number of places is a literal below the width."""
    literal = _LITERAL.fullmatch(n.text)
    return literal is not None and int(literal[1]) < dtype.bits


def _shift_left(asm: FunctionWriter, args: Sequence[Value], dtype: DataType) -> Value:
    x, n = args
    if _is_known_to_fit(n, dtype):
        return asm.operation("shl", x, n)
    width = asm.number(x.type, dtype.bits)
    fits = asm.compare("icmp ult", n, width)
    zero = asm.number(x.type, 0)
    return asm.choose(fits, asm.operation("shl", x, asm.choose(fits, n, zero)), zero)


def _shift_right(asm: FunctionWriter, args: Sequence[Value], dtype: DataType) -> Value:
    x, n = args
    if _is_known_to_fit(n, dtype):
        return asm.operation("ashr" if dtype.kind == "int" else "lshr", x, n)
    fits = asm.compare("icmp ult", n, asm.number(x.type, dtype.bits))
    if dtype.kind == "int":
        # A shift by all bits but one leaves the sign.
        return asm.operation("ashr", x, asm.choose(fits, n, asm.number(x.type, dtype.bits - 1)))
    zero = asm.number(x.type, 0)
    return asm.choose(fits, asm.operation("lshr", x, asm.choose(fits, n, zero)), zero)


def _popcount(asm: FunctionWriter, args: Sequence[Value], dtype: DataType) -> Value:
    return asm.intrinsic("ctpop", [args[0]])


def _leading_zeros(asm: FunctionWriter, args: Sequence[Value], dtype: DataType) -> Value:
    x = args[0]
    name = "llvm.ctlz." + x.type if not x.type.startswith("<") else None
    if name is None:
        return asm.join(
            [_leading_zeros(asm, [asm.extract(x, i)], dtype.element) for i in range(dtype.lanes)]
        )
    count = asm.call(name, x.type, [x, Value("i1", "false")])
    return asm.convert("trunc" if dtype.bits > 32 else "zext", count, "i32")


# By squaring; negative exponents give the truncated reciprocal.
_POWER = """define internal {t} @{name}({t} %a, {t} %n) nounwind {{
entry:
  %negative = icmp slt {t} %n, 0
  br i1 %negative, label %reciprocal, label %loop
loop:
  %result = phi {t} [1, %entry], [%result2, %loop]
  %base = phi {t} [%a, %entry], [%base2, %loop]
  %rest = phi {t} [%n, %entry], [%rest2, %loop]
  %bit = trunc {t} %rest to i1
  %product = mul {t} %result, %base
  %result2 = select i1 %bit, {t} %product, {t} %result
  %base2 = mul {t} %base, %base
  %rest2 = lshr {t} %rest, 1
  %done = icmp eq {t} %rest2, 0
  br i1 %done, label %end, label %loop
end:
  ret {t} %result2
reciprocal:
  %odd = trunc {t} %n to i1
  %is_one = icmp eq {t} %a, 1
  %is_minus = icmp eq {t} %a, -1
  %sign = select i1 %odd, {t} -1, {t} 1
  %of_minus = select i1 %is_minus, {t} %sign, {t} 0
  %reciprocal_value = select i1 %is_one, {t} 1, {t} %of_minus
  ret {t} %reciprocal_value
}}"""


def _power(asm: FunctionWriter, args: Sequence[Value], dtype: DataType) -> Value:
    element = element_of(args[0].type)
    name = f"relaxscript.pow.{dtype.element}"
    text = _POWER.format(t=element, name=name)
    asm.sites.declare(name, text if dtype.kind == "int" else text.replace("icmp slt", "icmp ult"))
    lanes = [[asm.extract(a, i) for a in args] for i in range(dtype.lanes)]
    return asm.join([asm.call(name, element, lane) for lane in lanes])


INTEGER_INTRINSICS: dict[str, Emit] = {
    "tir.bitwise_and": _bitwise("and"),
    "tir.bitwise_or": _bitwise("or"),
    "tir.bitwise_xor": _bitwise("xor"),
    "tir.bitwise_not": _invert,
    "tir.shift_left": _shift_left,
    "tir.shift_right": _shift_right,
    "tir.popcount": _popcount,
    "tir.clz": _leading_zeros,
    "tir.pow": _power,
}
