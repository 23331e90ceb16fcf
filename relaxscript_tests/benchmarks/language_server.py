"""The language server beside `relaxscript check`, on files of 3,000 lines.

It is measured twice: in one process, and as an editor meets it, over the streams of a process of
its own. There the first document of a new server is told apart, and times are those of a clock.

An answer is all from a text to the diagnostics that are sent, in the form of the protocol: those
that are sent first, and those of all that can be read. They differ where the text is no Python:
`check` says no more then than the server says first. After something was typed a hover is asked for
as well. The pause that waits for more to be typed is left out.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lsprotocol.types import Position, TextDocumentContentChangeWholeDocument

from relaxscript.cli.autofix import look
from relaxscript.cli.lsp import open_documents
from relaxscript.cli.lsp.answers import hover_of
from relaxscript.cli.lsp.documents import Document
from relaxscript.cli.lsp.mistakes import as_lsp
from relaxscript.cli.lsp.open_documents import OpenDocument, OpenDocuments
from relaxscript.errors import Source
from relaxscript_tests.cli.lsp.editor import Editor

from .front_end import program

LINES = 3_000
URI = "file:///model.py"
IMPORTS = "from relaxscript.script import ir as I, relax as R, tir as T\n"
_fresh = itertools.count()


def in_pieces(count: int, pieces: int) -> str:
    """As many bindings in several functions."""
    parts = [program(count // pieces).replace("def main", f"def f{i}") for i in range(pieces)]
    return "\n".join(parts)


# When the first answer was there, and when all was known, in seconds of this process.
Answered = tuple[float, float]


def checked(text: str) -> Callable[[], Answered]:
    """What `check` does with a text; a comment makes it new each time."""

    def action() -> Answered:
        look([Source("model.py", f"{text}# {next(_fresh)}\n")], None)
        return (time.process_time(),) * 2

    return action


class Editing:
    """One document in a server without an editor; what would be sent is made, and dropped."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.loop = asyncio.new_event_loop()
        self.documents = OpenDocuments(self.publish)
        self.answered: list[float] = []

    def publish(self, session: OpenDocument) -> None:
        """Make the message."""
        if session.latest is not None:
            [as_lsp(session.document, each) for each in session.latest.diagnostics]
        self.answered.append(time.process_time())

    def open(self) -> Answered:
        """Open a new text, and wait for what is known of it."""
        text = f"{self.text}# {next(_fresh)}\n"
        self.answered.clear()
        self.loop.run_until_complete(self._open(Document(URI, "model.py", text, 0)))
        return self.answered[0], time.process_time()

    async def _open(self, document: Document) -> None:
        self.documents.open(document)
        await self.documents.newest(URI)

    def type(self) -> Answered:
        """Type something in the middle of the last function, and ask what stands elsewhere."""
        self.answered.clear()
        self.loop.run_until_complete(self._type())
        return self.answered[0], time.process_time()

    async def _type(self) -> None:
        session = self.documents.by_uri[URI]
        middle = self.text.index("\n", self.text.rindex("R.tanh("))
        text = f"{self.text[:middle]}  # {next(_fresh)}{self.text[middle:]}"
        change = TextDocumentContentChangeWholeDocument(text)
        session.document.change([change], session.document.version + 1)
        self.documents.changed(URI)
        await self.documents.newest(URI)
        hover_of(session, Position(LINES // 2, 9))


def least(actions: dict[str, Callable[[], Answered]], runs: int) -> dict[str, Answered]:
    """The least seconds of each action until its first answer, and until all is known."""
    taken: dict[str, list[Answered]] = {name: [] for name in actions}
    for _ in range(runs):
        for name, action in actions.items():
            gc.collect()
            start = time.process_time()
            first, last = action()
            taken[name].append((first - start, last - start))
    return {
        name: (min(first for first, _ in times), min(last for _, last in times))
        for name, times in taken.items()
    }


def over_streams(text: str, folder: Path) -> dict[str, float]:
    """The seconds that an editor waits for the mistakes of a text: medians, and the longest wait.

    All of a text has been read before the next one is opened or something is typed.
    """
    opened, typed = [], []
    lines = text.split("\n")
    line = max(number for number, each in enumerate(lines) if "R.tanh(" in each)
    end = (line, len(lines[line]), line, len(lines[line]))
    with Editor(folder) as editor:
        for number in range(8):
            uri = (folder / f"model{number}.py").as_uri()
            start = time.perf_counter()
            editor.open(uri, f"{text}# {next(_fresh)}\n")
            opened.append(time.perf_counter() - start)
            editor.ask_at("hover", uri, LINES // 2, 9)
            start = time.perf_counter()
            editor.change(uri, 2, (end, f"  # {next(_fresh)}"))
            editor.diagnostics(uri, 2)
            typed.append(time.perf_counter() - start - open_documents.PAUSE)
            editor.ask_at("hover", uri, LINES // 2, 9)
            editor.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    return {
        "open the first": opened[0],
        "open": statistics.median(opened[1:]),
        "type": statistics.median(typed),
        "longest": max(opened[1:] + typed),
    }


def clock_of_check(text: str) -> float:
    """The median of the seconds that `check` takes, by the clock."""
    taken = []
    for _ in range(7):
        gc.collect()
        start = time.perf_counter()
        checked(text)()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main() -> None:
    texts = all_texts()
    print("over streams")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            check = clock_of_check(text)
            print(f"{name}: check {check * 1e3:8.1f} ms")
            for what, seconds in over_streams(text, Path(folder)).items():
                print(f"  {what} / check{seconds / check:16.2f}")
    print("in one process")
    in_one_process(texts)


def all_texts() -> dict[str, str]:
    """Texts of 3,000 lines, right and wrong."""
    texts = {"one function": program(LINES), "30 functions": in_pieces(LINES, 30)}
    texts["a mistake in each of 30"] = texts["30 functions"].replace("R.output(", "R.output(no, ")
    pieces = texts["30 functions"]
    half = pieces.index("R.tanh(", len(pieces) // 2)
    texts["a bracket missing"] = f"{pieces[:half]}({pieces[half:]}"
    texts["no Python, and nothing mends it"] = f"{pieces[:half]}R. 3 x{pieces[half:]}"
    return {name: IMPORTS + text for name, text in texts.items()}


def in_one_process(texts: dict[str, str]) -> None:
    """Print how long the server takes beside `check`, in seconds of the processor."""
    open_documents.PAUSE = 0.0
    actions: dict[str, Callable[[], Answered]] = {}
    for name, text in texts.items():
        editing = Editing(text)
        actions[f"check {name}"] = checked(text)
        actions[f"open {name}"] = editing.open
        actions[f"type {name}"] = editing.type
    times = least(actions, runs=4)
    for name in texts:
        check, _ = times[f"check {name}"]
        print(f"{name}: check {check * 1e3:8.1f} ms")
        for what in ("open", "type"):
            first, last = (each / check for each in times[f"{what} {name}"])
            print(
                f"  {what} / check{first:16.2f}    (aim: at most 1.5){last:8.2f} until all is read"
            )


if __name__ == "__main__":
    main()
