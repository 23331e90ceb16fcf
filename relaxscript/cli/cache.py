"""`relaxscript cache`: the programs and the machine code that are kept on disk.

    folder   ~/.cache/relaxscript
    holds    12 programs and 37 objects, 412 KiB of 512 MiB

A third line says why the folder is not used, where that is so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from relaxscript.errors import quantity
from relaxscript.runtime.object_cache import MIB, OBJECT, PROGRAM, KeptFile, object_cache

__all__ = ["cache_info", "clear_cache"]


def cache_info() -> int:
    """Print where programs and code are kept, how many, and why they are not used if so."""
    cache = object_cache()
    if cache.folder is None:
        print(NOWHERE)
        return 0
    print(f"folder   {cache.folder}")
    print(f"holds    {_amount(cache.files())} of {cache.capacity // MIB} MiB")
    refusal = cache.refusal()
    if refusal is not None:
        print(f"unused   {refusal}")
    return 0


def clear_cache() -> int:
    """Remove what is kept, and nothing else; 1 where something cannot be removed."""
    cache = object_cache()
    if cache.folder is None:
        print(NOWHERE)
        return 0
    before = cache.files()
    left = cache.clear()
    gone = {file.path for file in left}
    print(f"removed {_amount(file for file in before if file.path not in gone)}")
    for file in left:
        print(f"cannot remove {file.path}", file=sys.stderr)
    return 1 if left else 0


NOWHERE = "nothing is kept: RELAXSCRIPT_CACHE is off, or there is no home for it"


def _amount(files: Iterable[KeptFile]) -> str:
    listed = list(files)
    total = sum(file.size for file in listed)
    size = f"{total >> 10} KiB" if total < MIB else f"{total / MIB:.1f} MiB"
    counts = (
        quantity(sum(1 for file in listed if file.kind == kind), kind) for kind in (PROGRAM, OBJECT)
    )
    return f"{' and '.join(counts)}, {size}"
