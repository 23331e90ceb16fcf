"""Imports of TVM's modules that are not here: what is said of them, and what to use.

`import relaxscript.dlight` asks each entry of the path of the package, the last of which is ours.
Its finder finds nothing: of what it knows it says what there is instead. No hook of Python is
touched, and no other package is asked for in this way.
"""

from __future__ import annotations

import os
import sys

from .not_built import words_on

__all__ = ["answer_for"]

# No such folder exists. It is absolute, since Python forgets finders of other entries.
_ENTRY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "absent modules")


class AbsentModules:
    """The finder of that entry, as Python asks finders of entries of a path."""

    def find_spec(self, fullname: str, target: object = None) -> None:
        """Raise `ModuleNotFoundError` for a module of TVM that is not here; None for any other."""
        words = words_on(fullname)
        if words is not None:
            raise ModuleNotFoundError(words, name=fullname)


_FINDER = AbsentModules()


def answer_for(path: list[str]) -> None:
    """Have the finder asked for what is in no other entry of a package's path."""
    sys.path_importer_cache[_ENTRY] = _FINDER
    if _ENTRY not in path:
        path.append(_ENTRY)
