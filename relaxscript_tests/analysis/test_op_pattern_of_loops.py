"""Patterns of random loops, scans and scatters among them: none is better than they show."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from relaxscript import tir
from relaxscript.analysis import OpPattern, op_pattern
from relaxscript.ir.walk import walk
from relaxscript.script import from_source
from relaxscript_tests import examples
from relaxscript_tests.analysis.test_op_pattern import is_projection

SIZE = 5
# Axes of operand, memory between and result.
RANKS = {"x": 2, "v": 1, "t": 1, "y": 1}
HEAD = f"""
@T.prim_func
def main(x: T.Buffer(({SIZE}, {SIZE}), "int64"), v: T.Buffer(({SIZE},), "int64"), y: T.Buffer(({SIZE},), "int64")):
    t = T.alloc_buffer(({SIZE},), "int64")
"""  # noqa: E501


class Writer:
    """Random statements over the buffers."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []

    def program(self) -> str:
        for _ in range(self.rng.randint(1, 3)):
            if self.rng.random() < 0.2:
                self.reduction()
            else:
                self.loop("    ", [])
        return HEAD + "\n".join(self.lines)

    def reduction(self) -> None:
        name = self.rng.choice("ty")
        self.lines += [
            f"    for a in range({SIZE}):",
            f"        {name}[a] = T.int64(0)",
            f"        for b in range({SIZE}):",
            f"            {name}[a] = {name}[a] + {self.load(['a', 'b'])}",
        ]

    def loop(self, space: str, around: list[str]) -> None:
        var = f"i{len(self.lines)}"
        extent = SIZE if self.rng.random() < 0.9 else SIZE - 1
        self.lines.append(f"{space}for {var} in range({extent}):")
        inside = [*around, var]
        for _ in range(self.rng.choice([1, 1, 2])):
            if len(inside) < 2 and self.rng.random() < 0.4:
                self.loop(space + "    ", inside)
            else:
                self.store(space + "    ", inside)

    def store(self, space: str, around: list[str]) -> None:
        if self.rng.random() < 0.15:
            self.lines.append(f"{space}if {self.load(around)} > 1:")
            space += "    "
        name = self.rng.choice("tyy")
        place = f"{name}[{self.index(around, 0.95)}]"
        value = self.load(around)
        if self.rng.random() < 0.4:
            value = f"{value} + {self.load(around)}"
        if self.rng.random() < 0.3:
            value = self.rng.choice([f"{place} + {value}", f"T.max({value}, {place})",
                                     f"{place} * T.int64(2) + {value}"])  # fmt: skip
        elif self.rng.random() < 0.3:
            value = "T.int64(0)"
        self.lines.append(f"{space}{place} = {value}")

    def load(self, around: list[str]) -> str:
        name = self.rng.choice("xxvvty")
        indices = [self.index(around, 0.7) for _ in range(RANKS[name])]
        return f"{name}[{', '.join(indices)}]"

    def index(self, around: list[str], plain: float) -> str:
        var = self.rng.choice(around)
        if self.rng.random() < plain:
            return var
        return self.rng.choice([f"{SIZE - 1} - {var}", "0", f"T.max({var} - 1, 0)"])


def run(function: tir.PrimFunc, x: Any, v: Any, start: int) -> Any:
    y = np.full(SIZE, start, "int64")
    function(x, v, y)
    return y


def most_elements(function: tir.PrimFunc, buffer: Any, through: tuple[Any, ...] = ()) -> int:
    """The number of elements that an element of a buffer may be made of, by the text."""
    count = 0
    loads = [node for node in walk(function.body) if isinstance(node, tir.BufferLoad)]
    for load in loads:
        if load.buffer in (buffer, *through):
            continue
        name = load.buffer.name
        count += 1 if name in "xv" else most_elements(function, load.buffer, (buffer, *through))
    return count


def test_no_pattern_of_loops_is_better_than_their_elements_show():
    rng = random.Random(3)
    found: dict[OpPattern, int] = {}
    for _ in range(examples(2000)):
        text = Writer(rng).program()
        function = from_source(text)
        assert isinstance(function, tir.PrimFunc)
        pattern = op_pattern(function)
        found[pattern] = found.get(pattern, 0) + 1
        if pattern is not OpPattern.OPAQUE:
            check(function, pattern, text)
    rare = {OpPattern.TUPLE, OpPattern.BROADCAST, OpPattern.COMM_REDUCE}
    assert set(found) >= set(OpPattern) - rare


def check(function: tir.PrimFunc, pattern: OpPattern, text: str) -> None:
    numbers = np.random.default_rng(5)
    x, v = numbers.integers(-3, 4, (SIZE, SIZE)), numbers.integers(-3, 4, SIZE)
    before = run(function, x, v, 0)
    # What was in the result does not matter.
    assert (before == run(function, x, v, 7)).all(), text
    if pattern > OpPattern.INJECTIVE:
        return
    result = next(b for b in function.buffer_map.values() if b.name == "y")
    for operand in (x, v):
        count = np.zeros(SIZE, "int64")
        for index in np.ndindex(*operand.shape):
            kept, operand[index] = operand[index], 50
            changed = run(function, x, v, 0) != before
            operand[index] = kept
            count += changed
            if changed.any() and pattern <= OpPattern.BROADCAST:
                assert is_projection(operand.shape, index, changed), text
        assert (count <= most_elements(function, result)).all(), text
