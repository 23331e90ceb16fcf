"""Texts that are no Python while they are being typed: read without the lines that break them.

    y = R.add(x,          is read as          pass
    return y                                  return y

Lines and columns of all else stay as they are.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from relaxscript.errors import Diagnostic, Source
from relaxscript.runtime.collector import collector_paused
from relaxscript.script.source.syntax_errors import explain_syntax

__all__ = ["ReadText", "read_text", "readings"]

# What has a place of its own and blocks in it.
Placed = ast.stmt | ast.ExceptHandler

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
    *_, (whole, _) = readings(source)
    return whole


def readings(source: Source) -> Iterator[tuple[ReadText, bool]]:
    """The tree of a source; of one that is no Python first the mistake, then all that can be read.

    With each is said whether it is the last.
    """
    try:
        yield ReadText(source, parse(source.text)), True
        return
    except SyntaxError as found:
        error = found
    except (ValueError, RecursionError, MemoryError) as failed:
        error = SyntaxError(str(failed) or "this is nested too deeply")
    diagnostic, mended = explain_syntax(source, error)
    yield ReadText(source, None, (), diagnostic), False
    yield without_broken_lines(source, error, diagnostic, mended), True


def without_broken_lines(
    source: Source, error: SyntaxError, diagnostic: Diagnostic, mended: ast.Module | None
) -> ReadText:
    """The tree without the lines that break it; `mended` is that after a fix, where one helps."""
    lines = source.text.split("\n")
    guilty = guilty_line(error, lines)
    if guilty is not None and mended is not None and pass_instead(mended, diagnostic, guilty):
        return ReadText(source, mended, (guilty,), diagnostic)
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


def pass_instead(tree: ast.Module, diagnostic: Diagnostic, line: int) -> bool:
    """Put `pass` in the place of a line that a fix has mended; False where it cannot be done.

    The tree is then that of the text with `pass` in this line, for which nothing is parsed.
    """
    spans = [edit.span for edit in diagnostic.fix]
    if any(not line == span.line == span.end_line for span in spans):
        return False
    block, around = block_at(tree, line)
    inside = [each for each in block if is_in(line, each)]
    if not inside or any(each.lineno != line or each.end_lineno != line for each in inside):
        return False
    first = inside[0]
    written = spans[0].source.line(line)
    indent = len(written) - len(written.lstrip())
    if first.col_offset != indent or HEADER.match(written.lstrip()):
        return False
    end = indent + len("pass")
    at = block.index(first)
    block[at : at + len(inside)] = [
        ast.Pass(lineno=line, col_offset=indent, end_lineno=line, end_col_offset=end)
    ]
    for each in around:
        if each.end_lineno == line:
            each.end_col_offset = end
    return True


def block_at(tree: ast.Module, line: int) -> tuple[list[ast.stmt], list[Placed]]:
    """The innermost block with statements that hold a line, and what it is inside of."""
    block, around = tree.body, list[Placed]()
    inner = list(_inner_blocks(block, line))
    while inner:
        block, holders = inner[0]
        around += holders
        inner = list(_inner_blocks(block, line))
    return block, around


def _inner_blocks(
    block: list[ast.stmt], line: int
) -> Iterator[tuple[list[ast.stmt], tuple[Placed, ...]]]:
    """The blocks in the statements of a block that hold a line, each with those."""
    for each in block:
        if is_in(line, each):
            for inner, holders in blocks_of(each):
                if inner[0].lineno <= line <= (inner[-1].end_lineno or 0):
                    yield inner, holders


def blocks_of(part: ast.AST) -> Iterator[tuple[list[ast.stmt], tuple[Placed, ...]]]:
    """The blocks of a statement, handler or case, each with all that it is inside of."""
    here = (part,) if isinstance(part, (ast.stmt, ast.ExceptHandler)) else ()
    for _, value in ast.iter_fields(part):
        if isinstance(value, list) and value:
            if isinstance(value[0], ast.stmt):
                yield value, here
            elif isinstance(value[0], (ast.ExceptHandler, ast.match_case)):
                for inner in value:
                    yield from ((block, (*here, *holders)) for block, holders in blocks_of(inner))


def is_in(line: int, part: Placed) -> bool:
    """True if a line is one of those of a statement."""
    return part.lineno <= line <= (part.end_lineno or 0)


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
