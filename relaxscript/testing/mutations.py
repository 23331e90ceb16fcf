"""Damaged programs: slips of the hand in a source, token by token and node by node.

Parsing a mutation must end in a module or in diagnostics whose places lie inside the text; anything
else is a mistake of the parser. Start reading at `mutations`.
"""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
from collections.abc import Callable, Iterator
from typing import Any

from .generate.choices import Choices, Seeded

__all__ = ["mutations"]

SIGNS = ("(", ")", "[", "]", ",", ":", ".", "=", "+", "-", "*", "/", "@", "%", "**", "//", "<",
         "==", "->", "~", "not", "and", ":=")  # fmt: skip
WORDS = ("z", "x", "None", "True", "lambda", "pass", "return", "R", "T", "I", "cls", "del", "0",
         "-1", "1.5", "1e400", "99999999999999999999", '"n"', '"float33"', "...", "n", "R.Object",
         "R.Tensor", "T.int64()", "[]", "()", "{}", "f''", "b'x'")  # fmt: skip
STATEMENTS = ("pass", "y = z", "return x", "x += 1", "n = T.int64()", "import os", "x: R.Object",
              "R.output(x)", "with R.dataflow(): x = x", "a, b = x", "x", "...", "del x",
              "for i in range(3): y = x", "if x: y = x", "x = y = x", "def g(): pass",
              "class A: pass", "try: pass\nexcept: pass", "x[0] = x",
              "@R.function\ndef q(a): return a")  # fmt: skip


def mutations(text: str, seed: int, count: int = 20) -> Iterator[str]:
    """`count` damaged copies of `text`, each by one to three slips; not all of them are Python."""
    choices = Seeded(seed)
    for _ in range(count):
        damaged = text
        for _ in range(choices.integer(1, 3)):
            slip = choices.pick(SLIPS)
            damaged = slip(choices, damaged)
        yield damaged


# ---------------------------------------------------------------- slips in the text


