"""Finding the source of a decorated definition, in the user's own file or notebook cell.

Python keeps the name of a file and the line where a definition begins. What is there is looked
up in `linecache`, where notebooks, doctest and Python's own prompt put what they run; it is then
compared with what Python compiled, so that another source is never taken for it. What is in no file
may still be known: the command of `python -c`, and the cells of a notebook under `%%time`.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple, TypeAlias

from relaxscript.errors import DiagnosticError, Source, Span
from relaxscript.errors.user_frame import source_lines

from .code_match import alike, future_flags, inner_codes, is_rewritten, may_match
from .missing_source import not_found, source_changed
from .source_tree import AnyDefinition, ParsedSource, first_line, parse_indexed

__all__ = [
    "Definition", "class_code", "defining_frame", "definition_of_class", "definition_of_function",
    "definition_place", "undecorated",
]  # fmt: skip

KEPT = 16
MOST_TYPED = 1_000  # lines
STARTED = time.time()
# What Python and IPython call everything that they run without a file.
SHARED = {
    "<console>", "<input>", "<magic-timeit>", "<stdin>", "<string>", "<timed exec>", "<unknown>",
}  # fmt: skip
MAGIC = re.compile(r"^%(?=%)", re.MULTILINE)  # of a whole cell; its line becomes a comment


class Definition(NamedTuple):
    """A definition as it is in its source, among all others of the file by their names."""

    source: Source
    node: AnyDefinition
    others: dict[str, list[AnyDefinition]]


class DefinitionTrace(NamedTuple):
    """The traces of a definition in Python: `line` where it begins; `inside` a line within it.

    `code` is what it was compiled to, `parts` what is known of a class otherwise; `around` is the
    code of the scope that holds it where that is still running, `scope` its global names.
    """

    name: str
    filename: str
    line: int | None
    inside: int | None
    code: CodeType | None
    parts: tuple[CodeType, ...]
    around: CodeType | None
    scope: dict[str, Any]


def undecorated(function: FunctionType) -> FunctionType:
    """The function that others were wrapped around with `functools.wraps`."""
    seen = {id(function)}
    while isinstance(inner := getattr(function, "__wrapped__", None), FunctionType):
        if id(inner) in seen:
            break
        seen.add(id(inner))
        function = inner
    return function


def definition_of_function(function: FunctionType, frame: FrameType | None = None) -> Definition:
    """The definition of a Python function; raises RX0111 when its source cannot be found.

    `frame` is where the search for the code around it begins.
    """
    function = undecorated(function)
    code = function.__code__
    definer = defining_frame(frame, code)
    around = None if definer is None else definer.f_code
    line, scope = code.co_firstlineno, function.__globals__
    return _find(
        DefinitionTrace(code.co_name, code.co_filename, line, None, code, (), around, scope)
    )


def definition_place(function: Any) -> Span | None:
    """The place of a Python function's name in its definition, if its source is there."""
    if not isinstance(function, FunctionType):
        return None
    try:
        found = definition_of_function(function)
    except DiagnosticError:
        return None
    return found.source.name_span(found.node)


def definition_of_class(cls: type, frame: FrameType | None) -> Definition:
    """The definition of a class that a decorator has just been given; `frame` is the caller's."""
    parts = _member_codes(cls)
    definer, code = class_code(cls, frame)
    inside = parts[0].co_firstlineno if parts else None
    line: int | None = vars(cls).get("__firstlineno__")
    if definer is not None and code is not None:
        line, scope = code.co_firstlineno, definer.f_globals
        around = definer.f_code
        trace = DefinitionTrace(
            cls.__name__, code.co_filename, line, inside, code, parts, around, scope
        )  # fmt: skip
        return _find(trace)
    module = sys.modules.get(cls.__module__)
    scope = {} if module is None else vars(module)
    filename = parts[0].co_filename if parts else scope.get("__file__", "<unknown>")
    return _find(DefinitionTrace(cls.__name__, filename, line, inside, None, parts, None, scope))


def _member_codes(cls: type) -> tuple[CodeType, ...]:
    """The codes of the functions in a class."""
    plain = [getattr(member, "__func__", member) for member in vars(cls).values()]
    own = f"{cls.__qualname__}."
    return tuple(
        undecorated(member).__code__
        for member in plain
        if isinstance(member, FunctionType) and member.__qualname__.startswith(own)
    )


def defining_frame(frame: FrameType | None, code: CodeType) -> FrameType | None:
    """The frame that is executing the scope of a definition, if one still is."""
    while frame is not None:
        if holds(frame.f_code, code):
            return frame
        frame = frame.f_back
    return None


