"""The line of the user's Python that called us: the place to blame when there is no script."""

from __future__ import annotations

import ast
import dis
import functools
import linecache
import os
import sys
from collections.abc import Callable
from functools import cache
from types import CodeType, FrameType, TracebackType
from typing import Any, TypeVar

from .exceptions import UnplacedError
from .span import Source, Span

__all__ = [
    "CallerSpans", "caller_frame", "caller_span", "innermost_span", "raised_span",
    "report_as", "report_at_caller", "source_lines", "step_span",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_CONTEXTLIB = os.sep + "contextlib.py"


def report_at_caller(function: F) -> F:
    """`function`, which tells what is wrong at the line of Python that called it.

    Who calls it and knows a better place finds what was said without one by `unplaced`.
    """
    return report_as("T")(function)


def report_as(namespace: str) -> Callable[[F], F]:
    """Report mistakes as `report_at_caller` does, in functions that users know as `namespace.f`."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def told(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except UnplacedError as error:
                callee = f"{namespace}.{told.__name__}"
                raise error.as_diagnostic_error(callee, caller_span()) from None

        return told  # type: ignore[return-value]

    return decorate


def caller_frame() -> FrameType | None:
    """The innermost frame that is not of this package nor of the machinery it uses."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not filename.startswith(PACKAGE) and not filename.endswith(_CONTEXTLIB):
            return frame
        frame = frame.f_back
    return None


def caller_span() -> Span | None:
    """The call in the user's Python that led here; where it cannot be told, its whole line."""
    frame = caller_frame()
    return None if frame is None else _span_in(frame, frame.f_lineno, frame.f_lasti)


class CallerSpans:
    """`caller_span` for who asks for thousands: each place and each file is looked at once."""

    def __init__(self) -> None:
        self._sources: dict[str, Source] = {}
        # By the identity of the code, which is kept: two files may have equal code.
        self._spans: dict[tuple[int, int], tuple[CodeType, Span]] = {}

    def here(self) -> Span | None:
        """The call in the user's Python that led here, as `caller_span` has it."""
        frame = caller_frame()
        if frame is None:
            return None
        code = frame.f_code
        key = (id(code), frame.f_lasti)
        if key not in self._spans:
            filename = code.co_filename
            if filename not in self._sources:
                text = "".join(source_lines(filename, frame.f_globals))
                self._sources[filename] = Source(filename, text)
            span = _span_in(frame, frame.f_lineno, frame.f_lasti, self._sources[filename])
            self._spans[key] = (code, span)
        return self._spans[key][1]


def raised_span(error: BaseException) -> Span | None:
    """The line at which the user's Python that we called raised; None if it was none of theirs."""
    step = error.__traceback__
    while step is not None and step.tb_frame.f_code.co_filename.startswith(PACKAGE):
        step = step.tb_next
    if step is not None and step.tb_frame.f_code.co_filename.startswith(_libraries()):
        return None
    return None if step is None else _span_in(step.tb_frame, step.tb_lineno, step.tb_lasti)


def innermost_span(error: BaseException) -> Span | None:
    """The innermost line of the user's Python on the way to an error; None if none was."""
    found, step = None, error.__traceback__
    while step is not None:
        filename = step.tb_frame.f_code.co_filename
        if not filename.startswith(PACKAGE) and not filename.startswith(_libraries()):
            found = step
        step = step.tb_next
    return None if found is None else _span_in(found.tb_frame, found.tb_lineno, found.tb_lasti)


@cache
def _libraries() -> tuple[str, ...]:
    """The folders of Python itself and of what was installed beside it."""
    import sysconfig

    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({sysconfig.get_path(kind) + os.sep for kind in kinds})


def source_lines(filename: str, scope: dict[str, Any]) -> list[str]:
    """The lines of a file, cell or input, as far as Python keeps them; `scope` is its globals."""
    lines = linecache.getlines(filename, scope)
    if lines or not filename.startswith("<"):
        return lines
    # From Python 3.14 on what is typed at the prompt is kept beside the files, by its code.
    inputs: dict[Any, Any] = getattr(linecache, "_interactive_cache", {})
    found = [entry[2] for key, entry in inputs.items() if key[0] == filename and len(entry) == 4]
    return found[-1] if found else []


def step_span(step: TracebackType, source: Source) -> Span:
    """The piece of source that one step of a traceback was executing."""
    return _span_in(step.tb_frame, step.tb_lineno, step.tb_lasti, source)


def _span_in(
    frame: FrameType, number: int, instruction: int, source: Source | None = None
) -> Span:  # fmt: skip
    if source is None:
        filename = frame.f_code.co_filename
        source = Source(filename, "".join(source_lines(filename, frame.f_globals)))
    place = (
        _position(frame.f_code, instruction)
        if sys.version_info >= (3, 11)
        else _call_of_line(frame, source.text)
        if number == frame.f_lineno
        else None
    )
    if place is None:
        line = source.line(number)
        indent = len(line) - len(line.lstrip())
        place = ast.expr(
            lineno=number,
            col_offset=len(line[:indent].encode()),
            end_lineno=number,
            end_col_offset=len(line.rstrip().encode()),
        )
    return source.span(place)


def _position(code: CodeType, instruction: int) -> ast.expr | None:
    if sys.version_info < (3, 11) or instruction < 0:
        return None
    for index, (line, end_line, column, end_column) in enumerate(code.co_positions()):
        if index == instruction // 2:
            if line is None or end_line is None or column is None or end_column is None:
                return None
            return ast.expr(
                lineno=line, col_offset=column, end_lineno=end_line, end_col_offset=end_column
            )
    return None


def _call_of_line(frame: FrameType, text: str) -> ast.expr | None:
    """The call that a frame is in, for Python 3.10, whose code knows lines only.

    The calls of a line end in the order in which they are made. So the instruction's rank among
    those of the line tells which one it is. Calls that nobody wrote, such as those at the end of a
    `with`, come after them. There are fewer instructions than calls where a comprehension, say, has
    code of its own; then only a single call can be told.
    """
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    line, made = frame.f_lineno, _calls_made(frame)
    place = made.index(frame.f_lasti) if frame.f_lasti in made else len(made)
    if decorator := _decorator(nodes, line, len(made) - place):
        return decorator
    written = [
        node
        for node in nodes
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.func.end_lineno or line)
    ]
    written.sort(key=lambda node: (node.end_lineno, node.end_col_offset))
    if len(written) == 1:
        return written[0]
    return written[place] if place < len(written) <= len(made) else None


def _calls_made(frame: FrameType) -> list[int]:
    """The instructions of the line of a frame that call something."""
    made = []
    line: int | None = None
    for instruction in dis.get_instructions(frame.f_code):
        line = instruction.starts_line or line
        if line == frame.f_lineno and instruction.opname.startswith("CALL_"):
            made.append(instruction.offset)
    return made


def _decorator(nodes: list[ast.AST], line: int, from_end: int) -> ast.expr | None:
    """The decorator that is called at the line of its definition, as that many-th from the end."""
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                if node.lineno == line and 1 <= from_end <= len(node.decorator_list):
                    return node.decorator_list[from_end - 1]
    return None
