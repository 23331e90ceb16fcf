"""Random modules of PrimFuncs whose indices may leave their buffers, and arguments for them.

Loops, conditions, blocks, reductions, regions, views, new memory, realized regions and calls of
other PrimFuncs, with indices of every kind: of loops, of parameters, of elements of another buffer,
of runs of lanes, of results. Start at `random_accesses`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .generate.choices import Choices, Seeded

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["arguments_of", "random_accesses"]

_MODULE = """\
@I.ir_module
class M:
"""
# Every function has these parameters; what the buffer `out` has is given.
_HEADER = """\
    @T.prim_func{options}
    def {name}(x: T.Buffer(("n", 6), "int32"), at: T.Buffer((5,), "int32"),
          out: T.Buffer(({extent},), "int32"), d: T.int32, e: T.int64){result}:
        n = T.int64()
"""
# How deep calls of functions are nested, and how many functions there are beside `k`.
_CALLS_DEEP, _CALLED = 2, 3
# The shapes of buffers, as texts.
_SHAPES: dict[str, tuple[str, ...]] = {"x": ("n", "6"), "at": ("5",), "out": ("9",)}


def random_accesses(seed: int) -> str:
    """The script of the module of a seed, whose `k` is to be called."""
    functions: list[_Function] = []
    main = _AccessWriter(Seeded(seed), functions).function("k", "9")
    return _MODULE + "\n".join([main.text, *(function.text for function in functions)])


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


@dataclass(frozen=True)
class _Function:
    """A function of the module; it writes what it is given, or it only gives a number."""

    name: str
    gives_number: bool
    text: str


class _AccessWriter:
    """The writer of one function; `numbers` and `buffers` are what is in scope."""

    def __init__(self, choices: Choices, functions: list[_Function], deep: int = 0) -> None:
        self.choices = choices
        self.functions = functions  # those of the module that may be called
        self.deep = deep
        self.lines: list[str] = []
        self.indent = 2
        self.count = 0
        self.numbers = ["d", "e", "n"]
        self.buffers = dict(_SHAPES)
        self.dtypes = dict.fromkeys(_SHAPES, "int32")
        self.starts: dict[str, str] = {}  # where the indices of a buffer begin, unless at 0
        self.strided: set[str] = set()
        self.calls = True  # whether an index may be what a function gives

    def function(self, name: str, extent: str) -> _Function:
        """A function that writes into its buffers."""
        if extent == '"p"':
            self.line("p = T.int64()")
            self.numbers.append("p")
        self.buffers["out"] = (extent.strip('"'),)
        for _ in range(self.choices.integer(1, 3)):
            self.statement(3)
        header = _HEADER.format(options="", name=name, extent=extent, result="")
        return _Function(name, False, header + self.text())

    def number_function(self, name: str) -> _Function:
        """A function that gives a number, unless it fails or ends before."""
        if self.choices.chance(30):
            self.line(f'assert {self.condition()}, "as was said"')
        with self.inside(f"if {self.condition()}:"):
            self.line(f'return T.cast({self.index(2)}, "int64")')
        if self.choices.chance(90):
            self.line(f'return T.cast({self.index(2)}, "int64")')
        header = _HEADER.format(
            options="(private=True)", name=name, extent="9", result=" -> T.int64"
        )
        return _Function(name, True, header + self.text())

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

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
            self.region, self.assertion, self.reduction, self.realize, self.call,
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
        # Two equal calls are not one number, and a slice has so many elements as can be told.
        self.calls = False
        first, second = f"T.max({self.index(1)}, 0) % 7", self.index(1)
        self.calls = True
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

    @contextmanager
    def block_body(self, name: str, *axes: str) -> Iterator[None]:
        """The body of a block, which says what it reads and writes where nobody can tell."""
        with self.inside(f'with T.block("{name}"):', *axes):
            first = len(self.lines)
            yield
            if any("M.f" in line for line in self.lines[first:]):
                indent = "    " * self.indent
                marks = (f"{indent}{name} = T.axis.", f"{indent}T.where", f"{indent}v")
                while first < len(self.lines) and self.lines[first].startswith(marks):
                    first += 1
                self.lines[first:first] = [f"{indent}T.reads()", f"{indent}T.writes()"]

    def block(self, depth: int) -> None:
        outer, inner, axis = self.name("i"), self.name("i"), self.name("v")
        extent, tile = self.choices.pick((("n", 4), ("6", 4), ("9", 2), ("5", 3)))
        tiles = f"({extent} + {tile - 1}) // {tile}"
        with (
            self.inside(f"for {outer}, {inner} in T.grid({tiles}, {tile}):", outer, inner),
            self.block_body(axis, axis),
        ):
            self.line(f"{axis} = T.axis.spatial({extent}, {outer} * {tile} + {inner})")
            if self.choices.chance(70):
                self.line(f"T.where({outer} * {tile} + {inner} < {extent})")
            self.statement(depth)

    def reduction(self, depth: int) -> None:
        """A block whose first instance of each element begins with a value of its own."""
        outer, inner, kept, reduced = (self.name(start) for start in "iivr")
        extent = self.choices.pick(("5", "9", "n"))
        steps = self.choices.pick(("n", "3", "6", "0"))
        at = self.choices.pick((inner, inner, inner, f"{steps} - 1 - {inner}", f"{inner} + 1"))
        where = f"{inner} {self.choices.pick(('> 0', '< 2', '>= d'))}" * self.choices.chance(30)
        with (
            self.inside(f"for {outer}, {inner} in T.grid({extent}, {steps}):", outer, inner),
            self.block_body(kept, kept),
        ):
            self.line(f"{kept} = T.axis.spatial({extent}, {outer})")
            self.line(f"{reduced} = T.axis.reduce({steps}, {at})")
            if where:
                self.line(f"T.where({where})")
            index = self.choices.pick((kept, kept, f"({kept} + {self.index(1)}) % 9"))
            with self.inside("with T.init():"):
                self.line(f"out[{index}] = {self.value()}")
            self.numbers.append(reduced)
            self.line(f"out[{index}] = out[{index}] + {self.value()}")
            if depth and self.choices.chance(30):
                self.statement(depth - 1)

    def realize(self, depth: int) -> None:
        """Memory for a region, which is written before it is read; or a look at a parameter's."""
        start, count = self.choices.pick(("0", self.index(1))), self.choices.pick(("3", "n", "4"))
        condition = self.choices.pick(("", "", f", {self.condition()}"))
        if self.choices.chance(25):
            with self.inside(f'with T.realize(out[{start}:{start} + {count}], ""{condition}):'):
                self.statement(depth)
            return
        name, var = self.name("z"), self.name("i")
        self.line(f'{name} = T.Buffer((16,), "int32")')
        with self.inside(f'with T.realize({name}[{start}:{start} + {count}], ""{condition}):'):
            with self.inside(f"for {var} in range({count}):", var):
                self.line(f"{name}[{start} + {var}] = 7")
            self.starts[name] = start
            self._with_buffer(name, (count,), "int32", depth)

    def call(self, depth: int) -> None:
        """Other buffers for a function's, whose shapes may not be those that it wants."""
        function = self.called(gives_number=False)
        if function is not None:
            whole = [
                name for name, dims in self.buffers.items()
                if self.dtypes[name] == "int32" and len(dims) == 1
                and name not in self.strided
            ]  # fmt: skip
            out = self.choices.pick(("out", *whole))
            self.line(f"M.{function.name}({self.arguments(out)})")
        self.statement(depth)

    def arguments(self, out: str) -> str:
        return f'x, at, {out}, d, T.cast({self.index(1)}, "int64")'

    def called(self, *, gives_number: bool) -> _Function | None:
        """An old or a new function to be called; None where there are enough."""
        old = [function for function in self.functions if function.gives_number == gives_number]
        enough = self.deep == _CALLS_DEEP or len(self.functions) >= _CALLED
        if enough or (old and self.choices.chance(50)):
            return self.choices.pick(old) if old else None
        writer = _AccessWriter(self.choices, self.functions, self.deep + 1)
        name = f"f{self.deep}{len(self.functions)}"
        if gives_number:
            made = writer.number_function(name)
        else:
            made = writer.function(name, self.choices.pick(('"p"', "9", "8")))
        self.functions.append(made)
        return made

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
            self.strided.add(name)
        shape = "".join(f"{dim}, " for dim in dims)
        owner = self.choices.pick(("out", "out", "x"))
        self.line(f'{name} = T.decl_buffer(({shape}), "{dtype}", data={owner}.data{extra})')
        self._with_buffer(name, dims, dtype, depth)

    def region(self, depth: int) -> None:
        name, block = self.name("m"), self.name("b")
        start, count = self.choices.pick(("0", self.index(1))), self.choices.pick(("2", "3", "n"))
        with self.block_body(block):
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
        start = f" + {self.starts[name]}" if name in self.starts else ""
        indices = [
            f"({self.index(2)}) % {dim}{start}" if self.choices.chance(75) else self.index(2)
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
        if self.calls and self.choices.chance(4):
            function = self.called(gives_number=True)
            if function is not None:
                return f"M.{function.name}({self.arguments('out')})"
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
