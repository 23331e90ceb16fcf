"""The names of variables: each its own where that is free, else with a suffix `_1`, `_2` and so on.

One policy serves Relax variables, scalar variables and buffers. Names belong to scopes. A name
that a scope gave away is free again after it: two branches or two loops may well use the same one.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Names", "add_number", "identifier"]

_KEYWORDS = frozenset(keyword.kwlist)
_FOREIGN = re.compile(r"\W")


def identifier(hint: str) -> str:
    """The hint as a name of Python; what a name cannot have becomes an underscore."""
    if hint.isidentifier() and hint.isascii():
        return f"{hint}_" if keyword.iskeyword(hint) else hint
    plain = _FOREIGN.sub("_", unicodedata.normalize("NFKC", hint))
    return plain if plain.isidentifier() else f"v{plain}"


def add_number(base: str, taken: Container[str]) -> str:
    """The name, with the first number that makes it unlike those `taken` where it is one."""
    name, number = base, 0
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


class Names:
    """The names given so far in one function, and to whom.

    With `addresses` each name ends with the address of what it stands for.
    """

    def __init__(self, reserved: Iterable[str] = (), addresses: bool = False) -> None:
        self.addresses = addresses
        self._of: dict[Any, str] = {}
        self._taken = {*_KEYWORDS, *reserved}
        self._ever: set[str] = set()
        self._frames: list[list[str]] = [[]]
        self._suffix: dict[str, int] = {}

    def get(self, node: Any) -> str | None:
        """The name of a variable, if it has one."""
        return self._of.get(node)

    def __getitem__(self, node: Any) -> str:
        return self._of[node]

    def define(self, node: Any, hint: str, *, outer: bool = False) -> str:
        """The name of `node`, from now on and, unless `outer`, in this scope only."""
        name = self.fresh(self._hint(node, hint), outer=outer)
        self._of[node] = name
        return name

    def define_for_all(self, node: Any, hint: str) -> str:
        """A name that nobody in the function has had before, for what is declared at its top."""
        base = identifier(self._hint(node, hint))
        name, number = base, 0
        while name in self._taken or name in self._ever:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        self._of[node] = name
        return name

    def define_apart(self, node: Any, hint: str, others: set[str]) -> str:
        """A name that is bound in a piece of its own, unlike `others`; nothing later takes it."""
        name = add_number(identifier(self._hint(node, hint)), others)
        self._ever.add(name)
        self._of[node] = name
        return name

    def _hint(self, node: Any, hint: str) -> str:
        return f"{hint}_{id(node):#x}" if self.addresses else hint

    def forget(self, node: Any) -> None:
        """`node` has no name any more; the name itself is not given again."""
        self._of.pop(node, None)

    def alias(self, node: Any, name: str) -> None:
        """Let `node` go by a name that was given already."""
        self._of[node] = name

    def fresh(self, hint: str, *, outer: bool = False) -> str:
        """A free name like `hint`, taken from now on."""
        base = name = identifier(hint)
        if name in self._taken:
            number = self._suffix.get(base, 0) + 1
            while f"{base}_{number}" in self._taken:
                number += 1
            self._suffix[base] = number
            name = f"{base}_{number}"
        self._taken.add(name)
        self._ever.add(name)
        self._frames[-2 if outer and len(self._frames) > 1 else -1].append(name)
        return name

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Names given inside are free again afterwards."""
        suffixes = dict(self._suffix)
        self._frames.append([])
        yield
        self._taken.difference_update(self._frames.pop())
        self._suffix = suffixes
