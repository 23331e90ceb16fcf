"""Statements of a module beside its functions: attributes, global infos, names outside.

info = "I.module_attrs(" dict ["," "allow_overwrite=True"] ")"
     | "I.module_global_infos(" dict ")" | "I.module_names(" dict ")"
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from typing import Any

from relaxscript.errors import did_you_mean, nearest
from relaxscript.ir.module import GlobalInfo
from relaxscript.ir.relax import GlobalVar

from .class_context import ClassContext
from .diagnostics import Failed
from .expression import check_attributes, parse_expr, parse_mapping
from .python_call import check_signature, parse_arguments

__all__ = ["parse_info"]

_DICT = "this is given as a dict"
_EXAMPLES = {"mesh": "R.device_mesh((2, 2), I.Range(0, 4))", "vdevice": 'I.vdevice("llvm")'}


def parse_info(cx: ClassContext, node: ast.Call) -> None:
    """`I.module_attrs(...)` and its relatives; anything else has no meaning in a class."""
    callee = parse_expr(cx, node.func)
    readers = {
        "module_attrs": module_attrs,
        "module_global_infos": module_global_infos,
        "module_names": module_names,
    }
    name = getattr(callee, "__name__", "")
    if name not in readers or getattr(callee, "__module__", "") != "relaxscript.script.ir":
        raise cx.error(
            node, "RX0104", "a module holds functions only",
            help="write it outside the class",
        )  # fmt: skip
    try:
        _read(cx, node, callee, readers[name])
    except Failed:
        cx.module.infos_are_broken |= name == "module_global_infos"
        raise


def _read(
    cx: ClassContext,
    node: ast.Call,
    callee: Any,
    reader: Callable[[ClassContext, ast.expr, bool], None],
) -> None:
    given = node.args[0] if node.args else next((k.value for k in node.keywords), None)
    args, kwargs = parse_arguments(cx, node)
    check_signature(cx, callee, args, kwargs, node)
    if given is not None:
        reader(cx, given, bool(kwargs.get("allow_overwrite", args[1:] and args[1])))


def module_attrs(cx: ClassContext, node: ast.expr, overwrite: bool) -> None:
    """Attributes of the module; one that is given twice must say that this is meant."""
    found = check_attributes(cx, parse_mapping(cx, node, _DICT), node)
    twice = next((key for key in found if key in cx.attrs), None)
    if twice is not None and not overwrite:
        raise cx.error(
            node, "RX0302", f"the module has the attribute `{twice}` already",
            help="to replace it, write `allow_overwrite=True`",
        )  # fmt: skip
    cx.attrs.update(found)


def module_global_infos(cx: ClassContext, node: ast.expr, overwrite: bool) -> None:
    """Global infos by their kind, each a list."""
    for key, infos in parse_mapping(cx, node, _DICT).items():
        if not isinstance(key, str):
            raise cx.error(node, "RX0104", f"the kind of global infos is a string, not {key!r}")
        listed = infos if isinstance(infos, (list, tuple)) else (None,)
        if not all(isinstance(info, GlobalInfo) for info in listed):
            raise cx.error(
                node, "RX0104", f"the global infos `{key}` are a list of such infos",
                help=f'write `{{"{key}": [{_EXAMPLES.get(key, _EXAMPLES["vdevice"])}]}}`',
            )  # fmt: skip
        cx.module.global_infos[key] = tuple(infos)


def module_names(cx: ClassContext, node: ast.expr, overwrite: bool) -> None:
    """`I.module_names({"relu_1": "relu.1"})`: names outside of the class."""
    for written, name in parse_mapping(cx, node, _DICT).items():
        if not isinstance(name, str):
            raise cx.error(node, "RX0103", f"the name of a function is a string, not {name!r}")
        if written not in cx.module.global_vars:
            raise no_function(cx, written, node)
        cx.module.global_vars[written] = GlobalVar(name)
    counts = Counter(var.name_hint for var in cx.module.global_vars.values())
    twice = next((name for name, count in counts.items() if count > 1), None)
    if twice is not None:
        raise cx.error(
            node, "RX0302", f"the module has two functions `{twice}`", help="rename one of them"
        )


def no_function(cx: ClassContext, written: Any, node: ast.expr) -> Failed:
    near = nearest(str(written), list(cx.module.global_vars))
    inside = (n for n in ast.walk(node) if isinstance(n, ast.Constant) and n.value == written)
    place = next(inside, None)
    return cx.error(
        place or node, "RX0101", f"the module has no function `{written}`",
        help=did_you_mean(near, quote='"'),
        fix=f'"{near}"' if near and place is not None else None,
    )  # fmt: skip
