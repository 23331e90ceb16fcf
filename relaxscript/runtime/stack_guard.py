"""Limits of nested runs: a packed function calls a machine, which calls it again, and so on.

Calls inside of a program take none of Python's stack. A run inside of a run does, and takes some of
the thread's own stack too. That would end in a crash where Python's limit comes too late: in a
thread with a small stack, or after a large `sys.setrecursionlimit`. So runs are counted where
several are under way. As many may nest in a thread as its stack surely has room for.

`with one_run():` goes around a run; `Dispatcher.call_from_outside` does the same by hand.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from relaxscript.errors import VMError

__all__ = ["ACTIVE", "FEW", "enter_run", "lacks_stack", "leave_run", "run_scope", "stack_size"]

# One entry for each run of any thread that has begun and not ended. Where these are FEW, they
# cannot be too many for any stack: counting those of each thread would cost every call.
ACTIVE: list[None] = []
FEW = 2

_ROOM = 16 * 1024  # bytes of stack for a run, and for what Python does up to the next; 5 KiB do


class _ThreadDepth(threading.local):
    """The runs that are counted of a thread, and how many these may be."""

    depth = 0
    limit = 0  # not known yet


_here = _ThreadDepth()


@contextmanager
def run_scope() -> Iterator[None]:
    """Count a run; raises `VMError` (RX0609) where the stack of the thread has no room for it."""
    counted = False
    ACTIVE.append(None)
    try:
        counted = len(ACTIVE) > FEW and enter_run()
        yield
    finally:
        ACTIVE.pop()
        if counted:
            leave_run()


def enter_run() -> bool:
    """Count a run of this thread: true, or `VMError` where there is no room for it."""
    if _here.limit == 0:
        size = stack_size()
        _here.limit = sys.maxsize if size is None else max(1, size // _ROOM - FEW)
    if _here.depth >= _here.limit:
        kib = (stack_size() or 0) // 1024
        text = f"the {kib} KiB of this thread's stack allow"
        note = "`threading.stack_size` gives more to threads that are started after it"
        raise VMError(
            f"calls through packed functions nest deeper than {text}", code="RX0609", notes=[note]
        )
    _here.depth += 1
    return True


def leave_run() -> None:
    """The end of a run that was counted."""
    _here.depth -= 1


def lacks_stack(error: BaseException) -> bool:
    """True if runs that nest in this thread have used Python's stack up.

    It ends anywhere in the innermost run, depending on how deep the first one began. So what
    happens to be called there is not to blame: the error belongs to the packed function outside.
    """
    return isinstance(error, RecursionError) and _here.depth >= FEW


def stack_size() -> int | None:
    """The bytes of stack that this thread has, None where the system does not say."""
    measure = _MEASURES.get(sys.platform, _by_attributes)
    try:
        return measure() or None
    except (AttributeError, OSError):  # another C library
        return None


def _by_attributes() -> int:
    """As glibc and musl say it."""
    library: Any = ctypes.CDLL(None)
    attributes = ctypes.create_string_buffer(512)  # 56 are wanted: pthread_attr_t
    if library.pthread_getattr_np(ctypes.c_void_p(threading.get_ident()), attributes):
        return 0
    size = ctypes.c_size_t()
    library.pthread_attr_getstacksize(attributes, ctypes.byref(size))
    library.pthread_attr_destroy(attributes)
    return size.value


def _on_darwin() -> int:
    measure: Any = ctypes.CDLL(None).pthread_get_stacksize_np
    measure.restype = ctypes.c_size_t
    return int(measure(ctypes.c_void_p(threading.get_ident())))


def _on_windows() -> int:
    low, high = ctypes.c_size_t(), ctypes.c_size_t()
    kernel: Any = getattr(ctypes, "WinDLL")("kernel32")  # noqa: B009 - not there elsewhere
    kernel.GetCurrentThreadStackLimits(ctypes.byref(low), ctypes.byref(high))
    return high.value - low.value


_MEASURES: dict[str, Callable[[], int]] = {"darwin": _on_darwin, "win32": _on_windows}
