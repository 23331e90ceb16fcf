"""The intrinsics of LLVM that mean something on every CPU, as one table: `T.call_llvm_intrin`.

One row is an intrinsic: its name, its operands, what it means. The meaning is an expression of the
scalar language. Every executor runs that expression, so that all agree. Where `T.` has a function
of the same meaning, it is that one. What LLVM calls poison is a value here: `ctlz` and `cttz` of
zero are the width and `abs` of the least integer is itself, whatever their flag says. A saturating
shift by the width or more saturates. `fmuladd` rounds twice, `fma` once; `is.fpclass` takes every
NaN for a quiet one.

An operand is a word. The same word twice is the same dtype twice; `KINDS` says what each may be,
and the words in `LANES` have the same number of lanes. After `->` comes the dtype that the call
says, where the operands do not tell it. Names of LLVM may say dtypes, as `llvm.ldexp.f32.i32` does.
These are those of the words in `NAMED`, each once, in the order of the result and the operands.

Source: LLVM Language Reference, "Intrinsic Functions".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.scalar_functions import FUNCTIONS as T

from .llvm_expansions import (
    NOTHING,
    absolute,
    first,
    float_class,
    funnel_shift_left,
    funnel_shift_right,
    lane_mask,
    leading_zeros,
    maximum_number,
    minimum_number,
    multiply_add,
    multiply_then_add,
    power_by_integer,
    reduce_by_halves,
    reduce_in_order,
    reverse_bits,
    reverse_lanes,
    saturating_add,
    saturating_convert,
    saturating_shift_left,
    saturating_subtract,
    scale_by_power_of_two,
    signed,
    swap_bytes,
    three_way_compare,
    trailing_zeros,
    unsigned,
)

__all__ = ["KINDS", "LANES", "NAMED", "ROWS", "LLVMIntrinsic", "suffix_of"]

_WIDTHS = (8, 16, 32, 64)
_FLOATS = ("float16", "bfloat16", "float32", "float64")


class Kind(NamedTuple):
    """The operands that a word may be: in words of a message, and as a test."""

    text: str
    accepts: Callable[[DataType], bool]
    literal: bool = False


def _is_float(t: DataType) -> bool:
    return t.element in _FLOATS


def _is_integer(t: DataType) -> bool:
    return t.is_integer and t.bits in _WIDTHS


def _is_bits(t: DataType) -> bool:
    return t.is_bool or _is_integer(t)


KINDS: dict[str, Kind] = {
    "f": Kind("a floating-point number", _is_float),
    "i": Kind("an integer", _is_integer),
    "j": Kind("an integer", _is_integer),
    "w": Kind("an integer of at least 16 bits", lambda t: _is_integer(t) and t.bits > 8),
    "b": Kind("an integer or a bool", _is_bits),
    "x": Kind("a number", lambda t: _is_bits(t) or _is_float(t)),
    "vf": Kind("a vector of floating-point numbers", lambda t: _is_float(t) and t.lanes > 1),
    "vi": Kind("a vector of integers", lambda t: _is_integer(t) and t.lanes > 1),
    "vb": Kind("a vector of integers or bools", lambda t: _is_bits(t) and t.lanes > 1),
    "vx": Kind("a vector", lambda t: (_is_bits(t) or _is_float(t)) and t.lanes > 1),
    "mask": Kind("a vector of bools", lambda t: t.is_bool and t.lanes > 1),
    "e": Kind("a number of the vector's dtype", lambda t: _is_float(t) and t.lanes == 1),
    "n": Kind("one integer", lambda t: _is_integer(t) and t.lanes == 1),
    "h": Kind("an int16", lambda t: t.element == "int16"),
    "bool": Kind("a bool", lambda t: t == "bool"),
    "flag": Kind("a literal bool", lambda t: t == "bool", literal=True),
    "int": Kind("a literal int32", lambda t: t == "int32", literal=True),
    "real": Kind("a literal float64", lambda t: t == "float64", literal=True),
    "ptr": Kind("an address", lambda t: t.kind == "handle"),
}
# Words whose dtypes are in names, and those that have the lanes of the call.
NAMED = frozenset({"f", "i", "j", "w", "b", "x", "vf", "vi", "vb", "vx", "mask", "n", "ptr"})
LANES = frozenset({"f", "i", "j", "w", "b", "x", "h"})


class LLVMIntrinsic(NamedTuple):
    """One row of the table.

    `meaning` takes the operands, and before them the dtype of the call where `result` says it.
    """

    name: str
    operands: tuple[str, ...]
    result: str | None
    meaning: Callable[..., PrimExpr]

    @property
    def words(self) -> list[str]:
        """The result, if it is said, and the operands; each word once."""
        return list(dict.fromkeys([*([self.result] if self.result else []), *self.operands]))


def suffix_of(dtype: DataType) -> str:
    """The spelling of a dtype in names of LLVM: "v4f32" for float32x4."""
    lanes = f"v{dtype.lanes}" if dtype.lanes > 1 else ""
    match dtype.kind:
        case "handle":
            return "p0"
        case "bfloat":
            return f"{lanes}bf16"
        case "float":
            return f"{lanes}f{dtype.bits}"
    return f"{lanes}i{1 if dtype.is_bool else dtype.bits}"


def _row(name: str, types: str, meaning: Callable[..., PrimExpr]) -> LLVMIntrinsic:
    operands, _, result = types.partition("->")
    return LLVMIntrinsic(f"llvm.{name}", tuple(operands.split()), result.strip() or None, meaning)


_TABLE = [
    # ---- functions of floats
    *(_row(name, "f", T[name]) for name in (
        "acos", "asin", "atan", "ceil", "cos", "cosh", "exp", "exp10", "exp2", "fabs", "floor",
        "log", "log10", "log2", "nearbyint", "round", "sin", "sinh", "sqrt", "tan", "tanh",
        "trunc",
    )),
    _row("rint",                      "f",          T["nearbyint"]),
    _row("roundeven",                 "f",          T["nearbyint"]),
    _row("canonicalize",              "f",          first),
    _row("atan2",                     "f f",        T["atan2"]),
    _row("copysign",                  "f f",        T["copysign"]),
    _row("pow",                       "f f",        T["pow"]),
    _row("powi",                      "f n",        power_by_integer),
    _row("ldexp",                     "f j",        scale_by_power_of_two),
    _row("fma",                       "f f f",      multiply_add),
    _row("fmuladd",                   "f f f",      multiply_then_add),
    _row("minimum",                   "f f",        prim.Min.make),
    _row("maximum",                   "f f",        prim.Max.make),
    _row("minnum",                    "f f",        minimum_number),
    _row("maxnum",                    "f f",        maximum_number),
    _row("minimumnum",                "f f",        minimum_number),
    _row("maximumnum",                "f f",        maximum_number),
    _row("is.fpclass",                "f int",      float_class),
    # ---- between floats and integers
    _row("fptosi.sat",                "f -> i",     saturating_convert("int")),
    _row("fptoui.sat",                "f -> i",     saturating_convert("uint")),
    _row("lrint",                     "f -> i",     saturating_convert("int", T["nearbyint"])),
    _row("llrint",                    "f -> i",     saturating_convert("int", T["nearbyint"])),
    _row("lround",                    "f -> i",     saturating_convert("int", T["round"])),
    _row("llround",                   "f -> i",     saturating_convert("int", T["round"])),
    # ---- bits
    _row("ctpop",                     "i",          T["popcount"]),
    _row("ctlz",                      "i flag",     leading_zeros),
    _row("cttz",                      "i flag",     trailing_zeros),
    _row("bswap",                     "w",          swap_bytes),
    _row("bitreverse",                "i",          reverse_bits),
    _row("fshl",                      "i i i",      unsigned(funnel_shift_left)),
    _row("fshr",                      "i i i",      unsigned(funnel_shift_right)),
    # ---- integers
    _row("abs",                       "i flag",     signed(absolute)),
    _row("smin",                      "i i",        signed(prim.Min.make)),
    _row("smax",                      "i i",        signed(prim.Max.make)),
    _row("umin",                      "i i",        unsigned(prim.Min.make)),
    _row("umax",                      "i i",        unsigned(prim.Max.make)),
    _row("scmp",                      "i i -> j",   three_way_compare("int")),
    _row("ucmp",                      "i i -> j",   three_way_compare("uint")),
    _row("sadd.sat",                  "i i",        signed(saturating_add)),
    _row("uadd.sat",                  "i i",        unsigned(saturating_add)),
    _row("ssub.sat",                  "i i",        signed(saturating_subtract)),
    _row("usub.sat",                  "i i",        unsigned(saturating_subtract)),
    _row("sshl.sat",                  "i i",        signed(saturating_shift_left)),
    _row("ushl.sat",                  "i i",        unsigned(saturating_shift_left)),
    # ---- vectors
    _row("vector.reduce.fadd",        "e vf",       reduce_in_order(prim.Add.make)),
    _row("vector.reduce.fmul",        "e vf",       reduce_in_order(prim.Mul.make)),
    _row("vector.reduce.fmin",        "vf",         reduce_by_halves(minimum_number)),
    _row("vector.reduce.fmax",        "vf",         reduce_by_halves(maximum_number)),
    _row("vector.reduce.fminimum",    "vf",         reduce_by_halves(prim.Min.make)),
    _row("vector.reduce.fmaximum",    "vf",         reduce_by_halves(prim.Max.make)),
    _row("vector.reduce.add",         "vi",         reduce_by_halves(prim.Add.make)),
    _row("vector.reduce.mul",         "vi",         reduce_by_halves(prim.Mul.make)),
    _row("vector.reduce.and",         "vb",         reduce_by_halves(T["bitwise_and"])),
    _row("vector.reduce.or",          "vb",         reduce_by_halves(T["bitwise_or"])),
    _row("vector.reduce.xor",         "vb",         reduce_by_halves(T["bitwise_xor"])),
    _row("vector.reduce.smin",        "vi",         reduce_by_halves(signed(prim.Min.make))),
    _row("vector.reduce.smax",        "vi",         reduce_by_halves(signed(prim.Max.make))),
    _row("vector.reduce.umin",        "vi",         reduce_by_halves(unsigned(prim.Min.make))),
    _row("vector.reduce.umax",        "vi",         reduce_by_halves(unsigned(prim.Max.make))),
    _row("vector.reverse",            "vx",         reverse_lanes),
    _row("get.active.lane.mask",      "n n -> mask", lane_mask),
    # ---- hints
    _row("expect",                    "b b",        first),
    _row("expect.with.probability",   "b b real",   first),
    _row("arithmetic.fence",          "f",          first),
    _row("assume",                    "bool -> void", lambda result, condition: condition),
    _row("prefetch",                  "ptr int int int -> void", lambda *operands: NOTHING),
    _row("donothing",                 "-> void",    lambda *operands: NOTHING),
    _row("sideeffect",                "-> void",    lambda *operands: NOTHING),
]  # fmt: skip

ROWS: dict[str, LLVMIntrinsic] = {row.name: row for row in _TABLE}
