"""Functions over rows, arrays for them, and what is compared of results."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source

Array = np.ndarray[Any, Any]


def bits(array: Array) -> bytes:
    """The bits of numbers, with one NaN for all."""
    return np.where(np.isnan(array), np.nan, array).astype(array.dtype).tobytes()


def random(*shapes: tuple[int, ...], dtype: str = "float32") -> list[Array]:
    generator = np.random.default_rng([n for shape in shapes for n in shape])
    return [(generator.standard_normal(shape) * 3).astype(dtype) for shape in shapes]


def prim_func(parameters: str, body: str, noalias: bool = True) -> PrimFunc:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    mark = "    T.func_attr({'tir.noalias': True})\n" if noalias else ""
    return from_source(f"@T.prim_func\ndef main({parameters}):\n{mark}{lines}\n")


def of_blocks(kind: str, start: str, value: str, extents: str = "m, n") -> str:
    return f"""
m = T.int64()
n = T.int64()
for i in range(m):
    B[i] = {start}
for i, k in T.grid({extents}):
    with T.block("B"):
        vi, vk = T.axis.remap("{kind}", [i, k])
        T.reads(A[vi, vk], B[vi])
        T.writes(B[vi])
        B[vi] = {value}
"""


MATRIX = 'A: T.Buffer(("m", "n"), "{0}"), B: T.Buffer(("m",), "{0}")'


STARTS = {"add": "0", "max": 'float("-inf")', "min": 'float("inf")'}
OF_ELEMENTS = (
    "T.exp({a} * T.float32(0.1))", "{a} + {b}", "{a} * T.float32(0.5)", "{a} - {s}",
    "T.max({a}, {b})", "T.tanh({a}) * {s}", "T.if_then_else({a} < {b}, {a}, {s})",
)  # fmt: skip
OF_ROWS = ("{s} * T.float32(0.25)", "T.tanh({s})", "{s} - {t}", "T.exp({t} * T.float32(0.01))")


def function_over_rows(seed: int) -> PrimFunc:
    """A random function of nests over rows, of which some values are results."""
    rng = Random(seed)
    elements, of_rows, lines = ["A[i, k]", "G[k]"], ["H[i]"], []
    own = {}
    for number in range(rng.randint(3, 10)):
        name = f"v{number}"
        given = {key: rng.choice(elements) for key in "ab"} | {
            key: rng.choice(of_rows) for key in "st"
        }
        kind = rng.choice(("elements", "elements", "rows", "reduction")) if number else "reduction"
        own[name] = "(m, n)" if kind == "elements" else "(m,)"
        if kind == "elements":
            value = rng.choice(OF_ELEMENTS).format(**given)
            lines.append(f"for i, k in T.grid(m, n):\n    {name}[i, k] = {value}")
            elements.append(f"{name}[i, k]")
            continue
        if kind == "rows":
            lines.append(
                f"for i in range(m):\n    {name}[i] = {rng.choice(OF_ROWS).format(**given)}"
            )
        else:
            how = rng.choice([*STARTS])
            old, new = f"{name}[i]", rng.choice(("{a}", "{a} * {b}", "{a} - {s}")).format(**given)
            value = f"{old} + ({new})" if how == "add" else f"T.{how}({old}, {new})"
            lines.append(f"for i in range(m):\n    {old} = T.float32({STARTS[how]})")
            lines.append(f"for i, k in T.grid(m, n):\n    {old} = {value}")
        of_rows.append(f"{name}[i]")
    lines.append(f"for i, k in T.grid(m, n):\n    C[i, k] = {elements[-1]} + {of_rows[-1]}")
    lines.append(f"for i in range(m):\n    D[i] = {of_rows[-1]}")
    head = 'A: T.Buffer(("m", "n"), "float32"), G: T.Buffer(("n",), "float32"), '
    head += 'H: T.Buffer(("m",), "float32"), C: T.Buffer(("m", "n"), "float32"), '
    head += 'D: T.Buffer(("m",), "float32")'
    result = rng.choice([name for name, shape in own.items() if shape == "(m,)"])
    head += f', {result}: T.Buffer(("m",), "float32")'
    buffers = [f"{n} = T.alloc_buffer({shape})" for n, shape in own.items() if n != result]
    return prim_func(head, "\n".join(["m = T.int64()", "n = T.int64()", *buffers, *lines]))
