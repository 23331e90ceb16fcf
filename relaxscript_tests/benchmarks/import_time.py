"""What `import relaxscript` costs, as a multiple of numpy's own import.

Every figure is the median of fresh interpreters, timed inside them around the one import, so that
the start of Python itself is no part of it. The two imports take turns: a machine that gets slower
meanwhile slows both. Both are imported from bytecode, as what pip installed is: it goes to a folder
of its own, so that it is there for a checkout, too, and where Python is told to write none.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

RUNS = 11
SECONDS = 0.25  # what the import may cost,
TIMES_NUMPY = 3.0  # in seconds and in imports of numpy

TIMED = "from time import perf_counter as t; a = t(); import {}; print(t() - a)"


def seconds_to_import(module: str, bytecode: str) -> float:
    """How long one fresh Python takes to import a module; the first writes the bytecode."""
    command = [sys.executable, "-X", f"pycache_prefix={bytecode}", "-c", TIMED.format(module)]
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    run = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return float(run.stdout)


def main() -> None:
    modules = ("numpy", "relaxscript")
    with tempfile.TemporaryDirectory() as bytecode:
        times = [
            [seconds_to_import(module, bytecode) for module in modules] for _ in range(RUNS + 1)
        ][1:]
    numpy, ours = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"import numpy        {numpy * 1e3:7.1f} ms")
    print(f"import relaxscript  {ours * 1e3:7.1f} ms  (aim: at most {SECONDS * 1e3:.0f} ms)")
    print(f"ratio               {ours / numpy:7.2f}     (aim: at most {TIMES_NUMPY})")


if __name__ == "__main__":
    main()
