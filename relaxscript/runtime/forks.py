"""Locks in a process that forks."""

from __future__ import annotations

import os
import threading

__all__ = ["lock_across_forks"]


def lock_across_forks() -> threading.RLock:
    """A lock that is free in a child process, whoever held it when the process forked.

    A child has the thread that forked and no other. A lock that another thread held would stay held
    for ever, and what it guards would stay half done. So forking waits for the lock. The lock is
    reentrant: a handler of a signal may fork in the thread that holds it.
    """
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )
    return lock
