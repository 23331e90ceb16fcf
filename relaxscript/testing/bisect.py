"""Finding the pass that breaks a program: the first after which a check fails."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

from relaxscript.ir.instrument import PassInstrument
from relaxscript.ir.module import IRModule
from relaxscript.script.difference import diff
from relaxscript.transform.pass_infra.context import PassContext, PassInfo

__all__ = ["FirstFailure", "bisect"]

Check = Callable[[IRModule], object]


@dataclass(frozen=True, repr=False)
class FirstFailure:
    """The pass after which a check first fails, the module before and after it, and why.

    `error` is what the check raised, None where it gave False.
    """

    name: str
    before: IRModule
    after: IRModule
    error: Exception | None = None

    def __str__(self) -> str:
        why = "" if self.error is None else f": {type(self.error).__name__}: {self.error}"
        return f"the check fails after the pass `{self.name}`{why}\n{diff(self.before, self.after)}"

    __repr__ = __str__  # not two whole modules


def bisect(
    pipeline: Callable[[IRModule], IRModule], mod: IRModule, check: Check
) -> FirstFailure | None:
    """The first pass of a pipeline after which `check` fails; None where it never does.

        found = bisect(get_pipeline("default"), mod, lambda m: agrees(m, x))
        print(found)

    A check fails where it gives False or raises an exception. It is asked after each pass that
    changes something, also of pipelines in pipelines. The run ends with the first failure.
    Instruments see the passes of the pipeline, not those that a check runs, as where it builds.
    Raises `ValueError` where the check fails before the first pass.
    """
    failed, error = _ask(check, mod)
    if failed:
        raise ValueError("the check fails before the first pass") from error
    watching = _Watching(check, mod)
    context = copy(PassContext.current())
    context.instruments = (*context.instruments, watching)
    try:
        with context:
            pipeline(mod)
    except _Found as found:
        return found.failure
    return None


def _ask(check: Check, mod: IRModule) -> tuple[bool, Exception | None]:
    # A check may build the module: its passes are no part of what is watched.
    context = copy(PassContext.current())
    context.instruments = ()
    try:
        with context:
            return check(mod) is False, None
    except Exception as error:
        return True, error


class _Found(BaseException):
    """The end of a run, which no pass catches."""

    def __init__(self, failure: FirstFailure) -> None:
        super().__init__(failure)
        self.failure = failure


class _Watching(PassInstrument):
    """Asks a check after each pass that gives another module than the last."""

    def __init__(self, check: Check, mod: IRModule) -> None:
        self.check, self.last = check, mod

    def run_after_pass(self, mod: IRModule, info: Any) -> None:
        if mod is self.last:
            return
        failed, error = _ask(self.check, mod)
        if failed:
            assert isinstance(info, PassInfo)
            raise _Found(FirstFailure(info.name, self.last, mod, error))
        self.last = mod
