"""The language server beside `relaxscript check`, on files of 3,000 lines, in one process.

An answer is all from a text to the diagnostics that are sent, in the form of the protocol. After
something was typed a hover is asked for as well. The pause that waits for more to be typed is left
out.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

from lsprotocol.types import Position, TextDocumentContentChangeWholeDocument

from relaxscript.cli.autofix import look
from relaxscript.cli.lsp import open_documents
from relaxscript.cli.lsp.answers import hover_of
from relaxscript.cli.lsp.documents import Document
from relaxscript.cli.lsp.mistakes import as_lsp
from relaxscript.cli.lsp.open_documents import OpenDocument, OpenDocuments
from relaxscript.errors import Source

from .front_end import program
from .timing import least_in_turns

LINES = 3_000
URI = "file:///model.py"
BROKEN = "a bracket missing"
IMPORTS = "from relaxscript.script import ir as I, relax as R, tir as T\n"
_fresh = itertools.count()


def in_pieces(count: int, pieces: int) -> str:
    """As many bindings in several functions."""
    parts = [program(count // pieces).replace("def main", f"def f{i}") for i in range(pieces)]
    return "\n".join(parts)


def checked(text: str) -> Callable[[], object]:
    """What `check` does with a text; a comment makes it new each time."""
    return lambda: look([Source("model.py", f"{text}# {next(_fresh)}\n")], None)


class Editing:
    """One document in a server without an editor; what would be sent is made, and dropped."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.loop = asyncio.new_event_loop()
        self.documents = OpenDocuments(self.publish)

    def publish(self, session: OpenDocument) -> None:
        """Make the message."""
        if session.latest is not None:
            [as_lsp(session.document, each) for each in session.latest.diagnostics]

    def open(self) -> None:
        """Open a new text, and wait for what is known of it."""
        text = f"{self.text}# {next(_fresh)}\n"
        self.loop.run_until_complete(self._open(Document(URI, "model.py", text, 0)))

    async def _open(self, document: Document) -> None:
        self.documents.open(document)
        await self.documents.newest(URI)

    def type(self) -> None:
        """Type something in the middle of the last function, and ask what stands elsewhere."""
        self.loop.run_until_complete(self._type())

    async def _type(self) -> None:
        session = self.documents.by_uri[URI]
        middle = self.text.index("\n", self.text.rindex("R.tanh("))
        text = f"{self.text[:middle]}  # {next(_fresh)}{self.text[middle:]}"
        change = TextDocumentContentChangeWholeDocument(text)
        session.document.change([change], session.document.version + 1)
        self.documents.changed(URI)
        await self.documents.newest(URI)
        hover_of(session, Position(LINES // 2, 9))


def main() -> None:
    open_documents.PAUSE = 0.0
    texts = {"one function": program(LINES), "30 functions": in_pieces(LINES, 30)}
    texts["a mistake in each of 30"] = texts["30 functions"].replace("R.output(", "R.output(no, ")
    half = texts["30 functions"].index("R.tanh(", len(texts["30 functions"]) // 2)
    texts[BROKEN] = f"{texts['30 functions'][:half]}({texts['30 functions'][half:]}"
    actions: dict[str, Callable[[], object]] = {}
    for name, text in texts.items():
        editing = Editing(IMPORTS + text)
        actions[f"check {name}"] = checked(IMPORTS + text)
        actions[f"open {name}"] = editing.open
        actions[f"type {name}"] = editing.type
    times = least_in_turns(actions, runs=4)
    for name in texts:
        check = times[f"check {name}"]
        # `check` reads no more of what is no Python; the server does, without the broken line.
        aim = "" if name == BROKEN else "    (aim: at most 1.5)"
        print(f"{name}: check {check * 1e3:8.1f} ms")
        print(f"  opened / check       {times[f'open {name}'] / check:8.2f}{aim}")
        print(f"  typed / check        {times[f'type {name}'] / check:8.2f}{aim}")


if __name__ == "__main__":
    main()
