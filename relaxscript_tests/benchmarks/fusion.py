"""Fusing, in microseconds a binding, and as multiples of `np.add` of 64 floats.

The programs are functions of N bindings over a symbolic batch: layers of a network, and elementwise
operators in an order that never comes again, so that no two groups are alike. What one line
compares was measured in turns, in one process, with the cycle collector off, as it is in `build`:
processor time, the least of several runs.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from functools import partial

import numpy as np

from relaxscript.ir import IRModule
from relaxscript.script import from_source
from relaxscript.transform import AnnotateTIROpPattern, FuseOps, FuseTIR, LegalizeOps

from .timing import least_in_turns

LAYER = (
    "R.matmul({0}, w)", "R.add({0}, b)", "R.nn.relu({0})", "R.multiply({0}, x)", "R.tanh({0})",
    "R.add({0}, x)",
)  # fmt: skip
ELEMENTWISE = (
    "R.exp({0})", "R.tanh({0})", "R.nn.relu({0})", "R.negative({0})", "R.add({0}, x)",
    "R.multiply({0}, x)", "R.maximum({0}, {1})", "R.subtract({0}, {1})", "R.max({0}, axis=1)",
)  # fmt: skip
# 75 us where `np.add` takes 0.57.
AIM = 75 / 0.57


def program(values: list[str]) -> IRModule:
    """A function that binds values, as PrimFuncs that know their patterns."""
    lines = [
        "@I.ir_module",
        "class Module:",
        "    @R.function",
        '    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 64), "float32"), '
        'b: R.Tensor((64,), "float32")):',
        "        with R.dataflow():",
        *(f"            lv{number} = {value}" for number, value in enumerate(values)),
        f"            R.output(lv{len(values) - 1})",
        f"        return lv{len(values) - 1}",
    ]
    return AnnotateTIROpPattern()(LegalizeOps()(from_source("\n".join(lines) + "\n")))


def layers(count: int) -> IRModule:
    names = ["x", *(f"lv{number}" for number in range(count))]
    return program([LAYER[i % len(LAYER)].format(names[i]) for i in range(count)])


def mixed(count: int) -> IRModule:
    """Groups of a few operators each, none like another, behind a reduction that ends it."""
    rng = random.Random(0)
    values: list[str] = []
    last, before = "x", "x"
    for number in range(count):
        form = rng.choice(ELEMENTWISE)
        values.append(form.format(last, before))
        before, last = last, f"lv{number}"
        if form.startswith("R.max("):
            before = last = "x"
    return program(values)


def fuse(mod: IRModule) -> IRModule:
    return FuseTIR()(FuseOps()(mod))


def figures() -> None:
    vector = np.ones(64, "float32")

    def adds() -> None:
        for _ in range(10_000):
            np.add(vector, vector)

    for name, make in (("layers", layers), ("mixed", mixed)):
        modules = {count: make(count) for count in (1_000, 10_000)}
        grouped = FuseOps()(modules[1_000])
        actions: dict[str, Callable[[], object]] = {
            "add": adds,
            "groups": partial(FuseOps(), modules[1_000]),
            "joined": partial(FuseTIR(), grouped),
            "short": partial(fuse, modules[1_000]),
            "long": partial(fuse, modules[10_000]),
        }
        gc.disable()
        times = least_in_turns(actions, runs=5)
        gc.enable()
        add = times["add"] / 10_000
        for what, key, aim in (
            ("FuseOps", "groups", ""), ("FuseTIR", "joined", ""),
            ("together", "short", f" (aim: at most {AIM:.0f})"),
        ):  # fmt: skip
            spent = times[key] / 1_000
            figure = f"{spent * 1e6:8.1f} us a binding = {spent / add:.0f} x np.add{aim}"
            print(f"{name}: {what:25} {figure}")
        growth = times["long"] / times["short"]
        print(f"{name}: {'10,000 as multiple':25} {growth:8.2f}    (aim: at most 12)")


if __name__ == "__main__":
    figures()
