"""Sources that Python cannot read: what Python says of one, and the slip that would explain it.

A slip is only suggested where Python reads on behind that place once it is mended. So no guess is
offered that leads nowhere. Start reading at `syntax_error`.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from relaxscript.errors import Diagnostic, Edit, Source, Span, did_you_mean, nearest
from relaxscript.runtime.collector import collector_paused

__all__ = ["Explained", "explain_syntax", "syntax_error"]

# How many explanations are tried: each means to parse the source again.
MOST_TRIES = 40

# In how many further lines a bracket may be missing that closes one.
LATER = 20

WORDS = (
    "return", "def", "class", "for", "while", "with", "if", "elif", "else", "import", "from", "in",
    "as", "is", "not", "and", "or", "lambda", "pass", "break", "continue", "assert",
)  # fmt: skip
CLOSERS = {"(": ")", "[": "]", "{": "}"}
STRING = re.compile(r"\"[^\"]*\"|'[^']*'")
GAP = re.compile(r"(?<=[\w)\]}\"'])\s+(?=[\w(\[{\"'])")
# What other languages write, and Python's words for it.
FOREIGN = {
    r"\s*&&\s*": " and ", r"\s*\|\|\s*": " or ", r"!(?!=)\s*": "not ", r"\belse\s+if\b": "elif",
    r"\+\+$": " += 1", r"--$": " -= 1", r"^(let|var|const|auto)\s+": "",
}  # fmt: skip


class _Slip(NamedTuple):
    """Characters `start` to `end` of the source are to be `text`; `help` says so."""

    start: int
    end: int
    text: str
    help: str


class _Line(NamedTuple):
    """The line that Python stopped in: its code, and where that begins in the source."""

    code: str
    start: int
    indent: str


class Explained(NamedTuple):
    """The mistake of a script that Python cannot read, and the tree once its slip is mended.

    `tree` is None where no one slip explains all.
    """

    diagnostic: Diagnostic
    tree: ast.Module | None = None


def syntax_error(source: Source, error: SyntaxError) -> Diagnostic:
    """The mistake of a script that Python cannot read, with the slip that explains it."""
    return explain_syntax(source, error).diagnostic


def explain_syntax(source: Source, error: SyntaxError) -> Explained:
    """The mistake of a script, and what Python reads once the slip is mended."""
    span = _place(source, error)
    said, _, more = (error.msg or "invalid syntax").partition(". ")
    help = more[:1].lower() + more[1:].rstrip("?") if more else None
    message = f"this is not Python: {said}"
    if "indent" in said and not "".join(source.lines[: span.line - 1]).strip():
        help = "take the indentation of the whole text away: `textwrap.dedent(text)`"
        return Explained(Diagnostic("RX0113", message, span, help=help))
    slip, tree = _explanation(source, span, error.msg or "")
    if slip is None:
        return Explained(Diagnostic("RX0113", message, span, help=help))
    edit = Edit(source.between(slip.start, slip.end), slip.text)
    return Explained(Diagnostic("RX0113", message, span, help=slip.help, fix=(edit,)), tree)


def _place(source: Source, error: SyntaxError) -> Span:
    line = max(error.lineno or 1, 1)
    column = max(error.offset or 1, 1)
    end_line = max(error.end_lineno or line, line)
    end_column = error.end_offset or 0
    if end_line == line:
        end_column = max(end_column, column + 1)
    last = len(source.line(min(end_line, len(source.lines)))) + 1
    end_column = max(min(end_column, last), 1)
    if end_line == line:
        column = max(min(column, end_column - 1), 1)
    return Span(source, line, column, end_line, end_column)


def _explanation(source: Source, span: Span, said: str) -> tuple[_Slip | None, ast.Module | None]:
    """The first slip after whose correction Python reads the source, or gets beyond the line.

    With the tree, where all is read.
    """
    beyond: _Slip | None = None
    if span.line > len(source.lines):
        return None, None
    for slip in islice(_slips(source, span, said), MOST_TRIES):
        text = source.text[: slip.start] + slip.text + source.text[slip.end :]
        read = _read(text, source.filename)
        if isinstance(read, ast.Module):
            return slip, read
        if beyond is None and read > span.line:
            beyond = slip
    return beyond, None


def _read(text: str, filename: str) -> ast.Module | int:
    """The tree of a source, or the line in which Python gives it up."""
    try:
        with warnings.catch_warnings(), collector_paused():
            warnings.simplefilter("ignore")
            return ast.parse(text, filename)
    except SyntaxError as error:
        return error.lineno or 0
    except (ValueError, RecursionError, MemoryError):
        return 0


def _slips(source: Source, span: Span, said: str) -> Iterator[_Slip]:
    written = source.line(span.line)
    indent = written[: len(written) - len(written.lstrip())]
    code = _without_comment(written).strip()
    line = _Line(code, source.offset(span.line, len(indent) + 1), indent)
    if "indent" in said:
        yield from _indents(source, span, line)
        return
    yield from _foreign_words(line)
    yield from _misspellings(line)
    if "comma" in said:
        yield from _commas(source, span)
    yield from _brackets(source, span, line, said)
    if "string literal" in said:
        yield from _quotes(line)
    if "==" in said:
        yield from _assignments(source, span, line)
    if line.code and line.code[-1] != ":":
        yield _insertion(line, len(line.code), ":", "end the line with `:`")


def _without_comment(line: str) -> str:
    plain = STRING.sub(lambda text: "_" * len(text[0]), line)
    return line[: plain.index("#")] if "#" in plain else line


def _insertion(line: _Line, at: int, text: str, help: str) -> _Slip:
    return _Slip(line.start + at, line.start + at, text, help)


def _indents(source: Source, span: Span, line: _Line) -> Iterator[_Slip]:
    """As deep as the line before, and deeper where that opens a block."""
    above = next((t for n in range(span.line - 1, 0, -1) if (t := source.line(n)).strip()), "")
    depth = above[: len(above) - len(above.lstrip())]
    start = line.start - len(line.indent)
    for indent in (f"{depth}    ", depth) if above.rstrip().endswith(":") else (depth,):
        help = f"begin the line with {len(indent)} blanks" if indent else "begin the line at once"
        yield _Slip(start, line.start, indent, help)


def _misspellings(line: _Line) -> Iterator[_Slip]:
    for word in re.finditer(r"[A-Za-z]{2,}", line.code):
        near = nearest(word[0], WORDS) if word[0] not in WORDS else None
        if near is not None:
            start, end = line.start + word.start(), line.start + word.end()
            yield _Slip(start, end, near, did_you_mean(near))


def _foreign_words(line: _Line) -> Iterator[_Slip]:
    for pattern, text in FOREIGN.items():
        found = re.search(pattern, line.code)
        if found is not None:
            start, end = line.start + found.start(), line.start + found.end()
            help = f"write `{text.strip()}`" if text else f"leave `{found[0].strip()}` out"
            yield _Slip(start, end, text, help)


def _commas(source: Source, span: Span) -> Iterator[_Slip]:
    start = source.offset(*span.start)
    for gap in GAP.finditer(span.text):
        at = start + gap.start()
        yield _Slip(at, at, ",", "write a comma between them")


def _brackets(source: Source, span: Span, line: _Line, said: str) -> Iterator[_Slip]:
    at = source.offset(*span.start)
    bracket = source.text[at : at + 1]
    if bracket in tuple(")]}"):
        yield _Slip(at, at + 1, "", f"leave this `{bracket}` out")
        for closer in CLOSERS.values():
            yield _Slip(at, at + 1, closer, f"write `{closer}`")
    if "function call" in said and span.text.endswith(")"):
        start = at + span.text.index("(")
        inside = source.text[start + 1 : at + len(span.text) - 1]
        help = f"elements are written in brackets: `{source.text[at:start]}[{inside}]`"
        yield _Slip(start, at + len(span.text), f"[{inside}]", help)
    missing = "".join(CLOSERS[opener] for opener in reversed(_open_brackets(line.code)))
    if missing:
        help = f"close it: `{missing}`"
        if line.code.endswith(":"):
            yield _insertion(line, len(line.code) - 1, missing, help)
        yield _insertion(line, len(line.code), missing, help)
        for number in range(span.line + 1, min(span.line + LATER, len(source.lines)) + 1):
            end = source.offset(number, 1) + len(_without_comment(source.line(number)).rstrip())
            yield _Slip(end, end, missing, help)


def _open_brackets(code: str) -> list[str]:
    """The brackets of a line that it does not close."""
    found: list[str] = []
    for letter in STRING.sub("", code):
        if letter in CLOSERS:
            found.append(letter)
        elif found and letter == CLOSERS[found[-1]]:
            found.pop()
    return found


def _quotes(line: _Line) -> Iterator[_Slip]:
    """A string that begins with one kind of quotes and ends with the other, or does not end."""
    for at, letter in enumerate(line.code):
        other = {"'": '"', '"': "'"}.get(letter)
        if other is not None:
            start, help = line.start + at, f"begin and end the string with `{other}`"
            yield _Slip(start, start + 1, other, help)
    for word in re.finditer(r"([\"'])\w+(?![\w\"'])", line.code):
        yield _insertion(line, word.end(), word[1], f"end the string: `{word[0]}{word[1]}`")


def _assignments(source: Source, span: Span, line: _Line) -> Iterator[_Slip]:
    if not re.match(r"(if|elif|while|assert)\b", line.code):
        return
    sign = re.search(r"(?<![=!<>])=(?!=)", span.text)
    if sign is not None:
        at = source.offset(*span.start) + sign.start()
        yield _Slip(at, at + 1, "==", "compare with `==`")
