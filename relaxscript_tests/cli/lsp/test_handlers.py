"""Handlers that fail: the server says so in its log, and in that of the editor, and lives on."""

from __future__ import annotations

import asyncio
import logging

from relaxscript.cli.lsp.server import LogForEditor, guarded, steady


class Broken:
    """Handlers of a server, with mistakes in them."""

    @guarded
    async def hover(self, params):
        raise KeyError(params)

    @steady
    def changed(self, params):
        raise ValueError(params)


def test_a_question_that_fails_is_answered_with_nothing(caplog):
    assert asyncio.run(Broken().hover("place")) is None
    assert "InternalError: hover: 'place'" in caplog.text
    assert "Traceback" in caplog.text


def test_what_is_told_in_vain_is_logged(caplog):
    Broken().changed("text")
    assert "InternalError: changed: text" in caplog.text


def test_errors_are_in_the_log_of_the_editor():
    told = []

    class Server:
        def window_log_message(self, params):
            told.append(params.message)

    async def steps():
        logger = logging.Logger("relaxscript")
        logger.addHandler(LogForEditor(Server(), asyncio.get_running_loop()))
        logger.info("not shown")
        await asyncio.to_thread(logger.error, "InternalError: %s", "of the test")
        await asyncio.sleep(0)

    asyncio.run(steps())
    assert told == ["InternalError: of the test"]
