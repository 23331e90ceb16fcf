"""Documents that are read while more is typed."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import weakref

import pytest
from lsprotocol.types import TextDocumentContentChangeWholeDocument

from relaxscript.cli.lsp import open_documents, quiet_collector
from relaxscript.cli.lsp.open_documents import OpenDocuments
from relaxscript_tests.cli.lsp.texts import DIGITS, document
from relaxscript_tests.cli.programs import BAD


class Published:
    """What sessions tell of, and ways to wait for it."""

    def __init__(self):
        self.seen = []
        self.documents = OpenDocuments(self.publish)

    def publish(self, session):
        found = session.latest
        self.seen.append((session.document.uri, found.version, [d.code for d in found.diagnostics]))

    def type(self, uri, text, version):
        self.documents.by_uri[uri].document.change(
            [TextDocumentContentChangeWholeDocument(text)], version
        )
        self.documents.changed(uri)


@pytest.fixture
def published(monkeypatch):
    monkeypatch.setattr(open_documents, "PAUSE", 0.01)
    return Published()


def run(published, steps):
    async def whole():
        try:
            await steps()
        finally:
            published.documents.shut_down()

    asyncio.run(whole())


def test_a_document_is_read_when_it_is_opened_and_when_it_changes(published):
    async def steps():
        text = document(BAD)
        published.documents.open(text)
        session = await published.documents.newest(text.uri)
        assert (session.is_read, session.latest) == (True, session.good)
        published.type(text.uri, DIGITS, 2)
        assert not session.is_read
        assert await published.documents.newest(text.uri) is session

    run(published, steps)
    assert published.seen == [("file:///model.py", 1, ["RX0101"]), ("file:///model.py", 2, [])]


class Cycle:
    """An object that only the collector frees."""

    def __init__(self):
        self.itself = self


def test_garbage_goes_once_a_text_is_read_and_not_before(published, monkeypatch):
    monkeypatch.setattr(quiet_collector, "QUIET", 0.0)

    async def steps():
        text = document(DIGITS)
        garbage = weakref.ref(Cycle())
        published.documents.open(text)
        assert published.documents.collector.waits is None
        await published.documents.newest(text.uri)
        assert garbage() is not None
        for _ in range(3):
            await asyncio.sleep(0)
        assert garbage() is None

    gc.disable()
    try:
        run(published, steps)
    finally:
        gc.enable()


def test_what_is_typed_at_once_is_read_once(published):
    async def steps():
        text = document(DIGITS)
        published.documents.open(text)
        await published.documents.newest(text.uri)
        for version in range(2, 30):
            published.type(text.uri, f"{BAD}# {version}", version)
        await published.documents.newest(text.uri)

    run(published, steps)
    assert [version for _, version, _ in published.seen] == [1, 29]


def test_what_is_read_of_an_old_text_is_given_up(published, monkeypatch):
    began, go_on, ends = threading.Event(), threading.Event(), []
    analyses = open_documents.analyses

    def slow(source, version, before, check):
        if version == 1:
            began.set()
            go_on.wait()
            try:
                check()
            except open_documents.Superseded:
                ends.append(version)
                raise
        yield from analyses(source, version, before, check)

    monkeypatch.setattr(open_documents, "analyses", slow)

    async def steps():
        text = document(BAD)
        published.documents.open(text)
        await asyncio.to_thread(began.wait)
        published.type(text.uri, DIGITS, 2)
        go_on.set()
        await published.documents.newest(text.uri)

    run(published, steps)
    assert (ends, published.seen) == ([1], [("file:///model.py", 2, [])])


def test_what_breaks_a_text_is_told_before_the_rest_is_read(published):
    text = document(BAD.replace("return", "return (", 1) + "\n" + BAD.partition("\n")[2])

    async def steps():
        published.documents.open(text)
        await published.documents.newest(text.uri)

    run(published, steps)
    assert published.seen == [(text.uri, 1, ["RX0113"]), (text.uri, 1, ["RX0113", "RX0101"])]


def test_the_last_text_that_was_python_is_kept(published):
    async def steps():
        text = document(DIGITS)
        published.documents.open(text)
        await published.documents.newest(text.uri)
        published.type(text.uri, DIGITS.replace("@ w)", "@ "), 2)
        session = await published.documents.newest(text.uri)
        assert (session.latest.version, session.good.version) == (2, 1)

    run(published, steps)


def test_an_error_of_ours_is_logged_and_leaves_the_document_readable(
    published, monkeypatch, caplog
):
    analyses = open_documents.analyses

    def failing(source, version, before, check):
        if version == 1:
            raise KeyError("broken by the test")
        yield from analyses(source, version, before, check)

    monkeypatch.setattr(open_documents, "analyses", failing)

    async def steps():
        text = document(BAD)
        published.documents.open(text)
        session = await published.documents.newest(text.uri)
        assert (session.latest.diagnostics, session.good) == ((), None)
        published.type(text.uri, BAD, 2)
        await published.documents.newest(text.uri)

    with caplog.at_level(logging.ERROR):
        run(published, steps)
    assert "InternalError: model.py: 'broken by the test'" in caplog.text
    assert [codes for _, _, codes in published.seen] == [[], ["RX0101"]]


def test_who_waits_for_a_document_that_is_closed_gets_none(published):
    async def steps():
        text = document(DIGITS)
        published.documents.open(text)
        waiting = asyncio.ensure_future(published.documents.newest(text.uri))
        await asyncio.sleep(0)
        published.documents.close(text.uri)
        assert await waiting is None
        assert await published.documents.newest(text.uri) is None

    run(published, steps)
    assert published.seen == []
