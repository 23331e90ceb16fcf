"""The calls of Python, numpy and math that are evaluated in a file that is not run.

Values of these can only compute: none reads or writes a file, none prints, and what is made is not
large. All else that a file uses is known only when the file runs.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from relaxscript.script.parser.environment import HARMLESS

__all__ = ["BUILTINS", "is_harmless", "member_of", "outer_module"]

# `print` is among the names because what is printed of a program is told to be a mistake; it is
# not called.
BUILTINS = {
    **HARMLESS,
    **{
        name: getattr(builtins, name)
        for name in ("all", "any", "dict", "divmod", "filter", "frozenset", "isinstance", "iter",
                     "map", "next", "print", "repr", "reversed", "set", "slice", "sorted")
    },
}  # fmt: skip

# What makes arrays as large as numbers say, and what computes with arrays.
_MADE = (
    "arange", "broadcast_to", "empty", "empty_like", "eye", "full", "full_like", "identity",
    "integers", "linspace", "normal", "ones", "ones_like", "pad", "rand", "randint", "randn",
    "random", "repeat", "standard_normal", "tile", "tri", "uniform", "zeros", "zeros_like",
)  # fmt: skip
_COMPUTED = (
    "all", "any", "argmax", "argmin", "around", "array", "asarray", "ascontiguousarray",
    "astype", "atleast_1d", "atleast_2d", "clip", "concatenate", "copy", "cumsum", "diag",
    "dot", "dtype", "expand_dims", "finfo", "flatten", "flip", "iinfo", "item", "max", "mean",
    "min", "moveaxis", "ndim", "outer", "prod", "ravel", "reshape", "roll", "round", "shape",
    "size", "sort", "split", "squeeze", "stack", "std", "sum", "swapaxes", "take", "tolist",
    "transpose", "tril", "triu", "var", "where",
)  # fmt: skip
_OF_ARRAYS = ("T", "dtype", "itemsize", "nbytes", "ndim", "shape", "size")
_NOT_OF_MATH = ("comb", "factorial", "perm")  # a small number makes a huge one
MOST_ELEMENTS = 1 << 24


def outer_module(name: str) -> Any:
    """The module of this full name, None where its members are known only in a run."""
    modules = {"numpy": np, "numpy.random": np.random, "math": math}
    return modules.get(name)


def member_of(owner: Any, name: str) -> tuple[bool, Any]:
    """An attribute of a value, after whether it may be read. Raises as `getattr` does."""
    if isinstance(owner, ModuleType):
        if owner not in (np, np.random, math):
            return False, None
        value = getattr(owner, name)
        return _may_be_named(owner, name, value), value
    if isinstance(owner, (np.ndarray, np.generic, np.dtype)):
        value = getattr(owner, name)
        allowed = name in _OF_ARRAYS or (name in (*_MADE, *_COMPUTED) and callable(value))
        return allowed or (isinstance(owner, np.dtype) and isinstance(value, (str, int))), value
    if isinstance(owner, (np.finfo, np.iinfo)):
        return not name.startswith("_"), getattr(owner, name)
    if isinstance(owner, np.random.Generator):
        return name in _MADE, getattr(owner, name)
    return False, None


def _may_be_named(owner: ModuleType, name: str, value: Any) -> bool:
    if owner is math:
        return name not in _NOT_OF_MATH and not name.startswith("_")
    if owner is np.random:
        return name in _MADE or name == "default_rng"
    scalar = isinstance(value, type) and issubclass(value, np.generic)
    plain = isinstance(value, (bool, int, float, type(None), np.ufunc)) or value is np.random
    return scalar or plain or name in (*_MADE, *_COMPUTED)


def is_harmless(callee: Any, args: Iterable[Any]) -> bool:
    """True if a callable may be called with these arguments: it only computes, and not much.

    What is asked came from here: a function that does more is the value of no name.
    """
    values = list(_items(args))
    if callee is print or any(value is print for value in values):
        return False
    if any(callee is function for function in BUILTINS.values()):
        return True
    owner = getattr(callee, "__self__", callee)
    home = getattr(callee, "__module__", None) or type(owner).__module__
    if str(home).partition(".")[0] not in ("numpy", "math"):
        return False
    sizes = [value.size for value in values if isinstance(value, np.ndarray) and value.size > 1]
    if getattr(callee, "__name__", "") in _MADE:
        sizes += [abs(value) for value in values if type(value) is int and value not in (0, 1, -1)]
    return math.prod(sizes) <= MOST_ELEMENTS


def _items(values: Iterable[Any]) -> Iterable[Any]:
    """The values, and those inside lists and tuples."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _items(value)
        else:
            yield value
