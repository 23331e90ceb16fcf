"""Making a failing program small: what can go without the failure goes.

Every step is an edit after which the program is well-formed. `smaller_modules.py` has the edits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from relaxscript.analysis.well_formedness import ill_formed, well_formed
from relaxscript.errors import DiagnosticError, UnplacedError
from relaxscript.ir.module import IRModule
from relaxscript.transform import Normalize

from .smaller_modules import EDITS, Candidate

__all__ = ["reduce"]

Check = Callable[[IRModule], object]
WORD = re.compile(r"\w+|[^\w\s]")


def reduce(mod: IRModule, still_fails: Check) -> IRModule:
    """A smaller module for which `still_fails` is true, like for `mod`.

        small = reduce(mod, lambda m: bisect(pipeline, m, check) is not None)

    Functions, parameters, bindings, dataflow blocks, attributes and fields of results are dropped.
    One branch takes the place of an `if`, a body that of the call of a private function. Symbolic
    sizes become numbers or each other, the numbers of the script smaller ones. A binding or
    parameter that is used is replaced by an earlier value of the same StructInfo. This ends where
    nothing more can go.

    `still_fails` is asked of well-formed modules in normal form only, each with a shorter script
    than the last that failed. An exception that it raises is no failure. The result is one of these
    modules, and the same each time. Reducing it again gives it back.

    For n things that can go, a round of edits asks of some 2n modules. Each is looked at as a whole
    before. Rounds are few: what goes makes room for more.

    Raises `ValueError` where `still_fails` is not true for `mod` in normal form. Raises
    `DiagnosticError` where `mod` is not well-formed.
    """
    normal = mod if well_formed(mod) else Normalize()(mod)
    if found := ill_formed(normal):
        raise DiagnosticError(found)
    if not _asked(still_fails, normal):
        where = "itself" if normal is mod else "in normal form"
        raise ValueError(f"`still_fails` is not true for the module {where}")
    reduction = _Reduction(normal, still_fails)
    while True:
        before = reduction.mod
        for edit in EDITS:
            edit(reduction)
        if reduction.mod is before:
            return before


def _asked(still_fails: Check, mod: IRModule) -> bool:
    try:
        return bool(still_fails(mod))
    except Exception:  # another failure than the one that is looked for
        return False


def _size(mod: IRModule) -> tuple[int, int, int]:
    """The words of the script, how many different ones there are, and the sum of its numbers."""
    words = WORD.findall(mod.script())
    numbers = (int(word) for word in words if word.isdecimal())
    return len(words), len(set(words)), sum(numbers)


class _Reduction:
    """The smallest module that is known to fail."""

    def __init__(self, mod: IRModule, still_fails: Check) -> None:
        self.mod = mod
        self._size = _size(mod)
        self._still_fails = still_fails

    def accept(self, make: Candidate) -> bool:
        """Go on with what `make` makes, where that is smaller, well-formed and fails."""
        try:
            candidate = make()
        except (DiagnosticError, UnplacedError):
            return False  # there is no such module
        if candidate is None or candidate is self.mod or not well_formed(candidate):
            return False
        size = _size(candidate)
        if size >= self._size or not _asked(self._still_fails, candidate):
            return False
        self.mod, self._size = candidate, size
        return True

    def drop(self, items: Sequence[Any], without: Callable[[frozenset[int]], Any]) -> None:
        """Go on without as many of the items as can go, halves before quarters."""
        gone: frozenset[int] = frozenset()
        size = len(items)
        while size:
            for start in range(0, len(items), size):
                more = gone | frozenset(range(start, min(start + size, len(items))))
                if more != gone and self.accept(partial(without, more)):
                    gone = more
            size //= 2
