"""Our answers to the questions of `compiler.py`, and those that ask ours alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import relaxscript as rx
from relaxscript import relax, tir
from relaxscript.ir import structural_equal, structural_hash
from relaxscript.script import from_source
from relaxscript_tests.benchmarks.front_end import program as text_of
from relaxscript_tests.benchmarks.peers.workloads import Workload

from .compiler import BINDINGS, Names, Question, build
from .steps import Program

NAMES = Names(
    relax,
    relax.TensorStructInfo,
    lambda: tir.Var("n", "int64"),
    structural_hash,
    structural_equal,
    from_source,
)


class Parse(Program):
    """Parsing the text of a user, one that was never parsed before."""

    def __init__(self) -> None:
        super().__init__(Workload(lambda side, given, w: None, dict))
        self.numbers = itertools.count()

    def load(self) -> None:
        self.text = text_of(BINDINGS)

    def compile(self) -> Callable[..., Any]:
        return from_source

    def fresh(self) -> tuple[Any, ...]:
        return (f"{self.text}# {next(self.numbers)}\n",)

    def check(self) -> float:
        return 0.0


class Growth(Program):
    """Compiling a program of so many bindings, or only running the passes of the pipeline."""

    def __init__(self, what: str, count: int) -> None:
        super().__init__(Workload(lambda side, given, w: None, dict))
        self.what, self.count = what, count

    def compile(self) -> Callable[..., Any]:
        return rx.jit if self.what == "compile" else rx.get_default_pipeline("llvm")

    def fresh(self) -> tuple[Any, ...]:
        return (build(NAMES, self.count),)

    def check(self) -> float:
        return 0.0


def program(question: Any, variant: str) -> Program:
    what, _, count = question.partition(" ")
    if count:
        return Growth(what, int(count))
    return Parse() if question == "parse" else Question(NAMES, question)
