"""The knowledge of one text of a document: its scripts, what is in them, and their mistakes.

A definition whose text, place and surroundings are those of the text before is not read again.
Nothing of the file is run: it is read as `relaxscript check` reads it.
"""

from __future__ import annotations

import ast
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from relaxscript.cli.report import errors_of, in_order
from relaxscript.cli.scripts_in_file import Script, ScriptFinder
from relaxscript.errors import Diagnostic, InternalError, Source, is_strict
from relaxscript.runtime.collector import collector_paused
from relaxscript.script.parser.decorators import ScriptDecorator
from relaxscript.script.parser.diagnostics import UNKNOWN
from relaxscript.script.parser.observer import Observed, Observer
from relaxscript.script.parser.reporter import Reporter
from relaxscript.script.source.file_reader import Scopes
from relaxscript.script.source.plain_names import EVERYTHING, namespace_names
from relaxscript.script.source.source_tree import AnyDefinition, first_line

from .broken_text import ReadText, readings
from .kept import Kept

__all__ = ["Analysis", "ReadDefinition", "analyse", "analyses", "holds_scripts"]

LOG = logging.getLogger(__name__)

# What a file without scripts has not: a name of ours, or a decorator under one of our letters.
OURS = re.compile(r"relaxscript|\btvm\b|^[ \t]*@[ \t]*[IRT]\.", re.MULTILINE)
WORD = re.compile(r"\w+")
PLAIN = (bool, int, float, complex, str, bytes, tuple, list, dict, type(None))


def holds_scripts(text: str) -> bool:
    """True unless a glance at a text shows that it is of no interest to us."""
    return OURS.search(text) is not None


class Surroundings(NamedTuple):
    """All that a definition can see: the names in its text with their values, and the others.

    The others matter to what is suggested for a mistake.
    """

    mentioned: tuple[Mapping[str, Any], ...]
    others: tuple[bool | frozenset[str], ...]


@dataclass(frozen=True)
class ReadDefinition:
    """One script: its syntax, what was found in it, and what the names around it were."""

    node: AnyDefinition
    text: str
    script: Script
    observer: Observer
    around: Surroundings
    scopes: tuple[Mapping[str, Any], ...]

    def stays(self, around: Surroundings) -> bool:
        """True if it means the same in other surroundings."""
        same_words = not self.script.diagnostics or self.around.others == around.others
        return same_words and is_same(self.around.mentioned, around.mentioned)

    @property
    def first(self) -> int:
        """The line of its first decorator."""
        return first_line(self.node)

    @property
    def last(self) -> int:
        """The line of its end."""
        return self.node.end_lineno or self.node.lineno

    @cached_property
    def bound_places(self) -> Mapping[tuple[int, int], list[Observed]]:
        """Values that are bound, by the lines and columns of the names that they are bound to."""
        found: dict[tuple[int, int], list[Observed]] = {}
        for _, observed, _ in self.observer.bound:
            span = getattr(observed.value, "span", None)
            if span is not None and span.filename == observed.cx.source.filename:
                found.setdefault(span.start, []).append(observed)
        return found


