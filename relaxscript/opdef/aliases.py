"""Names that other libraries have for operators and dtypes.

Only names that mean the same are in the tables, so that one may replace the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from relaxscript.errors import nearest

__all__ = [
    "instead_of_arguments",
    "meant_operator",
    "nearest_dtype",
    "other_dtype",
]

_OPERATORS: Mapping[str, str] = {
    "absolute": "abs", "amax": "max", "amin": "min", "bmm": "matmul", "cast": "astype",
    "cat": "concat", "clamp": "clip", "concatenate": "concat", "dense": "linear", "div": "divide",
    "eq": "equal", "ge": "greater_equal", "gt": "greater", "le": "less_equal", "lt": "less",
    "mm": "matmul", "mul": "multiply", "ne": "not_equal", "neg": "negative",
    "permute": "permute_dims", "pow": "power", "sub": "subtract", "transpose": "permute_dims",
    "true_divide": "divide", "unsqueeze": "expand_dims", "var": "variance", "view": "reshape",
}  # fmt: skip

_DTYPES: Mapping[str, str] = {
    "boolean": "bool", "byte": "uint8", "char": "int8", "double": "float64", "float": "float32",
    "half": "float16", "int": "int32", "long": "int64", "short": "int16", "single": "float32",
    "uint": "uint32", "bf16": "bfloat16", "bfloat": "bfloat16", "int4": "int8", "uint4": "uint8",
}  # fmt: skip
_LETTERS = {"f": "float", "fp": "float", "i": "int", "u": "uint", "s": "int"}


def meant_operator(name: str) -> str | None:
    """The operator that another library calls `name`, as it is written behind `R.`."""
    return _OPERATORS.get(name)


def instead_of_arguments(callee: str, first: str) -> str | None:
    """The help for a call with arguments that only the operators of other libraries take."""
    if callee.endswith(".flatten"):
        return f"it makes one axis; `R.nn.batch_flatten({first})` keeps the first axis"
    return None


def other_dtype(name: str) -> str | None:
    """The dtype that others call `name`: "float32" for "fp32"."""
    plain = name.lower()
    short = re.fullmatch(r"(fp|[fius])(8|16|32|64)", plain)
    return _DTYPES.get(plain) or (f"{_LETTERS[short[1]]}{short[2]}" if short else None)


def nearest_dtype(name: str, known: Collection[str]) -> str | None:
    """The dtype, one of `known`, that was most likely meant by `name`.

    For one of scalable vectors, "float32xvscalex4", that of as many lanes: here vectors have a
    fixed number of lanes.
    """
    fixed = name.replace("xvscalex", "x")
    if fixed != name and fixed in known:
        return fixed
    meant = other_dtype(name)
    return meant if meant in known else nearest(name, known)
