"""The collector while parsing: paused, started again, and what others froze stays frozen."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

from relaxscript.script.pause import collector_paused


def test_the_collector_is_paused_inside_and_runs_again_after():
    assert gc.isenabled()
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_was_made_inside_is_old_afterwards_and_not_frozen():
    with collector_paused():
        made = [[] for _ in range(1000)]
    old = {id(thing) for thing in gc.get_objects(generation=2)}
    assert all(id(thing) in old for thing in made)
    assert gc.get_freeze_count() == 0


class Cycle:
    def __init__(self) -> None:
        self.itself = self


def test_garbage_that_has_grown_old_is_found_in_the_end():
    with collector_paused():
        first = weakref.ref(Cycle())
    assert first() is not None
    for _ in range(12):
        with collector_paused():
            cycles = [Cycle() for _ in range(100_000)]
        del cycles
    assert first() is None


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_a_program_froze_stays_frozen():
    program = """
import gc
from relaxscript.script.pause import collector_paused
gc.freeze()
frozen = gc.get_freeze_count()
for _ in range(2):
    with collector_paused():
        kept = [[] for _ in range(1000)]
assert 0 < gc.get_freeze_count() <= frozen, gc.get_freeze_count()
"""
    subprocess.run([sys.executable, "-c", program], check=True)