def _tokens(text: str) -> list[tuple[int, int]]:
    """The begins and ends of the tokens of a source, up to the first that is none."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found: list[tuple[int, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            start = starts[token.start[0] - 1] + token.start[1]
            end = starts[min(token.end[0], len(starts)) - 1] + token.end[1]
            if token.string.strip() and end > start:
                found.append((start, end))
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass
    return found


def _replace(text: str, place: tuple[int, int], by: str) -> str:
    return text[: place[0]] + by + text[place[1] :]


def _drop_token(choices: Choices, text: str) -> str:
    tokens = _tokens(text)
    return _replace(text, choices.pick(tokens), "") if tokens else text


def _repeat_token(choices: Choices, text: str) -> str:
    tokens = _tokens(text)
    if not tokens:
        return text
    start, end = choices.pick(tokens)
    return _replace(text, (end, end), " " + text[start:end])


def _swap_tokens(choices: Choices, text: str) -> str:
    tokens = _tokens(text)
    if len(tokens) < 2:
        return text
    first, second = sorted((choices.pick(tokens), choices.pick(tokens)))
    if first == second or first[1] > second[0]:
        return text
    a, b = text[slice(*first)], text[slice(*second)]
    return text[: first[0]] + b + text[first[1] : second[0]] + a + text[second[1] :]


def _other_token(choices: Choices, text: str) -> str:
    """A name becomes another word of the source or of the language, a sign another sign."""
    tokens = _tokens(text)
    if not tokens:
        return text
    place = choices.pick(tokens)
    word = text[slice(*place)]
    if word.isidentifier() or keyword.iskeyword(word) or word[0] in "\"'0123456789":
        start, end = choices.pick(tokens)
        other = text[start:end] if choices.chance(50) else choices.pick(WORDS)
    else:
        other = choices.pick(SIGNS)
    return _replace(text, place, other)


def _misspell(choices: Choices, text: str) -> str:
    names = [p for p in _tokens(text) if text[slice(*p)].isidentifier()]
    if not names:
        return text
    start, end = choices.pick(names)
    at = choices.integer(start, end - 1)
    return _replace(text, (at, at + 1), choices.pick(("", "e", "ü", text[at] * 2)))


def _drop_line(choices: Choices, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if lines:
        del lines[choices.integer(0, len(lines) - 1)]
    return "".join(lines)


def _repeat_line(choices: Choices, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    line = choices.pick(lines)
    lines.insert(choices.integer(0, len(lines)), line)
    return "".join(lines)


def _indent_line(choices: Choices, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    at = choices.integer(0, len(lines) - 1)
    lines[at] = "    " + lines[at] if choices.chance(50) else lines[at].removeprefix("    ")
    return "".join(lines)


def _add_statement(choices: Choices, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return choices.pick(STATEMENTS)
    at = choices.integer(0, len(lines) - 1)
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    added = [f"{indent}{line}\n" for line in choices.pick(STATEMENTS).splitlines()]
    return "".join([*lines[:at], *added, *lines[at:]])


# ---------------------------------------------------------------- slips in the tree


def _in_tree(change: Callable[[Choices, ast.Module], None]) -> Callable[[Choices, str], str]:
    """A slip that is made in the syntax tree; a source that is not Python stays as it is."""

    def slip(choices: Choices, text: str) -> str:
        try:
            tree = ast.parse(text)
            change(choices, tree)
            return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        except (SyntaxError, ValueError, RecursionError):
            return text

    return slip


def _nodes(tree: ast.AST, *kinds: type[ast.AST]) -> list[Any]:
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


@_in_tree
def _other_expression(choices: Choices, tree: ast.Module) -> None:
    """An expression of the program takes the place of another."""
    places: list[tuple[ast.AST, str, int | None]] = []
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                places.append((node, name, None))
            elif isinstance(value, list):
                places += [(node, name, i) for i, v in enumerate(value) if isinstance(v, ast.expr)]
    if places:
        owner, name, index = choices.pick(places)
        other = choices.pick(_nodes(tree, ast.expr))
        copy = ast.parse(ast.unparse(other), mode="eval").body
        if index is None:
            setattr(owner, name, copy)
        else:
            getattr(owner, name)[index] = copy


@_in_tree
def _drop_statement(choices: Choices, tree: ast.Module) -> None:
    bodies = [n for n in ast.walk(tree) if isinstance(getattr(n, "body", None), list)]
    body = choices.pick(bodies).body  # type: ignore[attr-defined]
    if body:
        del body[choices.integer(0, len(body) - 1)]
    if not body:
        body.append(ast.Pass())


@_in_tree
def _swap_statements(choices: Choices, tree: ast.Module) -> None:
    bodies = [n for n in ast.walk(tree) if isinstance(getattr(n, "body", None), list)]
    body = choices.pick(bodies).body  # type: ignore[attr-defined]
    if len(body) > 1:
        i, j = choices.integer(0, len(body) - 1), choices.integer(0, len(body) - 1)
        body[i], body[j] = body[j], body[i]


@_in_tree
def _change_arguments(choices: Choices, tree: ast.Module) -> None:
    """A call loses an argument, gets one twice, or passes one by a keyword."""
    calls = [call for call in _nodes(tree, ast.Call) if call.args]
    if not calls:
        return
    call = choices.pick(calls)
    at = choices.integer(0, len(call.args) - 1)
    match choices.integer(0, 3):
        case 0:
            del call.args[at]
        case 1:
            call.args.append(call.args[at])
        case 2:
            word = choices.pick(("axis", "x", "dtype", "axes", "out_sinfo"))
            call.keywords.append(ast.keyword(word, call.args.pop(at)))
        case 3:
            call.args[at] = ast.Starred(call.args[at], ast.Load())


@_in_tree
def _other_number(choices: Choices, tree: ast.Module) -> None:
    constants = _nodes(tree, ast.Constant)
    if constants:
        other = choices.pick((-1, 0, 1, 2.5, 10**30, True, None, "n", "n + 1", "float32", 1j, b""))
        choices.pick(constants).value = other


@_in_tree
def _drop_annotation(choices: Choices, tree: ast.Module) -> None:
    args = [arg for arg in _nodes(tree, ast.arg) if arg.annotation is not None]
    if args:
        choices.pick(args).annotation = None


SLIPS: tuple[Callable[[Choices, str], str], ...] = (
    _drop_token, _repeat_token, _swap_tokens, _other_token, _other_token, _misspell, _drop_line,
    _repeat_line, _indent_line, _add_statement, _other_expression, _other_expression,
    _drop_statement, _swap_statements, _change_arguments, _other_number, _drop_annotation,
)  # fmt: skip
