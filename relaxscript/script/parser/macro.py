"""Macros: pieces of a script that are written once and expanded where they are used.

    macro     = decorator "def" name "(" parameters ")" ":" body
    decorator = ("@R.macro" | "@T.macro") ["(" "hygienic" "=" bool ")"]

A `Macro` is syntax with the names that it can see. An expansion parses its body at the place of
use, by the parser that is at work there; nothing of the macro remains in the IR. Arguments are
bound as Python binds them. In a hygienic macro (the default) names mean what they mean where it was
defined; in another, what they mean where it is used. What a macro binds is not seen outside.

`relax_functions/macro.py` and `prim_funcs/macro.py` expand the macros of the two languages. Start
reading at `Macro`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MethodType
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, Source, Span
from relaxscript.errors.user_frame import caller_frame, caller_span
from relaxscript.script.names.annotations import Object, in_annotation

from .compile_time import signature_of
from .decorators import ScriptDecorator, read_options, script_decorators
from .diagnostics import UNKNOWN, Failed
from .environment import Environment
from .script_context import ScriptContext

__all__ = [
    "KINDS", "Macro", "Returned", "check_depth", "define_macro", "inside_macro", "macro_in",
    "macro_of", "wrong_language",
]  # fmt: skip

# Each level of a macro that uses itself takes some 15 of the 1,000 levels of calls Python has.
MOST_NESTED = 40
MOST_EXPANDED = 5_000

KINDS = {"relax_macro": "R.macro", "tir_macro": "T.macro"}
USERS = {"relax_macro": "Relax function", "tir_macro": "PrimFunc"}


class Returned(Exception):
    """A macro came to its `return`."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Macro:
    """A definition that is expanded where it is used: `kind` is "relax_macro" or "tir_macro"."""

    def __init__(
        self, kind: str, source: Source, node: ast.FunctionDef, signature: inspect.Signature,
        environment: Callable[[], Environment], hygienic: bool,
    ) -> None:  # fmt: skip
        self.kind = kind
        self.source = source
        self.node = node
        self.signature = signature
        self.hygienic = hygienic
        self._environment = environment
        self.__name__ = self.__qualname__ = node.name
        self.__doc__ = ast.get_docstring(node)

    @property
    def name(self) -> str:
        """The name it was defined by."""
        return self.node.name

    @property
    def written(self) -> str:
        """Its decorator, as scripts have it."""
        return KINDS[self.kind]

    @property
    def environment(self) -> Environment:
        """The values of its names where it was defined."""
        return self._environment()

    @property
    def span(self) -> Span:
        """The place of its name in its definition."""
        return self.source.name_span(self.node)

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        """As a method of a Python object: `self` is the first argument."""
        return self if owner is None else MethodType(self, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A macro has a meaning in scripts only; raises `DiagnosticError` (RX0104).

        Python evaluates the annotations of a function before the parser reads them.
        """
        if in_annotation(caller_frame()):
            return Object
        message = f"the macro `{self.name}` can only be used in a {USERS[self.kind]}"
        raise DiagnosticError(Diagnostic("RX0104", message, caller_span()))

    def __repr__(self) -> str:
        return f"<{self.written} {self.name}{self.signature}>"


# ---------------------------------------------------------------- definitions


def macro_of(
    cx: ScriptContext, node: ast.FunctionDef, environment: Callable[[], Environment],
    kind: str = "", signature: inspect.Signature | None = None,
) -> Macro | None:  # fmt: skip
    """The macro that a definition means, its defaults evaluated in `cx`; None if it is none.

    Mistakes in it are recorded; what is wrong with its uses is found when it is expanded.
    """
    ours = [d for d in script_decorators(node, cx.environment) if d.is_macro]
    decorator: ScriptDecorator | None = ours[0] if ours else None
    kind = kind or (decorator.kind if decorator is not None else "")
    if not kind:
        return None
    hygienic = read_options(cx, decorator).get("hygienic", True)
    _check_returns(cx, node, kind)
    taken = _signature(cx, node) if signature is None else signature
    return Macro(kind, cx.source, node, taken, environment, hygienic)


def _signature(cx: ScriptContext, node: ast.FunctionDef) -> inspect.Signature:
    """The parameters of a definition as Python would have them."""
    args = node.args
    seen: set[str] = set()
    for arg in (n for n in ast.walk(args) if isinstance(n, ast.arg)):
        if arg.arg in seen:
            raise cx.error(arg, "RX0302", f"two parameters are called `{arg.arg}`",
                               help="rename one of them")  # fmt: skip
        seen.add(arg.arg)
    return signature_of(cx, args)


def _check_returns(cx: ScriptContext, node: ast.FunctionDef, kind: str) -> None:
    """A macro of Relax has a value, a macro of TIR has none; raises `Failed`."""
    returns = _returns(node.body)
    failed: Failed | None = None
    for statement in returns:
        bare = statement.value is None
        if kind == "relax_macro" and bare:
            failed = cx.error(
                statement, "RX0105", "a macro of Relax functions returns a value",
                help="write `return ...`",
            )  # fmt: skip
        if kind == "tir_macro" and not bare:
            failed = cx.error(
                statement, "RX0105",
                "a macro of PrimFuncs stands for statements, and has no value",
                help="give it a buffer in which it stores the result",
            )  # fmt: skip
    if kind == "relax_macro" and not returns:
        failed = cx.error(
            cx.source.name_span(node), "RX0105",
            f"the macro `{node.name}` does not return anything", help="end it with `return ...`",
        )  # fmt: skip
    if failed is not None:
        raise failed


def _returns(body: Sequence[ast.stmt]) -> list[ast.Return]:
    """The `return` statements of a body; those of functions inside are their own."""
    found: list[ast.Return] = []
    pending: list[ast.AST] = list(reversed(body))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return):
            found.append(node)
        elif not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.expr)):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))
    return found


# ---------------------------------------------------------------- uses


def check_depth(cx: ScriptContext, macro: Macro, node: ast.Call) -> None:
    """A macro that uses itself must come to an end, and macros may not multiply beyond bounds.

    After one such mistake nothing is expanded any more: all of it would be a consequence.
    """
    reporter = cx.reporter
    if reporter.exhausted:
        raise Failed
    reporter.expansions += 1
    too_many, too_deep = reporter.expansions > MOST_EXPANDED, len(cx.expanding) >= MOST_NESTED
    reporter.exhausted = too_many or too_deep
    if too_many:
        raise cx.error(
            node, "RX0104", f"more than {MOST_EXPANDED:,} uses of macros are written out",
            help="call a function instead",
        )  # fmt: skip
    if too_deep:
        raise cx.error(
            node, "RX0104", f"macros are nested more than {MOST_NESTED} deep here",
            help="a macro that uses itself needs a case in which it does not, "
            "decided by a Python value",
        )  # fmt: skip


@contextmanager
def inside_macro(
    cx: ScriptContext, macro: Macro, node: ast.Call, state: Mapping[str, Any]
) -> Iterator[None]:
    """The source of a macro is read inside, with `state` in place of its own.

    Mistakes that are found inside also say where the macro is used.
    """
    around = () if macro.hygienic else cx.environment.scopes
    environment = cx.environment.with_scopes([*around, *macro.environment.scopes])
    with (
        cx.reporter.inside_macro(macro.name, cx.span(node)),
        cx.state(
            source=macro.source, environment=environment, expanding=(*cx.expanding, macro),
            names_of_use=frozenset(cx.names) if macro.hygienic else frozenset(),
            known_attributes={}, before_dot=None, around=[], inside_string=None, **state,
        ),
    ):  # fmt: skip
        yield


def define_macro(cx: ScriptContext, node: ast.FunctionDef, *scopes: Mapping[str, Any]) -> bool:
    """Bind the name of a macro that is defined in the middle of a function."""
    if not any(d.is_macro for d in script_decorators(node, cx.environment)):
        return False
    known: dict[str, Any] = {node.name: UNKNOWN}
    around = [known, *(dict(scope) for scope in scopes), *cx.environment.scopes]
    environment = cx.environment.with_scopes(around)
    cx.names[node.name] = UNKNOWN
    known[node.name] = cx.names[node.name] = macro_of(cx, node, lambda: environment)
    return True


def wrong_language(cx: ScriptContext, macro: Macro, node: ast.Call) -> Failed:
    """Record that a macro of one language is used in the other."""
    here = USERS["tir_macro" if macro.kind == "relax_macro" else "relax_macro"]
    return cx.error(
        node.func, "RX0104",
        f"`{macro.name}` is a macro for {USERS[macro.kind]}s, and this is a {here}",
        labels=[(macro.span, "defined here")],
    )  # fmt: skip


def macro_in(callee: Any) -> tuple[Macro, tuple[Any, ...]] | None:
    """The macro that a callee is, and the arguments that it has already; None for others."""
    if isinstance(callee, Macro):
        return callee, ()
    if isinstance(callee, MethodType) and isinstance(callee.__func__, Macro):
        return callee.__func__, (callee.__self__,)
    return None
