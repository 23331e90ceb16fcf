"""Garbage of the server goes when nobody waits for an answer."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest

from relaxscript.cli.lsp import quiet_collector
from relaxscript.cli.lsp.quiet_collector import QuietCollector, take_over


class Cycle:
    """An object that only the collector frees."""

    def __init__(self):
        self.itself = self


@pytest.fixture(autouse=True)
def collector_off():
    gc.disable()
    yield
    gc.enable()


def freed(steps):
    """True if the collector ran once the loop has had its turn after the steps."""

    async def whole():
        garbage = weakref.ref(Cycle())
        steps(QuietCollector())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return garbage() is None

    return asyncio.run(whole())


def test_garbage_goes_when_nothing_has_been_read_for_a_moment(monkeypatch):
    monkeypatch.setattr(quiet_collector, "QUIET", 0.0)
    assert freed(QuietCollector.work_ended)


def test_what_begins_before_the_moment_is_over_is_not_disturbed(monkeypatch):
    monkeypatch.setattr(quiet_collector, "QUIET", 0.0)

    def steps(collector):
        collector.work_ended()
        collector.work_begins()

    assert not freed(steps)


def test_much_garbage_does_not_wait_for_a_pause(monkeypatch):
    monkeypatch.setattr(quiet_collector, "QUIET", 1e6)
    assert not freed(QuietCollector.work_ended)
    monkeypatch.setattr(quiet_collector, "MANY_OBJECTS", 0)
    assert freed(QuietCollector.work_ended)


def test_a_collector_that_runs_by_itself_is_left_alone(monkeypatch):
    monkeypatch.setattr(quiet_collector, "QUIET", 0.0)
    gc.enable()
    assert not freed(QuietCollector.work_ended)


def test_the_server_takes_the_collector_over():
    gc.enable()
    try:
        take_over()
        assert not gc.isenabled()
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()
