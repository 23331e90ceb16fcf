"""Several annotations at once: sequences of Python, and `*` before them, where one may stand.

    annotations = "[" { annotation | "*" sequence } "]" | sequence
    parameters  = "*" name ":" ( "*" sequence | sequence )

A sequence is a list or tuple of annotations that is known while the script is parsed, or a
`R.Tuple`, which stands for its fields.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from typing import Any

from relaxscript.ir.struct_info import StructInfo, TupleStructInfo

from .host_python import HostPython

__all__ = ["SeveralAnnotations"]

# What may be a sequence: other forms are annotations, or are read as such.
_COMPUTED = (
    ast.Attribute, ast.BinOp, ast.Call, ast.GeneratorExp, ast.ListComp, ast.Name, ast.Subscript,
)  # fmt: skip


class SeveralAnnotations(HostPython, ABC):
    """Reads annotations that stand together."""

    @abstractmethod
    def annotation(self, node: ast.expr) -> StructInfo: ...

    @abstractmethod
    def struct_info_of(self, value: Any, node: ast.expr) -> StructInfo: ...

    def annotation_argument(self, node: ast.expr) -> Any:
        """Annotations inside annotations: one, or several in a tuple or list."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return self.annotations(node.elts)
        if isinstance(node, _COMPUTED):
            value = self.value(node)
            if isinstance(value, (tuple, list)):
                return [self.struct_info_of(item, node) for item in value]
            return self.struct_info_of(value, node)
        return self.annotation(node)

    def annotations(self, nodes: list[ast.expr]) -> list[StructInfo]:
        """Annotations in order, with those that `*` unpacks."""
        found: list[StructInfo] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += self.unpacked_annotations(node.value)
            else:
                found.append(self.annotation(node))
        return found

    def unpacked_annotations(self, node: ast.expr) -> list[StructInfo]:
        """What `*` makes of a sequence, or of a tuple's annotation."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return self.annotations(node.elts)
        value = self.value(node)
        if isinstance(value, TupleStructInfo):
            return list(value.fields)
        items = self.items_of(value, node, "unpacked with `*`")
        return [self.struct_info_of(item, node) for item in items]

    def gathered_annotations(self, node: ast.expr) -> list[StructInfo] | None:
        """The annotations of `*ws`, each of a parameter; None where their number is not known."""
        if isinstance(node, ast.Starred):
            return self.unpacked_annotations(node.value)
        found = self.annotation_argument(node)
        return found if isinstance(found, list) else None
