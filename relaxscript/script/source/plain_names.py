"""Plain values in the statements around the definitions of a script, without running anything.

`N = 64`, `SHAPE = (N, 4)`, `n = R.dim("n")` and the imports of our own namespaces: literals, names,
arithmetic on small numbers, and calls of what only makes IR.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from relaxscript.errors import DiagnosticError, Source
from relaxscript.ir.struct_info import StructInfo
from relaxscript.script.names.annotations import AnnotationError, AnnotationForm
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed
from relaxscript.script.parser.environment import Environment
from relaxscript.script.parser.expression import (
    parse_expr,
    parse_f_string,
    python_item,
    python_operation,
)
from relaxscript.script.parser.python_call import call_python, parse_arguments
from relaxscript.script.parser.python_language import PYTHON
from relaxscript.script.parser.reporter import Reporter
from relaxscript.script.parser.script_context import ScriptContext

__all__ = ["EVERYTHING", "bind", "import_bindings", "literal", "namespace_names", "target_names"]

SCRIPT = "relaxscript.script"
EVERYTHING = "*"  # the name under which a scope keeps that names of an unknown module are in it


# What costs nothing: literals, names, arithmetic on small numbers, annotations.


def _call_value(cx: ScriptContext, callee: Any, node: ast.Call) -> Any:
    if isinstance(callee, AnnotationForm):
        return _struct_info(callee, *parse_arguments(cx, node))
    if callee is TypeVar:
        return _type_variable(node)
    return call_python(cx, callee, node)


def _call_ours(cx: ScriptContext, callee: Any, node: ast.Call) -> Any:
    """A call of what is ours; nothing else is called."""
    ours = str(getattr(callee, "__module__", "")).startswith(f"{SCRIPT}.")
    if not ours and callee is not TypeVar:
        raise Failed
    return _call_value(cx, callee, node)


def _type_variable(node: ast.Call) -> Any:
    """`TypeVar("n")`, a dimension."""
    match node.args, node.keywords:
        case [ast.Constant(value=str(name))], []:
            return TypeVar(name)
    raise Failed


def _subscript_of(cx: ScriptContext, owner: Any, index: Any, node: ast.Subscript) -> Any:
    if isinstance(owner, AnnotationForm):
        items = index if isinstance(index, tuple) else (index,)
        return _struct_info(owner, *owner.in_brackets(items))
    return python_item(cx, owner, index, node)


def _struct_info(form: AnnotationForm, args: Sequence[Any], kwargs: dict[str, Any]) -> StructInfo:
    """The StructInfo of `R.Tensor(...)`."""
    try:
        return form.bind(args, kwargs)
    except (AnnotationError, DiagnosticError):
        raise Failed from None


def _f_string(cx: ScriptContext, node: ast.JoinedStr) -> Any:
    if any(getattr(part, "format_spec", None) is not None for part in node.values):
        raise Failed
    return parse_f_string(cx, node)


def _operate(cx: ScriptContext, symbol: str, operands: tuple[Any, ...], node: ast.expr) -> Any:
    arrays = [operand for operand in operands if isinstance(operand, np.ndarray)]
    if len(arrays) > 1 or any(_size(o) > SMALL for o in operands) or _grows(symbol, operands):
        raise Failed
    return python_operation(cx, symbol, operands, node)


# Functions of Python are called that the environment allows.
_CALLING = replace(
    PYTHON,
    rules={**PYTHON.rules, ast.JoinedStr: _f_string},
    call_value=_call_value,
    subscript_of=_subscript_of,
    operate=_operate,
)
_PLAIN = replace(_CALLING, call_value=_call_ours)

SMALL = 1024


def _size(value: Any) -> int:
    """The size of a number in bits, or the length of a sequence."""
    if isinstance(value, int):
        return value.bit_length()
    return len(value) if isinstance(value, (str, bytes, tuple, list)) else 0


def _grows(symbol: str, operands: tuple[Any, ...]) -> bool:
    """True if an operation on small values may have a huge result."""
    match symbol, operands:
        case "**" | "<<", (_, int(times)):
            return times > 64
        case "*", (str() | bytes() | tuple() | list(), int(times)):
            return times > SMALL
        case "*", (int(times), str() | bytes() | tuple() | list()):
            return times > SMALL
        case "%", (str() | bytes(), _):
            return True
    return False


def literal(
    source: Source, node: ast.expr, scopes: Sequence[Mapping[str, Any]],
    environment: Environment | None = None,
) -> Any:  # fmt: skip
    """The value of an expression, or `UNKNOWN` where it is not plain.

    An environment that is given says which functions of Python are called.
    """
    language = _PLAIN if environment is None else _CALLING
    known = environment or Environment(scopes, "data")
    try:
        return parse_expr(ScriptContext(source, known, Reporter(), language), node)
    except (Failed, RecursionError):
        return UNKNOWN


# ---- imports


def _namespace(name: str, **members: Any) -> ModuleType:
    """A package as far as scripts use it; the parsers read attributes of our modules only."""
    module = ModuleType(f"relaxscript.{name}")
    module.__dict__.update(members, __all__=list(members))
    return module


@cache
def _package() -> ModuleType:
    """The names that `relaxscript` and `tvm` hold for scripts."""
    from relaxscript import script
    from relaxscript.script.names import relax_devices

    languages = {"ir": script.ir, "relax": script.relax, "tir": script.tir, "tirx": script.tir}
    short = {"I": script.ir, "R": script.relax, "T": script.tir}
    parser = _namespace("script.parser", **languages, **short, ir_module=script.ir.ir_module)
    members = {**languages, **short, "ir_module": script.ir.ir_module}
    inner = _namespace("script", **members, parser=parser)
    devices = {name: getattr(script.relax, name) for name in relax_devices.__all__}
    later = dict.fromkeys(_LATER, UNKNOWN)
    whole = {**later, **devices, **short, "ir_module": script.ir.ir_module, "script": inner}
    return _namespace("package", **whole)


# Parts of the package that are no namespaces of scripts: what they hold is known when a file runs.
_LATER = (
    "analysis", "arith", "expr", "ir", "nd", "op", "relax", "runtime", "struct_info", "target",
    "testing", "tir", "transform", "ty", "vm",
)  # fmt: skip


ROOTS = ("relaxscript", "tvm")
# `n = TypeVar("n")` names a dimension in the scripts of later versions of TVM.
TYPE_VARIABLES = {("typing", "TypeVar"), ("typing_extensions", "TypeVar")}


def namespace_names() -> dict[str, Any]:
    """`I`, `R`, `T` and `tvm`: a script may come without its imports."""
    package = _package()
    return {"tvm": package, **{name: getattr(package, name) for name in ("I", "R", "T")}}


def _module_named(dotted: str) -> Any:
    """A module of ours by its full name; `UNKNOWN` for any other."""
    root, *inner = dotted.split(".")
    found: Any = _package() if root in ROOTS else UNKNOWN
    for part in inner:
        found = _member(found, part)
    return found


def _member(module: Any, name: str) -> Any:
    known = isinstance(module, ModuleType) and name in module.__all__
    return getattr(module, name) if known else UNKNOWN


def import_bindings(node: ast.Import | ast.ImportFrom) -> dict[str, Any]:
    """The names that an import binds, and what is known of them."""
    found: dict[str, Any] = {}
    if isinstance(node, ast.Import):
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            found[bound] = _module_named(alias.name if alias.asname else bound)
        return found
    module = _module_named(node.module or "") if not node.level else UNKNOWN
    for alias in node.names:
        if (node.module, alias.name) in TYPE_VARIABLES:
            found[alias.asname or alias.name] = TypeVar
        elif alias.name != EVERYTHING:
            found[alias.asname or alias.name] = _member(module, alias.name)
        elif isinstance(module, ModuleType):
            found.update({name: getattr(module, name) for name in module.__all__})
        else:
            found[EVERYTHING] = UNKNOWN
    return found


# ---- assignments


def bind(target: ast.expr, value: Any, scope: dict[str, Any]) -> None:
    """Assign a value, or the items of a tuple to as many names."""
    match target:
        case ast.Name(id=name):
            scope[name] = value
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            if isinstance(value, (tuple, list)) and len(value) == len(targets):
                for inner, item in zip(targets, value):
                    bind(inner, item, scope)


def target_names(target: ast.expr) -> list[str] | None:
    """The names that an assignment to names, or to a tuple of names, binds; None for another."""
    match target:
        case ast.Name(id=name):
            return [name]
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            found = [target_names(inner) for inner in targets]
            return None if None in found else [n for names in found for n in names or ()]
    return None
