"""What passes, checks and comparisons cost by the binding, beside those of apache-tvm.

Each pass gets the form of program that it is for: as it was written, of PrimFuncs, in groups, or
with its results in tensors that it is given. Where no peer is installed, ours are measured alone.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from .peer import libraries, main_of
from .timing import least_in_turns

SMALL, LARGE = 1_000, 10_000
ADDS = 10_000

# Which passes make the form that another is for.
FORMS = {
    "written": (),
    "sequential": ("ToNonDataflow",),
    "loops": ("LegalizeOps",),
    "PrimFuncs": ("LegalizeOps", "AnnotateTIROpPattern"),
    "groups": ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps"),
    "pure": ("LegalizeOps", "ToNonDataflow", "RemovePurityChecking"),
    "given": ("LegalizeOps", "ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite"),
}  # fmt: skip
PASSES = {
    "Normalize": "written",
    "CanonicalizeBindings": "written",
    "TopologicalSort": "written",
    "EliminateCommonSubexpr": "written",
    "DeadCodeElimination": "written",
    "LegalizeOps": "written",
    "ToNonDataflow": "written",
    "ConvertToDataflow": "sequential",
    "RemovePurityChecking": "sequential",
    "AnnotateTIROpPattern": "loops",
    "FoldConstant": "PrimFuncs",
    "FuseOps": "PrimFuncs",
    "RewriteDataflowReshape": "PrimFuncs",
    "FuseTIR": "groups",
    "CallTIRRewrite": "pure",
    "StaticPlanBlockMemory": "given",
}


def form(library: ModuleType, passes: tuple[str, ...], count: int) -> Any:
    mod = main_of(library, count)
    for name in passes:
        mod = getattr(library.relax.transform, name)()(mod)
    return mod


def questions(library: ModuleType, count: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """What is asked of a program without a change of it."""
    first, second = main_of(library, count), main_of(library, count)
    named = library.ir if hasattr(library.ir, "structural_equal") else import_module("tvm_ffi")
    yield "well_formed", partial(library.relax.analysis.well_formed, first)
    yield "structural_equal", partial(named.structural_equal, first, second)
    yield "structural_hash", partial(named.structural_hash, first)


def actions_of(
    library: ModuleType, count: int, name: str | None
) -> dict[str, Callable[[], object]]:
    """One pass over the form that it is for, or the questions, by what they are called."""
    if name is None:
        return dict(questions(library, count))
    mod = form(library, FORMS[PASSES[name]], count)
    return {name: partial(getattr(library.relax.transform, name)(), mod)}


def figures(found: dict[str, ModuleType], name: str | None) -> None:
    """The lines of one pass, or of the questions."""
    numbers = np.ones(64, "float32")

    def adds() -> None:
        for _ in range(ADDS):
            np.add(numbers, numbers)

    actions: dict[str, Callable[[], object]] = {"np.add": adds}
    rows = []
    for side, library in found.items():
        for count in (SMALL, LARGE) if side == "ours" else (SMALL,):
            made = actions_of(library, count, name)
            actions |= {f"{side} {count} {what}": action for what, action in made.items()}
            rows = list(made)
    gc.freeze()  # what the programs and the peer have in memory is no part of the cost
    times = least_in_turns(actions)
    gc.unfreeze()
    add = times["np.add"] / ADDS
    for what in rows:
        ours, long = times[f"ours {SMALL} {what}"], times[f"ours {LARGE} {what}"]
        peer = times.get(f"tvm {SMALL} {what}")
        beside = "" if peer is None else f"{peer / SMALL * 1e6:10.2f} {ours / peer:9.2f}"
        print(
            f"{what:24}{ours / SMALL * 1e6:10.2f} {ours / SMALL / add:10.1f} "
            f"{long / ours:12.2f}{beside}",
            flush=True,
        )


def main(names: list[str]) -> None:
    found = libraries()
    beside = f"{'tvm us':>10} {'ours/tvm':>9}" if len(found) > 1 else ""
    print("a binding (aims: 14 x np.add to read, 44 to rebuild; 10,000 at most 12 x of 1,000)")
    print(f"{'':24}{'us':>10} {'x np.add':>10} {'10,000 as x':>12}{beside}")
    for name in names or PASSES:
        figures(found, name)
    if not names:
        figures(found, None)


if __name__ == "__main__":
    main(sys.argv[1:])
