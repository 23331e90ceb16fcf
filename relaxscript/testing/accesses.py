"""Random scripts of PrimFuncs whose indices may leave their buffers, and arguments for them.

Loops, conditions, blocks, regions, views and new memory, with indices of every kind: of loops, of
parameters, of elements of another buffer, of runs of lanes. Start at `random_accesses`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .choices import Choices, Seeded

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["arguments_of", "random_accesses"]

_HEADER = """\
@T.prim_func
def k(x: T.Buffer(("n", 6), "int32"), at: T.Buffer((5,), "int32"), out: T.Buffer((9,), "int32"),
      d: T.int32, e: T.int64):
    n = T.int64()
"""
# The shapes of buffers, as texts.
_SHAPES: dict[str, tuple[str, ...]] = {"x": ("n", "6"), "at": ("5",), "out": ("9",)}


def random_accesses(seed: int) -> str:
    """The script that a number stands for."""
    return _Writer(Seeded(seed)).script()


def arguments_of(seed: int) -> list[Any]:
    """Arguments for a script, most of whose numbers are small."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(0, 5))
    large = random.integers(0, 12) == 0
    return [
        random.integers(0, 100, (rows, 6), dtype="int32"),
        random.integers(-1, 7, 5, dtype="int32"),
        random.integers(0, 100, 9, dtype="int32"),
        int(random.integers(-(1 << 31), 1 << 31)) if large else int(random.integers(-1, 6)),
        int(random.integers(-(1 << 63), (1 << 63) - 1)) if large else int(random.integers(-2, 9)),
    ]


