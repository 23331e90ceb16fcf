"""A plugin of pytest that runs the tests as if llvmlite were not installed.

    python -m pytest -p relaxscript_tests.without_llvmlite

Nothing but native code needs it: a test that asks for that ends in the diagnostic which says so,
and is left out. Every other test must pass.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any

import pytest

__all__ = ["pytest_runtest_makereport"]

for name in ("llvmlite", "llvmlite.binding", "llvmlite.ir"):
    sys.modules[name] = None  # type: ignore[assignment]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, Any]:
    """Leave out a test that fails because there is no native code."""
    report = yield
    if call.excinfo is not None and _asks_for_native_code(call.excinfo.value):
        report.outcome = "skipped"
        report.longrepr = (str(item.fspath), 0, "needs llvmlite")
    return report


def _asks_for_native_code(error: BaseException | None) -> bool:
    seen = 0
    while error is not None and seen < 10:
        codes = {getattr(d, "code", None) for d in getattr(error, "diagnostics", ())}
        if "RX0702" in codes or (isinstance(error, ImportError) and "llvmlite" in str(error)):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False
