"""Every benchmark in turn, or those that are named, each in a process of its own.

What one has left in memory would slow the collector, and with it the others. `peers` takes options
of its own: `python -m relaxscript_tests.benchmarks peers --help`.
"""

from __future__ import annotations

import subprocess
import sys

from .peers.command import main as peers

ALL = (
    "import_time", "front_end", "checking", "visitors", "arithmetic", "operators", "fusion",
    "passes", "every_pass", "patterns", "execution", "generating", "networks", "nn_modules",
    "language_server", "training", "vector_math", "weights",
)  # fmt: skip


def main(names: list[str]) -> None:
    for name in names or ALL:
        print(f"== {name}", flush=True)
        subprocess.run([sys.executable, "-m", f"{__package__}.{name}"], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["peers"]:
        sys.exit(peers(sys.argv[2:]))
    main(sys.argv[1:])