class _Writer:
    """Writes one script; what is in scope where it writes stands in `numbers` and `buffers`."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.lines: list[str] = []
        self.indent = 1
        self.count = 0
        self.numbers = ["d", "e", "n"]
        self.buffers = dict(_SHAPES)
        self.dtypes = dict.fromkeys(_SHAPES, "int32")

    def script(self) -> str:
        for _ in range(self.choices.integer(1, 3)):
            self.statement(3)
        return _HEADER + "".join(f"{line}\n" for line in self.lines)

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def name(self, start: str) -> str:
        self.count += 1
        return f"{start}{self.count}"

    @contextmanager
    def inside(self, header: str, *numbers: str) -> Iterator[None]:
        """The body of a statement, in which there are more numbers."""
        self.line(header)
        outer = list(self.numbers), dict(self.buffers)
        self.numbers += numbers
        self.indent += 1
        yield
        self.indent -= 1
        self.numbers, self.buffers = outer

    # ---- statements

    def statement(self, depth: int) -> None:
        simple: list[Callable[[], None]] = [self.store, self.store, self.add, self.run]
        nested: list[Callable[[int], None]] = [
            self.loop, self.loop, self.branch, self.block, self.let, self.memory, self.view,
            self.region, self.assertion,
        ]  # fmt: skip
        if not depth or self.choices.chance(15):
            self.choices.pick(simple)()
        else:
            self.choices.pick(nested)(depth - 1)

    def store(self) -> None:
        name = self.choices.pick([b for b in self.buffers if b not in ("x", "at")])
        self.line(f"{self.element(name)} = T.cast({self.value()}, {self.dtypes[name]!r})")

    def add(self) -> None:
        self.line(f"{self.element('out')} += {self.value()}")

    def run(self) -> None:
        """Four elements side by side, by a vector."""
        first, second = f"T.max({self.index(1)}, 0) % 7", self.index(1)
        row, second = self.index(0), self.choices.pick((f"({second}) % 2", second))
        source = self.choices.pick((f"x[{row}, {second}:{second} + 4]", f"at[{second}:{second}+4]"))
        self.line(f"out[{first}:{first} + 4] = {source}")

    def loop(self, depth: int) -> None:
        var = self.name("i")
        few = f"T.min({self.index(1)}, 7)"
        extent = self.choices.pick(("4", "6", "n", "n", "n - 1", "n * 6", few))
        kind = self.choices.pick(("range", "range", "T.parallel", "T.unroll", "T.vectorized"))
        start = self.choices.pick(("", "", "", "1, "))
        if start or kind in ("T.unroll", "T.vectorized"):
            extent = self.choices.pick(("4", "5"))
        with self.inside(f"for {var} in {kind}({start}{extent}):", var):
            self.statement(depth)

    def branch(self, depth: int) -> None:
        with self.inside(f"if {self.condition()}:"):
            self.statement(depth)
        if self.choices.chance(30):
            with self.inside("else:"):
                self.statement(depth)

    def block(self, depth: int) -> None:
        outer, inner, axis = self.name("i"), self.name("i"), self.name("v")
        extent, tile = self.choices.pick((("n", 4), ("6", 4), ("9", 2), ("5", 3)))
        tiles = f"({extent} + {tile - 1}) // {tile}"
        with (
            self.inside(f"for {outer}, {inner} in T.grid({tiles}, {tile}):", outer, inner),
            self.inside(f'with T.block("{axis}"):', axis),
        ):
            self.line(f"{axis} = T.axis.spatial({extent}, {outer} * {tile} + {inner})")
            if self.choices.chance(70):
                self.line(f"T.where({outer} * {tile} + {inner} < {extent})")
            self.statement(depth)

    def let(self, depth: int) -> None:
        var = self.name("k")
        self.line(f'{var}: T.int64 = T.cast({self.index(2)}, "int64")')
        self.numbers.append(var)
        self.statement(depth)
        self.numbers.remove(var)

    def assertion(self, depth: int) -> None:
        if self.choices.chance(50):
            self.line('assert 0 <= d and d < 5, "d is small"')
        self.line(f'assert {self.condition()}, "as was said"')
        self.statement(depth)

    def memory(self, depth: int) -> None:
        """New memory, which is written before anything reads it."""
        name, var = self.name("t"), self.name("i")
        extent = self.choices.pick(
            ("7", "n", "n + 2", "n * 2", "T.min(d, 9)", "e * 4611686018427387904")
        )
        self.line(f'{name} = T.decl_buffer(({extent},), "int32")')
        with self.inside(f"for {var} in range({extent if len(extent) < 12 else 4}):", var):
            self.line(f"{name}[{var}] = 7")
        self._with_buffer(name, (extent,), "int32", depth)

    def view(self, depth: int) -> None:
        """Another buffer over the memory of one, which may be too large for it."""
        name, dtype = self.name("w"), self.choices.pick(("int32", "uint8", "int64", "int16"))
        dims = self.choices.pick(
            (("4",), ("3",), ("2", "2"), ("9",), ("10",), ("n",), ("d", "2"), ("e",))
        )
        offsets = ("0", "0", "1", "d", "-1")
        extra = self.choices.pick(("", f", elem_offset={self.choices.pick(offsets)}"))
        if len(dims) == 1 and self.choices.chance(25):
            extra += f", strides=({self.choices.pick(('2', 'd', '-1', 'e'))},)"
        shape = "".join(f"{dim}, " for dim in dims)
        owner = self.choices.pick(("out", "out", "x"))
        self.line(f'{name} = T.decl_buffer(({shape}), "{dtype}", data={owner}.data{extra})')
        self._with_buffer(name, dims, dtype, depth)

    def region(self, depth: int) -> None:
        name, block = self.name("m"), self.name("b")
        start, count = self.choices.pick(("0", self.index(1))), self.choices.pick(("2", "3", "n"))
        with self.inside(f'with T.block("{block}"):'):
            dims = self.choices.pick(((count,), ("3",), (count,)))
            self.line(
                f"{name} = T.match_buffer(out[{start}:{start} + {count}], ({dims[0]},), "
                '"int32", offset_factor=1)'
            )
            self._with_buffer(name, dims, "int32", depth)

    def _with_buffer(self, name: str, dims: tuple[str, ...], dtype: str, depth: int) -> None:
        outer = dict(self.buffers)
        self.buffers[name], self.dtypes[name] = dims, dtype
        for _ in range(self.choices.integer(1, 2)):
            self.statement(depth)
        self.buffers = outer

    # ---- expressions

    def element(self, name: str) -> str:
        indices = [
            f"({self.index(2)}) % {dim}" if self.choices.chance(75) else self.index(2)
            for dim in self.buffers[name]
        ]
        return f"{name}[{', '.join(indices)}]"

    def value(self) -> str:
        name = self.choices.pick(list(self.buffers))
        load = f'T.cast({self.element(name)}, "int32")'
        match self.choices.integer(0, 3):
            case 0:
                return f"T.if_then_else({self.condition()}, {load}, 1)"
            case 1:
                other = f'T.cast({self.element(self.choices.pick(list(self.buffers)))}, "int32")'
                return f"{load} + {other}"
        return load

    def index(self, depth: int) -> str:
        """An integer."""
        if not depth or self.choices.chance(50):
            # The loop around it is the most likely one.
            return self.choices.pick((*self.numbers[:-4:-1], self.numbers[-1], "0", "3"))
        a, b = self.index(depth - 1), self.index(depth - 1)
        number = self.choices.pick((1, 2, 3, 4))
        return self.choices.pick(
            (
                f"({a} + {number})", f"({a} - {number})", f"({a} + {b})", f"{a} * {number}",
                f"{a} // {number}", f"{a} % {number + 1}", f"T.min({a}, {b})", f"T.max({a}, 0)",
                f"at[{a}]", f"T.Select({a} < {number}, {a}, 0)", f"(n - 1 - {a})",
            )
        )  # fmt: skip

    def condition(self) -> str:
        a, b = self.index(1), self.index(1)
        number = self.choices.pick((3, 4, 6, 9))
        both = f"0 <= {a} and {a} < {number}"
        return self.choices.pick(
            (both, both, f"{a} < {b}", f"{a} < {number}", f"{a} >= 1", f"not {a} == {b}",
             f"{a} < n and out[{a}] > 3", f"{a} < 0 or {a} > 3")
        )  # fmt: skip
