"""Notebooks that an editor has open: cells, each a document, that are read as one text.

The cells stand in it one below the other, without what IPython adds; so names go on from one to the
next, as when all are run in turn. Places are those of a cell outside and those of the text inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lsprotocol.types import Location, Position

from relaxscript.cli.notebooks import plain_python
from relaxscript.errors import Source, Span

from .documents import Document, Place

__all__ = ["Cell", "Notebook"]


@dataclass
class Cell(Document):
    """A cell of a notebook, and the number of lines above it in the text that is read."""

    notebook: Notebook | None = None
    above: int = 0

    @property
    def context(self) -> Source:
        return self.source if self.notebook is None else self.notebook.source

    def place(self, position: Position) -> Place:
        line, column = super().place(position)
        return line + self.above, column

    def position(self, place: Place) -> Position:
        return super().position((place[0] - self.above, place[1]))

    def holds(self, span: Span) -> bool:
        return 0 < span.line - self.above <= len(self.source.lines)

    def locate(self, span: Span) -> Location:
        others = [] if self.notebook is None else self.notebook.views()
        home = next((cell for cell in others if cell.holds(span)), self)
        return Location(home.uri, home.range(span))


@dataclass
class Notebook(Document):
    """The text of all cells; `version` counts its changes."""

    cells: list[Document] = field(default_factory=list)

    def join(self) -> None:
        """Make the text anew, of cells that have changed."""
        self.text = "\n".join(_lines_of(cell) for cell in self.cells)
        self._source = None
        self.version += 1

    def views(self) -> Sequence[Cell]:
        """The cells, each with its place in the text."""
        above, found = 0, []
        for each in self.cells:
            found.append(
                Cell(each.uri, self.filename, each.text, each.version, self.encoding,
                     each.source, self, above)
            )  # fmt: skip
            above += len(each.source.lines)
        return found

    def copy(self) -> Notebook:
        return replace(self, _source=self.source, cells=[cell.copy() for cell in self.cells])

    def view(self, uri: str) -> Document:
        return next((cell for cell in self.views() if cell.uri == uri), self)


def _lines_of(cell: Document) -> str:
    """The Python in a cell, in as many lines as the cell has."""
    count = len(cell.source.lines)
    lines = plain_python("\n".join(cell.source.lines)).split("\n")
    return "\n".join([*lines, *[""] * (count - len(lines))])
