"""A cache of the test's own, and a note of what was built."""

from __future__ import annotations

import pytest

from relaxscript.codegen.llvm import engine
from relaxscript.runtime.object_cache import object_cache


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of the test's own, and no code that other tests have in theirs."""
    monkeypatch.setattr(engine, "_codes", type(engine._codes)())
    monkeypatch.setenv("RELAXSCRIPT_CACHE", str(tmp_path / "cache"))
    return object_cache()


@pytest.fixture
def built(monkeypatch):
    """A note for each build that really was one."""
    from relaxscript import compiler

    done, make = [], compiler._make
    monkeypatch.setattr(compiler, "_make", lambda *args: done.append(1) or make(*args))
    return done
