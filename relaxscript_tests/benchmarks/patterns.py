"""Matching and rewriting a pattern of three operators in 10,000 bindings, beside apache-tvm.

A third of the bindings are the root of no match, a tenth are of one.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from .peer import LAYER, libraries, main_of
from .timing import least_in_turns

SMALL, LARGE = 1_000, 10_000
ADDS = 100_000
# 60 ms where `np.add` takes 0.57 us.
AIM = 60e-3 / 0.57e-6


def matching(library: ModuleType, count: int, change: bool) -> Callable[[], object]:
    """Finds `relu(a @ b + c)` in a program, and puts `gelu` in place of `relu` if asked to."""
    relax, op, dpl = library.relax, library.relax.op, library.relax.dpl
    function = main_of(library, count)["main"]
    a, b, c = dpl.wildcard(), dpl.wildcard(), dpl.wildcard()
    product = dpl.is_op("relax.matmul")(a, b)
    pattern = dpl.is_op("relax.nn.relu")(dpl.is_op("relax.add")(product, c))

    def found(call: Any, matches: Any) -> Any:
        nonlocal seen
        seen += 1
        return op.nn.gelu(op.add(op.matmul(matches[a], matches[b]), matches[c])) if change else call

    seen = 0
    relax.dpl.rewrite_call(pattern, found, function)
    assert seen == count // LAYER, f"{library.__name__} found {seen}"
    return lambda: relax.dpl.rewrite_call(pattern, found, function)


def main() -> None:
    found = libraries()
    numbers = np.ones(64, "float32")

    def adds() -> None:
        for _ in range(ADDS):
            np.add(numbers, numbers)

    actions: dict[str, Callable[[], object]] = {"np.add": adds}
    for side, library in found.items():
        for count in (SMALL, LARGE):
            actions[f"{side} matched {count}"] = matching(library, count, change=False)
            actions[f"{side} rewritten {count}"] = matching(library, count, change=True)
    gc.freeze()  # what the programs and the peer have in memory is no part of the cost
    times = least_in_turns(actions)
    add = times["np.add"] / ADDS
    for what in ("matched", "rewritten"):
        for side in found:
            taken = times[f"{side} {what} {LARGE}"]
            aim = f" (aim: at most {AIM:,.0f})" if (side, what) == ("ours", "matched") else ""
            growth = taken / times[f"{side} {what} {SMALL}"]
            print(f"{what:10}{side:6}{taken * 1e3:10.2f} ms = {taken / add:9,.0f} x np.add{aim}")
            print(f"{'':16}{growth:10.2f} x of 1,000 bindings")
        if "tvm" in found:
            ratio = times[f"ours {what} {LARGE}"] / times[f"tvm {what} {LARGE}"]
            print(f"{'':16}{ratio:10.2f} x apache-tvm")


if __name__ == "__main__":
    main()
