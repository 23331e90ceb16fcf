"""Runs inside of runs are counted where they are many, for each thread, against its stack."""

from __future__ import annotations

import threading

import pytest

from relaxscript.errors import VMError
from relaxscript.runtime import stack_guard
from relaxscript.runtime.stack_guard import ACTIVE, FEW, run_scope, stack_size


def in_thread(size, function):
    """What the function gives in a thread with a stack of that size."""
    found = []
    before = threading.stack_size(size)
    try:
        thread = threading.Thread(target=lambda: found.append(function()))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    return found[0]


def depth_reached():
    """How many runs nest, and what refuses the next."""
    try:
        with run_scope():
            depth, error = depth_reached()
            return depth + 1, error
    except VMError as error:
        return 0, error


def reached():
    """The same, and the stack of the thread: the system may give more than was asked for."""
    return (*depth_reached(), stack_size())


@pytest.mark.parametrize("size", [256 * 1024, 100 * 1024 * 1024])
def test_a_thread_knows_its_stack(size):
    assert size <= in_thread(size, stack_size) < 2 * 100 * 1024 * 1024


@pytest.mark.parametrize("kib", [64, 256])
def test_as_many_runs_nest_as_the_stack_has_room_for(kib):
    for _ in range(2):  # the refused one is forgotten
        depth, error, size = in_thread(kib * 1024, reached)
        assert depth == size // 1024 // 16
        assert error.code == "RX0609"
        assert f"nest deeper than the {size // 1024} KiB of this thread's stack allow" in str(error)
        assert "`threading.stack_size` gives more to threads that are started after it" in str(
            error
        )
    assert ACTIVE == []


def test_runs_of_other_threads_take_nothing_of_this_one():
    everybody = threading.Barrier(9)

    def run():
        with run_scope():
            everybody.wait()
            everybody.wait()

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    everybody.wait()
    try:
        assert len(ACTIVE) == 8
        depth, _, size = in_thread(64 * 1024, reached)
    finally:
        everybody.wait()
    for thread in threads:
        thread.join()
    assert depth == size // 1024 // 16 - FEW
    assert ACTIVE == []


def test_a_failure_inside_ends_its_run():
    with pytest.raises(ZeroDivisionError), run_scope(), run_scope(), run_scope(), run_scope():
        _ = 1 // 0
    assert ACTIVE == []
    assert stack_guard._here.depth == 0


def test_a_system_that_does_not_say_sets_no_bound(monkeypatch):
    def unknown():
        raise AttributeError("pthread_getattr_np")

    monkeypatch.setattr(stack_guard, "_MEASURES", {})
    monkeypatch.setattr(stack_guard, "_by_attributes", unknown)
    assert stack_size() is None
    depth, error = in_thread(512 * 1024, lambda: nested(60))
    assert (depth, error) == (60, None)


def nested(count):
    if count == 0:
        return 0, None
    with run_scope():
        depth, error = nested(count - 1)
        return depth + 1, error
