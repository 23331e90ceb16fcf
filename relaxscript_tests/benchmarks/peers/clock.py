"""What a worker does with a `Program`: check it, time its calls, or time all of it once."""

from __future__ import annotations

import gc
import sys
import timeit
from collections.abc import Callable, Iterable
from importlib import import_module
from time import perf_counter, process_time
from typing import Any

import numpy as np

from .sides.by_numpy import truth
from .sides.steps import Program
from .workloads import LENGTHS, Arrays, tokens

SHORTEST = 0.005  # seconds: what is timed at once
MOST = 200  # such times in one sample
LONG = 0.5  # seconds: what is not run only to warm up


class WrongResult(Exception):
    """What a side computed is too far from the truth."""


def difference(found: Any, wanted: Any) -> float:
    """The largest difference, as a share of the largest number; infinite for another shape."""
    if found.shape != wanted.shape:
        raise WrongResult(f"the result has the shape {found.shape}, not {wanted.shape}")
    size = float(np.max(np.abs(wanted)))
    apart = float(np.max(np.abs(found - wanted)))
    return apart / size if size else apart


def error_of(program: Program, found: Any, inputs: Arrays) -> float:
    """How far a result is from the truth; raises where it is too far."""
    own = program.check()
    error = difference(found, truth(program.workload, inputs)) if own is None else own
    if not error <= program.workload.tolerance:
        raise WrongResult(f"the result is {error:.1e} from numpy's")
    return error


class Calls:
    """Calls of one program, checked once and timed in samples."""

    def __init__(self, program: Program) -> None:
        self.program = program
        program.load()
        self.function = program.compile()
        fresh = program.fresh()
        self.always_new = fresh is not None
        self.arguments = program.arguments(program.inputs) if fresh is None else fresh
        start = perf_counter()
        found = program.array(self.function(*self.arguments))
        self.once = perf_counter() - start
        self.error = error_of(program, found, program.inputs)
        if self.once < LONG:  # the first call may have been slower than any other
            self.once = min(self.one(), self.one())[0]

    def one(self) -> tuple[float, float]:
        """Wall and CPU seconds of one call with arguments that no call had before."""
        given = self.program.fresh() if self.always_new else self.arguments
        if self.always_new:
            gc.collect()
        cpu, wall = process_time(), perf_counter()
        self.function(*given)
        return perf_counter() - wall, process_time() - cpu

    def sample(self, seconds: float) -> dict[str, list[float]]:
        """Wall and CPU seconds of a call, several times; the first is only there to warm up."""
        times = max(1, min(MOST, int(seconds / max(self.once, SHORTEST))))
        if self.always_new or self.once >= SHORTEST:
            if self.once < LONG:
                self.one()
            pairs = [self.one() for _ in range(times)]
        else:
            pairs = self.many(times)
        return {"wall": [wall for wall, _ in pairs], "cpu": [cpu for _, cpu in pairs]}

    def many(self, times: int) -> list[tuple[float, float]]:
        """The same for calls that are too short to be timed alone."""
        number = max(1, round(SHORTEST / self.once))
        names = {f"a{place}": value for place, value in enumerate(self.arguments)}
        timer = timeit.Timer(
            f"function({', '.join(names)})", "gc.enable()",
            globals={"function": self.function, "gc": gc, **names},
        )  # fmt: skip
        timer.timeit(number)
        pairs = []
        for _ in range(times):
            cpu = process_time()
            wall = timer.timeit(number)
            pairs.append((wall / number, (process_time() - cpu) / number))
        return pairs


def imported_by(action: Callable[[], object]) -> list[str]:
    """The modules that an action imports."""
    before = set(sys.modules)
    action()
    return sorted(set(sys.modules) - before)


def import_all(names: Iterable[str]) -> None:
    """Import what is there by itself; some names are only made by others."""
    for name in names:
        try:
            import_module(name)
        except ImportError:
            continue


def once(program: Program) -> dict[str, Any]:
    """All of a program in a fresh process: load, compile, first call, and the calls after it."""
    gc.collect()
    parts, clock = {}, Clock()
    program.load()
    parts["load"] = clock.lap()
    function = program.compile()
    parts["compile"] = clock.lap()
    dynamic = program.workload.dynamic
    lengths = [tokens(length) for length in LENGTHS] if dynamic else [program.inputs]
    clock.lap()
    found = []
    for given in lengths:
        found.append(program.array(function(*program.arguments(given))))
        if len(found) == 1:
            program.after_first_call()
    parts["calls" if dynamic else "first call"] = clock.lap()
    checked = list(zip(found, lengths))[:: max(1, len(lengths) // 3)]
    return {
        "wall": [sum(wall for wall, _ in parts.values())],
        "cpu": [sum(cpu for _, cpu in parts.values())],
        "parts": {name: wall for name, (wall, _) in parts.items()},
        "compilations": program.compilations(),
        "error": max(error_of(program, each, given) for each, given in checked),
    }


class Clock:
    """Wall and CPU seconds since it was asked last."""

    def __init__(self) -> None:
        self.cpu, self.wall = process_time(), perf_counter()

    def lap(self) -> tuple[float, float]:
        cpu, wall = process_time(), perf_counter()
        lap = wall - self.wall, cpu - self.cpu
        self.cpu, self.wall = process_time(), perf_counter()
        return lap
