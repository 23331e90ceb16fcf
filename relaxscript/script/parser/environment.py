"""The Python names that a script may use: what its decorator saw, or nothing but our namespaces."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from copy import copy
from types import CodeType, FrameType, FunctionType
from typing import Any, Literal

__all__ = ["Environment", "Mode"]

Mode = Literal["python", "data"]

# Python's own functions that are harmless on literals; the only ones known in data mode.
HARMLESS = {
    name: getattr(builtins, name)
    for name in ("abs", "bool", "float", "int", "len", "list", "max", "min", "range", "round",
                 "str", "sum", "tuple", "zip", "enumerate")
}  # fmt: skip


class Environment:
    """Captured names, innermost scope first.

    In "python" mode the user's Python may be evaluated; in "data" mode nothing is, and only the
    script namespaces and harmless functions over literals are known.
    """

    def __init__(self, scopes: Iterable[Mapping[str, Any]], mode: Mode) -> None:
        self.scopes = tuple(scopes)
        self.mode: Mode = mode

    @staticmethod
    def of_function(function: FunctionType, frame: FrameType | None) -> Environment:
        """What a decorated function can see: its closure, the scope it stands in, its globals."""
        closure: dict[str, Any] = {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                closure[name] = cell.cell_contents
            except ValueError:  # not yet assigned, like the function itself
                continue
        return Environment([closure, *_enclosing(frame), function.__globals__], "python")

    @staticmethod
    def of_class(cls: type, frame: FrameType | None) -> Environment:
        """What a decorated class can see; names captured by its methods count too."""
        closures: dict[str, Any] = {}
        for member in vars(cls).values():
            plain = getattr(member, "__func__", member)
            if isinstance(plain, FunctionType):
                closures.update(Environment.of_function(plain, None).scopes[0])
        module = {} if frame is None else frame.f_globals
        return Environment([closures, *_enclosing(frame), module], "python")

    def with_scopes(self, scopes: Iterable[Mapping[str, Any]]) -> Environment:
        """An environment of the same kind over other scopes."""
        other = copy(self)
        other.scopes = tuple(scopes)
        return other

    def lookup(self, name: str) -> Any:
        """The value of a name; raises `KeyError` when nothing has that name."""
        for scope in self.scopes:
            if name in scope:
                return scope[name]
        return (vars(builtins) if self.mode == "python" else HARMLESS)[name]

    def names(self) -> list[str]:
        """All names that can be seen, for suggestions."""
        return [name for scope in self.scopes for name in scope if not name.startswith("__")]


def _enclosing(frame: FrameType | None) -> list[Mapping[str, Any]]:
    """The scopes around a definition as far as Python still knows them.

    A function's frame sees variables of the functions around it only when its own code uses them,
    and an annotation that Python does not evaluate is no use. So the callers whose code contains
    the definition are asked as well.
    """
    scopes: list[Mapping[str, Any]] = []
    inner: CodeType | None = None
    while frame is not None:
        if inner is None or inner in frame.f_code.co_consts:
            scopes.append(frame.f_locals)
            inner = frame.f_code
            if frame.f_locals is frame.f_globals:
                break
        frame = frame.f_back
    return scopes
