"""Programs of as many bindings as one asks for, of each sort of binding that passes look at."""

from __future__ import annotations

import functools
import pickle

from relaxscript.ir import IRModule
from relaxscript.script import from_source

__all__ = ["PROGRAMS", "long_module"]

OPERATORS = """
@I.ir_module
class Long:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            v0 = R.exp(x)
{bindings}
            R.output(v{last})
        return v{last}
"""
PRIM_FUNCS = """
@I.ir_module
class Long:
    @T.prim_func(private=True)
    def twice(a: T.Buffer((2, 3), "float32"), b: T.Buffer((2, 3), "float32")):
        for i, j in T.grid(2, 3):
            b[i, j] = a[i, j] * T.float32(2)

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            v0 = R.exp(x)
{bindings}
            R.output(v{last})
        return v{last}
"""
SHAPES = """
@I.ir_module
class Long:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        v0 = R.exp(x)
{bindings}
        return v{last}
"""
CASTS = """
@I.ir_module
class Long:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), s: R.Shape(ndim=1)):
{dimensions}
        v0 = s
{bindings}
        return v{last}
"""
NAMES = """
@I.ir_module
class Long:
    @R.function(pure=False)
    def main(x: R.Tensor(ndim=2, dtype="float32"), w: R.Tensor(("k", 3), "float32")):
        k = T.int64()
        v0 = R.match_cast(x, R.Tensor((2, 3), "float32"))
        w0 = w
{bindings}
        return v{last}
"""
WEIGHTS = """
@I.ir_module
class Long:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), params: R.Tuple({weights})):
        with R.dataflow():
            v0 = R.exp(x)
{bindings}
            R.output(v{last})
        return v{last}
"""
IN_DATAFLOW, OUTSIDE = " " * 12, " " * 8
PROGRAMS = {
    "operators": (OPERATORS, IN_DATAFLOW + "v{i} = R.add(v{before}, x)"),
    "prim_funcs": (
        PRIM_FUNCS,
        IN_DATAFLOW + 'v{i} = R.call_tir(Long.twice, (v{before},), R.Tensor((2, 3), "float32"))',
    ),
    "weights": (
        WEIGHTS,
        f"{IN_DATAFLOW}w{{i}} = params[{{before}}]\n"
        f"{IN_DATAFLOW}v{{i}} = R.add(v{{before}}, w{{i}})",
    ),
    "shapes": (SHAPES, OUTSIDE + 'v{i} = R.zeros((n + {i}, 3), "float32")'),
    "closures": (
        SHAPES,
        f"{OUTSIDE}@R.function\n"
        f'{OUTSIDE}def v{{i}}(z: R.Tensor((n, 3), "float32")) -> R.Tensor((n, 3), "float32"):\n'
        f"{OUTSIDE}    a = R.add(z, x)\n{OUTSIDE}    return a",
    ),
    "casts": (CASTS, OUTSIDE + "v{i} = R.match_cast(v{before}, R.Shape((m{i},)))"),
    "names": (NAMES, OUTSIDE + "v{i} = v{before}"),
    "names_of_one": (NAMES, OUTSIDE + "v{i} = x"),
    "names_that_say_less": (NAMES, OUTSIDE + "v{i}: R.Tensor(ndim=2) = v{before}"),
    "names_in_branches": (
        NAMES,
        OUTSIDE + f"v{{i}} = w\n{OUTSIDE}if R.equal(R.const(1), R.const(2)):\n"
        f"{OUTSIDE}    w{{i}} = w\n{OUTSIDE}else:\n{OUTSIDE}    w{{i}} = v{{before}}",
    ),
    "incomparable_names": (
        NAMES,
        OUTSIDE + 'v{i} = R.match_cast(x, R.Tensor((k * k * {i}, 3), "float32"))',
    ),
}


def long_module(kind: str, count: int) -> IRModule:
    """A module of its own: what one pass finds out of it and keeps is not there for the next."""
    made = pickle.loads(_pickled(kind, count))
    assert isinstance(made, IRModule)
    return made


@functools.cache
def _pickled(kind: str, count: int) -> bytes:
    text, line = PROGRAMS[kind]
    bindings = "\n".join(line.format(i=i, before=i - 1) for i in range(1, count + 1))
    dimensions = "\n".join(f"        m{i} = T.int64()" for i in range(1, count + 1))
    weights = ", ".join(['R.Tensor((2, 3), "float32")'] * count)
    parts = {"bindings": bindings, "dimensions": dimensions, "weights": weights}
    return pickle.dumps(from_source(text.format(last=count, **parts)))