def holds(outer: CodeType, code: CodeType) -> bool:
    """True if a definition is directly in a scope, that of its type parameters aside."""
    return code in outer.co_consts or any(
        code in inner.co_consts
        for inner in inner_codes(outer)
        if inner.co_name.startswith("<generic parameters")
    )


def class_code(cls: type, frame: FrameType | None) -> tuple[FrameType | None, CodeType | None]:
    """The frame in which a class was defined, and the code of its body, where it still runs."""
    parts = _member_codes(cls)
    while frame is not None:
        line = vars(cls).get("__firstlineno__", frame.f_lineno)
        found = [
            code
            for code in inner_codes(frame.f_code)
            if code.co_name == cls.__name__
            and code.co_firstlineno <= line
            and (not parts or any(holds(code, part) for part in parts))
        ]
        if found:
            return frame, max(found, key=lambda code: code.co_firstlineno)
        frame = frame.f_back
    return None, None


# ---- the sources that may hold it


def _find(trace: DefinitionTrace) -> Definition:
    known = _in_linecache(trace)
    for parsed, find in _texts(known, trace):
        node = find(parsed, trace)
        if node is not None:
            return Definition(parsed.source, node, parsed.definitions)
    if known is not None and not _is_shared(trace.filename):
        raise DiagnosticError(source_changed(trace.name, trace.filename))
    raise DiagnosticError(not_found(trace.name, trace.filename, trace.scope))


Finder: TypeAlias = Callable[[ParsedSource, DefinitionTrace], "AnyDefinition | None"]


def _texts(
    known: ParsedSource | None, trace: DefinitionTrace
) -> Iterator[tuple[ParsedSource, Finder]]:
    """The sources in which a definition may be, and how to look for it there."""
    filename = trace.filename
    if known is not None:
        yield known, _in_edited_source if _is_edited(filename) else _at_its_line
        if not _is_shared(filename):
            yield known, _at_another_line
    if known is None or "__file__" not in trace.scope:  # the loader of a file reads the same file
        yield from ((text, _at_its_line) for text in _of_loader(filename, trace.scope))
    if filename == "<string>":
        yield from ((text, _at_its_line) for text in _parsed_all("<string>", _commands()))
    if filename == "<stdin>":
        yield from ((text, _at_another_line) for text in _parsed_all("<stdin>", _prompt_input()))
    if _is_shared(filename):
        yield from ((text, _at_another_line) for text in _cells())


# The lines that linecache gave last for a file, and what they were parsed to: linecache gives the
# same list until the file changes, so that a file is not even put together again for each of its
# definitions.
_LINES: dict[str, tuple[list[str], ParsedSource]] = {}


def _in_linecache(trace: DefinitionTrace) -> ParsedSource | None:
    filename = trace.filename
    # A file may have changed since Python read it last, in a notebook that reloads, say.
    linecache.checkcache(filename)
    lines = source_lines(filename, trace.scope)
    known = _LINES.get(filename)
    if known is not None and known[0] is lines:
        return known[1]
    if not lines:
        return None
    parsed = parse_indexed(filename, "".join(lines))
    while len(_LINES) >= KEPT:
        del _LINES[next(iter(_LINES))]
    _LINES[filename] = (lines, parsed)
    return parsed


def _of_loader(filename: str, scope: dict[str, Any]) -> Iterator[ParsedSource]:
    """The source that the loader of a module gives, where linecache did not ask it."""
    get_source = getattr(scope.get("__loader__"), "get_source", None)
    if get_source is None or scope.get("__file__", filename) != filename:
        return
    try:
        text = get_source(scope.get("__name__"))
    except Exception:  # a loader of somebody else, which may not know this module
        return
    yield from _parsed_all(filename, [text] if text else [])


def _is_shared(filename: str) -> bool:
    """True if several sources share a name."""
    return filename in SHARED


def _commands() -> Iterator[str]:
    """The program of `python -c`, as far as the command line tells which of its words it is."""
    if sys.argv[:1] != ["-c"]:
        return
    words = sys.orig_argv[1:]
    for word, following in zip(words, [*words[1:], ""]):
        if word.startswith("-") and "c" in word and not word.startswith("--"):
            text = word.partition("c")[2] or following
            yield text
            yield textwrap.dedent(text)  # as Python does from 3.14 on


