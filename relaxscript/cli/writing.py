"""Writing a mended file back: whole or not at all, with everything else of it as it was."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from relaxscript.errors import Diagnostic, DiagnosticError

from .reading import FileText

__all__ = ["encoded", "write_back"]


def write_back(file: str, before: FileText, text: str) -> None:
    """Replace the text of a file that was read as `before`; a link stays a link.

    Encoding, byte order mark, line ends and permissions stay. The new text is written beside the
    file and takes its place in one step. Raises RX0707, and the file stays as it was, when it may
    not be written, is no plain file, has changed since it was read, or cannot hold the text.
    """
    path = Path(os.path.realpath(file))
    data = encoded(file, before, text)
    try:
        if not path.is_file():
            raise _unwritable(file, "it is no plain file")
        # Replacing a file asks nothing of the file itself, and to the administrator all is allowed.
        if not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK):
            raise _unwritable(file, "it is read-only")
        _replace(file, path, before.raw, data)
    except OSError as error:
        raise _unwritable(file, error.strerror or str(error)) from None


def encoded(file: str, before: FileText, text: str) -> bytes:
    """A text as the file that was read as `before` would hold it; raises RX0707."""
    if before.source.text.encode(before.encoding) != before.raw:
        raise _unwritable(file, f"its {before.encoding} cannot be written as it was read")
    try:
        return text.encode(before.encoding)
    except UnicodeEncodeError as error:
        missing = error.object[error.start : error.end]
        raise _unwritable(file, f"its {before.encoding} has no `{missing}`") from None


def _replace(file: str, path: Path, raw: bytes, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as new:
            new.write(data)
            new.flush()
            os.fsync(new.fileno())
        _resemble(name, path)
        if path.read_bytes() != raw:
            raise _unwritable(file, "it has changed since it was read", "check it again")
        os.replace(name, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _resemble(name: str, path: Path) -> None:
    """Give a new file the owner, mode and attributes of an old one, but not its age."""
    old, new = path.stat(), os.stat(name)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        os.chown(name, old.st_uid, old.st_gid)
    shutil.copystat(path, name)
    os.utime(name)  # what is compiled of the old text must not be taken for that of the new


def _unwritable(file: str, reason: str, help: str | None = None) -> DiagnosticError:
    name = "the mended standard input" if file == "-" else f"`{file}`"
    message = f"cannot write {name}: {reason}"
    return DiagnosticError(Diagnostic("RX0707", message, None, help=help))
