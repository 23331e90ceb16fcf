"""Open documents and what is known of them: read again after a change, away from the loop.

A text is read by the one worker thread; the loop goes on answering meanwhile. What is read of a
text that has changed since is given up, and is never published. Of a text that is no Python the
mistake is published first, with what is known of the rest; then the rest is read.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from .analysis import Analysis, analyses
from .broken_text import ReadText
from .documents import Document
from .quiet_collector import QuietCollector

__all__ = ["OpenDocument", "OpenDocuments", "Superseded"]

LOG = logging.getLogger(__name__)
T = TypeVar("T")

# What is typed within this time is read once.
PAUSE = 0.15


class Superseded(BaseException):
    """Ends the reading of a text that has changed; no handler of errors is to stop it."""


@dataclass
class OpenDocument:
    """One open document, what is known of its newest text, and of the last that was Python."""

    document: Document
    latest: Analysis | None = None
    good: Analysis | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    task: asyncio.Task[None] | None = None
    read: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_read(self) -> bool:
        """True if the newest text has been read."""
        return self.latest is not None and self.latest.version == self.document.version

    def snapshot(self, uri: str) -> OpenDocument:
        """A copy for another thread, of one document: nothing that is typed later changes it."""
        return replace(self, document=self.document.copy().view(uri))


class OpenDocuments:
    """All open documents; `publish` is called with what was read of a newest text."""

    def __init__(self, publish: Callable[[OpenDocument], None]) -> None:
        self.publish = publish
        self.by_uri: dict[str, OpenDocument] = {}  # cells by theirs, too
        self.worker = ThreadPoolExecutor(1, "relaxscript")
        self.collector = QuietCollector()

    def open(self, document: Document) -> None:
        """Take a document, and read it at once."""
        self.close(document.uri)
        session = self.by_uri[document.uri] = OpenDocument(document)
        self.name(session)
        self._read(session, 0)

    def name(self, session: OpenDocument) -> None:
        """Let a document be known by all names that an editor has for its parts."""
        for uri in [uri for uri, known in self.by_uri.items() if known is session]:
            del self.by_uri[uri]
        self.by_uri[session.document.uri] = session
        self.by_uri.update((view.uri, session) for view in session.document.views())

    def changed(self, uri: str) -> None:
        """Read the document again, when nothing has been typed for a moment."""
        session = self.by_uri[uri]
        self._give_up(session)
        self._read(session, PAUSE)

    def close(self, uri: str) -> None:
        """Forget a document."""
        session = self.by_uri.get(uri)
        if session is not None:
            self.by_uri = {name: each for name, each in self.by_uri.items() if each is not session}
            self._give_up(session)
            session.read.set()
            self.collector.work_ended()

    def shut_down(self) -> None:
        """Let go of everything."""
        for uri in list(self.by_uri):
            self.close(uri)
        self.collector.work_begins()
        self.worker.shutdown(wait=False, cancel_futures=True)

    async def newest(self, uri: str) -> OpenDocument | None:
        """A document once its newest text has been read; None when it was closed."""
        while (session := self.by_uri.get(uri)) is not None and not session.is_read:
            await session.read.wait()
        return session

    async def answer(self, uri: str, question: Callable[[OpenDocument], T]) -> T | None:
        """The answer on the newest text, worked out by the worker; None for no open document."""
        while (session := await self.newest(uri)) is not None:
            version, still = session.document.version, session.snapshot(uri)
            found = await self.in_worker(partial(question, still))
            if session.document.version == version:
                return found
        return None

    async def in_worker(self, action: Callable[[], T]) -> T:
        """The result of a function that takes its time."""
        return await asyncio.get_running_loop().run_in_executor(self.worker, action)

    # ---- reading

    def _give_up(self, session: OpenDocument) -> None:
        session.stop.set()
        if session.task is not None:
            session.task.cancel()

    def _read(self, session: OpenDocument, pause: float) -> None:
        self.collector.work_begins()
        session.stop = threading.Event()
        session.read.clear()
        session.task = asyncio.ensure_future(self._reading(session, session.stop, pause))

    async def _reading(self, session: OpenDocument, stop: threading.Event, pause: float) -> None:
        """Read the newest text after a pause, and publish what was found."""
        if pause:
            await asyncio.sleep(pause)
        document = session.document
        source, version = document.source, document.version
        before = session.latest if session.latest and session.latest.definitions else session.good

        def check() -> None:
            if stop.is_set():
                raise Superseded

        answers = analyses(source, version, before, check)
        try:
            found = await self._answer(answers)
            if found is not None and not found.is_whole and not stop.is_set():
                self._publish(replace(session, latest=found))
                found = await self._answer(answers)
        except Exception as error:
            LOG.exception("InternalError: %s: %s", document.filename, error)
            found = Analysis(version, ReadText(source, None))
        if found is None or stop.is_set() or version != document.version:
            return
        session.latest = found
        if found.read.tree is not None and found.read.error is None:
            session.good = found
        session.read.set()
        self._publish(session)
        self.collector.work_ended()

    async def _answer(self, answers: Iterator[Analysis]) -> Analysis | None:
        """The next one, which the worker finds; None where the text has changed meanwhile."""

        def work() -> Analysis | None:
            try:
                return next(answers, None)
            except Superseded:
                return None

        return await self.in_worker(work)

    def _publish(self, session: OpenDocument) -> None:
        """Tell of what was read."""
        try:
            self.publish(session)
        except Exception as error:
            LOG.exception("InternalError: %s: %s", session.document.filename, error)
