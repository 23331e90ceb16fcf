"""Every benchmark in turn, or those that are named."""

from __future__ import annotations

import sys

from . import arithmetic, checking, execution, front_end, import_time, networks

ALL = {
    "import_time": import_time.main,
    "front_end": front_end.main,
    "checking": checking.main,
    "arithmetic": arithmetic.main,
    "execution": execution.main,
    "networks": networks.main,
}


def main(names: list[str]) -> None:
    for name in names or ALL:
        print(f"== {name}")
        ALL[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
