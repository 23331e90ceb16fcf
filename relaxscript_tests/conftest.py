"""What every test gets: random choices, the same on each run and as many as the effort says."""

from __future__ import annotations

import signal
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from relaxscript_tests import examples

settings.register_profile(
    "relaxscript",
    derandomize=True,
    max_examples=examples(1000),
    deadline=None,
    # How fast examples are made says how busy the machine is, nothing about the code under test.
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("relaxscript")


def pytest_configure() -> None:
    # Shells start their background jobs with interrupts ignored, and programs that these start
    # inherit that; tests that interrupt need the handler that Python has otherwise.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that depend on the test's name only, so that no test moves another's."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
