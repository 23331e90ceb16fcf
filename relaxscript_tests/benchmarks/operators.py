"""What operators cost while compiling: inference of each, and LegalizeOps by the binding.

The yardstick is `np.add` of 64 floats. Inference is that of the samples of the laws, which are
calls of three or four axes; LegalizeOps is measured where few PrimFuncs serve many bindings.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from relaxscript import relax
from relaxscript.builder import BlockBuilder
from relaxscript.ir import IRModule
from relaxscript.op import REGISTRY, Operator
from relaxscript.script import relax as R
from relaxscript.transform import LegalizeOps
from relaxscript_tests.op.sampling import samples

RUNS = 20


def quickest(action: Callable[[], object], times: int = 1, runs: int = RUNS) -> float:
    """The least seconds of one run, so that what else the machine does counts as little as may be.

    That of this process alone is measured.
    """
    found = []
    for _ in range(runs):
        start = time.process_time()
        for _ in range(times):
            action()
        found.append((time.process_time() - start) / times)
    return min(found)


def yardstick() -> float:
    """`np.add` of 64 floats."""
    x = np.ones(64, "float32")
    return quickest(lambda: np.add(x, x), 10_000)


def chain(count: int) -> IRModule:
    """A program of one shape: every StructInfo is that of the parameter."""
    builder = BlockBuilder()
    x = relax.Var("x", relax.TensorStructInfo(("n", 4), "float32"))
    with builder.function("main", [x]), builder.dataflow():
        v = x
        for k in range(count - 1):
            v = builder.emit(R.add(v, x) if k % 2 else R.exp(v))
        builder.emit_func_output(builder.emit_output(R.exp(v)))
    return builder.finalize()


def mixed(count: int) -> IRModule:
    """A program of products, casts and constants, whose StructInfos are new in every binding."""
    builder = BlockBuilder()
    x = relax.Var("x", relax.TensorStructInfo(("n", 4), "float32"))
    w = relax.Var("w", relax.TensorStructInfo((4, 4), "float32"))
    with builder.function("main", [x, w]), builder.dataflow():
        v = x
        for _ in range(count // 4):
            v = builder.emit(R.astype(R.matmul(v, w), "float64"))
            v = builder.emit(R.astype(R.multiply(v, R.const(2.0, "float64")), "float32"))
        builder.emit_func_output(builder.emit_output(R.exp(v)))
    return builder.finalize()


def legalize_figures(unit: float) -> None:
    for make in (chain, mixed):
        taken = {}
        for count in (1_000, 10_000):
            module = make(count)
            taken[count] = quickest(lambda module=module: LegalizeOps()(module), runs=4) / count
        figure = taken[10_000] / unit
        growth = 10 * taken[10_000] / taken[1_000]
        print(f"LegalizeOps a binding, {make.__name__:8} {figure:8.1f} x np.add (aim: at most 105)")
        print(f"  10,000 as a multiple of 1,000 {growth:8.2f}    (aim: at most 12)")


def inference(operator: Operator) -> float | None:
    """The median of what inferring the samples of an operator takes."""
    found = []
    for sample in samples(operator, ("float32", "int64", "bool")):
        sample.infer()
        found.append(quickest(sample.infer, runs=5))
    return statistics.median(found) if found else None


def inference_figures(unit: float) -> None:
    """The dearest operators, and how many are dearer than they should be."""
    taken = {name: inference(operator) for name, operator in REGISTRY.items()}
    known = {name: seconds / unit for name, seconds in taken.items() if seconds is not None}
    over = sum(figure > 53 for figure in known.values())
    middle = statistics.median(known.values())
    print(f"inference, median of {len(known)} operators {middle:8.1f} x np.add")
    print(f"  operators above 53 x np.add   {over:8}    (aim: none)")
    for name in sorted(known, key=lambda name: -known[name])[:12]:
        print(f"  {name:<42} {known[name]:8.1f}")


def main() -> None:
    unit = yardstick()
    print(f"np.add of 64 floats {unit * 1e6:8.3f} us")
    legalize_figures(unit)
    inference_figures(unit)


if __name__ == "__main__":
    main()
