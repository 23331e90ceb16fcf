"""`relaxscript cache`: the machine code that is kept on disk.

    folder   ~/.cache/relaxscript
    holds    37 objects, 412 KiB of 512 MiB

A third line says why the folder is not used, where that is so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from relaxscript.runtime.object_cache import MIB, KeptFile, object_cache

__all__ = ["cache_info", "clear_cache"]


def cache_info() -> int:
    """Print where machine code is kept, how much of it, and why it is not used if so."""
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
    """Remove the machine code that is kept, and nothing else; 1 where something cannot be."""
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
    sizes = [file.size for file in files]
    size = f"{sum(sizes) >> 10} KiB" if sum(sizes) < MIB else f"{sum(sizes) / MIB:.1f} MiB"
    return f"{len(sizes)} object{'' if len(sizes) == 1 else 's'}, {size}"