def _prompt_input() -> Iterator[str]:
    """The input typed last at Python's prompt, from each decorator on, as readline keeps it.

    A line that was changed in the history is no matter: the code of what is found is compared.
    """
    readline: Any = sys.modules.get("readline") if hasattr(sys, "ps1") else None
    if readline is None:
        return
    last = readline.get_current_history_length()
    lines: list[str] = []
    for number in range(last, max(last - MOST_TYPED, 0), -1):
        lines.insert(0, readline.get_history_item(number) or "")
        if lines[0].startswith("@"):
            yield "\n".join(lines)


def _cells() -> Iterator[ParsedSource]:
    """The cells of a notebook, the last first: what magics such as `%%time` run is nowhere else.

    The line of such a magic is parsed as a comment, so that all others keep their numbers.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    history = getattr(getattr(shell, "history_manager", None), "input_hist_raw", ())
    for number in range(len(history) - 1, 0, -1):
        cell = MAGIC.sub("#", history[number])
        yield from _parsed_all(f"<In[{number}]>", [cell])


def _parsed_all(filename: str, texts: Iterable[str]) -> Iterator[ParsedSource]:
    for text in texts:
        try:
            yield parse_indexed(filename, text)
        except DiagnosticError:  # another source, or one for another program such as `%%bash`
            continue


# ---- the definition in a source


def _in_edited_source(parsed: ParsedSource, trace: DefinitionTrace) -> AnyDefinition | None:
    """The definition that is where Python says, in a source that was edited meanwhile."""
    return _at_its_line(parsed, trace, edited=True)


def _at_its_line(
    parsed: ParsedSource, trace: DefinitionTrace, edited: bool = False
) -> AnyDefinition | None:  # fmt: skip
    """The definition that is where Python says, if it is the one that was compiled."""
    for node in reversed(parsed.definitions.get(trace.name, ())):
        last = node.end_lineno or node.lineno
        if trace.line not in (None, first_line(node)):
            continue
        if trace.inside is not None and not node.lineno <= trace.inside <= last:
            continue
        if _fits(parsed, node, trace, edited):
            return node
    return None


def _fits(parsed: ParsedSource, node: AnyDefinition, trace: DefinitionTrace, edited: bool) -> bool:
    """True if Python compiled a definition from what is at its line.

    Where there is no reason to doubt it, its words are looked for and nothing is compiled.
    """
    codes = trace.parts if trace.code is None else (trace.code,)
    doubtful = _is_shared(trace.filename) or edited
    if not doubtful or (edited and any(is_rewritten(code) for code in codes)):
        text = parsed.text_of(node)
        if trace.code is None:
            return all(code.co_name in text for code in trace.parts)
        if may_match(node, trace.code, text):
            return True
    exact = all(_is_compiled_from(parsed, code) for code in codes)
    if trace.filename == "<string>":
        # A module, of which all must be the same. Prompts compile statement by statement.
        return exact and (trace.around is None or _is_compiled_from(parsed, trace.around))
    return exact and (not edited or _same_around(parsed, trace))


def _same_around(parsed: ParsedSource, trace: DefinitionTrace) -> bool:
    """True if the function around a definition is the same: annotations belong to its code."""
    around = trace.around
    if around is None or around.co_name == "<module>" or is_rewritten(around):
        return True
    same = parsed.codes(future_flags(around)).get(around.co_name, ())
    return any(code == around or alike(code, around) for code in same)


def _is_edited(filename: str) -> bool:
    """True if a file has been written since this program began, so that its source may differ."""
    entry = linecache.cache.get(filename, ())
    written = entry[1] if len(entry) == 4 else None
    return written is not None and written >= STARTED and os.path.exists(filename)


def _is_compiled_from(parsed: ParsedSource, code: CodeType) -> bool:
    return code in parsed.codes(future_flags(code)).get(code.co_name, ())


def _at_another_line(parsed: ParsedSource, trace: DefinitionTrace) -> AnyDefinition | None:
    """The definition in a source whose lines are not those that Python knows.

    The file was edited after Python had read it, or a magic of a notebook put lines around the
    source. Python's code of it must be the same.
    """
    nodes = parsed.definitions.get(trace.name, ())
    if trace.code is None:
        return nodes[0] if len(nodes) == 1 and not trace.parts else None
    loosely = _is_shared(trace.filename)
    if not loosely and not _same_around(parsed, trace):
        return None
    lines = {
        code.co_firstlineno
        for code in parsed.codes(future_flags(trace.code)).get(trace.name, ())
        if alike(code, trace.code, loosely=loosely)
    }
    found = [node for node in nodes if first_line(node) in lines]
    return found[-1] if found else None
