"""Options of printing, those of `script` and `show`, by the names that TVM has for them."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import combinations
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import meant_hint, nearest
from relaxscript.ir.field_types import brief
from relaxscript.ir.node import Node
from relaxscript.runtime.object_path import ObjectPath

__all__ = ["WORDS", "Options"]

# Python names that scripts use for what they mean.
WORDS = ("float", "metadata", "range")
_PREFIXES = ("ir_prefix", "tir_prefix", "relax_prefix")
_NUMBERS = {"indent_spaces": 1, "line_width": 1, "num_context_lines": -1}
# Options that name places, and what names one.
_PLACES: Mapping[str, tuple[type, str]] = {
    "obj_to_underline": (Node, "nodes"), "path_to_underline": (ObjectPath, "paths"),
    "obj_to_annotate": (Node, "nodes"), "path_to_annotate": (ObjectPath, "paths"),
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """Options of printing. With those of the first group the script parses back to the same.

    - `name`: the name of the printed class or function, instead of its own.
    - `show_meta`: the constants that are not written in the script are put before it as data.
    - `ir_prefix`, `tir_prefix`, `relax_prefix`: by which names the namespaces are imported.
    - `module_alias`: what a function calls its module; empty for the module's own name.
    - `show_all_struct_info`: False leaves out annotations that the parser derives by itself.
    - `syntax_sugar`: False writes effects as bindings, and loops and axes of TIR one by one.
    - `verbose_expr`: True writes `T.Add(a, b)` for `a + b` of scalars.
    - `int_dtype`, `float_dtype`: literals of PrimFuncs are plain numbers where their place gives
      them their dtype. A dtype here keeps that to its literals, all others are written
      with theirs (`T.int64(3)`); "void" has all written so. The defaults restrict nothing.
    - `buffer_dtype`: the dtype that definitions of buffers need not mention. The parser takes
      float32 for granted, so every other one has them all mentioned.
    - `line_width`, `indent_spaces`: how lines are broken and indented.
    - `show_object_address`: names end with the address of the object, which differs between runs.

    The others are for reading only: `print_line_numbers`; `obj_to_underline`, nodes to underline,
    with `num_context_lines` lines around them (-1: all); `obj_to_annotate`, remarks about nodes.
    `path_to_underline` and `path_to_annotate` have an `ObjectPath` where these have a node: it says
    which of the node's places is meant.
    """

    name: str | None = None
    show_meta: bool = False
    ir_prefix: str = "I"
    tir_prefix: str = "T"
    relax_prefix: str = "R"
    module_alias: str = "cls"
    buffer_dtype: str = "float32"
    int_dtype: str = "int32"
    float_dtype: str = "void"
    verbose_expr: bool = False
    indent_spaces: int = 4
    print_line_numbers: bool = False
    num_context_lines: int = -1
    syntax_sugar: bool = True
    show_object_address: bool = False
    show_all_struct_info: bool = True
    obj_to_underline: Sequence[Any] = ()
    obj_to_annotate: Mapping[Any, str] = field(default_factory=dict)
    path_to_underline: Sequence[ObjectPath] = ()
    path_to_annotate: Mapping[ObjectPath, str] = field(default_factory=dict)
    line_width: int = 100

    @staticmethod
    def read(options: Mapping[str, Any]) -> Options:
        """The options given.

        Raises `TypeError` for an unknown option or one of another kind. Raises `ValueError` for one
        that would spoil the script.
        """
        found: dict[str, Any] = {}
        for word, value in options.items():
            if word not in _KNOWN:
                near = nearest(word, list(_KNOWN))
                hint = meant_hint(near)
                raise TypeError(f"`script` has no option `{word}`{hint}")
            found[word] = _check_option(word, value)
        made = Options(**found)
        _check_prefixes(made)
        return made


_KNOWN = {f.name: f for f in fields(Options)}


def _check_option(word: str, value: Any) -> Any:
    """The value of an option, of the kind that it has."""
    if word in _PLACES:
        return _check_places(word, value)
    default = _KNOWN[word].default
    if word.endswith("_dtype"):
        return str(DataType(value))
    if word in _NUMBERS:
        if not isinstance(value, int) or value < _NUMBERS[word]:
            raise ValueError(f"`{word}` is a whole number from {_NUMBERS[word]} on, not {value!r}")
        return value
    if isinstance(default, bool):
        return bool(value)
    if not isinstance(value, str) and not (word == "name" and value is None):
        raise TypeError(f"`{word}` is a string, not {value!r}")
    return value


def _check_places(word: str, value: Any) -> Any:
    """The nodes or paths to underline, of which one needs no list, or remarks about them."""
    kind, noun = _PLACES[word]
    items: Any
    if word.endswith("annotate"):
        items = value or {}
        if not isinstance(items, Mapping):
            raise TypeError(f"`{word}` maps {noun} to remarks")
    else:
        items = (value,) if isinstance(value, kind) else tuple(value or ())
    for item in items:
        if kind is ObjectPath and not isinstance(item, kind):
            path = "`ObjectPath.root().attr(...)`"
            raise TypeError(f"`{word}` takes {noun}, {path}, not {brief(item)}")
    return items


def _check_prefixes(options: Options) -> None:
    """Each prefix is a name of its own, and means nothing else in a script."""
    written = {word: getattr(options, word) for word in _PREFIXES}
    for word, prefix in written.items():
        parts = prefix.split(".")
        if not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
            raise ValueError(f"`{word}` must be a name of Python, not {prefix!r}")
    if options.module_alias:
        alias = options.module_alias
        if not alias.isidentifier() or keyword.iskeyword(alias):
            raise ValueError(f"`module_alias` must be a name of Python, not {alias!r}")
        written["module_alias"] = alias
    for word, prefix in written.items():
        if prefix.partition(".")[0] in WORDS:
            raise ValueError(f"`{word}` cannot be {prefix!r}: scripts use that name themselves")
    for (one, first), (other, second) in combinations(written.items(), 2):
        if first == second:
            raise ValueError(f"`{one}` and `{other}` are both {first!r}")
