"""What a process costs that imports one package and ends, from outside."""

from __future__ import annotations

import os
import subprocess
from time import perf_counter

from .conversation import ONE_THREAD, ROOT, WorkerFailed

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

PINNED = "import os; hasattr(os, 'sched_setaffinity') and os.sched_setaffinity(0, {%d}); import %s"


def import_times(python: str, module: str, bytecode: str, cpu: int | None) -> tuple[float, float]:
    """Wall and CPU seconds of a process, its start and its end included.

    Bytecode is read from a folder of its own, so that it is there for a checkout too.
    """
    code = f"import {module}" if cpu is None else PINNED % (cpu, module)
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before, start = cpu_of_children(), perf_counter()
    done = subprocess.run(
        [python, "-X", f"pycache_prefix={bytecode}", "-c", code],
        env={**kept, **ONE_THREAD, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    wall, after = perf_counter() - start, cpu_of_children()
    if done.returncode:
        raise WorkerFailed((done.stderr.strip().splitlines() or ["it failed"])[-1])
    return wall, after - before


def cpu_of_children() -> float:
    """CPU seconds of all processes that were waited for; NaN where the system does not tell."""
    if resource is None:
        return float("nan")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
