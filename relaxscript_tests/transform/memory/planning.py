"""Short programs of allocations, and what a plan of memory makes of them."""

from __future__ import annotations

from textwrap import dedent

import numpy as np

from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same, check_executors_agree, check_outcomes
from relaxscript.transform import StaticPlanBlockMemory

__all__ = ["ARGS", "MODULE", "plan", "program"]

MODULE = """
@I.ir_module
class M:
    @T.prim_func
    def exp(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            y[i] = T.exp(x[i])

    @T.prim_func
    def head(x: T.Buffer(("n",), "float32"), y: T.Buffer(("m",), "float32")):
        n = T.int64()
        m = T.int64()
        for i in range(m):
            y[i] = x[i % n]

    @T.prim_func
    def add_to_first(x: T.Buffer(("n",), "float32"), y: T.Buffer(("m",), "float32")):
        n = T.int64()
        m = T.int64()
        y[0] = y[0] + x[0]

    @T.prim_func
    def tell(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            y[i] = T.exp(x[i])
        T.evaluate(T.call_packed("test.keep", x))

    @R.function(private=True, pure=False)
    def same(x: R.Object) -> R.Object:
        return x

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32"),
             c: R.Tensor((), "bool"), o: R.Object, s: R.Prim(value="k")):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        cls = M
"""
ARGS = (np.arange(4, dtype="float32"), np.arange(3, dtype="float32"), np.array(True), None, 3)


def program(lines: str, attrs: str = "") -> str:
    """A script whose lines may be short: `a = new(n)` allocates, `a = new(n) in s` in a storage."""
    body = []
    for line in [attrs, *dedent(lines).splitlines()]:
        code = line.strip()
        indent = line[: len(line) - len(line.lstrip())]
        name, _, value = code.partition(" = ")
        if value.startswith("store("):
            size = value.removeprefix("store(").removesuffix(")")
            code = (
                f"{name} = R.memory.alloc_storage("
                f'R.shape([{size}]), R.prim_value(0), "global", R.dtype("float32"))'
            )
        elif value.startswith("new("):
            size, _, storage = value.removeprefix("new(").rpartition(")")
            storage = storage.removeprefix(" in ")
            code = (
                f"{name} = R.memory.alloc_tensor("
                f'{storage}, R.prim_value(0), R.shape([{size}]), R.dtype("float32"))'
                if storage
                else f"{name} = R.builtin.alloc_tensor("
                f'R.shape([{size}]), R.dtype("float32"), R.prim_value(0))'
            )
        if code:
            body.append(indent + code)
    return MODULE + "".join(" " * 8 + line + "\n" for line in body)


def plan(before: str, after: str, attrs: str = "") -> None:
    """Check what the pass makes of a program, and that it means the same and is settled."""
    mod, expected = from_source(program(before, attrs)), from_source(program(after, attrs))
    made = StaticPlanBlockMemory()(mod)
    assert_same(made, expected)
    assert StaticPlanBlockMemory()(made) is made
    for taken in (True, False):
        args = (*ARGS[:2], np.array(taken), *ARGS[3:])
        same = check_executors_agree(mod, args)
        check_outcomes("planned", check_executors_agree(made, args), "before", same)
