"""Every registered pass by the binding, as multiples of `np.add` of 64 floats, and how it grows.

The programs are those of the law that passes are linear, after the passes that one requires: long
rows of operators and of calls of a PrimFunc, or others that are named. Bindings are those of what a
pass is given, of local functions too. A pass that gave its input back has read it; another has
rebuilt it. Figures are processor time, the least of several runs. Names of passes pick rows.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from typing import Any, NamedTuple

import numpy as np

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Binding, Function
from relaxscript.ir.walk import compounds
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript.transform import Pass, default_build_pipeline
from relaxscript.transform.pass_infra.passes import find_pass
from relaxscript_tests.transform.every_pass import Case, cases, legalized
from relaxscript_tests.transform.fuse.fusable_programs import fusable_module
from relaxscript_tests.transform.long_programs import PROGRAMS, long_module

SMALL, LARGE = 1_000, 10_000
ADDS, VECTOR = 2_000, np.ones(64, "float32")
AIMS = {"reads": 14, "rebuilds": 44}
ANYWHERE = (random_module, legalized, fusable_module)
ROWS = [
    *(case for case in cases() if case.module in ANYWHERE),
    Case("default_build", lambda mod, inputs: default_build_pipeline()),
]


class Row(NamedTuple):
    """What one pass costs on one sort of program."""

    name: str
    kind: str
    does: str
    cost: float
    growth: float

    def __str__(self) -> str:
        aim = AIMS[self.does]
        said = f"{self.name:32} {self.kind:22} {self.does:9} {self.cost:7.1f} (aim: {aim})"
        return f"{said}   10,000 as a multiple of 1,000: {self.growth:5.2f} (aim: 12)"


def seconds(action: Callable[[], object]) -> float:
    """The seconds of the processor that one run takes; what it prints is not shown."""
    gc.collect()
    with redirect_stdout(StringIO()):
        start = time.process_time()
        action()
        return time.process_time() - start


def adds() -> None:
    for _ in range(ADDS):
        np.add(VECTOR, VECTOR)


def prepared(case: Case, kind: str, count: int) -> tuple[Pass, IRModule]:
    """A pass, and a module of that many bindings after the passes that come before it."""
    mod = long_module(kind, count)
    function = mod["main"]
    assert isinstance(function, Function)
    step = case.make(mod, inputs_for(function, 0))
    for earlier in step.info.required:
        mod = find_pass(earlier)(mod)
    return step, mod


def bindings_of(mod: IRModule) -> int:
    """The number of bindings of all functions."""
    parts = (node for func in mod.relax_functions().values() for node in compounds(func))
    return sum(isinstance(node, Binding) for node in parts)


def row(case: Case, kind: str) -> Row:
    modules = {count: prepared(case, kind, count) for count in (SMALL, LARGE)}
    step, mod = modules[SMALL]
    times: dict[int, list[float]] = {0: [], SMALL: [], LARGE: []}
    with redirect_stdout(StringIO()):
        does = "reads" if step(mod) is mod else "rebuilds"
    for turn in range(7):
        times[0].append(seconds(adds) / ADDS)
        times[SMALL].append(seconds(lambda: step(mod)))
        if turn % 3 == 0:
            times[LARGE].append(seconds(lambda: modules[LARGE][0](modules[LARGE][1])))
    yard, small, large = map(min, times.values())
    return Row(case.name, kind, does, small / bindings_of(mod) / yard, large / small)


def main(names: list[str]) -> None:
    kinds: Any = [name for name in names if name in PROGRAMS] or ("operators", "prim_funcs")
    wanted = [name for name in names if name not in PROGRAMS]
    for case in ROWS:
        if not wanted or case.name in wanted:
            for kind in kinds:
                print(row(case, kind), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
