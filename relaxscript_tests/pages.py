"""What README and CONTRIBUTING say of the house, compared with what is there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from relaxscript_tests.architecture import PACKAGE, ROW, module_of, room_of

ROW_OF_MAP = re.compile(r"^\| (`.*?) \|", re.MULTILINE)


def map_problems(readme: str, files: Iterable[str]) -> list[str]:
    """Where the README's table of rooms differs from the rooms that are there, or their order."""
    written = [
        room.removesuffix("/").removesuffix(".py").replace("/", ".")
        for row in ROW_OF_MAP.findall(readme)
        for room in re.findall(r"`([^`]*)`", row)
    ]
    there = {room_of(module_of(path)) for path in files} - {"__init__", "__main__", None}
    rows = [ROW[room] for room in written if room in ROW]
    return [
        *(f"the map of the README has no `{room}`" for room in sorted(there - set(written))),
        *(f"the map of the README has `{room}`" for room in written if room not in there),
        *(["the map of the README has another order"] if rows != sorted(rows) else []),
    ]


# A file or folder in prose; `x/y.py` is any file.
PATH_IN_PROSE = re.compile(r"`((?!x/)(?:\w+/)*\w+(?:\.py|/))`")


def absent_paths(page: str, files: Iterable[str]) -> list[str]:
    """The files and folders of ours that a page names, and that are not there, nor planned."""
    known = {
        part
        for path in files
        for top in ("", f"{PACKAGE}/", f"{PACKAGE}_tests/")
        if path.startswith(top)
        for part in (path[len(top) :], *map("{}/".format, Path(path[len(top) :]).parents))
    }
    planned = {f"{room.replace('.', '/')}{end}" for room in ROW for end in (".py", "/")}
    named = dict.fromkeys(PATH_IN_PROSE.findall(page))
    files_of = {Path(path).name for path in known}
    return [
        f"there is no `{name}`"
        for name in named
        if name not in known | planned and not ("/" not in name and name in files_of)
    ]
