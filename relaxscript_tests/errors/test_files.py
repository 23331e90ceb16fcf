"""Files are opened where they have an end; what else a name stands for is refused at once."""

from __future__ import annotations

import os

import pytest

from relaxscript.errors.files import open_regular


def test_a_regular_file_is_opened_also_through_a_link(tmp_path):
    (tmp_path / "a").write_bytes(b"\0\r\n")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for name in ("a", "b"):
        with open_regular(tmp_path / name) as file:
            assert file.read() == b"\0\r\n"


def test_a_folder_is_a_folder(tmp_path):
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        open_regular(tmp_path)


def test_pipes_and_devices_are_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(OSError, match="it is no regular file"):
            open_regular(path)


def test_nothing_stays_open_of_what_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    before = os.dup(0)
    os.close(before)
    with pytest.raises(OSError, match="it is no regular file"):
        open_regular(tmp_path / "pipe")
    after = os.dup(0)
    os.close(after)
    assert after == before
