"""What is asked of a compiler over a program of many bindings, in ours and in apache-tvm.

The program is a function over a symbolic batch: product, bias, relu, multiply, tanh, residual,
again and again. Every call gets a program that nobody has asked anything of, which is made outside
of the clock.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from relaxscript_tests.benchmarks.peers.clock import WrongResult
from relaxscript_tests.benchmarks.peers.workloads import Workload

from .steps import Program

BINDINGS = 1_000


class Names(NamedTuple):
    """Where one of the two has what the other has elsewhere."""

    relax: ModuleType
    tensor: Callable[..., Any]
    size: Callable[[], Any]
    structural_hash: Callable[[Any], Any]
    structural_equal: Callable[[Any, Any], bool]
    from_source: Callable[[str], Any]


def build(names: Names, count: int) -> Any:
    """A module with that many bindings, by a BlockBuilder."""
    relax, op, n = names.relax, names.relax.op, names.size()
    x, w, b = (
        relax.Var(name, names.tensor(shape, "float32"))
        for name, shape in (("x", (n, 64)), ("w", (64, 64)), ("b", (64,)))
    )
    builder = relax.BlockBuilder()
    emit = builder.emit
    steps = (
        lambda h: op.matmul(h, w), lambda h: op.add(h, b), op.nn.relu,
        lambda h: op.multiply(h, x), op.tanh, lambda h: op.add(h, x),
    )  # fmt: skip
    with builder.function("main", [x, w, b]):
        with builder.dataflow():
            h = x
            for step, _ in zip(itertools.cycle(steps), range(count)):
                h = emit(step(h))
            result = builder.emit_output(h)
        builder.emit_func_output(result)
    return builder.finalize()


class Question(Program):
    """One question, asked in each call of a new program."""

    def __init__(self, names: Names, question: str) -> None:
        super().__init__(Workload(lambda side, given, w: None, dict))
        self.names = names
        self.question = question
        self.numbers = itertools.count()

    def load(self) -> None:
        self.printed = self.made().script()

    def made(self) -> Any:
        return build(self.names, BINDINGS)

    def compile(self) -> Callable[..., Any]:
        names, relax = self.names, self.names.relax
        asked: dict[str, Callable[..., Any]] = {
            "structural_hash": names.structural_hash,
            "structural_equal": names.structural_equal,
            "normalize": relax.transform.Normalize(),
            "well_formed": relax.analysis.well_formed,
            "build": lambda: build(names, BINDINGS),
            "print": lambda mod: mod.script(),
            "parse_again": names.from_source,
        }
        self.function = asked[self.question]
        return self.function

    def fresh(self) -> tuple[Any, ...]:
        if self.question == "build":
            return ()
        if self.question == "parse_again":
            return (f"{self.printed}\n# {next(self.numbers)}\n",)
        if self.question == "structural_equal":
            return self.made(), self.made()
        return (self.made(),)

    def array(self, output: Any) -> Any:
        self.answer = output
        return output

    def check(self) -> float:
        """Zero, after a look at what the first call has answered."""
        answer, module = self.answer, self.made()
        right = {
            "structural_hash": lambda: answer == self.names.structural_hash(module),
            "structural_equal": lambda: answer is True,
            "well_formed": lambda: answer in (True, None),  # theirs raises, or says nothing
            "print": lambda: answer == self.printed,
        }.get(self.question, lambda: self.names.structural_equal(answer, module))
        if not right():
            raise WrongResult("the answer is wrong")
        return 0.0
