"""Texts that are no Python while they are being typed: read without the lines that break them.

    y = R.add(x,          is read as          pass
    return y                                  return y

Lines and columns of all else stay as they are.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from relaxscript.errors import Diagnostic, Source
from relaxscript.runtime.collector import collector_paused
from relaxscript.script.source.syntax_errors import syntax_error

__all__ = ["ReadText", "read_text"]

# Each means to parse the whole text once more.
MOST_TRIES = 16
HEADER = re.compile(r"(async|class|def|elif|else|except|finally|for|if|try|while|with)\b")
# What begins a statement and stands in no bracket.
WORD = re.compile(r"\s*(async|class|def|import|return|with|while)\b")
STRING_OR_COMMENT = re.compile(r"\"[^\"]*\"|'[^']*'|#.*")
NEAR = 20
OPENED_ON = re.compile(r"on line (\d+)")


@dataclass(frozen=True)
class ReadText:
    """A text as far as it is Python: its tree, and the lines that were left out of it.

    `tree` is None where nothing helped; `error` is the mistake of a text that is not Python.
    """

    source: Source
    tree: ast.Module | None
    left_out: tuple[int, ...] = ()
    error: Diagnostic | None = None


def read_text(source: Source) -> ReadText:
    """The tree of a source, without the lines that keep Python from reading it."""
    try:
        return ReadText(source, parse(source.text))
    except SyntaxError as found:
        error = found
    except (ValueError, RecursionError, MemoryError) as failed:
        error = SyntaxError(str(failed) or "this is nested too deeply")
    diagnostic = syntax_error(source, error)
    lines = source.text.split("\n")
    left_out: list[int] = []
    for _ in range(MOST_TRIES):
        number = guilty_line(error, lines)
        if number is None:
            break
        lines[number - 1] = weaker(source.text.split("\n")[number - 1], lines[number - 1], error)
        left_out.append(number)
        try:
            tree = parse("\n".join(lines))
            return ReadText(source, tree, tuple(sorted(set(left_out))), diagnostic)
        except SyntaxError as found:
            error = found
        except (ValueError, RecursionError, MemoryError):
            break
    return ReadText(source, None, (), diagnostic)


def parse(text: str) -> ast.Module:
    """The tree of a text; what Python warns of is said by others."""
    with warnings.catch_warnings(), collector_paused():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def guilty_line(error: SyntaxError, lines: list[str]) -> int | None:
    """The line that is left out for an error: that which opened a block, or where it is."""
    said = error.msg or ""
    opened = OPENED_ON.search(said)
    if opened is not None and "expected an indented block" in said:
        return int(opened[1])
    number = min(error.lineno or 0, len(lines))
    while number > 0 and not lines[number - 1].strip():
        number -= 1
    if number > 0 and WORD.match(lines[number - 1]) and said.startswith("invalid syntax"):
        return opened_above(lines, number) or number
    return number or None


def opened_above(lines: list[str], number: int) -> int | None:
    """The nearest line above one with a bracket that it does not close."""
    for above in range(number - 1, max(number - NEAR, 0), -1):
        code = STRING_OR_COMMENT.sub("", lines[above - 1])
        if sum(code.count(c) for c in "([{") > sum(code.count(c) for c in ")]}"):
            return above
    return None


def weaker(written: str, line: str, error: SyntaxError) -> str:
    """The text in the place of a line: an empty block or statement, in the end nothing."""
    code = written.lstrip()
    indent = written[: len(written) - len(code)]
    if line == written and "unexpected indent" not in (error.msg or ""):
        return f"{indent}if 1:" if HEADER.match(code) else f"{indent}pass"
    return f"{indent}pass" if line == f"{indent}if 1:" else ""
