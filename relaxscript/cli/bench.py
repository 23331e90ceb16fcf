"""`relaxscript bench`: how long the functions of a file take to build and to run.

    Digits.main for llvm, n=128
      build       35.20 ms
      first call  402.10 us
      a call      102.30 us, median of 10; from 100.10 us to 120.00 us
      throughput  9.78 k calls/s, 12.30 Gflop/s, 3.20 GB/s, 40 % of the roof
      memory      arguments 32.00 KiB, results 5.00 KiB, constants 0 B, at most 60.20 KiB in a call

Nothing of the file is run: its scripts are parsed, and called with arrays that fit.
"""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from relaxscript.codegen.backend import backend_for
from relaxscript.compiler import build
from relaxscript.errors import Diagnostic, DiagnosticError, VMError, did_you_mean, nearest
from relaxscript.ir.module import IRModule, Target, as_target
from relaxscript.ir.relax import BaseFunc, Function
from relaxscript.ir.tir import PrimFunc
from relaxscript.runtime import Executable, VirtualMachine
from relaxscript.runtime.debug.benchmark import BenchmarkResult, evaluate_time
from relaxscript.runtime.debug.explanation import Explanation
from relaxscript.runtime.debug.units import bytes_text, rate_text, seconds_text

from .example_arguments import ExampleArguments
from .files import sources_of
from .report import complain, errors_of, in_order
from .scripts_in_file import Script, definitions

__all__ = ["Measurement", "bench"]

# A repeat takes at least so many milliseconds, so that the clock's steps count for nothing.
_SHORTEST = 5.0


@dataclass(frozen=True)
class Measurement:
    """The times and sizes of one function; seconds are of one call each.

    `flops` and `moved` are the operations and bytes of its kernels, None where they are not known.
    `peak` are the bytes that Python and numpy allocated at most at once during a call. `compared`
    are the seconds of a call on another target. With `from_cache` the program was not built, but
    read from the disk.
    """

    function: str
    target: str
    dims: Mapping[str, int]
    build_seconds: float
    from_cache: bool
    first_call_seconds: float
    seconds: Sequence[float]
    median: float
    flops: int | None
    moved: int | None
    roof_seconds: float | None
    arguments: int
    results: int
    constants: int
    peak: int
    compared_with: str | None = None
    compared: float | None = None


def bench(
    file: str, function: str | None = None, *, dims: Mapping[str, int], repeat: int = 10,
    target: str | None = None, compare: str | None = None, as_json: bool = False,
) -> int:  # fmt: skip
    """Measure the functions of a file, or the one called `function`; 1 where one has mistakes.

    `function` is `main` of each module unless it is given, or the only one there is; `Digits.main`
    chooses among modules. Raises RX0701 when the file cannot be read. RX0703 is for a function,
    size or target that is not there.
    """
    scripts, others = definitions(sources_of(file))
    diagnostics = in_order([*others, *(d for script in scripts for d in script.diagnostics)])
    complain(diagnostics)
    if errors_of(diagnostics):
        return 1
    targets = [as_target(each) for each in (target or "llvm", compare) if each]
    for each in targets:
        backend_for(each)
    found = []
    for name, module, member in _chosen(scripts, function, file):
        given = ExampleArguments(module[member], dims)
        given.require_used()
        try:
            found.append(_measured(name, module, member, given, repeat, targets))
        except DiagnosticError as error:
            complain(error.diagnostics)
            return 1
        except VMError as error:
            complain([error.diagnostic])
            return 1
        if not as_json:
            print(_text(found[-1]))
    if as_json:
        print(json.dumps({"file": file, "functions": [asdict(each) for each in found]}, indent=2))
    return 0


def _chosen(
    scripts: Sequence[Script], function: str | None, file: str
) -> list[tuple[str, IRModule, str]]:
    """The functions to be measured: how each is called in messages, its module and its name."""
    there: dict[str, tuple[IRModule, str]] = {}
    usual: list[str] = []
    for script in scripts:
        if isinstance(script.value, BaseFunc):
            named = script.value.with_attr("global_symbol", script.name)
            there[script.name] = IRModule({script.name: named}), script.name
            usual.append(script.name)
        elif isinstance(script.value, IRModule):
            public = _public_functions(script.value)
            there |= {f"{script.name}.{name}": (script.value, name) for name in public}
            default = ["main"] if "main" in public else public if len(public) == 1 else []
            usual += [f"{script.name}.{name}" for name in default]
    asked = usual
    if function is not None:
        asked = [name for name in there if function in (name, name.rpartition(".")[2])]
    if asked:
        return [(name, *there[name]) for name in asked]
    what = "function to measure" if function is None else f"function `{function}`"
    near = None if function is None else nearest(function, [*there])
    help = did_you_mean(near, f"there are: {', '.join(there) or 'none'}")
    raise DiagnosticError(Diagnostic("RX0703", f"`{file}` has no {what}", None, help=help))


