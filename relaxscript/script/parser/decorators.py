"""The decorators of a definition: which language they choose, and which options they give.

A decorator is one of ours if its name leads to `R.function`, `T.prim_func` or `I.ir_module`. The
file may import them under any name. Others are the user's own, and ignored.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import partial
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any, NamedTuple

from relaxscript.errors import Edit, did_you_mean, nearest
from relaxscript.script.source.code_match import inner_codes
from relaxscript.script.source.lookup import undecorated

from .environment import Environment
from .expression import parse_expr
from .fixits import add_decorator
from .script_context import ScriptContext

__all__ = [
    "CLASS_KINDS",
    "OPTIONS",
    "ScriptDecorator",
    "leads_to",
    "likely_decorator",
    "our_decorator",
    "read_options",
    "resolve_name",
    "script_decorators",
]  # fmt: skip

OPTIONS: dict[str, tuple[str, ...]] = {
    "function": ("pure", "private", "check_well_formed", "strict"),
    "prim_func": ("private", "check_well_formed", "s_tir"),
    "ir_module": ("check_well_formed", "strict"),
    "rewriter": (),
    "relax_macro": ("hygienic",),
    "tir_macro": ("hygienic",),
}
_WRITTEN = {"function": "R.function", "prim_func": "T.prim_func", "ir_module": "I.ir_module",
            "rewriter": "R.rewriter", "relax_macro": "R.macro", "tir_macro": "T.macro"}  # fmt: skip
_HOME = "relaxscript.script.parser.entry"


# Those that decorate a class.
CLASS_KINDS = ("ir_module", "rewriter")


class ScriptDecorator(NamedTuple):
    """A decorator of ours, by the name it has at home, and where it is.

    `node` is None where another decorator calls it, with the options `given`.
    """

    kind: str
    node: ast.expr | None
    given: Mapping[str, bool] = MappingProxyType({})

    @property
    def written(self) -> str:
        """The name it usually has in scripts."""
        return _WRITTEN[self.kind]

    @property
    def is_of_class(self) -> bool:
        """True if it decorates a class, and no function."""
        return self.kind in CLASS_KINDS

    @property
    def is_macro(self) -> bool:
        """True if the definition is a macro, and no function."""
        return self.kind.endswith("_macro")


def script_decorators(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, environment: Environment
) -> list[ScriptDecorator]:
    """The decorators of a definition that are ours, outermost first."""
    found: list[ScriptDecorator] = []
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        value = resolve_name(target, environment)
        kind = str(getattr(value, "__name__", ""))
        if _is_ours(value, kind):
            found.append(ScriptDecorator(kind, decorator))
    return found


def leads_to(kind: str, decorator: ast.expr, environment: Environment) -> bool:
    """True if a decorator is ours of that kind, or calls it as far as its code tells."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    value = resolve_name(target, environment)
    while isinstance(value, partial):
        value = value.func
    if isinstance(value, FunctionType) and not _is_ours(value, kind):
        return kind in _words(undecorated(value).__code__)
    word = getattr(target, "attr", getattr(target, "id", ""))
    return _is_ours(value, kind) or (value is None and kind in word)


def _is_ours(value: Any, kind: str) -> bool:
    named = getattr(value, "__name__", "") == kind
    return kind in OPTIONS and named and getattr(value, "__module__", "") == _HOME


def _words(code: CodeType) -> set[str]:
    """The names that a function uses, those inside it included."""
    words = {*code.co_names, *code.co_freevars}
    return words.union(*(_words(inner) for inner in inner_codes(code)))


