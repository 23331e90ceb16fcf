"""Names that mean nothing here: what they were most likely meant to be.

A name alone, `softmax` for `R.nn.softmax`; what is behind a dot, `R.nn.sofmax`, `R.int64`,
`torch.relu`; and a name that is called, where `float32` is no string. What is certain is a fix too.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from types import ModuleType
from typing import Any

from relaxscript.errors import Diagnostic, Edit, did_you_mean
from relaxscript.opdef.aliases import meant_operator, other_dtype
from relaxscript.opdef.parameters import DTYPES
from relaxscript.script.names.members import is_namespace, nearest_member, public_names

from .diagnostics import Failed
from .environment import is_builtin
from .script_context import ScriptContext

__all__ = ["explain", "member_named", "namespace_member", "undefined"]

# How the namespaces are imported, by the names that scripts have for them.
_IMPORTS = {
    "I": "ir as I", "R": "relax as R", "T": "tir as T", "ir": "ir", "relax": "relax", "tir": "tir",
}  # fmt: skip

# Words of Python that are written as if they were functions: `retrun(y)`.
_WORDS = ("return", "assert", "yield", "raise", "import")


def undefined(cx: ScriptContext, node: ast.Name) -> Failed:
    """Record an undefined name, with the nearest one that is defined."""
    name = node.id
    if cx.expanding and name in cx.names_of_use:
        return cx.error(
            node, "RX0101", f"`{name}` is not defined where the macro is",
            help="give it as an argument, or write "
            f"`@{cx.expanding[-1].written}(hygienic=False)`",
        )  # fmt: skip
    dtype = f'"{name}"' if name in DTYPES and node is not cx.before_dot else None
    if cx.reporter.is_full:
        return cx.error(node, "RX0101", f"`{name}` is not defined")
    near = dtype or cx.near(name, cx.known_names())
    member = None if near else member_named(cx, node)
    meant = near or member
    # `R.print` is another thing than `print`, but `R.Tensor` is what `Tensor` must mean.
    sure = member is None or not is_builtin(name)
    help = did_you_mean(meant)
    if dtype is not None:
        help = f"write `{dtype}`"
    elif node is cx.before_dot and namespace_of(cx, name.upper()) is not None:
        help, meant, sure = did_you_mean(name.upper()), name.upper(), True
    elif meant is None and name in _IMPORTS:
        help = f"write `from relaxscript.script import {_IMPORTS[name]}`"
    return cx.error(
        node, "RX0101", f"`{name}` is not defined", help=help, fix=meant if sure else None
    )


# ---- members of R, T and I


def namespace_of(cx: ScriptContext, letter: str) -> ModuleType | None:
    found = cx.environment.value_of(letter)
    return found if is_namespace(found) else None


def member_named(cx: ScriptContext, node: ast.Name) -> str | None:
    """`R.Tensor` for `Tensor`: a name of a namespace that was written on its own."""
    for letter in cx.language.namespaces:
        namespace = namespace_of(cx, letter)
        if namespace is None or node.id not in public_names(namespace):
            continue
        inner = isinstance(getattr(namespace, node.id), ModuleType)
        if inner == (node is cx.before_dot):
            return f"{letter}.{node.id}"
    return None if node is cx.before_dot else operator_named(cx, node.id)


def operator_named(cx: ScriptContext, name: str) -> str | None:
    """`R.nn.softmax` for `softmax`, `R.permute_dims` for `transpose`."""
    namespace = namespace_of(cx, "R")
    if namespace is None:
        return None
    meant = meant_operator(name)
    if meant is not None:
        return f"R.{meant}"
    near = nearest_member(namespace, name)
    return f"R.{near}" if near is not None and near.rpartition(".")[2] == name else None


def namespace_member(cx: ScriptContext, namespace: ModuleType, node: ast.Attribute) -> Any:
    """A public name of `R`, `T` or `I`; the nearest is offered for a misspelt one."""
    if node.attr in public_names(namespace):
        return getattr(namespace, node.attr)
    written = ast.unparse(node.value)
    if cx.reporter.is_full:
        raise cx.error(node, "RX0102", f"`{written}` has no `{node.attr}`")
    near = nearest_member(namespace, node.attr)
    meant = f"{written}.{near}" if near else None
    if near is None or near.lower() != node.attr.lower():
        meant = member_elsewhere(cx, namespace, node.attr) or meant
    layer = operator_named(cx, node.attr.lower()) if meant is None else None
    if meant is None and layer is None and _is_namespace_of_users(cx, node):
        cx.environment.leave_to_run(ast.unparse(node))
        raise Failed
    help = did_you_mean(meant or layer)
    raise cx.error(node, "RX0102", f"`{written}` has no `{node.attr}`", help=help, fix=meant)


def _is_namespace_of_users(cx: ScriptContext, node: ast.Attribute) -> bool:
    """True for `R.my` in `R.my.op`, whose operator a run of the program may define."""
    whole = cx.around[-1] if cx.around and cx.environment.is_left_to_run else None
    return isinstance(whole, ast.Attribute) and whole.value is node


def member_elsewhere(cx: ScriptContext, namespace: ModuleType, name: str) -> str | None:
    """A member of another namespace that has this name, here or in other libraries."""
    if namespace is namespace_of(cx, "T"):
        short = other_dtype(name)
        return f"T.{short}" if short else _exactly(cx, name, "IR", namespace)
    if name in DTYPES:
        return f'"{name}"'
    meant = meant_operator(name)
    if meant is not None and namespace_of(cx, "R") is not None:
        return f"R.{meant}"
    return _exactly(cx, name, "RTI", namespace)


def _exactly(cx: ScriptContext, name: str, letters: str, but: ModuleType) -> str | None:
    for letter in letters:
        namespace = namespace_of(cx, letter)
        if namespace is not None and namespace is not but and name in public_names(namespace):
            return f"{letter}.{name}"
    return None


# ---- what is written behind a name that means nothing


def explain(
    cx: ScriptContext, diagnostic: Diagnostic, outer: ast.Attribute | ast.Call
) -> Diagnostic:
    """A name that means nothing, said by what follows it."""
    if isinstance(outer, ast.Attribute):
        return _explain_absent(cx, diagnostic, outer)
    return _explain_called(cx, diagnostic, outer)


def _explain_absent(cx: ScriptContext, diagnostic: Diagnostic, node: ast.Attribute) -> Diagnostic:
    """`torch.relu`, `R.op.add`: the last name of a chain says what its beginning does not."""
    if diagnostic.span is None or diagnostic.span.text in ("self", "cls"):
        return diagnostic
    meant = member_named(cx, ast.Name(node.attr))
    layer = None if meant else operator_named(cx, node.attr.lower())
    if layer is not None:  # a class of the same name, which is called in another way
        return replace(diagnostic, help=did_you_mean(layer), fix=())
    if meant is not None:
        return _with_fix(cx, diagnostic, node, meant)
    # `nn` is `R.nn` only where `R.nn` has what follows.
    if diagnostic.fix and _leads_nowhere(cx, diagnostic.fix[0].new_text, node):
        return replace(diagnostic, help=None, fix=())
    return diagnostic


def _explain_called(cx: ScriptContext, diagnostic: Diagnostic, node: ast.Call) -> Diagnostic:
    """`int64()`: what is called is no string; `retrun(y)`: a word of Python is no function."""
    name = ast.unparse(node.func).rpartition(".")[2]
    if name in DTYPES and namespace_of(cx, "T") is not None:
        return _with_fix(cx, diagnostic, node.func, f"T.{name}")
    if diagnostic.help is None and isinstance(node.func, ast.Name):
        word = cx.near(name, _WORDS)
        if word is not None:
            return replace(diagnostic, help=did_you_mean(word))
    return diagnostic


def _with_fix(cx: ScriptContext, diagnostic: Diagnostic, node: ast.AST, text: str) -> Diagnostic:
    return replace(diagnostic, help=did_you_mean(text), fix=(Edit(cx.span(node), text),))


def _leads_nowhere(cx: ScriptContext, meant: str, node: ast.Attribute) -> bool:
    """True if `meant`, a namespace such as `R.nn`, has nothing like what follows the dot."""
    letter, _, name = meant.partition(".")
    found = getattr(namespace_of(cx, letter), name, None) if name else None
    return isinstance(found, ModuleType) and nearest_member(found, node.attr) is None