def _public_functions(module: IRModule) -> list[str]:
    """The functions that a machine can call: those of Relax, or where there are none, PrimFuncs."""
    functions = module.functions.items()
    for kind in (Function, PrimFunc):
        found = [v.name_hint for v, f in functions if isinstance(f, kind) and not f.is_private]
        if found:
            return found
    return []


def _measured(
    name: str, module: IRModule, member: str, given: ExampleArguments, repeat: int,
    targets: Sequence[Target],
) -> Measurement:  # fmt: skip
    start = time.perf_counter()
    executable = build(module, targets[0])
    built = time.perf_counter()
    call = VirtualMachine(executable)[member]
    result = call(*given.values)
    called = time.perf_counter()
    times = _timed(call, given.values, repeat)
    compared = None
    if len(targets) > 1:
        other = VirtualMachine(build(module, targets[1]))[member]
        compared = _timed(other, given.values, repeat).median
    explained = _explained(executable, member, given.sizes)
    flops = [None if row.flops is None else row.flops.value for row in explained.kernels]
    return Measurement(
        name, str(targets[0]), given.sizes, built - start, executable.built is not None,
        called - built, times.results, times.median,
        _total(explained, flops), _total(explained, [row.moved for row in explained.kernels]),
        explained.total_seconds, _size(given.values), _size(result),
        _size(executable.constants), _peak(call, given.values),
        str(targets[1]) if compared is not None else None, compared,
    )  # fmt: skip


def _timed(call: Any, args: Sequence[Any], repeat: int) -> BenchmarkResult:
    return evaluate_time(lambda: call(*args), 1, repeat, _SHORTEST, 0.0, 1)


def _explained(executable: Executable, member: str, sizes: Mapping[str, int]) -> Explanation:
    known = executable.explain(member).variables
    return executable.explain(member, **{name: sizes[name] for name in known if name in sizes})


def _total(explained: Explanation, amounts: Sequence[int | None]) -> int | None:
    """The sum over all calls; None where one is not known, or there is nothing."""
    known = [
        row.calls * amount for row, amount in zip(explained.kernels, amounts) if amount is not None
    ]
    return sum(known) if known and len(known) == len(amounts) else None


def _size(value: Any) -> int:
    """The bytes of the arrays in a value."""
    if isinstance(value, (tuple, list)):
        return sum(map(_size, value))
    return value.nbytes if isinstance(value, np.ndarray) else 0


def _peak(call: Any, args: Sequence[Any]) -> int:
    """The bytes that are allocated at most at once in a call, results included."""
    tracemalloc.start()
    try:
        call(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _text(found: Measurement) -> str:
    sizes = "".join(f", {name}={size}" for name, size in found.dims.items())
    seconds, best = found.median, (min(found.seconds), max(found.seconds))
    rates = [rate_text(1 / seconds, "calls/s")]
    rates += [rate_text(found.flops / seconds, "flop/s")] if found.flops else []
    rates += [rate_text(found.moved / seconds, "B/s")] if found.moved else []
    if found.roof_seconds is not None:
        rates.append(f"{100 * found.roof_seconds / seconds:.0f} % of the roof")
    how = ", read from the cache" if found.from_cache else ""
    lines = [
        f"{found.function} for {found.target}{sizes}",
        f"  build       {seconds_text(found.build_seconds)}{how}",
        f"  first call  {seconds_text(found.first_call_seconds)}",
        f"  a call      {seconds_text(seconds)}, median of {len(found.seconds)}; "
        f"from {seconds_text(best[0])} to {seconds_text(best[1])}",
        f"  throughput  {', '.join(rates)}",
        f"  memory      arguments {bytes_text(found.arguments)}, "
        f"results {bytes_text(found.results)}, constants {bytes_text(found.constants)}, "
        f"at most {bytes_text(found.peak)} in a call",
    ]
    if found.compared is not None:
        ratio = found.compared / seconds
        lines.append(f"  compared    {seconds_text(found.compared)} for {found.compared_with}, "
                     f"{ratio:.2f} times as long")  # fmt: skip
    return "\n".join(lines)
