"""The yardstick of parsing: `ast.parse`, in a process that has imported what ours has.

What a process has in memory costs the collector time, and ours could not be without it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .compiler_by_ours import Parse
from .steps import Program


class PythonParse(Parse):
    """Python's own parser on the same text."""

    def compile(self) -> Callable[..., Any]:
        return ast.parse


def program(question: Any, variant: str) -> Program:
    return PythonParse()
