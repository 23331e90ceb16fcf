"""The state of parsing one definition: source, names, mistakes, and the language's rules.

A parser is functions over a context. Those that all languages share are in `expression.py`; where
a language differs, they call what its `Language` holds.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from relaxscript.errors import Diagnostic, Source
from relaxscript.ir.relax import Constant

from .diagnostics import Failed, SourceReporter
from .environment import Environment
from .reporter import Reporter

if TYPE_CHECKING:
    from .macro import Macro

__all__ = ["ItemUse", "Language", "ScriptContext"]

_ABSENT = object()
# The codes of what is said of names that mean nothing.
_OF_NAMES = ("RX0101", "RX0102")


class ItemUse(enum.Enum):
    """The use that is made of a value's items, in the words of messages."""

    COMPREHENSION = "gone through"
    LOOP = "gone through by `for`"
    UNPACKING = "unpacked with `*`"


@dataclass(frozen=True)
class Language:
    """The differences of a language: each is a function of the context and its syntax."""

    # What each kind of expression means.
    rules: Mapping[type[ast.AST], Callable[[Any, Any], Any]]
    # A name that the script itself did not bind.
    find_name: Callable[[Any, ast.Name], Any]
    # Record that a name means nothing.
    undefined: Callable[[Any, ast.Name], Failed]
    # A name that means nothing, as what is written behind it explains it: a dot, or a call.
    explain: Callable[[Any, Diagnostic, ast.Attribute | ast.Call], Diagnostic]
    attribute_of: Callable[[Any, Any, ast.Attribute], Any]
    subscript_of: Callable[[Any, Any, Any, ast.Subscript], Any]
    call_value: Callable[[Any, Any, ast.Call], Any]
    # An operator by its symbol, applied to values.
    operate: Callable[[Any, str, tuple[Any, ...], ast.expr], Any]
    # The items of a value that is gone through or unpacked now.
    items_of: Callable[[Any, Any, ast.expr, ItemUse], list[Any]]
    # The namespaces in which a name is looked for, those of the language itself first.
    namespaces: str = "RTI"
    # What to write instead of an f-string of what is known only later.
    help_of_f_string: str = "print values by `R.print(x, format=...)`"
    # What to write instead of a loop that is written out too often.
    help_of_steps: str = "loop in a `@T.prim_func`"
    # What to write where a comprehension chooses by what is known only later.
    help_of_choice: str | None = None
    # A value that may be mentioned several times: a computation is done once, before.
    keep: Callable[[Any, Any, ast.expr], Any] = lambda cx, value, node: value
    # Whether a value is a call that is written where its whole statement is.
    is_deferred: Callable[[Any, Any], bool] = lambda cx, value: False
    # A value that is deferred, computed now.
    compute: Callable[[Any, Any, ast.expr], Any] = lambda cx, value, node: value
    # A chance to refuse a call of Python that cannot mean what it says.
    check_taken: Callable[[Any, Any, Any, ast.Call], None] = lambda cx, callee, args, node: None
    # What is said of a call of Python that fails on these arguments, where that is known better.
    explain_failure: Callable[[Any, Any, ast.Call], Diagnostic | None] = lambda cx, args, node: None
    # One statement; raises `Failed` after recording a mistake.
    parse_stmt: Callable[[Any, Any], None] = lambda cx, node: None


class ScriptContext(SourceReporter):
    """One definition that is being parsed; `names` holds what the script itself has bound."""

    def __init__(
        self, source: Source, environment: Environment, reporter: Reporter, language: Language
    ) -> None:
        super().__init__(source, reporter)
        self.environment = environment
        self.language = language
        self.observer = reporter.observer
        watched = self.observer is not None and self.observer.watch(self, language.rules)
        self.rules = watched or language.rules
        self.names: dict[str, Any] = {}
        # What `R.add` means: modules do not change while a script is read.
        self.known_attributes: dict[tuple[str, str], Any] = {}
        self.constants: dict[str, list[Constant]] | None = None
        # The name before the dot that is being read.
        self.before_dot: ast.Name | None = None
        # The attributes and calls whose beginning is being read, outermost first.
        self.around: list[ast.Attribute | ast.Call] = []
        # The macros that are being expanded, outermost first; none inside a function of their own.
        self.expanding: tuple[Macro, ...] = ()
        # What is known where the innermost one is used, and not in it because it is hygienic.
        self.names_of_use: frozenset[str] = frozenset()

    def record(self, diagnostic: Diagnostic) -> None:
        super().record(self.complete(diagnostic))

    def complete(self, diagnostic: Diagnostic) -> Diagnostic:
        """A finding with all that is known of it where it is found."""
        if diagnostic.code not in _OF_NAMES or diagnostic.span is None:
            return diagnostic
        start = diagnostic.span.start
        for outer in reversed(self.around):
            if self.span(outer.func if isinstance(outer, ast.Call) else outer).start == start:
                diagnostic = self.language.explain(self, diagnostic, outer)
        return diagnostic

    @contextmanager
    def state(self, **inner: Any) -> Iterator[None]:
        """Inside, these parts of the state are others."""
        outer = {name: getattr(self, name) for name in inner}
        vars(self).update(inner)
        try:
            yield
        finally:
            vars(self).update(outer)

    def known_names(self) -> list[str]:
        """Every name that can be used here, for suggestions."""
        return [*self.names, *(name for name in self.environment.names() if len(name) > 1)]

    @contextmanager
    def temporary_names(self) -> Iterator[dict[str, Any]]:
        """Names bound by `bind_temporarily` inside mean what they meant before again afterwards."""
        before: dict[str, Any] = {}
        try:
            yield before
        finally:
            for name, value in before.items():
                if value is _ABSENT:
                    self.names.pop(name, None)
                else:
                    self.names[name] = value

    def admit(self, values: Sequence[Any]) -> None:
        """Take note of values that a function of Python gives a lambda of the script."""

    def bind_temporarily(self, before: dict[str, Any], name: str, value: Any) -> None:
        """Bind a name and note what it meant."""
        before.setdefault(name, self.names.get(name, _ABSENT))
        self.names[name] = value