@dataclass(frozen=True)
class Analysis:
    """One text, and all that is known of it; `version` is that of the document.

    More is to come of one that is not whole.
    """

    version: int
    read: ReadText
    definitions: tuple[ReadDefinition, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    # What is right as far as can be seen, and only a run of the file can tell.
    remarks: tuple[Diagnostic, ...] = ()
    names: Mapping[str, Any] = field(default_factory=dict)
    is_whole: bool = True

    @property
    def source(self) -> Source:
        """The text."""
        return self.read.source

    @property
    def error(self) -> Diagnostic | None:
        """The mistake of a text that is no Python."""
        return self.read.error

    def kept_for(self, read: ReadText) -> Kept:
        """The part that this text has in common with a newer one."""
        lines = tuple((each.first, each.last) for each in self.definitions)
        broken = None if read.error is None else read.error.span
        return Kept(self.source, read.source, lines, broken)

    def definition_at(self, line: int) -> ReadDefinition | None:
        """The innermost script that holds a line."""
        found = [each for each in self.definitions if each.first <= line <= each.last]
        return max(found, key=lambda each: each.first, default=None)


def analyse(
    source: Source, version: int, before: Analysis | None = None,
    check: Callable[[], None] = lambda: None,
) -> Analysis:  # fmt: skip
    """Read a text; `before` is what is known of the last one. What `check` raises ends it."""
    *_, whole = analyses(source, version, before, check)
    return whole


def analyses(
    source: Source, version: int, before: Analysis | None = None,
    check: Callable[[], None] = lambda: None,
) -> Iterator[Analysis]:  # fmt: skip
    """The result of `analyse`; of a text that is no Python an answer before that, not yet whole.

    That is the mistake of such a text, and what is known of definitions that did not change.
    """
    if not holds_scripts(source.text):
        yield Analysis(version, ReadText(source, ast.Module([], [])))
        return
    for read, is_last in readings(source):
        check()
        if read.tree is not None:
            yield read_scripts(read, version, before, check)
        else:
            yield replace(without_tree(read, version, before), is_whole=is_last)


def without_tree(read: ReadText, version: int, before: Analysis | None) -> Analysis:
    """All that can be said of a text that has no tree."""
    problems = [] if read.error is None else [read.error]
    if before is None:
        return Analysis(version, read, (), tuple(problems), names=namespace_names())
    kept = before.kept_for(read)
    problems += kept.diagnostics(each for each in before.diagnostics if each is not before.error)
    remarks = tuple(kept.diagnostics(before.remarks))
    return Analysis(version, read, (), tuple(in_order(problems)), remarks, before.names)


def read_scripts(
    read: ReadText, version: int, before: Analysis | None, check: Callable[[], None]
) -> Analysis:
    """Find and read the scripts of a text that has a tree."""
    source = read.source
    problems = [] if read.error is None else [read.error]
    finder = _Finder(read, () if before is None else before.definitions, check)
    assert read.tree is not None
    with collector_paused():
        finder.file([(source, read.tree)])
    problems += finder.reporter.diagnostics if read.error is None else []
    remarks: list[Diagnostic] = []
    for each in finder.read_definitions:
        if not finder.is_broken(each.node):
            problems += each.script.diagnostics
            remarks += left_to_run(source, each)
    definitions = tuple(sorted(finder.read_definitions, key=lambda each: each.first))
    return Analysis(
        version, read, definitions, tuple(in_order(problems)), tuple(remarks), finder.known
    )


def left_to_run(source: Source, definition: ReadDefinition) -> Iterable[Diagnostic]:
    """The names that only a run of the file can tell of, as `check` says it behind its report."""
    script = definition.script
    if script.unknown and not errors_of(script.diagnostics):
        names = ", ".join(f"`{name}`" for name in script.unknown)
        message = f"what depends on {names} is checked in a run only"
        place = source.name_span(definition.node)
        yield Diagnostic("RX0112", message, place, severity="warning")


class _Finder(ScriptFinder):
    """Finds the scripts of a text, and takes over those that were read before."""

    def __init__(
        self, read: ReadText, before: Sequence[ReadDefinition], check: Callable[[], None]
    ) -> None:
        super().__init__(is_strict(None))
        self.read = read
        self.before = {(each.script.name, each.first, each.text): each for each in before}
        self.check = check
        self.observer = Observer(check)
        self.read_definitions: list[ReadDefinition] = []
        self.outer: dict[str, Any] = {}

    @property
    def known(self) -> dict[str, Any]:
        """The names of the whole file, as far as their values are known."""
        return {name: value for name, value in self.outer.items() if value is not UNKNOWN}

    def block(self, statements: Sequence[ast.stmt], scopes: Scopes, prefix: str = "") -> None:
        self.outer = scopes[-1]
        super().block(statements, scopes, prefix)

    def is_broken(self, node: AnyDefinition) -> bool:
        """True if lines of a definition were left out."""
        last = node.end_lineno or node.lineno
        return any(first_line(node) <= line <= last for line in self.read.left_out)

    def script(
        self, node: AnyDefinition, decorator: ScriptDecorator, scopes: Scopes, name: str
    ) -> Script:
        first = first_line(node)
        text = "\n".join(self.source.lines[first - 1 : node.end_lineno])
        around = surroundings(scopes, text)
        known = self.before.get((name, first, text))
        if known is not None and not self.is_broken(node) and known.stays(around):
            self.read_definitions.append(known)
            return known.script
        self.observer = Observer(self.check)
        try:
            script = super().script(node, decorator, scopes, name)
        except (InternalError, RecursionError) as error:
            LOG.exception("InternalError: `%s` of %s: %s", name, self.source.filename, error)
            script = Script(name, first, None, ())
        self.read_definitions.append(
            ReadDefinition(node, text, script, self.observer, around, tuple(map(dict, scopes)))
        )
        return script

    def new_reporter(self) -> Reporter:
        reporter = super().new_reporter()
        reporter.observer = self.observer
        return reporter


def surroundings(scopes: Scopes, text: str) -> Surroundings:
    """All that a definition can see."""
    words = set(WORD.findall(text))
    mentioned = tuple(
        {name: value for name, value in scope.items() if name in words or name == EVERYTHING}
        for scope in scopes
    )
    unknown = any(value is UNKNOWN for scope in scopes for value in scope.values())
    return Surroundings(mentioned, (unknown, *map(frozenset, scopes)))


def is_same(first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]]) -> bool:
    """True if names surely have the same values in two surroundings."""
    return len(first) == len(second) and all(
        a.keys() == b.keys() and all(_is_equal(a[name], b[name]) for name in a)
        for a, b in zip(first, second)
    )


def _is_equal(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, PLAIN) and repr(a) == repr(b))
