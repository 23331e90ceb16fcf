"""Words on a value: what it is in one line of Python, and the page of what has one."""

from __future__ import annotations

import ast
import inspect
import re
import reprlib
from collections.abc import Callable
from typing import Any

from relaxscript.analysis.derive import function_struct_info
from relaxscript.errors import DiagnosticError, OperandError
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import BaseFunc, Expr, GlobalVar
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo
from relaxscript.ir.tir import Buffer
from relaxscript.op import CompositeOp, Operator
from relaxscript.script.names.annotations import AnnotationForm
from relaxscript.script.names.members import is_namespace
from relaxscript.script.names.relax_forms import MatchCastValue
from relaxscript.script.names.tir_types import BufferForm, HandleType, ScalarType, StmtForm
from relaxscript.script.parser.observer import Observed
from relaxscript.script.parser.relax_functions.attribute import Method
from relaxscript.script.parser.relax_functions.context import RelaxContext

from .lookup import FoundSyntax

__all__ = [
    "first_line_of", "hover_text", "info_of", "is_callable_form", "page_of", "signature_of",
    "what_it_is",
]  # fmt: skip

# An expression that is longer is not repeated.
LONG = 60
FORMS = (AnnotationForm, BufferForm, HandleType, ScalarType)


def info_of(observed: Observed) -> StructInfo | None:
    """The StructInfo of a value of Relax, derived where it was not bound yet; else None."""
    value, cx = observed
    if isinstance(value, MatchCastValue):
        return value.struct_info
    if isinstance(value, BaseFunc):
        return function_struct_info(value)
    if not isinstance(value, Expr) or not isinstance(cx, RelaxContext):
        return None
    try:
        return cx.builder.struct_info(value)
    except (OperandError, DiagnosticError):
        return None


def what_it_is(observed: Observed) -> str | None:
    """The part behind the colon in `x: R.Tensor((n, 4), "float32")`; None where there is none."""
    value = observed.value
    info = info_of(observed)
    if info is not None:
        return str(info)
    match value:
        case Buffer():
            sizes = [str(d.value if isinstance(d, IntImm) else d) for d in value.shape]
            shape = ", ".join(sizes) + "," * (len(sizes) == 1)
            return f'T.Buffer(({shape}), "{value.dtype}")'
        case PrimExpr():
            return f"T.{value.dtype}"
    return None


def hover_text(found: FoundSyntax) -> str | None:
    """The words on a piece of syntax, in Markdown; None where there are none."""
    observed = found.observed
    if observed is None:
        return None
    value = observed.value
    if isinstance(value, Method):
        value = value.operator
    if has_page(value):
        call = whole_call(found)
        parts = [fence(call)] if call else []
        return "\n\n".join([*parts, page_of(value, written(found, found.node))])
    if isinstance(value, (BaseFunc, GlobalVar)):
        name = value.name_hint if isinstance(value, GlobalVar) else found.definition.node.name
        return function_text(found, name, observed)
    said = what_it_is(observed)
    if said is not None:
        return fence(f"{written(found, found.node)}: {said}")
    match value:
        case StructInfo():
            return fence(str(value))
        case bool() | int() | float() | str() | tuple() | list() | dict():
            if isinstance(found.node, ast.Name):
                return fence(f"{found.node.id} = {reprlib.repr(value)}")
    return None


def has_page(value: Any) -> bool:
    """True for what is part of our language: operators, annotations, statements of T."""
    if isinstance(value, (Operator, CompositeOp, *FORMS)) or is_namespace(value):
        return True
    ours = str(getattr(value, "__module__", "")).startswith("relaxscript.")
    return ours and callable(value) and not isinstance(value, (Node, StmtForm))


def is_callable_form(value: Any) -> bool:
    """True for an annotation or dtype that is called: `R.Tensor`, `T.Buffer`, `T.float32`."""
    return isinstance(value, FORMS)


def written(found: FoundSyntax, node: ast.AST) -> str:
    """A piece of syntax as it stands there; a long one is cut."""
    if isinstance(node, (ast.arg, ast.Name, ast.FunctionDef)):
        return found.source.name_span(node).text
    if isinstance(node, ast.Constant) and found.observed is not None:
        return getattr(found.observed.value, "name", "…")  # a dimension in a string
    text = " ".join(found.source.span(node).text.split())
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"


def whole_call(found: FoundSyntax) -> str | None:
    """The call of which an operator is the callee, with what it gives."""
    call = found.parent
    if not isinstance(call, ast.Call) or call.func is not found.node:
        return None
    observed = found.definition.observer.values.get(call)
    said = None if observed is None else what_it_is(observed)
    return None if said is None else f"{written(found, call)}: {said}"


def function_text(found: FoundSyntax, name: str, observed: Observed) -> str:
    """A function of the module: its first line, and what its docstring says."""
    node = next((n for n in ast.walk(found.definition.node)
                 if isinstance(n, ast.FunctionDef) and n.name == name), None)  # fmt: skip
    info = info_of(observed)
    if node is None or not isinstance(info, FuncStructInfo) or info.params is None:
        return fence(f"{name}: {info}" if info is not None else f"def {name}(...)")
    arguments = [*node.args.posonlyargs, *node.args.args]
    names = [a.arg for a in arguments] + [f"_{i}" for i in range(len(arguments), len(info.params))]
    lines = [f"    {name}: {part}," for name, part in zip(names, info.params)]
    text = "\n".join([f"def {name}(", *lines, f") -> {info.ret}"])
    doc = ast.get_docstring(node)
    return fence(text) if doc is None else f"{fence(text)}\n\n{doc}"


# ---------------------------------------------------------------- pages


def page_of(value: Any, name: str) -> str:
    """The page of an operator or form, in Markdown; `name` is how it is called where it is."""
    doc = (inspect.getdoc(value) or "").strip()
    if isinstance(value, (Operator, CompositeOp)):
        name = f"R.{value.script_name}"
    signature = signature_of(value, name)
    prose, more = doc, ""
    if isinstance(value, (Operator, CompositeOp)):
        # The page says the signature between what the operator means and all the rest.
        prose, found, more = doc.partition(f"\nR.{value.script_name}(")
        _, _, more = more.partition("\n\n") if found else ("", "", "")
    parts = [fence(signature), prose.strip(), fence(more.strip("\n"), "text") if more else ""]
    return "\n\n".join(part for part in parts if part)


def signature_of(value: Any, name: str) -> str:
    """The signature of something, without types; its name where it is not called."""
    if not callable(value) or inspect.isclass(value):
        return name
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    untyped = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    plain = signature.replace(parameters=untyped, return_annotation=inspect.Signature.empty)
    return f"{name}{plain}"


def first_line_of(value: Any) -> str:
    """The first sentence or line of what is said of a value."""
    said: Callable[[Any], str | None] = inspect.getdoc
    return _summary(value) or (said(value) or "").partition("\n")[0]


def _summary(value: Any) -> str:
    """Of an operator what its block says, without making the rest of the page."""
    text = value.summary if isinstance(value, (Operator, CompositeOp)) else None
    return (text or "").strip().partition("\n")[0]


def fence(text: str, language: str = "python") -> str:
    """A block of code in Markdown, whatever is in it."""
    ticks = max((len(run) for run in re.findall("`+", text)), default=0)
    marks = "`" * max(3, ticks + 1)
    return f"{marks}{language}\n{text}\n{marks}"
