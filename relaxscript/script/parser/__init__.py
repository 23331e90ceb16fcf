"""Parsing: from the user's own file or a string to typed IR.

`entry.py` holds the decorators and `from_source`, and imports what parses when it is needed.
`definitions.py` parses what is decorated, `from_source.py` whole scripts; `environment.py` holds
what they captured, `expression.py` what the languages share; `relax_functions/` and `prim_funcs/`
are the languages, `module.py` the class around them. The printer's functions of the same names are
the inverse of these.

`from relaxscript.script.parser import ir as I, relax as R, tir as T` has the namespaces of scripts,
as `relaxscript.script` has, for those who know them from there.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relaxscript.script import ir, relax, tir, tirx

__all__ = ["ir", "relax", "tir", "tirx"]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in __all__:
            return getattr(import_module("relaxscript.script"), name)
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
