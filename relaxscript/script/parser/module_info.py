"""What a module says of itself beside its functions: attributes, global infos, names outside.

info = "I.module_attrs(" dict ["," "allow_overwrite=True"] ")"
     | "I.module_global_infos(" dict ")" | "I.module_names(" dict ")"
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from typing import Any

from relaxscript.errors import Source, did_you_mean, nearest
from relaxscript.ir.module import GlobalInfo
from relaxscript.ir.relax import GlobalVar

from .base import ExpressionParser, Failed, Reporter
from .context import ModuleContext
from .environment import Environment

__all__ = ["ModuleInfoParser"]

_DICT = "this is given as a dict"


class ModuleInfoParser(ExpressionParser):
    """Reads the calls in the body of a class."""

    context: ModuleContext

    def __init__(self, source: Source, environment: Environment, reporter: Reporter) -> None:
        super().__init__(source, environment, reporter)
        self.attrs: dict[str, Any] = {}

    def info(self, node: ast.Call) -> None:
        """`I.module_attrs(...)` and its relatives; anything else has no meaning in a class."""
        callee = self.value(node.func)
        readers = {
            "module_attrs": self.module_attrs,
            "module_global_infos": self.module_global_infos,
            "module_names": self.module_names,
        }
        name = getattr(callee, "__name__", "")
        if name not in readers or getattr(callee, "__module__", "") != "relaxscript.script.ir":
            raise self.error(
                node, "RX0104", "only functions can stand in a module",
                help="write it outside the class",
            )  # fmt: skip
        try:
            self._read(node, callee, readers[name])
        except Failed:
            self.context.infos_are_broken |= name == "module_global_infos"
            raise

    def _read(self, node: ast.Call, callee: Any, reader: Callable[[ast.expr, bool], None]) -> None:
        given = node.args[0] if node.args else next((k.value for k in node.keywords), None)
        args, kwargs = self.arguments(node)
        self.check_signature(callee, args, kwargs, node)
        if given is not None:
            reader(given, bool(kwargs.get("allow_overwrite", args[1:] and args[1])))

    def module_attrs(self, node: ast.expr, overwrite: bool) -> None:
        """Attributes of the module; one that is given twice must say that this is meant."""
        found = self.checked_attributes(self.host_mapping(node, _DICT), node)
        twice = next((key for key in found if key in self.attrs), None)
        if twice is not None and not overwrite:
            raise self.error(
                node, "RX0302", f"the module has the attribute `{twice}` already",
                help="to replace it, write `allow_overwrite=True`",
            )  # fmt: skip
        self.attrs.update(found)

    def module_global_infos(self, node: ast.expr, overwrite: bool) -> None:
        """Global infos by their kind, each a list."""
        for key, infos in self.host_mapping(node, _DICT).items():
            if not isinstance(key, str):
                raise self.error(node, "RX0104", f"the kind of global infos is a text, not {key!r}")
            listed = infos if isinstance(infos, (list, tuple)) else (None,)
            if not all(isinstance(info, GlobalInfo) for info in listed):
                raise self.error(
                    node, "RX0104", f"the global infos `{key}` are a list of such infos",
                    help=f'write `{{"{key}": [I.vdevice("llvm")]}}`',
                )  # fmt: skip
            self.context.global_infos[key] = tuple(infos)

    def module_names(self, node: ast.expr, overwrite: bool) -> None:
        """`I.module_names({"relu_1": "relu.1"})`: names outside of the class."""
        for written, name in self.host_mapping(node, _DICT).items():
            if not isinstance(name, str):
                raise self.error(node, "RX0103", f"the name of a function is a text, not {name!r}")
            if written not in self.context.global_vars:
                raise self.no_function(written, node)
            self.context.global_vars[written] = GlobalVar(name)
        counts = Counter(var.name_hint for var in self.context.global_vars.values())
        twice = next((name for name, count in counts.items() if count > 1), None)
        if twice is not None:
            raise self.error(
                node, "RX0302", f"the module has two functions `{twice}`", help="rename one of them"
            )

    def no_function(self, written: Any, node: ast.expr) -> Failed:
        near = nearest(str(written), list(self.context.global_vars))
        inside = (n for n in ast.walk(node) if isinstance(n, ast.Constant) and n.value == written)
        place = next(inside, None)
        return self.error(
            place or node, "RX0101", f"the module has no function `{written}`",
            help=did_you_mean(near, quote='"'),
            fix=f'"{near}"' if near and place is not None else None,
        )  # fmt: skip
