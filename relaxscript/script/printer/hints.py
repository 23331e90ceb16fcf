"""Hints of a printed script: what a name is, and the line of the source that it is from."""

from __future__ import annotations

import inspect
import re
from typing import Any

from relaxscript.errors import DiagnosticError, Span, UnplacedError
from relaxscript.errors.markup import hint_of
from relaxscript.ir import prim, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import GlobalVar, Op, Var
from relaxscript.ir.struct_info import StructInfo
from relaxscript.opdef.operator import REGISTRY

from .module import Printer

__all__ = ["hints_of"]

_NAME = re.compile(r"[\w.]+")  # as it is printed, which may differ from the hint that a node has


def hints_of(printer: Printer) -> dict[int, str]:
    """The hints of all names that have one, by their places in the script."""
    found: dict[int, str] = {}
    for node, spans in printer.places.items():
        said = _hint(printer, node, spans)
        for span in spans if said else ():
            found[span.source.offset(*span.start)] = said
    return found


def _hint(printer: Printer, node: Any, spans: list[Span]) -> str:
    at = node.span if isinstance(node, Node) else None
    name = _NAME.search(spans[0].text)
    if name is None:
        return ""
    match node:
        case Var():
            said = f"{name[0]}: {_info_text(printer, node.struct_info)}"
        case prim.Var():
            said = f"{name[0]}: {node.dtype}"
        case GlobalVar():
            said = name[0].rpartition(".")[2]
            if isinstance(printer.root, IRModule) and node in printer.root:
                at = printer.root[node].span
                said += f": {_info_text(printer, _signature(printer.root, node))}"
        case tir.Buffer():
            said = _in_one_line(spans[0].text)
        case Op():
            return _summary(node)
        case _:
            return ""
    return "\n".join(filter(None, [said, hint_of(at)]))


def _info_text(printer: Printer, info: StructInfo | None) -> str:
    """A StructInfo as the script writes it."""
    if info is None:
        return "its StructInfo is not known"
    spans = printer.places.get(info)
    return _in_one_line(spans[-1].text if spans else printer.signature(info))


def _signature(mod: IRModule, var: GlobalVar) -> StructInfo | None:
    """The StructInfo of a function, None where it cannot be derived."""
    try:
        return mod.struct_info(var)
    except (DiagnosticError, UnplacedError):
        return None


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _summary(op: Op) -> str:
    """The first sentence of what an operator says of itself."""
    if op.name not in REGISTRY:
        return ""
    said = inspect.cleandoc(REGISTRY[op.name].summary or "")
    return _in_one_line(said.partition("\n\n")[0])
