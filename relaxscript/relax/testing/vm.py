"""Names that users know as `relax.testing.vm`: packed functions for tests."""

from __future__ import annotations

from relaxscript.testing.vm import (
    check_saved_func,
)

__all__ = ["check_saved_func"]
