"""What the names of a Python file mean, as far as that is plain without running it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from relaxscript import script
from relaxscript.errors import Diagnostic, Source
from relaxscript.script.parser.base import UNKNOWN, ExpressionParser, Failed, Reporter
from relaxscript.script.parser.environment import Environment

__all__ = ["FileNames", "imported", "known_from_the_start", "literal", "merged"]

EVERYTHING = "*"  # the name under which a scope keeps that names of an unknown module are in it


class FileNames(Environment):
    """The names that a definition of a file can see, innermost scope first.

    A name whose value only a run of the file can tell is unknown. It is noted in `unknown`, with
    the mistake that was reported for it so that whatever depends on it is left unfinished.
    """

    def __init__(self, scopes: Sequence[Mapping[str, Any]], reporter: Reporter) -> None:
        super().__init__(scopes, "data")
        self.reporter = reporter
        self.unknown: dict[str, Diagnostic] = {}

    def lookup(self, name: str) -> Any:
        try:
            value = super().lookup(name)
        except KeyError:
            if not hasattr(builtins, name) and not any(EVERYTHING in s for s in self.scopes):
                raise
            value = UNKNOWN
        if value is UNKNOWN and name not in self.unknown:
            message = (
                f"`{name}` is known only when the file runs; what depends on it is not checked"
            )
            self.unknown[name] = Diagnostic("RX0112", message, None)
            self.reporter.diagnostics.append(self.unknown[name])
        return value

    def names(self) -> list[str]:
        return [name for name in super().names() if name != EVERYTHING]


class _Plain(ExpressionParser):
    """Evaluates what costs nothing: literals, names, arithmetic on small numbers, annotations."""

    def call_value(self, callee: Any, node: ast.Call) -> Any:
        if not str(getattr(callee, "__module__", "")).startswith(f"{script.__name__}."):
            raise Failed
        return self.call_python(callee, node)

    def text(self, node: ast.JoinedStr) -> Any:
        if any(getattr(part, "format_spec", None) is not None for part in node.values):
            raise Failed
        return super().text(node)

    def operate(self, symbol: str, operands: tuple[Any, ...], node: ast.expr) -> Any:
        if any(_size(operand) > SMALL for operand in operands) or _grows(symbol, operands):
            raise Failed
        return super().operate(symbol, operands, node)


SMALL = 1024


def _size(value: Any) -> int:
    """How large a number is in bits, or how long a sequence."""
    if isinstance(value, int):
        return value.bit_length()
    return len(value) if isinstance(value, (str, bytes, tuple, list)) else 0


def _grows(symbol: str, operands: tuple[Any, ...]) -> bool:
    """Whether an operation on small values may have a huge result."""
    match symbol, operands:
        case "**" | "<<", (_, int(times)):
            return times > 64
        case "*", (str() | bytes() | tuple() | list(), int(times)):
            return times > SMALL
        case "*", (int(times), str() | bytes() | tuple() | list()):
            return times > SMALL
        case "%", (str() | bytes(), _):
            return True
    return False


def literal(source: Source, node: ast.expr, scopes: Sequence[Mapping[str, Any]]) -> Any:
    """The value of an expression, or `UNKNOWN` where it is not plain."""
    try:
        return _Plain(source, Environment(scopes, "data"), Reporter()).value(node)
    except Failed:
        return UNKNOWN


def merged(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is known of names after one of several branches has run, nobody knows which.

    A name keeps a value on which those branches agree that bind it. Our own namespaces win: they
    have one meaning, and the other branch is for those who lack them.
    """
    names = {name: None for outcome in outcomes for name in outcome}
    return {name: _agreed([o[name] for o in outcomes if name in o]) for name in names}


def _agreed(values: list[Any]) -> Any:
    first = values[0]
    for value in values:
        if isinstance(value, ModuleType):
            return value
    if all(value is first or _same_literal(value, first) for value in values):
        return first
    return UNKNOWN


def _same_literal(a: Any, b: Any) -> bool:
    plain = (int, float, str, bool, tuple, type(None))
    return type(a) is type(b) and isinstance(a, plain) and repr(a) == repr(b)


# ---- imports


def _namespace(name: str, **members: Any) -> ModuleType:
    """A package as far as scripts use it; the parsers read attributes of our modules only."""
    module = ModuleType(f"relaxscript.{name}")
    module.__dict__.update(members, __all__=list(members))
    return module


def _package() -> ModuleType:
    """What `relaxscript` and `tvm` hold for scripts."""
    languages = {"ir": script.ir, "relax": script.relax, "tir": script.tir, "tirx": script.tir}
    short = {"I": script.ir, "R": script.relax, "T": script.tir}
    parser = _namespace("script.parser", **languages, **short, ir_module=script.ir.ir_module)
    members = {**languages, **short, "ir_module": script.ir.ir_module}
    inner = _namespace("script", **members, parser=parser)
    return _namespace("package", **short, ir_module=script.ir.ir_module, script=inner)


PACKAGE = _package()
ROOTS = ("relaxscript", "tvm")


def known_from_the_start() -> dict[str, Any]:
    """`I`, `R` and `T`: a printed script may come without its imports."""
    return {"I": script.ir, "R": script.relax, "T": script.tir}


def _module_named(dotted: str) -> Any:
    """A module of ours by its full name; `UNKNOWN` for any other."""
    root, *inner = dotted.split(".")
    found: Any = PACKAGE if root in ROOTS else UNKNOWN
    for part in inner:
        found = _member(found, part)
    return found


def _member(module: Any, name: str) -> Any:
    known = isinstance(module, ModuleType) and name in module.__all__
    return getattr(module, name) if known else UNKNOWN


def imported(node: ast.Import | ast.ImportFrom) -> dict[str, Any]:
    """The names that an import binds, and what is known of them."""
    found: dict[str, Any] = {}
    if isinstance(node, ast.Import):
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            found[bound] = _module_named(alias.name if alias.asname else bound)
        return found
    module = _module_named(node.module or "") if not node.level else UNKNOWN
    for alias in node.names:
        if alias.name != EVERYTHING:
            found[alias.asname or alias.name] = _member(module, alias.name)
        elif isinstance(module, ModuleType):
            found.update({name: getattr(module, name) for name in module.__all__})
        else:
            found[EVERYTHING] = UNKNOWN
    return found
