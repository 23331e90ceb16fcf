"""A pytest plugin that writes down which places in relaxscript make diagnostics, for `sites.py`.

Whatever is reported passes through the constructor of one of a few classes; the plugin wraps these
and notes the lines of ours that are on the stack, which costs nothing where nothing is wrong. Tests
that cannot reach a mistake, because nothing in them speaks of one, are left out. The lines go to
the file that `RELAXSCRIPT_TEST_SITES` names, as JSON.

It is loaded by name (`-p`) in a process of its own, before anything of relaxscript is imported.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

PACKAGE = str(Path(__file__).resolve().parents[2] / "relaxscript") + os.sep
CLASSES = (
    ("relaxscript.errors", "Diagnostic"),
    ("relaxscript.errors", "OperandError"),
    ("relaxscript.errors", "VMError"),
    ("relaxscript.op", "ArgumentError"),
    ("relaxscript.tir_builder", "TIRError"),
    ("relaxscript.script.annotations", "AnnotationError"),
)
WORDS = ("raises", "rejected", "diagnos", "Error", "warns", "error", "refuse")

reached: set[tuple[str, int]] = set()


def note_callers() -> None:
    """Note the lines of ours that are being executed, from the innermost outwards."""
    frame = sys._getframe(2)
    while frame is not None:
        filename = frame.f_code.co_filename
        if filename.startswith(PACKAGE):
            reached.add((filename[len(PACKAGE) :].replace(os.sep, "/"), frame.f_lineno))
        frame = frame.f_back  # type: ignore[assignment]


def watch(cls: type) -> None:
    """Let every construction of `cls` note its callers."""
    construct: Any = cls.__init__

    def noting(self: Any, *args: Any, **kwargs: Any) -> None:
        note_callers()
        construct(self, *args, **kwargs)

    cls.__init__ = noting  # type: ignore[misc]


def pytest_configure(config: pytest.Config) -> None:
    for module, name in CLASSES:
        watch(getattr(importlib.import_module(module), name))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests that speak of mistakes, by themselves or by what they are made of."""
    kept = [item for item in items if speaks_of_mistakes(item)]
    left = [item for item in items if item not in kept]
    config.hook.pytest_deselected(items=left)
    items[:] = kept


def speaks_of_mistakes(item: pytest.Item) -> bool:
    function = getattr(item, "function", None)
    path = str(item.path)
    if function is None or f"{os.sep}rejected{os.sep}" in path:
        return True
    try:
        text = inspect.getsource(inspect.unwrap(function))
    except OSError:
        return True
    return any(word in text or word in item.name for word in WORDS)


def pytest_sessionfinish(session: pytest.Session) -> None:
    target = os.environ.get("RELAXSCRIPT_TEST_SITES")
    if target:
        Path(target).write_text(json.dumps(sorted(reached)), "utf-8")
