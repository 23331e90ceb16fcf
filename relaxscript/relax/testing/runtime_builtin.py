"""Names that users know as `relax.testing.runtime_builtin`: numbers that builtins take."""

from __future__ import annotations

from relaxscript.testing.runtime_builtin import (
    MakeShapeCode,
    MatchShapeCode,
)

__all__ = ["MakeShapeCode", "MatchShapeCode"]
