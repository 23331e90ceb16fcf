"""Programs that must be rejected; the expectation is under the offence and is the assertion.

    @rejected
    def test_a_name_must_be_defined():
        @R.function
        def f(x: R.Tensor((2, 3), "float32")):
            y = R.add(x, z)
            #            ^ error: RX0101 `z` is not defined
            return y

Every diagnostic of the program is listed and no other: errors, warnings, and failures of runs
(`VMError`), each with its exact place, code and words. `expectations.py` describes the notation. A
program is the body of a function, or a string. A failing check shows what was found in the same
notation, ready to be pasted. Start reading at `check_rejected`.
"""

from __future__ import annotations

import ast
import linecache
import textwrap
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import FunctionType
from typing import NamedTuple, TypeVar

from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    Label,
    RelaxWarning,
    Source,
    VMError,
    apply_fixes,
)
from relaxscript.script.source.lookup import definition_of_function

from .expectations import (
    Expectation,
    Expectations,
    Place,
    place_of,
    read_expectations,
    write_expectation,
    write_label,
)

__all__ = ["Program", "check_rejected", "diagnostics_of", "rejected"]

Program = str | Callable[[], object]
Parse = Callable[[str, str], object]
P = TypeVar("P", bound=Callable[[], object])

# The name of a program that is given as a string; one whose fixes were applied has another.
FILENAME = "<rejected program>"
FIXED = "<fixed program>"

# How often fixes are applied to what fixes made.
ROUNDS = 5


def rejected(program: P) -> P:
    """Check the program that the body of a function is.

    A function inside another is checked at once, in the middle of a test. One at the top of a
    module becomes a test that checks when it is called; its `program` is the function.
    """
    if "<locals>" in program.__qualname__:
        check_rejected(program)
        return program

    def test() -> None:
        check_rejected(program)

    test.__name__, test.__qualname__ = program.__name__, program.__qualname__
    test.__doc__, test.__module__ = program.__doc__, program.__module__
    test.program = program  # type: ignore[attr-defined]
    return test  # type: ignore[return-value]


def check_rejected(
    program: Program,
    mode: str = "python",
    *,
    parse: Parse | None = None,
    check_fixes: bool = True,
) -> list[Diagnostic]:
    """Check that `program` gets exactly the diagnostics that its comments list; returns them.

    A string is dedented and parsed by `parse(text, filename)`, by default `from_source` in `mode`.
    Where fixes are offered, all of them are applied, and what is left must be the diagnostics that
    offered none. Raises `AssertionError` with the difference.
    """
    case = _case(program, mode, parse)
    found = diagnostics_of(case.run)
    problems = _differences(case, found)
    if problems:
        raise AssertionError("\n".join(["the comments do not say what happens", *problems]))
    if check_fixes and any(diagnostic.fix for diagnostic in found):
        _check_fixes(case, found)
    return found


