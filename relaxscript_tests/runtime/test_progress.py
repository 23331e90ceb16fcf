"""Progress of builds: shown where it is wanted and takes long, and gone when the build ends."""

from __future__ import annotations

import io
import threading
from types import SimpleNamespace

import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError, config
from relaxscript.runtime import progress
from relaxscript.runtime.progress import Progress, note_progress, showing_progress
from relaxscript.script import from_source

MODEL = """
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    return R.exp(x)
"""


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("RELAXSCRIPT_PROGRESS", "CI"):
        monkeypatch.delenv(name, raising=False)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    # Not that of the process, which pytest sets anew when a test begins.
    stream = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    return stream


def threads():
    """The threads that show progress."""
    return [thread for thread in threading.enumerate() if "progress" in thread.name]


@pytest.fixture
def clock(monkeypatch):
    """A clock that only a test moves on."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def waits(clock, answers):
    """A `wait` that passes the time and says in turn whether the task has ended."""
    said = iter(answers)

    def wait(seconds):
        clock[0] += seconds
        return next(said)

    return wait


def test_what_ends_within_two_seconds_shows_nothing(clock):
    stream = Terminal()
    Progress("building", stream).show(waits(clock, [True]))
    assert (stream.getvalue(), clock[0]) == ("", 2.0)


def test_a_step_that_takes_long_is_shown_and_wiped_out_at_the_end(clock):
    stream = Terminal()
    shown = Progress("building", stream)
    shown.step = "pass FuseOps"
    shown.show(waits(clock, [False, True]))
    line = "building for 2 s: pass FuseOps"
    assert stream.getvalue() == f"\r{line}\r{' ' * len(line)}\r"


def test_a_shorter_line_covers_a_longer_one(clock):
    stream = Terminal()
    shown = Progress("building", stream)
    shown.step = "kernel 10 of 11, softmax"

    def wait(seconds):
        clock[0] += seconds
        if clock[0] > 2.1:
            shown.step = "kernel 11 of 11, add"
        return clock[0] > 2.3

    shown.show(wait)
    assert "\rbuilding for 2 s: kernel 11 of 11, add    \r" in stream.getvalue()


def test_a_stream_that_is_closed_ends_no_build(clock):
    stream = Terminal()
    stream.close()
    Progress("building", stream).show(waits(clock, [False, True]))


def test_a_build_shows_its_passes_and_kernels_and_leaves_no_thread(terminal, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    steps = []
    step = property(lambda self: "", lambda _, step: steps.append(step))
    monkeypatch.setattr(Progress, "step", step, raising=False)
    rx.build(from_source(MODEL), relax_pipeline="zero")
    assert threads() == []
    assert {"pass FuseOps", "pass LegalizeOps", "kernel 1 of 1, exp"} <= {*steps}


def test_the_line_is_gone_when_a_build_fails(terminal, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with pytest.raises(DiagnosticError, match="there is no pass"):
        rx.build(from_source(MODEL), relax_pipeline=["Nowhere"])
    assert threads() == []
    assert terminal.getvalue().endswith("\r") or terminal.getvalue() == ""


def test_a_build_inside_of_a_build_shows_no_line_of_its_own(terminal):
    with showing_progress("outer"):
        with showing_progress("inner"):
            assert len(threads()) == 1
            note_progress("a step")


def test_nothing_is_shown_and_no_thread_is_made_where_nobody_looks(monkeypatch):
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=io.StringIO()))
    with showing_progress("building"):
        assert threads() == []
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=None))
    with showing_progress("building"):
        assert threads() == []


def test_a_step_outside_of_every_task_is_nothing():
    note_progress("a step")


def is_shown():
    with showing_progress("building"):
        return threads() != []


@pytest.mark.parametrize(("value", "shown"), [
    ("off", False), ("0", False), ("on", True), ("1", True), ("", True),
])  # fmt: skip
def test_the_environment_says_whether_it_is_shown(terminal, monkeypatch, value, shown):
    monkeypatch.setenv("RELAXSCRIPT_PROGRESS", value)
    assert is_shown() is shown


def test_a_block_of_python_goes_before_the_environment(terminal, monkeypatch):
    monkeypatch.setenv("RELAXSCRIPT_PROGRESS", "off")
    with config(progress=True):
        assert is_shown()
        with config(progress=False):
            assert not is_shown()
        with config(strict=True):
            assert is_shown()
    assert not is_shown()


def test_continuous_integration_shows_nothing_unless_it_is_told_to(terminal, monkeypatch):
    monkeypatch.setenv("CI", "true")
    assert not is_shown()
    monkeypatch.setenv("RELAXSCRIPT_PROGRESS", "on")
    assert is_shown()


def test_a_setting_that_is_no_bool_is_refused():
    with pytest.raises(DiagnosticError, match="`progress` is True or False, not 'yes'"):
        config(progress="yes")  # type: ignore[arg-type]
