"""Vector math: functions of float32 that are expressions, alike at every width.

    T.func_attr({"tir.vector_math": True})

In a PrimFunc with this attribute, `T.exp` and the others listed in `FUNCTIONS` are what is
defined in this folder: polynomials, bits, choices and fused products. All of these are exact
operations of TIR. The evaluator runs a definition for each call. The code generator writes it where
the call is. Where calls are many, it writes a function of the module for each width
(`@relaxscript.exp.float32x8`), and calls that. So the bits are the same in every lane of every
vector and wherever the program runs. Without the attribute a function is that of the platform:
numpy for the evaluator, the C library for code.

It is an attribute of the PrimFunc, and not an option of code generation, because it decides about
results: it is printed, parsed, hashed and kept with what it is about, and all executors see it. A
schedule sets it where it makes vectors; nothing sets it by default.

Numbers of float16, bfloat16 and narrower dtypes go through float32, and are rounded once more.
Those of float64 are as they are without the attribute. Each definition states its largest error, as
measured over all values of float32. The unit is the last place of the exact result. Of `pow`, pairs
of values are drawn at random.
"""

from __future__ import annotations

from .functions import (
    ATTRIBUTE,
    FUNCTIONS,
    MathFunction,
    VectorFunction,
    define,
    expand_vector_math,
    has_definition,
    has_vector_math,
)

__all__ = [
    "ATTRIBUTE", "FUNCTIONS", "MathFunction", "VectorFunction", "define", "expand_vector_math",
    "has_definition", "has_vector_math",
]  # fmt: skip
