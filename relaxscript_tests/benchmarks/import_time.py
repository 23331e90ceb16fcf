"""What `import relaxscript` costs, as a multiple of numpy's own import.

Every figure is the median of fresh interpreters, timed inside them around the one import, so that
the start of Python itself is no part of it. The two imports take turns: a machine that gets slower
meanwhile slows both.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

RUNS = 11
SECONDS = 0.25  # what the import may cost,
TIMES_NUMPY = 3.0  # in seconds and in imports of numpy

TIMED = "from time import perf_counter as t; a = t(); import {}; print(t() - a)"


def seconds_to_import(module: str) -> float:
    """How long one fresh Python takes to import a module."""
    command = [sys.executable, "-c", TIMED.format(module)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    modules = ("numpy", "relaxscript")
    times = [[seconds_to_import(module) for module in modules] for _ in range(RUNS + 1)][1:]
    numpy, ours = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"import numpy        {numpy * 1e3:7.1f} ms")
    print(f"import relaxscript  {ours * 1e3:7.1f} ms  (aim: at most {SECONDS * 1e3:.0f} ms)")
    print(f"ratio               {ours / numpy:7.2f}     (aim: at most {TIMES_NUMPY})")


if __name__ == "__main__":
    main()
