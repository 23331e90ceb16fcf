"""The state of one printing: what the script turned out to need.

The printers of Relax, TIR and modules share one `Session`: the namespaces that were used (for the
comments at the top), the constants that became metadata, whether places are recorded.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from relaxscript.analysis.derive import Context
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir import prim
from relaxscript.ir.distributed import DeviceMesh
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Constant
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.ir.walk import children, post_order
from relaxscript.ir.written_size import MOST_PARTS

from . import tree
from .names import add_number, identifier
from .options import WORDS, Options
from .tree import Tree

__all__ = ["METADATA_KEY", "Session"]

METADATA_KEY = "relax.expr.Constant"

# How much an annotation may say where the parser knows it anyway.
LONGEST_ANNOTATION = 1_000


@dataclass
class Session:
    """The state of one printing."""

    options: Options = field(default_factory=Options)
    record: bool = False
    module_name: str = "Module"
    # Whether a function on its own is printed.
    alone: bool = False
    used: set[str] = field(default_factory=set)
    constants: dict[Constant, int] = field(default_factory=dict)
    function_names: dict[str, str] = field(default_factory=dict)
    # What is known of global functions.
    context: Context = field(default_factory=Context)
    # How many scalars and StructInfos have been written.
    parts: int = 0
    # How large StructInfos are, with what is shared counted each time; they are kept alive.
    _sizes: dict[int, tuple[Node, int]] = field(default_factory=dict)
    # What no further function may be called.
    _titles: set[str] = field(default_factory=set)
    _dotted: dict[tuple[str, str], ast.expr] = field(default_factory=dict)
    _meshes: dict[DeviceMesh, str] | None = None

    def at(self, node: Any, made: Tree) -> Tree:
        """Remember which node became which piece of syntax."""
        return tree.with_origins(made, node) if self.record else made

    def write(self, parts: int, what: Node) -> None:
        """Count what is written; raises `DiagnosticError` (RX0104) where it is too much."""
        self.parts += parts
        if self.parts > MOST_PARTS:
            message = f"this has no script: it would have more than {MOST_PARTS:,} parts"
            note = "what a program shares is written out in its script wherever it is used"
            raise DiagnosticError(Diagnostic("RX0104", message, what.span, notes=(note,)))

    def is_long(self, info: StructInfo) -> bool:
        """True if a StructInfo is longer than anybody reads."""
        dims = info.dims if isinstance(info, TensorStructInfo) else None
        if dims is not None and all(isinstance(d, (prim.Var, prim.IntImm)) for d in dims):
            return False
        return self._size(info) > LONGEST_ANNOTATION

    def _size(self, root: Node) -> int:
        if id(root) not in self._sizes:
            for node in post_order(root):
                inner = sum(self._sizes[id(child)][1] for child in children(node))
                self._sizes[id(node)] = (node, 1 + inner)
        return self._sizes[id(root)][1]

    def member(self, namespace: str, path: str) -> ast.expr:
        """`R.<path>` for the namespace "relax", `T.<path>` for "tir", `I.<path>` for "ir"."""
        key = (namespace, path)
        found = self._dotted.get(key)
        if found is None:
            self.used.add(namespace)
            found = self._dotted[key] = tree.dotted(f"{self.prefix(namespace)}.{path}")
        return found

    def prefix(self, namespace: str) -> str:
        """The name of the namespace "relax", "tir" or "ir"."""
        prefix: str = getattr(self.options, f"{namespace}_prefix")
        return prefix

    def name_module(self, name: str, module: IRModule) -> None:
        """Decide how the module and its functions are called: as they are, wherever that works."""
        self.context = Context(module)
        # Names that are identifiers keep theirs; the others make room.
        names = [var.name_hint for var in module]
        for own in sorted(names, key=lambda name: identifier(name) != name):
            self.function_name(own)
        taken = {*self.prefixes(), *self.words(), *self.function_names.values()}
        self.module_name = add_number(identifier(name), taken)

    def mesh_names(self) -> dict[DeviceMesh, str]:
        """The meshes that the module lists, by the names that annotations give them: "mesh[0]"."""
        if self._meshes is None:
            module = self.context.module
            named = [
                (info, f"{key}[{index}]")
                for key, infos in (() if module is None else module.global_infos.items())
                for index, info in enumerate(infos)
                if isinstance(info, DeviceMesh) and key.isidentifier()
            ]
            self._meshes = dict(reversed(named))
        return self._meshes

    def function_name(self, name: str) -> str:
        """The printed name of a function: no two names become the same identifier.

        In a class, a function called as a prefix would hide the namespace. One called as a word of
        scripts could not be told from it.
        """
        found = self.function_names.get(name)
        if found is None:
            base = identifier(name)
            base = f"v{base}" if base.startswith("__") else base  # Python gives these a meaning
            self._titles = self._titles or {*self.prefixes(), *WORDS}
            found = self.function_names[name] = add_number(base, self._titles)
            self._titles.add(found)
        return found

    def other_names(self) -> dict[str, str]:
        """The functions that are written otherwise than they are called, with their names."""
        pairs = sorted((title, name) for name, title in self.function_names.items())
        return {title: name for title, name in pairs if title != name}

    def prefixes(self) -> set[str]:
        """The names by which the namespaces are reached."""
        options = self.options
        written = (options.ir_prefix, options.tir_prefix, options.relax_prefix)
        return {prefix.partition(".")[0] for prefix in written}

    def words(self) -> set[str]:
        """Names that mean something in every script."""
        return {self.options.module_alias or "cls", *WORDS}

    def reserved(self) -> set[str]:
        """Names that no variable may have."""
        return {*self.prefixes(), *self.words(), self.module_name}
