"""Where the user's Python was when it called us: the place to blame when there is no script."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from types import CodeType, FrameType

from .span import Source, Span

__all__ = ["caller_frame", "caller_span"]

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def caller_frame() -> FrameType | None:
    """The innermost frame that is not of this package nor of the machinery it uses."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not filename.startswith(PACKAGE) and os.path.basename(filename) != "contextlib.py":
            return frame
        frame = frame.f_back
    return None


def caller_span() -> Span | None:
    """The call in the user's Python that led here; its whole line before Python 3.11."""
    frame = caller_frame()
    if frame is None:
        return None
    filename = frame.f_code.co_filename
    text = "".join(linecache.getlines(filename, frame.f_globals))
    source = Source(filename, text)
    place = _position(frame.f_code, frame.f_lasti)
    if place is None:
        line = linecache.getline(filename, frame.f_lineno)
        indent = len(line) - len(line.lstrip())
        place = ast.expr(
            lineno=frame.f_lineno,
            col_offset=len(line[:indent].encode()),
            end_lineno=frame.f_lineno,
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
