"""Opening files that somebody named: only those that have an end, and never waiting for one."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

__all__ = ["open_regular"]


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file to read its bytes.

    Raises `OSError`, at once, for all else: a named pipe waits for a writer, and a device such as
    `/dev/zero` has no end.
    """
    # Where it is known, this flag keeps even opening a pipe from waiting.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise
