"""The front door: `Explainer`, which `build` gives to what it makes.

Most programs are never explained, so that what it takes is imported when somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from relaxscript.errors import Span
from relaxscript.ir.module import IRModule, Target
from relaxscript.runtime import Executable
from relaxscript.transform.pass_infra.context import PassContext

if TYPE_CHECKING:
    from relaxscript.runtime.debug.explanation import Explanation
    from relaxscript.runtime.debug.profiler import Amounts

    from .answers import Answers

__all__ = ["Explainer"]


class Explainer:
    """Explains a program for a target, of which `lower` makes the lowered module.

    `build_timed` builds it with code that takes the times of the calls in it. `context` is the one
    in which the program was built.
    """

    def __init__(
        self, target: Target, lower: Callable[[], IRModule], build_timed: Callable[[], Executable],
        context: PassContext,
    ) -> None:  # fmt: skip
        self._target = target
        self._lower = lower
        self._build_timed = build_timed
        self._context = context

    def __call__(self, func_name: str | None, dims: Mapping[str, object]) -> Explanation:
        """The explanation of what a function calls, or of all; raises `VMError` for wrong sizes."""
        return self._answers.explanation(func_name, dims)

    def counted(self) -> Executable | None:
        """The program with code that takes times; None where no kernel calls another."""
        return self._timed

    def amounts(
        self, func_name: str, args: Sequence[Any]
    ) -> Callable[[str, Span | None, Any], Amounts]:
        """A function that says what is known of the calls in one call of a function."""
        return self._answers.amounts(func_name, args)

    @cached_property
    def _answers(self) -> Answers:
        from .answers import Answers

        return Answers(self._target, self._lower, self._context)

    @cached_property
    def _timed(self) -> Executable | None:
        if self._target.kind != "llvm" or not self._answers.program.has_inner_calls:
            return None
        from .answers import with_instruments

        with with_instruments(self._context):
            return self._build_timed()
