"""Which places in relaxscript make diagnostics while tests of bad input run, for `sites.py`.

Whatever is reported passes through the constructor of one of a few classes; these are wrapped, and
the lines of ours that are on the stack are noted, which costs nothing where nothing is wrong. Only
tests that can look at a mistake count: nothing in the others speaks of one.

Each process that runs tests has a `Recorder`. That of the process which was started judges what all
of them noted, at the end of a run of the whole suite; a run of a part is not judged.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from relaxscript_tests.rejected.sites import all_sites, unreached

__all__ = ["Recorder"]

TESTS = Path(__file__).resolve().parents[1]
PACKAGE = str(TESTS.parent / "relaxscript") + os.sep
CLASSES = (
    ("relaxscript.errors", "Diagnostic"),
    ("relaxscript.errors", "OperandError"),
    ("relaxscript.errors", "VMError"),
    ("relaxscript.op", "ArgumentError"),
    ("relaxscript.tir_builder", "TIRError"),
    ("relaxscript.script.names.annotations", "AnnotationError"),
)
# Rooms whose tests are of bad input among others; what runs whole programs is not needed here.
ROOMS = frozenset(
    "analysis arith builder cli codegen dpl errors frontend graph interpreter ir op opdef rejected "
    "runtime script semantics sinfo site te testing tir_builder training transform visitor "
    "weights".split()
)
WORDS = ("raises", "rejected", "diagnos", "Error", "warns", "error", "refuse", "mistake", "RX0")


class Recorder:
    """A pytest plugin that notes the lines of relaxscript which report mistakes."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.reached: set[tuple[str, int]] = set()
        self.listens = False
        for module, name in CLASSES:
            self.watch(getattr(importlib.import_module(module), name))

    def watch(self, cls: type) -> None:
        """Let every construction of `cls` note its callers."""
        construct: Any = cls.__init__  # type: ignore[misc]

        @functools.wraps(construct)
        def noting(made: Any, *args: Any, **kwargs: Any) -> None:
            if self.listens:
                self.note_callers()
            construct(made, *args, **kwargs)

        cls.__init__ = noting  # type: ignore[misc]

    def note_callers(self) -> None:
        """Note the lines of ours that are being executed, from the innermost outwards."""
        frame = sys._getframe(2)
        while frame is not None:
            filename = frame.f_code.co_filename
            if filename.startswith(PACKAGE):
                path = filename[len(PACKAGE) :].replace(os.sep, "/")
                self.reached.add((path, frame.f_lineno))
            frame = frame.f_back  # type: ignore[assignment]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self.listens = is_of_bad_input(item.path) and speaks_of_mistakes(item)
        try:
            return (yield)
        finally:
            self.listens = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what another process noted, which has ended."""
        self.reached.update(map(tuple, getattr(node, "workeroutput", {}).get("reached", ())))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["reached"] = sorted(self.reached)
        elif exitstatus == pytest.ExitCode.OK and is_whole(self.config):
            self.judge(session)

    def judge(self, session: pytest.Session) -> None:
        """Fail the run that has not reached every place."""
        sites = all_sites()
        missed = unreached(sites, self.reached)
        if not missed:
            return
        listed = "\n".join(map(str, missed))
        report = pytest.TestReport(
            "relaxscript_tests/rejected/test_every_raise.py::every place that reports a mistake",
            (str(Path(__file__)), None, "every place that reports a mistake is reached"),
            {}, "failed", f"{len(missed)} of {len(sites)} are never reached:\n{listed}", "call",
        )  # fmt: skip
        self.config.hook.pytest_runtest_logreport(report=report)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def is_whole(config: pytest.Config) -> bool:
    """Whether a run goes through the whole suite, but for what only the long run goes through."""
    named = {(config.invocation_params.dir / arg).resolve() for arg in config.args}
    chosen = ("keyword", "deselect", "ignore", "ignore_glob", "lf", "collectonly", "stepwise")
    return (
        bool(named & {TESTS, TESTS.parent})
        and not any(getattr(config.option, name, None) for name in chosen)
        and config.option.markexpr in ("", "not long")
    )


def is_of_bad_input(path: Path) -> bool:
    """Whether the tests of a file are in a room with bad input, or in none."""
    folder = path.relative_to(TESTS).parts[0] if path.is_relative_to(TESTS) else ""
    return folder in ROOMS or folder.startswith("test_")


def speaks_of_mistakes(item: pytest.Item) -> bool:
    """Whether a test looks at mistakes, by itself or by what it is made of."""
    function = getattr(item, "function", None)
    if function is None or hasattr(function, "program") or "rejected" in str(item.path):
        return True
    return any(word in item.name for word in WORDS) or _speaks_of_mistakes(function)


@functools.cache
def _speaks_of_mistakes(function: Callable[..., Any]) -> bool:
    try:
        text = inspect.getsource(inspect.unwrap(function))
    except OSError:
        return True
    return any(word in text for word in WORDS)
