"""Names that may be typed at a place: members of `I`, `R` and `T`, dimensions, variables.

Only the text before the place is read, which is no Python as a rule, and what was known last.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

from lsprotocol.types import CompletionItem, CompletionItemKind, MarkupContent, MarkupKind

from relaxscript.errors import Source
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.op import CompositeOp, Operator
from relaxscript.script.names.members import is_namespace, public_names
from relaxscript.script.parser.module_context import ModuleName
from relaxscript.script.parser.observer import BoundName, Observed
from relaxscript.script.parser.relax_functions.context import RelaxContext
from relaxscript.script.source.plain_names import namespace_names

from .analysis import Analysis, ReadDefinition
from .documents import Place
from .lookup import is_known
from .typing_context import OpenCall, Typing, typing_at
from .words import first_line_of, info_of, is_callable_form, page_of, signature_of, what_it_is

__all__ = ["SignatureInfo", "completions", "documented", "member_named", "open_call_at"]

Kind = CompletionItemKind
HEADER = re.compile(r"(\s*)(?:async\s+)?def\s+\w+")
TENSOR_ATTRIBUTES = {
    "shape": "its dimensions", "dtype": "the dtype of its elements", "ndim": "its rank",
    "T": "its axes in reverse order",
}  # fmt: skip


def completions(analysis: Analysis, source: Source, place: Place) -> list[CompletionItem]:
    """The names that may stand at a place of a text, which `analysis` knows as it was before."""
    typing = typing_at(source, place)
    if typing.in_comment:
        return []
    definition = analysis.definition_at(min(place[0], len(analysis.source.lines)))
    if typing.in_string:
        return list(_dimensions(definition, source, place))
    if typing.owner:
        return _members(analysis, definition, typing)
    named = [*_parameters(analysis, typing.call), *_names(analysis, definition, source, place)]
    return list({item.label: item for item in reversed(named)}.values())[::-1]


def documented(name: str) -> str | None:
    """The page of what scripts usually call `name`, in Markdown."""
    found = member_named(namespace_names(), name)
    return None if found is None else page_of(found, name)


# ---------------------------------------------------------------- behind a dot


def _members(
    analysis: Analysis, definition: ReadDefinition | None, typing: Typing
) -> list[CompletionItem]:
    """The members that may stand behind the dot."""
    owner = member_named(analysis.names, typing.owner)
    if is_namespace(owner):
        return list(_namespace_items(owner, typing.owner, usual_name(analysis.names, typing.owner)))
    known = None if definition is None else _value_of(definition, typing.owner)
    if known is None:
        return []
    if isinstance(known.value, ModuleName):
        return list(_functions(known))
    if isinstance(info_of(known), TensorStructInfo):
        items = (CompletionItem(name, detail=said, kind=Kind.Property)
                 for name, said in TENSOR_ATTRIBUTES.items())  # fmt: skip
        return [*items, *_methods()]
    return []


def usual_name(names: Mapping[str, Any], dotted: str) -> str:
    """`R.nn` for what a file calls `relax.nn`."""
    first, dot, rest = dotted.partition(".")
    letters = (letter for letter, space in namespace_names().items() if space is names.get(first))
    return f"{next(letters, first)}{dot}{rest}"


def member_named(names: Mapping[str, Any], dotted: str) -> Any:
    """The value that `R.nn.relu` names; None where that is nothing of ours."""
    first, *parts = dotted.split(".")
    found = names.get(first)
    for part in parts:
        if not isinstance(found, ModuleType) or part not in public_names(found):
            return None
        found = getattr(found, part, None)
    return found


@lru_cache(maxsize=32)
def _namespace_items(space: ModuleType, written: str, usual: str) -> tuple[CompletionItem, ...]:
    """The members of a namespace, with their signatures and the first line on each."""
    items = []
    for name in public_names(space):
        value = getattr(space, name, None)
        if value is not None and not name.startswith("_"):
            items.append(_item(name, value, f"{written}.{name}", f"{usual}.{name}"))
    return tuple(items)


def _item(label: str, value: Any, written: str, usual: str) -> CompletionItem:
    said = first_line_of(value)
    return CompletionItem(
        label, kind=_kind_of(value), detail=signature_of(value, written),
        documentation=MarkupContent(MarkupKind.Markdown, said) if said else None,
        data={"name": usual},
    )  # fmt: skip


def _kind_of(value: Any) -> CompletionItemKind:
    if isinstance(value, ModuleType):
        return Kind.Module
    if isinstance(value, (Operator, CompositeOp)) or inspect.isfunction(value):
        return Kind.Function
    return Kind.Class if is_callable_form(value) else Kind.Constant


def _functions(known: Observed) -> Iterator[CompletionItem]:
    """The functions of the module around a function."""
    module = getattr(known.cx, "module", None)
    for name, var in ({} if module is None else module.global_vars).items():
        detail = one_line(what_it_is(Observed(var, known.cx)))
        yield CompletionItem(name, kind=Kind.Method, detail=detail)


@lru_cache(maxsize=1)
def _methods() -> tuple[CompletionItem, ...]:
    """The operators as methods of a tensor."""
    from relaxscript.script import relax as space

    found = []
    for name in public_names(space):
        value = getattr(space, name, None)
        parameters = value.parameters if isinstance(value, Operator) else ()
        if parameters and parameters[0].wants == "tensor":
            item = _item(name, value, f"R.{name}", f"R.{name}")
            item.kind = Kind.Method
            found.append(item)
    return tuple(found)


# ---------------------------------------------------------------- names


def _value_of(definition: ReadDefinition, name: str) -> Observed | None:
    """The last value of a name in a definition."""
    bound = (each.observed for each in definition.observer.bound[::-1] if each.name == name)
    for observed in bound:
        if is_known(observed.value):
            return observed
    for cx in definition.observer.contexts:
        if isinstance(cx, RelaxContext) and cx.module.name == name:
            return Observed(cx.module.itself, cx)
    return None


def _dimensions(
    definition: ReadDefinition | None, source: Source, place: Place
) -> Iterator[CompletionItem]:
    """The dimensions of the function around a place."""
    if definition is None:
        return
    inside = _function_at(source, place[0])
    found: dict[str, None] = {}
    for cx in definition.observer.contexts:
        dims = getattr(cx, "dims", None) or getattr(cx, "names", {})
        node = getattr(cx, "definition", None)
        if inside is None or node is None or node.name == inside:
            found.update({name: None for name, dim in dims.items() if isinstance(dim, PrimVar)})
    for name in found:
        yield CompletionItem(name, kind=Kind.TypeParameter, detail="a dimension")


def _function_at(source: Source, line: int) -> str | None:
    """The name of the function whose text a line is part of, as far as its indentation says."""
    depth = None
    for number in range(line, 0, -1):
        text = source.line(number)
        header = HEADER.match(text)
        indent = len(text) - len(text.lstrip())
        if header is not None and (depth is None or indent < depth or number == line):
            return header[0].split()[-1]
        if text.strip():
            depth = indent if depth is None else min(depth, indent)
    return None


def _names(
    analysis: Analysis, definition: ReadDefinition | None, source: Source, place: Place
) -> Iterator[CompletionItem]:
    """The names in scope: variables, dimensions, our namespaces, what stands around."""
    if definition is not None:
        inside = _function_at(source, place[0])
        for each in definition.observer.bound[::-1]:
            if _is_inside(each.observed, inside) and _is_before(each, place):
                detail = one_line(what_it_is(each.observed))
                yield CompletionItem(each.name, kind=Kind.Variable, detail=detail)
        yield from _dimensions(definition, source, place)
        for scope in definition.scopes:
            yield from (_outer_item(name, value) for name, value in scope.items())
        if isinstance(definition.node, ast.ClassDef):
            yield CompletionItem(definition.node.name, kind=Kind.Class, detail="the module")
    for name, value in analysis.names.items():
        yield _outer_item(name, value)


def one_line(text: str | None) -> str | None:
    """A description in one line, whatever it is broken into."""
    return None if text is None else " ".join(text.split())


def _outer_item(name: str, value: Any) -> CompletionItem:
    if is_namespace(value):
        return CompletionItem(name, kind=Kind.Module, detail=first_line_of(value))
    return CompletionItem(name, kind=Kind.Variable)


def _is_inside(observed: Observed, function: str | None) -> bool:
    node = getattr(observed.cx, "definition", None)
    return node is None or function is None or node.name == function


def _is_before(binding: BoundName, place: Place) -> bool:
    return binding.statement is None or binding.statement.lineno < place[0]


# ---------------------------------------------------------------- calls


class SignatureInfo:
    """The signature of what is being called, its parameters, and the one that is typed."""

    def __init__(self, value: Any, call: OpenCall) -> None:
        self.label = signature_of(value, call.callee)
        self.said = first_line_of(value)
        self.parameters = parameter_names(value)
        self.active = call.position
        if call.keyword in self.parameters:
            self.active = self.parameters.index(str(call.keyword))


def open_call_at(analysis: Analysis, source: Source, place: Place) -> SignatureInfo | None:
    """The call of something of ours in whose parentheses a place is."""
    typing = typing_at(source, place)
    if typing.call is None or typing.in_comment:
        return None
    value = member_named(analysis.names, typing.call.callee)
    return SignatureInfo(value, typing.call) if callable(value) else None


def parameter_names(value: Any) -> list[str]:
    """The names of the parameters of a callable."""
    try:
        return list(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return []


def _parameters(analysis: Analysis, call: OpenCall | None) -> Iterable[CompletionItem]:
    """The parameters of what is being called, as keyword arguments."""
    value = None if call is None else member_named(analysis.names, call.callee)
    if call is None or call.keyword is not None or not callable(value):
        return
    for name in parameter_names(value)[call.position :]:
        yield CompletionItem(f"{name}=", kind=Kind.Field, detail=f"of {call.callee}")
