"""Vector math over arrays in cache, per element, as multiples of the same function of numpy.

Each function runs in vectors of 8 and of 16 lanes, over 32,768 numbers between -2 and 2, or above
zero where it wants that. `sin` runs over large angles, too. Where numpy has no such function, the
yardstick is `np.exp`. Both sides take turns in one process; times are those of the process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.ir.intrinsic import INTRINSICS
from relaxscript.semantics.vector_math import FUNCTIONS
from relaxscript_tests.semantics.vector_math.kernels import map_in_vectors

from .timing import least_in_turns

COUNT = 1 << 15
# One run is too short for the clock of a process.
REPEATED = 20


def operands(name: str, least: float = -2.0, most: float = 2.0) -> list[Any]:
    """Random operands of a function."""
    row, rng = INTRINSICS[f"tir.{name}"], np.random.default_rng(0)
    if name in ("log", "log2", "pow", "rsqrt"):
        least = 0.01
    arity = row.arity or 1
    return [rng.uniform(least, most, COUNT).astype("float32") for _ in range(arity)]


def repeated(function: Any, args: list[Any]) -> Callable[[], object]:
    out = np.empty_like(args[0])

    def run() -> None:
        for _ in range(REPEATED):
            function(*args, out)

    return run


def print_figures(heading: str, name: str, args: list[Any]) -> None:
    """Nanoseconds per element of both widths and of numpy, and the ratios."""
    peer = INTRINSICS[f"tir.{name}"].numpy or "exp"
    actions = {
        f"{width}": repeated(
            compile_prim_func(map_in_vectors(name, width), options={"check": False}), args
        )
        for width in (8, 16)
    }
    yardstick = args if name == "pow" else args[:1]
    actions["peer"] = repeated(getattr(np, peer), yardstick)
    times = least_in_turns(actions, runs=15)
    ns = {key: taken / REPEATED / COUNT * 1e9 for key, taken in times.items()}
    ratios = ", ".join(f"{ns[key] / ns['peer']:5.2f} x" for key in ("8", "16"))
    print(f"{heading:14} {ns['8']:6.3f} {ns['16']:6.3f} ns; {ratios} np.{peer} ({ns['peer']:.3f})")


def main() -> None:
    print("per element in vectors of 8 and of 16 lanes, and as multiples of numpy's")
    for name in (full.removeprefix("tir.") for full in FUNCTIONS):
        print_figures(name, name, operands(name))
    print_figures("sin, large", "sin", operands("sin", -1e6, 1e6))


if __name__ == "__main__":
    main()
