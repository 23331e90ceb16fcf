"""Run the tutorials as notebooks, and say where they differ from what is stored; or store it.

`python .ci/tutorials.py` looks at all of them, `python .ci/tutorials.py 01 02_symbolic_shapes` at
these only; with `--write` their notebooks are made of the scripts and of the outputs of a run.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from relaxscript_tests import notebooks  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a tutorial; its number is enough")
    parser.add_argument("--write", action="store_true", help="store what the run gives")
    arguments = parser.parse_args()
    try:
        scripts = notebooks.find(ROOT / "tutorials", arguments.names)
    except LookupError as error:
        parser.error(str(error))
    problems = notebooks.write(scripts) if arguments.write else notebooks.check(scripts)
    print(*problems, f"{len(scripts)} tutorials, {len(problems)} problems", sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
