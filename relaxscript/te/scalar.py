"""The functions of scalars that `tvm.te` has: `te.exp`, `te.if_then_else`, `te.floordiv` ..."""

from __future__ import annotations

from relaxscript.ir.prim import const
from relaxscript.ir.scalar_functions import FUNCTIONS, if_then_else, max_value, min_value
from relaxscript.ir.tir_functions import (
    div,
    floordiv,
    floormod,
    indexdiv,
    indexmod,
    power,
    truncdiv,
    truncmod,
)

# fmt: off
abs = FUNCTIONS["abs"]
acos = FUNCTIONS["acos"]
acosh = FUNCTIONS["acosh"]
asin = FUNCTIONS["asin"]
asinh = FUNCTIONS["asinh"]
atan = FUNCTIONS["atan"]
atanh = FUNCTIONS["atanh"]
ceil = FUNCTIONS["ceil"]
cos = FUNCTIONS["cos"]
cosh = FUNCTIONS["cosh"]
erf = FUNCTIONS["erf"]
exp = FUNCTIONS["exp"]
floor = FUNCTIONS["floor"]
fmod = FUNCTIONS["fmod"]
isfinite = FUNCTIONS["isfinite"]
isinf = FUNCTIONS["isinf"]
isnan = FUNCTIONS["isnan"]
log = FUNCTIONS["log"]
log2 = FUNCTIONS["log2"]
log10 = FUNCTIONS["log10"]
nearbyint = FUNCTIONS["nearbyint"]
popcount = FUNCTIONS["popcount"]
round = FUNCTIONS["round"]
rsqrt = FUNCTIONS["rsqrt"]
sigmoid = FUNCTIONS["sigmoid"]
sin = FUNCTIONS["sin"]
sinh = FUNCTIONS["sinh"]
sqrt = FUNCTIONS["sqrt"]
tan = FUNCTIONS["tan"]
tanh = FUNCTIONS["tanh"]
trunc = FUNCTIONS["trunc"]

__all__ = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "const", "cos", "cosh", "div",
    "erf", "exp", "floor", "floordiv", "floormod", "fmod", "if_then_else", "indexdiv", "indexmod",
    "isfinite", "isinf", "isnan", "log", "log2", "log10", "max_value", "min_value", "nearbyint",
    "popcount", "power", "round", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
    "truncdiv", "truncmod",
]
