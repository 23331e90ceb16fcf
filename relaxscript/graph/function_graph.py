"""The graph of a function: what `mod.graph()` gives, in all the forms in which it can be seen."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.files import replaced
from relaxscript.ir.calling import home_of
from relaxscript.ir.drawing import MAX_NODES
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Attrs, ExternFunc, Function, GlobalVar

from .dot import dot
from .listing import listing
from .page import page
from .places import print_program, say_lines
from .reader import read_function
from .summary import summarise
from .svg import svg

__all__ = ["FunctionGraph", "graph_of"]

__tracebackhide__ = is_user_error


class FunctionGraph:
    """The dataflow of one function of Relax, to be shown.

    In a notebook it is a picture, elsewhere an indented listing. `remark` says what a summary
    leaves out; it is empty where all is shown.
    """

    def __init__(self, root: IRModule | Function, name: str, max_nodes: int | None) -> None:
        self._root, self._name, self._max_nodes = root, name, max_nodes
        self._function: Function = root[name] if isinstance(root, IRModule) else root
        self._picture = read_function(self._function, name)
        self._printer = print_program(root)
        say_lines(self._picture, self._function, self._printer)
        summarise(self._picture, max_nodes)

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._name

    @property
    def remark(self) -> str:
        """The words for what a summary leaves out, and how all is shown; else empty."""
        return self._picture.remark

    def to_svg(self) -> str:
        """The picture as SVG: one element that loads nothing, for light and dark."""
        return svg(self._picture)

    def to_dot(self) -> str:
        """The graph as text for Graphviz, which draws it: `dot -Tsvg`."""
        return dot(self._picture)

    def view(
        self, path: str | os.PathLike[str] | None = None, *, open_browser: bool = False
    ) -> str:
        """Write one HTML page with the script, the graph and the diagnostics; give its path.

        Without a path it is a new file in the folder for temporary ones. The page needs no network,
        and it can be read where scripts are blocked. Raises `DiagnosticError` (RX0707) where the
        file cannot be written.
        """
        if path is not None and not isinstance(path, (str, os.PathLike)):
            message = f"`path` is a string or a path, not {brief(path)}"
            raise DiagnosticError(Diagnostic("RX0703", message, None))
        text = page(self._root, self._picture, self._printer)
        found = _written(text.encode("utf-8", "replace"), path)
        if open_browser:
            import webbrowser
            from pathlib import Path

            webbrowser.open(Path(found).as_uri())
        return found

    def __str__(self) -> str:
        return listing(self._picture)

    __repr__ = __str__

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        """The picture in a frame that scrolls, since it may be larger than the page."""
        return f'<div style="overflow:auto;max-height:80vh">{self.to_svg()}</div>'


def _written(text: bytes, path: str | os.PathLike[str] | None) -> str:
    """The full path of the file that has the text now; without a path it is a new one."""
    try:
        if path is not None:
            with replaced(path) as file:
                file.write(text)
            return os.path.abspath(os.fspath(path))
        descriptor, made = tempfile.mkstemp(prefix="relaxscript-", suffix=".html")
        with open(descriptor, "wb") as file:
            file.write(text)
        return os.path.abspath(made)
    except (OSError, ValueError) as error:
        what = "a temporary file" if path is None else f"`{os.fspath(path)}`"
        message = f"{what} cannot be written: {getattr(error, 'strerror', None) or error}"
        raise DiagnosticError(Diagnostic("RX0707", message, None)) from None


def graph_of(
    root: Any, function: GlobalVar | str | None = None, max_nodes: int | None = MAX_NODES
) -> FunctionGraph:
    """The graph of a function of a module, or of a function alone.

    Of a module it is that of `main` unless another is named, or of the only one there is. Raises
    `DiagnosticError` (RX0703) for a name that there is not, and for what has no dataflow.
    """
    if max_nodes is not None and (not isinstance(max_nodes, int) or max_nodes < 1):
        message = f"`max_nodes` is a number from 1 on, or None for all, not {brief(max_nodes)}"
        raise DiagnosticError(Diagnostic("RX0703", message, None))
    if isinstance(root, IRModule):
        return FunctionGraph(root, _chosen(root, function), max_nodes)
    home = home_of(root)
    if home is not None and home[1] in home[0]:
        return graph_of(home[0], home[1], max_nodes)
    symbol = (root.attrs or Attrs()).get("global_symbol")
    if not isinstance(root, Function):
        raise _undrawable(symbol, root, ())
    return FunctionGraph(root, symbol or "main", max_nodes)


def _chosen(mod: IRModule, function: GlobalVar | str | None) -> str:
    """The name of the function that is meant."""
    there = [var.name_hint for var in mod.relax_functions()]
    if function is None:
        name = there[0] if "main" not in mod and len(there) == 1 else "main"
    else:
        name = function.name_hint if isinstance(function, GlobalVar) else function
    if not isinstance(name, str):
        message = f"a function goes by its name or GlobalVar, not by {brief(name)}"
        raise DiagnosticError(Diagnostic("RX0703", message, None))
    if name not in mod:
        near = nearest(name, [var.name_hint for var in mod])
        help = did_you_mean(near, _those(there))
        message = f"the module has no function `{name}`"
        raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))
    if not isinstance(mod[name], Function):
        raise _undrawable(name, mod[name], there)
    return name


def _those(there: Sequence[str]) -> str:
    return f"there are: {', '.join(there) or 'none that could be drawn'}"


def _undrawable(name: str | None, function: Any, there: Sequence[str]) -> DiagnosticError:
    """The refusal of what has no dataflow."""
    said = "is a PrimFunc: loops over buffers, which have no dataflow to draw"
    if isinstance(function, ExternFunc):
        symbol = function.global_symbol
        said = f"is the PackedFunc `{symbol}`: nobody here sees what is inside of it"
    help = f"functions of Relax are drawn{f'; {_those(there)}' if there else ''}"
    subject = "this" if name is None else f"`{name}`"  # a private function does not know its name
    return DiagnosticError(Diagnostic("RX0703", f"{subject} {said}", function.span, help=help))
