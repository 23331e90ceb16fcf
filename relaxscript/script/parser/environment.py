"""The Python names that a script may use: what its decorator saw, or nothing but our namespaces."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable, Mapping
from copy import copy
from types import FrameType, FunctionType
from typing import Any, Literal

from relaxscript.script.source.lookup import class_code, defining_frame, undecorated

__all__ = ["HARMLESS", "Environment", "Mode", "is_builtin"]

Mode = Literal["python", "data"]

# Python's own functions that are harmless on literals; the only ones known in data mode.
HARMLESS = {
    name: getattr(builtins, name)
    for name in ("abs", "bool", "float", "int", "len", "list", "max", "min", "range", "round",
                 "str", "sum", "tuple", "zip", "enumerate")
}  # fmt: skip


def is_builtin(name: str) -> bool:
    """True if Python itself knows a name everywhere.

    The value that a prompt showed last is in `builtins`, too, as `_`: no program means that.
    """
    return name != "_" and hasattr(builtins, name)


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
        """The names that a decorated function can see: closure, scope around it, globals."""
        function = undecorated(function)
        around = _enclosing(defining_frame(frame, function.__code__))
        return Environment([_closure(function), *around, function.__globals__], "python")

    @staticmethod
    def of_class(cls: type, frame: FrameType | None) -> Environment:
        """The names that a decorated class can see; names captured by its methods count too."""
        closures: dict[str, Any] = {}
        module: dict[str, Any] = vars(sys.modules.get(cls.__module__, builtins))
        for member in vars(cls).values():
            plain = getattr(member, "__func__", member)
            if isinstance(plain, FunctionType):
                closures.update(_closure(undecorated(plain)))
                module = plain.__globals__
        definer, _ = class_code(cls, frame)
        module = module if definer is None else definer.f_globals
        return Environment([closures, *_enclosing(definer), module], "python")

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
        if self.mode == "python" and is_builtin(name):
            return getattr(builtins, name)
        return HARMLESS[name]

    def member(self, owner: Any, name: str) -> tuple[bool, Any]:
        """True if an attribute of a Python value may be read, and the attribute."""
        return (True, getattr(owner, name)) if self.mode == "python" else (False, None)

    def may_call(self, callee: Any, args: Iterable[Any]) -> bool:
        """True if a function of Python may be called with these arguments."""
        return self.mode == "python" or any(callee is known for known in HARMLESS.values())

    def leave_to_run(self, written: str) -> bool:
        """True if what cannot be evaluated here is no mistake, since a run will tell."""
        return False

    @property
    def is_left_to_run(self) -> bool:
        """True if a run of the program may make more than can be seen here."""
        return False

    def has(self, name: str) -> bool:
        """True if something has that name."""
        try:
            self.lookup(name)
        except KeyError:
            return False
        return True

    def value_of(self, name: str) -> Any:
        """The value of a name, or None when nothing has that name."""
        try:
            return self.lookup(name)
        except KeyError:
            return None

    def name_of(self, value: Any) -> str | None:
        """The name by which a value is known, the innermost one."""
        named = ((name, known) for scope in self.scopes for name, known in scope.items())
        return next((name for name, known in named if known is value), None)

    def seen(self) -> dict[str, Any]:
        """All names with what they stand for; to look is not to use one."""
        return {name: value for scope in reversed(self.scopes) for name, value in scope.items()}

    def names(self) -> list[str]:
        """All names that can be seen, for suggestions."""
        return [name for scope in self.scopes for name in scope if not name.startswith("__")]


def _closure(function: FunctionType) -> dict[str, Any]:
    """Names that a function has captured; on Python 3.14 its annotations capture, too."""
    captured: dict[str, Any] = {}
    for part in (getattr(function, "__annotate__", None), function):
        if not isinstance(part, FunctionType):
            continue
        for name, cell in zip(part.__code__.co_freevars, part.__closure__ or ()):
            try:
                captured[name] = cell.cell_contents
            except ValueError:  # not yet assigned, like the function itself
                continue
    return captured


def _enclosing(frame: FrameType | None) -> list[Mapping[str, Any]]:
    """The scopes around a definition as far as Python still knows them, from its own outwards.

    A function's frame sees variables of the functions around it only when its own code uses them.
    An annotation that Python does not evaluate is no use. So the callers whose code contains
    the definition are asked as well.
    """
    scopes: list[Mapping[str, Any]] = []
    while frame is not None and frame.f_locals is not frame.f_globals:
        scopes.append(frame.f_locals)
        frame = defining_frame(frame.f_back, frame.f_code)
    return scopes