def diagnostics_of(run: Callable[[], object]) -> list[Diagnostic]:
    """The diagnostics that are raised or warned of by `run`; any other warning is an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        raised: list[Diagnostic] = []
        try:
            run()
        except DiagnosticError as error:
            raised = list(error.diagnostics)
        except VMError as error:
            raised = [error.diagnostic]
    others = [w.message for w in caught if not isinstance(w.message, RelaxWarning)]
    if others:
        raise AssertionError(f"the program also warns: {others[0]!r}")
    warned = [w.message.diagnostic for w in caught if isinstance(w.message, RelaxWarning)]
    return [*warned, *raised]


# ---------------------------------------------------------------- where a program comes from


class _Case(NamedTuple):
    """A program with its expectations, and how to run it and a mended source of it."""

    source: Source
    expected: Expectations
    run: Callable[[], object]
    run_text: Callable[[str], object]


def _case(program: Program, mode: str, parse: Parse | None) -> _Case:
    if isinstance(program, FunctionType):
        return _case_of_function(program)
    if not isinstance(program, str):
        raise TypeError(f"a program is a string or a function, not {program!r}")
    text = textwrap.dedent(program).lstrip("\n")
    source = Source(FILENAME, text)
    read = parse or _parser(mode)
    expected = read_expectations(source.lines)
    return _Case(source, expected, lambda: read(text, FILENAME), lambda t: read(t, FIXED))


def _parser(mode: str) -> Parse:
    from relaxscript.script import from_source

    return lambda text, filename: from_source(text, filename=filename, mode=mode)  # type: ignore[arg-type]


def _case_of_function(function: FunctionType) -> _Case:
    source, node, _ = definition_of_function(function)
    expected = read_expectations(source.lines, node.lineno, node.end_lineno)
    return _Case(source, expected, function, lambda text: _run_mended(function, node, text))


def _run_mended(function: FunctionType, node: ast.AST, text: str) -> object:
    """Run `function` as it is in another version of its file, in which lines are the same."""
    linecache.cache[FIXED] = (len(text), None, text.splitlines(keepends=True), FIXED)
    tree = ast.parse(text, FIXED)
    first = getattr(node, "lineno", 0)
    mended = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.lineno == first)
    mended.decorator_list = []
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    scope = {**function.__globals__, **{n: cell.cell_contents for n, cell in closure.items()}}
    # The file's own future imports decide whether annotations are evaluated.
    flags = function.__code__.co_flags & _annotations_flag()
    module = ast.Module([mended], [])
    try:
        exec(compile(module, FIXED, "exec", flags=flags, dont_inherit=True), scope)
        return scope[mended.name]()
    finally:
        del linecache.cache[FIXED]


def _annotations_flag() -> int:
    import __future__

    return __future__.annotations.compiler_flag


# ---------------------------------------------------------------- comparing


def _differences(case: _Case, found: Sequence[Diagnostic]) -> list[str]:
    """The differences, as lines to read; empty when the comments are right."""
    unmatched = list(found)
    problems: list[str] = []
    for expected in case.expected.diagnostics:
        same = next((d for d in unmatched if _key(d) == expected.key), None)
        if same is None:
            problems += ["", "listed, but not found:", *_show(expected, case.source)]
            continue
        unmatched.remove(same)
        problems += _remarks_differ(expected, same, case.source)
    for diagnostic in unmatched:
        problems += ["", "found, but not listed:", *_describe_found(diagnostic, case.source)]
    if case.expected.labels:
        problems += _labels_differ(case, found)
    return problems


def _key(diagnostic: Diagnostic) -> tuple[str, str, str, Place | None]:
    place = place_of(diagnostic.span)
    return diagnostic.severity, diagnostic.code, diagnostic.message, place


def _remarks_differ(expected: Expectation, found: Diagnostic, source: Source) -> list[str]:
    differs = (
        (expected.help is not None and expected.help != found.help)
        or (expected.notes and expected.notes != list(found.notes))
        or (expected.fixes and expected.fixes != _fixes(found))
    )
    if not differs:
        return []
    return ["", "found with other remarks:", *_describe_found(found, source)]


def _fixes(diagnostic: Diagnostic) -> list[str]:
    return [edit.new_text.replace("\n", "\\n").rstrip() for edit in diagnostic.fix]


def _labels_differ(case: _Case, found: Sequence[Diagnostic]) -> list[str]:
    unmatched = [label for d in found for label in d.labels if label.text]
    problems: list[str] = []
    for place, text in case.expected.labels:
        same = next((b for b in unmatched if (place_of(b.span), b.text) == (place, text)), None)
        if same is None:
            problems += ["", f"listed, but not found: label: {text}", f"    at {_where(place)}"]
        else:
            unmatched.remove(same)
    for label in unmatched:
        problems += ["", "found, but not listed:", *_describe_label(label)]
    return problems


# ---------------------------------------------------------------- showing


def _where(place: Place | None) -> str:
    return "no place" if place is None else f"line {place.line}, column {place.column}"


def _show(expected: Expectation, source: Source) -> list[str]:
    place = expected.place
    where = [] if place is None else [f"line {place.line}:", source.line(place.line)]
    lines = source.lines
    number = next(
        (n for n, line in enumerate(lines, 1) if n > _line(place) and expected.message in line), 0
    )
    return [*where, source.line(number) or f"    {expected.code} {expected.message}"]


def _line(place: Place | None) -> int:
    return 0 if place is None else place.line


def _describe_found(diagnostic: Diagnostic, source: Source) -> list[str]:
    span = diagnostic.span
    at = source if span is None else span.source
    where = [] if span is None else [_line_of(span.source, span.line, source), at.line(span.line)]
    labels = [line for b in diagnostic.labels if b.text for line in _describe_label(b)]
    return [*where, *write_expectation(diagnostic, at.lines), *labels]


def _line_of(at: Source, line: int, home: Source) -> str:
    return f"line {line}:" if at == home else f"{at.filename}, line {line}:"


def _describe_label(label: Label) -> list[str]:
    lines = label.span.source.lines
    line = label.span.line
    return [f"line {line}:", label.span.source.line(line), write_label(label, lines)]


# ---------------------------------------------------------------- fixes


def _check_fixes(case: _Case, found: Sequence[Diagnostic]) -> None:
    """After all fixes, only those diagnostics may be left that offered none.

    What a fix uncovers may have a fix of its own, as `relaxscript check --fix` goes on with it.
    How a program fails when it runs is not looked at again: a fix may have it fail earlier.
    """
    text = apply_fixes(case.source, found)
    after = diagnostics_of(partial(case.run_text, text))
    for _ in range(ROUNDS if any(d.fix for d in after) else 0):
        mended = apply_fixes(Source(FIXED, text), after)
        uncovered = diagnostics_of(partial(case.run_text, mended))
        if _codes(uncovered) == _codes(after):
            break
        text, after = mended, uncovered
    left = _codes(after)
    allowed = _codes(d for d in found if not d.fix)
    fails = any(code.startswith("RX06") for code, _ in allowed)
    for diagnostic in left:
        code, message = diagnostic
        if fails and code.startswith("RX06"):
            continue
        if diagnostic not in allowed:
            raise AssertionError(
                f"with the fix applied: {code} {message}\n\n{_describe_change(case, text)}"
            )
        allowed.remove(diagnostic)


def _codes(found: Iterable[Diagnostic]) -> list[tuple[str, str]]:
    return [(d.code, d.message) for d in found]


def _describe_change(case: _Case, text: str) -> str:
    before, after = case.source.lines, text.splitlines()
    return "\n".join(line for line in after if line not in before)
