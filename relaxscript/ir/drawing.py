"""`mod.graph()` and `func.graph()`: the dataflow of a function as a picture; `graph/` draws it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from . import hooks

if TYPE_CHECKING:
    from .module import IRModule
    from .relax import BaseFunc, GlobalVar

__all__ = ["MAX_NODES", "Drawing", "graph_of_function", "graph_of_module"]

# More nodes than these are summarised unless somebody asks for more.
MAX_NODES = 300


class Drawing(Protocol):
    """A picture of a function, which a notebook shows; `str` of it is an indented listing."""

    @property
    def remark(self) -> str:
        """The words for what a summary leaves out, and how all is shown; else empty."""

    def to_svg(self) -> str:
        """One element of SVG that loads nothing."""

    def to_dot(self) -> str:
        """The graph as text for Graphviz."""

    def view(
        self, path: str | os.PathLike[str] | None = None, *, open_browser: bool = False
    ) -> str:
        """Write a page with the script, the graph and the diagnostics; give its path."""


def graph_of_module(
    self: IRModule, function: GlobalVar | str | None = None, *, max_nodes: int | None = MAX_NODES
) -> Drawing:
    """The dataflow of a function, `main` unless another is named, as a picture.

    A function of more than `max_nodes` nodes is summarised; None draws all. Raises
    `DiagnosticError` (RX0703) for a name that there is not, and for what has no dataflow.
    """
    drawing: Drawing = hooks.graph_of(self, function, max_nodes)
    return drawing


def graph_of_function(self: BaseFunc, *, max_nodes: int | None = MAX_NODES) -> Drawing:
    """The dataflow of this function as a picture.

    A function of more than `max_nodes` nodes is summarised; None draws all. Raises
    `DiagnosticError` (RX0703) for a PrimFunc, which has no dataflow.
    """
    drawing: Drawing = hooks.graph_of(self, None, max_nodes)
    return drawing
