"""Blame for IR that has no source: the printed text is a source like any other."""

from __future__ import annotations

from typing import Any

from relaxscript.errors import Diagnostic, Label
from relaxscript.errors.render import render_body

from .module import Printer

__all__ = ["blamed"]


def blamed(root: Any, node: Any, message: str, filename: str = "<script>") -> str:
    """The lines of the printed `root` in which `node` stands, underlined.

         --> <after fuse_ops>:3:9
          |
        3 |     z = y + x
          |         ^^^^^ reads `y` before it is bound

    A node that the text does not show is blamed on the whole.
    """
    printer = Printer(filename)
    printer.print(root)
    span = printer.place(node) or printer.source.whole
    return render_body(Diagnostic("", message, span, (Label(span, message),)))
