"""What every test gets: random choices, the same on each run and as many as the effort says.

And how a run goes: folders on all processors, files by themselves in one process.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import zlib
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from relaxscript.runtime import list_global_func_names, remove_global_func
from relaxscript.runtime.collector import collector_paused
from relaxscript.transform import PassContext
from relaxscript_tests import examples
from relaxscript_tests.rejected.recorder import Recorder

settings.register_profile(
    "relaxscript",
    derandomize=True,
    max_examples=examples(1000),
    deadline=None,
    # How fast examples are made says how busy the machine is, nothing about the code under test.
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("relaxscript")

MOST = 8  # processes; each takes most of a gigabyte, and half a minute before its first test


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run folders on all processors, where nothing is said of processes (`-n`).

    A process has to read all tests before it runs the first: for a file, one is faster.
    """
    option = config.option
    if hasattr(config, "workerinput") or not config.pluginmanager.hasplugin("xdist"):
        return
    alone = option.usepdb or option.collectonly or option.capture == "no"
    if alone or option.numprocesses is not None or option.dist != "no" or option.tx:
        return
    if any((config.invocation_params.dir / arg).is_dir() for arg in config.args):
        option.numprocesses = min(MOST, processors())
        option.dist = "worksteal"


def keep_bytecode(config: pytest.Config) -> None:
    """Keep bytecode in pytest's cache, where Python may not write it beside the sources.

    Without any, each process of a run compiles all tests anew, which takes longer than most of them
    run, and each Python that a test starts compiles the package.
    """
    if sys.dont_write_bytecode and config.pluginmanager.hasplugin("cacheprovider"):
        folder = str(config.cache.mkdir("bytecode"))  # type: ignore[union-attr]
        sys.dont_write_bytecode, sys.pycache_prefix = False, folder
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on every system
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pytest_configure(config: pytest.Config) -> None:
    keep_bytecode(config)
    config.pluginmanager.register(Recorder(config))
    # Shells start their background jobs with interrupts ignored, and programs that these start
    # inherit that; tests that interrupt need the handler that Python has otherwise.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Keep from the cycle collector what collecting makes, which lives as long as the run.

    It would visit all of that again and again, while tests are collected and in every test.
    """
    with collector_paused():
        try:
            return (yield)
        finally:
            gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not any(item.iter_markers("slow")) and not any(item.iter_markers("long")):
            item.add_marker("quick")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that depend on the test's name only, so that no test moves another's."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture(autouse=True)
def registry_as_before() -> Iterator[None]:
    """Packed functions that a test registers are gone after it: another may take their names."""
    before = set(list_global_func_names())
    yield
    for name in set(list_global_func_names()) - before:
        remove_global_func(name)


@pytest.fixture(autouse=True)
def without_one_pass() -> Iterator[None]:
    """Leave out the pass that `RELAXSCRIPT_TEST_WITHOUT` names: programs mean the same without."""
    name = os.environ.get("RELAXSCRIPT_TEST_WITHOUT")
    if not name:
        yield
        return
    with PassContext(disabled_pass=[name]):
        yield