def our_decorator(
    cx: ScriptContext, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
) -> ScriptDecorator:
    """The decorator that makes a definition a script; raises `Failed` after recording why not.

    One that is misspelt is reported as what it is, with the nearest name.
    """
    ours = script_decorators(node, cx.environment)
    found = [d for d in ours if d.is_of_class == isinstance(node, ast.ClassDef)]
    if len(found) > 1:
        raise cx.error(
            found[0].node, "RX0104", f"`{node.name}` is decorated twice",
            labels=[(found[1].node, "this decorator is enough")], help="leave one of them out",
        )  # fmt: skip
    if found:
        return found[0]
    for decorator in node.decorator_list:
        parse_expr(cx, decorator.func if isinstance(decorator, ast.Call) else decorator)
    decorator_name = likely_decorator(node)
    help = f"decorate it with `@{decorator_name}`"
    edits = [add_decorator(cx.source, node, decorator_name)] if decorator_name else []
    if isinstance(node, ast.ClassDef):
        message = f"`{node.name}` is a plain class"
    elif node.name == "__init__":
        message, edits = "a module has no `__init__`", []
        help = "weights are parameters of its functions, or constants: `R.const(array)`"
    else:
        message = f"`{node.name}` is neither a Relax function nor a PrimFunc"
        help = help if edits else "decorate it with `@R.function` or `@T.prim_func`"
    raise cx.error(cx.source.name_span(node), "RX0104", message, help=help, edits=edits)


def likely_decorator(node: ast.AST) -> str:
    """The decorator that was forgotten, by what annotations speak of; empty where they are none."""
    if isinstance(node, ast.ClassDef):
        return "I.ir_module"
    if not isinstance(node, ast.FunctionDef):
        return ""
    arguments = [*node.args.posonlyargs, *node.args.args]
    annotations = [a.annotation for a in arguments if a.annotation is not None]
    letters = {
        inner.value.id
        for annotation in annotations
        for inner in ast.walk(annotation)
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name)
    }
    return "R.function" if "R" in letters else "T.prim_func" if "T" in letters else ""


def read_options(cx: ScriptContext, decorator: ScriptDecorator | None) -> dict[str, bool]:
    """The options of a decorator, each True or False; every mistake in them is recorded."""
    options: dict[str, bool] = {} if decorator is None else dict(decorator.given)
    if decorator is None or not isinstance(decorator.node, ast.Call):
        return options
    for argument in decorator.node.args:
        option = OPTIONS[decorator.kind][0]
        known = isinstance(argument, ast.Constant) and isinstance(argument.value, bool)
        fix = f"{option}={ast.unparse(argument)}" if known else None
        cx.error(
            argument, "RX0103", f"`{decorator.written}` takes its options by name",
            help=f"write `@{decorator.written}({fix or f'{option}=...'})`", fix=fix,
        )  # fmt: skip
    for keyword in decorator.node.keywords:
        if keyword.arg not in OPTIONS[decorator.kind]:
            _unknown_option(cx, decorator, keyword)
            continue
        match keyword.value:
            case ast.Constant(value=bool() as value):
                options[keyword.arg] = value
            case _:
                cx.error(
                    keyword.value, "RX0104", f"`{keyword.arg}` must be written as a literal",
                    help=f"write `{keyword.arg}=True` or `{keyword.arg}=False`",
                )  # fmt: skip
    return options


def _unknown_option(cx: ScriptContext, decorator: ScriptDecorator, keyword: ast.keyword) -> None:
    span = cx.source.name_span(keyword)
    known = OPTIONS[decorator.kind]
    near = nearest(keyword.arg or "", known)
    message = f"`{decorator.written}` has no option `{keyword.arg or '**'}`"
    if keyword.arg == "impure" and "pure" in known:  # near, and its opposite
        value = isinstance(keyword.value, ast.Constant) and bool(keyword.value.value)
        meant = f"pure={not value}"
        edits = [Edit(cx.source.span(keyword), meant)]
        cx.error(span, "RX0103", message, help=f"write `{meant}`", edits=edits)
        return
    help = did_you_mean(near, f"it has {_enumerate(known)}")
    cx.error(span, "RX0103", message, help=help, fix=near)


def _enumerate(names: tuple[str, ...]) -> str:
    shown = [f"`{name}`" for name in names]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def resolve_name(target: ast.expr, environment: Environment) -> Any:
    """The value of a dotted name, or None; nothing is evaluated but attributes of modules."""
    match target:
        case ast.Name(id=name):
            return environment.value_of(name)
        case ast.Attribute(value=value, attr=name):
            owner = resolve_name(value, environment)
            if not isinstance(owner, ModuleType):
                return None
            return vars(owner).get(name) or getattr(owner, name, None)
    return None
