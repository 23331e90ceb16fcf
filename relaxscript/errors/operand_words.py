"""The user's words for the operands of a call, read from the text of the call.

Rules and meanings of operators know operands by the names of parameters; where a call is written,
its text says what each of them is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

__all__ = ["operand_words", "with_words"]

_LONGEST = 40  # what is longer is no name in a sentence
_NAMED = re.compile(r"`([A-Za-z_]\w*)((?:\[\d+\])*)`")


def operand_words(text: str, parameters: Sequence[str], operands: int) -> dict[str, str]:
    """The text of each argument in a call, by its parameter; nothing where that is not certain.

    `operands` is how many of the parameters a call must have: a method has one of them before its
    dot.
    """
    try:
        node = ast.parse(f"({text})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _of_statement(text, parameters)
    match node:
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            given = [left, right]
        case ast.BoolOp(values=[left, right]):
            given = [left, right]
        case ast.UnaryOp(operand=operand):
            given = [operand]
        case ast.Call(func=func, args=args, keywords=keywords):
            given = list(args)
            if len(args) + len(keywords) < operands and isinstance(func, ast.Attribute):
                given.insert(0, func.value)
            if any(isinstance(arg, ast.Starred) for arg in given):
                return {}
            named = [(k.arg, k.value) for k in keywords if k.arg is not None]
            return _short([*zip(parameters, given), *named])
        case _:
            return {}
    return _short(list(zip(parameters, given)))


def _of_statement(text: str, parameters: Sequence[str]) -> dict[str, str]:
    """`x += y`."""
    try:
        (statement,) = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    match statement:
        case ast.AugAssign(target=left, value=right):
            return _short(list(zip(parameters, (left, right))))
    return {}


def _short(places: list[tuple[str, ast.expr]]) -> dict[str, str]:
    words: dict[str, str] = {}
    for name, node in places:
        if isinstance(node, (ast.Tuple, ast.List)):
            words.update(_short([(f"{name}[{i}]", part) for i, part in enumerate(node.elts)]))
        elif not isinstance(node, ast.Constant) and len(text := ast.unparse(node)) < _LONGEST:
            words[name] = text
    return words


def with_words(text: str, words: Mapping[str, str]) -> str:
    """A sentence with the user's words for what it calls by the names of parameters."""

    def word(found: re.Match[str]) -> str:
        whole = words.get(found[1] + found[2])
        if whole is not None:
            return f"`{whole}`"
        first = words.get(found[1])
        return found[0] if first is None else f"`{first}{found[2]}`"

    return _NAMED.sub(word, text)
