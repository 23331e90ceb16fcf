"""A comparison of a source with the code that Python compiled a definition from.

The source that a file name leads to may be another one. The file was edited since it was read, or
several sources share one name: everything that `exec` is given is called `<string>`. The compiled
code of a definition tells: Python is asked to compile the source, and what comes out is compared.
"""

from __future__ import annotations
import __future__

import ast
import re
import unicodedata
from collections.abc import Iterator
from types import CodeType
from typing import Any

from relaxscript.errors import Source

__all__ = ["alike", "codes_of", "future_flags", "inner_codes", "is_rewritten", "may_match"]

_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag

_PRIVATE = re.compile(r"^_\w*?(__\w+)$")
WORD = re.compile(r"\w+")
_REWRITTEN = "@"  # pytest's assertions use names that begin so, which nobody can write


def future_flags(code: CodeType) -> int:
    """The `__future__` imports under which a code was compiled."""
    return code.co_flags & _FUTURES


def codes_of(source: Source, flags: int) -> list[CodeType]:
    """Every code that a source compiles to, its own first; none where it does not compile."""
    try:
        found = [compile(source.text, source.filename, "exec", flags, dont_inherit=True)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    for code in found:  # grows while it is walked
        found.extend(inner_codes(code))
    return found


def inner_codes(code: CodeType) -> Iterator[CodeType]:
    """The codes of the functions and classes in a code."""
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def alike(a: CodeType, b: CodeType, *, loosely: bool = False) -> bool:
    """True if two codes say the same, wherever they are; `loosely`, with the same words only.

    Loosely is how they compare when one is in a function, as what `%%timeit` runs is: there, Python
    finds names in other ways.
    """
    if a.co_name != b.co_name or _signature(a) != _signature(b):
        return False
    if loosely or _is_class(a) or _is_class(b):
        same = _names(a) == _names(b)
        if not _is_class(a):
            same = same and _constants(a) == _constants(b)
    else:
        same = a.co_code == b.co_code and _names_in_order(a) == _names_in_order(b)
        same = same and _constants(a) == _constants(b)
    if not same:
        return False
    first, second = list(inner_codes(a)), list(inner_codes(b))
    if len(first) != len(second):
        return False
    return all(alike(x, y, loosely=loosely) for x, y in zip(first, second))


def _is_class(code: CodeType) -> bool:
    """Classes name themselves, and since Python 3.13 their line, in their own code."""
    return not code.co_flags & 2  # CO_NEWLOCALS: functions have it, modules and classes do not


def _signature(code: CodeType) -> tuple[Any, ...]:
    kind = code.co_flags & 0x2AC  # variable arguments, generators and coroutines
    return code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, kind


def _names_in_order(code: CodeType) -> tuple[Any, ...]:
    return code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars


def _names(code: CodeType) -> set[str]:
    names = {name for group in _names_in_order(code) for name in group}
    return {name for name in names if not _implicit(name)}


def _implicit(name: str) -> bool:
    """Names that Python, or a tool that rewrites programs, uses without their being written."""
    return name.startswith((_REWRITTEN, ".")) or (name.startswith("__") and name.endswith("__"))


def _constants(code: CodeType) -> list[str]:
    """The constants that were written; on Python 3.10 the long names of inner functions are too."""
    return [
        f"{type(constant).__name__} {constant!r}"
        for constant in code.co_consts
        if not isinstance(constant, CodeType)
        and not (isinstance(constant, str) and ".<locals>." in constant)
    ]


def may_match(node: ast.AST, code: CodeType, text: str) -> bool:
    """True if a definition that is where a code says may be the code's: its words are there.

    This is asked when the code is not quite what Python makes of the source. The reason is a tool
    such as pytest or an import hook, which rewrote it before it was compiled.
    """
    if isinstance(node, ast.ClassDef) != _is_class(code):
        return False
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        args = node.args
        written = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
        count = code.co_argcount + code.co_kwonlyargcount
        if written != [_unmangle(name) for name in code.co_varnames[:count]]:
            return False
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    names = _names(code)
    if is_rewritten(code):
        names = {name for name in code.co_varnames if not _implicit(name)}
    missing = {_unmangle(name) for name in names}.difference(WORD.findall(text))
    # What is left are names of modules with dots, and pieces of words: the source has few of these.
    return all(name in text for name in missing)


def is_rewritten(code: CodeType) -> bool:
    """True if pytest has rewritten assertions in a code."""
    return any(name.startswith(_REWRITTEN) for name in (*code.co_varnames, *code.co_names))


def _unmangle(name: str) -> str:
    """`__x` for `_Model__x`, which Python makes of it inside a class."""
    found = _PRIVATE.match(name)
    return found[1] if found else name
