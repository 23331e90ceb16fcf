"""The state of this package: what is kept on disk was made by the very code that is loaded.

A version says that of a release, but not of a checkout in which somebody works.
"""

from __future__ import annotations

import hashlib
import os

from relaxscript.version import __version__

__all__ = ["state_of"]

# Rooms that come after a program is made, or before there is a module.
_ASIDE = frozenset({"cli", "frontend", "relax", "script", "testing", "tir", "topi", "__pycache__"})


def state_of(folder: str) -> str | None:
    """A hash of the version, and of the files of a package by their sizes and times.

    None where they cannot be told, as in an archive.
    """
    files: list[str] = []
    pending = [folder]
    try:
        while pending:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.name.endswith(".py"):
                        status = entry.stat()
                        files.append(f"{entry.path} {status.st_size} {status.st_mtime_ns}")
                    elif entry.name not in _ASIDE and entry.is_dir():
                        pending.append(entry.path)
    except OSError:
        return None
    text = "\n".join([__version__, *sorted(files)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
