"""Files of the command: read as Python reads them, and written back whole or not at all.

"-" is the standard input.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
import tokenize
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from relaxscript.errors import Diagnostic, DiagnosticError, Source, did_you_mean, nearest
from relaxscript.errors.files import open_regular

from .notebooks import cells_of, is_notebook

__all__ = [
    "FileText", "encode", "files_in", "read", "read_text", "sources_in", "sources_of",
    "write_back",
]  # fmt: skip

# Folders whose Python nobody here wrote.
_NOT_WRITTEN_HERE = ("__pycache__", "build", "dist", "node_modules", "site-packages", "venv")


class FileText(NamedTuple):
    """A file as a source, and what writing it back needs: its bytes and their encoding."""

    source: Source
    raw: bytes
    encoding: str


def read(file: str) -> Source:
    """The source in a file, "-" being the standard input; raises RX0701 when it cannot be read."""
    return read_text(file).source


def sources_of(file: str) -> list[Source]:
    """The source in a file, or the cells of a notebook; raises RX0701 as `read` does."""
    return sources_in(read(file))


def sources_in(file: Source) -> list[Source]:
    """A file that was read, or the cells of the notebook that it is; raises RX0701."""
    if not is_notebook(file.filename):
        return [file]
    try:
        return cells_of(file.filename, file.text)
    except ValueError as error:
        raise _unreadable(file.filename, str(error)) from None


def files_in(names: Sequence[str]) -> list[str]:
    """The files named, and instead of a folder all Python files and notebooks below it.

    Folders of tools are passed by: those whose name begins with a dot or says so, and environments.
    """
    found: list[str] = []
    for name in names:
        if name == "-" or not os.path.isdir(name):
            found.append(name)
            continue
        for folder, inner, files in os.walk(name):
            inner[:] = sorted(
                each for each in inner
                if not each.startswith(".")
                and each not in _NOT_WRITTEN_HERE
                and not os.path.exists(os.path.join(folder, each, "pyvenv.cfg"))
            )  # fmt: skip
            found += [
                os.path.normpath(os.path.join(folder, file))
                for file in sorted(files)
                if file.endswith((".py", ".ipynb")) and not file.startswith(".")
            ]
    return list(dict.fromkeys(found))


def read_text(file: str) -> FileText:
    """The text and the bytes of a file; raises RX0701 when it cannot be read."""
    try:
        raw = sys.stdin.buffer.read() if file == "-" else _bytes_of(file)
        if b"\0" in raw:
            raise _unreadable(file, "it is not text: it contains null characters")
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        text = raw.decode(encoding)
    except OSError as error:
        raise _unreadable(file, error.strerror or str(error), _near(file)) from None
    except (SyntaxError, UnicodeDecodeError) as error:
        raise _unreadable(file, f"it is not text that Python can read: {error}") from None
    return FileText(Source("<stdin>" if file == "-" else file, text), raw, encoding)


def _bytes_of(file: str) -> bytes:
    with open_regular(file) as opened:
        return opened.read()


def _unreadable(file: str, reason: str, help: str | None = None) -> DiagnosticError:
    name = "the standard input" if file == "-" else f"`{file}`"
    return DiagnosticError(Diagnostic("RX0701", f"cannot read {name}: {reason}", None, help=help))


def _near(file: str) -> str | None:
    """A file beside it that somebody may have meant."""
    path = Path(file)
    try:
        names = [other.name for other in path.parent.iterdir() if other.is_file()]
    except OSError:
        return None
    near = nearest(path.name, names) if path.name not in names else None
    return did_you_mean(near and str(path.with_name(near)))


# ---------------------------------------------------------------- writing


def write_back(file: str, before: FileText, text: str) -> None:
    """Replace the text of a file that was read as `before`; a link stays a link.

    Encoding, byte order mark, line ends and permissions stay. The new text is written beside the
    file and takes its place in one step. Raises RX0707 when the file may not be written, is no
    plain file, or has changed since it was read. So it does when the file cannot hold the text. The
    file then stays as it was.
    """
    path = Path(os.path.realpath(file))
    data = encode(file, before, text)
    try:
        if not path.is_file():
            raise _unwritable(file, "it is no plain file")
        # Replacing a file asks nothing of the file itself, and to the administrator all is allowed.
        if not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK):
            raise _unwritable(file, "it is read-only")
        _replace(file, path, before.raw, data)
    except OSError as error:
        raise _unwritable(file, error.strerror or str(error)) from None


def encode(file: str, before: FileText, text: str) -> bytes:
    """The bytes of `text` in a file that was read as `before`; raises RX0707."""
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
