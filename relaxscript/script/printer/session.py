"""What one printing is about: its options, and what the script turned out to need.

The printers of Relax, TIR and modules share one `Session`: the namespaces that were used (for the
comments at the top), the constants that became metadata, whether places are recorded.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from relaxscript.errors import nearest
from relaxscript.ir.relax import Constant

from . import tree
from .names import identifier
from .tree import Tree

__all__ = ["METADATA_KEY", "Options", "Session"]

METADATA_KEY = "relax.expr.Constant"


@dataclass(frozen=True)
class Options:
    """How to print.

    `name` is the name of the printed class or function; `show_meta` appends the constants that do
    not stand in the text; the prefixes are those of the namespaces; an empty `module_alias` writes
    the module's name instead of `cls`; `show_all_struct_info=False` leaves out annotations that the
    parser derives by itself; `syntax_sugar=False` writes effects as bindings, and the loops and
    blocks of TIR one by one; `obj_to_underline` and `obj_to_annotate` mark nodes in the text (which
    then may not be a script any more).
    """

    name: str | None = None
    show_meta: bool = False
    ir_prefix: str = "I"
    tir_prefix: str = "T"
    relax_prefix: str = "R"
    module_alias: str = "cls"
    show_all_struct_info: bool = True
    line_width: int = 100
    indent_spaces: int = 4
    print_line_numbers: bool = False
    syntax_sugar: bool = True
    obj_to_underline: Sequence[Any] = ()
    obj_to_annotate: Mapping[Any, str] = field(default_factory=dict)

    @staticmethod
    def read(options: Mapping[str, Any]) -> Options:
        """The options given; raises `TypeError` for one that there is not."""
        known = [f.name for f in fields(Options)]
        for word in options:
            if word not in known:
                near = nearest(word, known)
                hint = f"; did you mean `{near}`?" if near else ""
                raise TypeError(f"`script` has no option `{word}`{hint}")
        return Options(**options)


@dataclass
class Session:
    """The state of one printing."""

    options: Options = field(default_factory=Options)
    record: bool = False
    module_name: str = "Module"
    used: set[str] = field(default_factory=set)
    constants: dict[Constant, int] = field(default_factory=dict)
    function_names: dict[str, str] = field(default_factory=dict)
    _dotted: dict[tuple[str, str], ast.expr] = field(default_factory=dict)

    def at(self, node: Any, made: Tree) -> Tree:
        """Remember which node became which piece of syntax."""
        return tree.placed(made, node) if self.record else made

    def member(self, namespace: str, path: str) -> ast.expr:
        """`R.<path>` for the namespace "relax", `T.<path>` for "tir", `I.<path>` for "ir"."""
        key = (namespace, path)
        found = self._dotted.get(key)
        if found is None:
            self.used.add(namespace)
            prefix = getattr(self.options, f"{namespace}_prefix")
            found = self._dotted[key] = tree.dotted(f"{prefix}.{path}")
        return found

    def function_name(self, name: str) -> str:
        """How a function of the module is written: no two names become the same identifier."""
        found = self.function_names.get(name)
        if found is None:
            base = found = identifier(name)
            number = 0
            while found in self.function_names.values():
                number += 1
                found = f"{base}_{number}"
            self.function_names[name] = found
        return found

    def reserved(self) -> set[str]:
        """Names that no variable may have."""
        options = self.options
        prefixes = {options.ir_prefix, options.tir_prefix, options.relax_prefix}
        words = {options.module_alias or "cls", self.module_name, "metadata", "float", "range"}
        return {*prefixes, *words}
