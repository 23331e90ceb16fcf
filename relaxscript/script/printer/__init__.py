"""Printing: from IR to a script that parses back to the same IR.

Importing this fills the hooks through which the IR prints itself; what does the printing is
imported when it is needed. `Printer` (module.py) is the place to start reading: modules there,
Relax functions in relax.py and calls.py, StructInfos in annotations.py, PrimFuncs in tir.py,
scalars in prim.py. Everything becomes Python's `ast` and then source by unparser.py and layout.py.
"""

from __future__ import annotations

from typing import Any

from relaxscript.ir import hooks

__all__ = ["blame_of", "html_of", "metadata_of", "places_of", "script_of"]


@hooks.script_of.fill
def script_of(
    root: Any,
    *,
    show: bool = False,
    style: str | None = None,
    black_format: bool | None = None,
    declares: bool = False,
    **options: Any,
) -> str:
    """The script of a node, function or module; with `show`, as a terminal or notebook shows it.

    Options are those of `options.Options`. With `show` the script is coloured where it will be seen
    in colour; the result is empty when a notebook has displayed it already. With `declares`, what
    is free in a part of a program is declared before it.
    """
    from .module import Printer

    printer = Printer(declares=declares, **options)
    text = printer.print(root)
    if not show:
        return text
    from .show import text_to_show

    return text_to_show(text, style, black_format, printer)


@hooks.html_of.fill
def html_of(root: Any) -> str:
    """The script of a node, function or module as coloured HTML, for notebooks."""
    from .html import script_html
    from .module import Printer

    printer = Printer()
    printer.print(root)
    return script_html(printer)


@hooks.metadata_of.fill
def metadata_of(root: Any) -> dict[str, Any]:
    """The constants that the script of `root` refers to, as plain data by their kind."""
    from .module import metadata

    return metadata(root)


@hooks.blame.fill
def blame_of(root: Any, node: Any, message: str, within: Any = None, occurrence: int = 0) -> str:
    """The printed root with `node` underlined, where it is in `within`, and `message`."""
    from .blame import underline

    return underline(root, node, message, within=within, occurrence=occurrence)


@hooks.places.fill
def places_of(root: Any, wanted: Any) -> Any:
    """The place of each `(node, within)` of `wanted` in the printed root."""
    from .blame import find_places

    return find_places(root, wanted)
