"""Random programs of blocks, and random steps of schedules."""

from __future__ import annotations

import random
from collections.abc import Callable

from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.tir import Schedule, ScheduleError

HEAD = """
from relaxscript.script import tir as T
@T.prim_func
def main({params}):
{body}
"""


class _Program:
    """The text of a function of stages, each of which computes a buffer of those before."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.made: list[tuple[str, tuple[str, ...]]] = []
        self.symbolic = rng.random() < 0.3

    def text(self) -> str:
        rng = self.rng
        rows = "n" if self.symbolic else str(rng.randint(1, 7))
        shape = (rows, str(rng.randint(2, 7)))
        self.made = [("X", shape)]
        for number in range(rng.randint(1, 3)):
            self.stage(f"B{number}")
            if rng.random() < 0.3:
                self.change(f"P{number}")
        params = [self.param("X"), self.param(self.made[-1][0])]
        allocated = [
            f"    {name} = T.alloc_buffer({self.shape(dims, False)}, 'int32')"
            for name, dims in self.made[1:-1]
        ]
        body = (["    n = T.int64()"] if self.symbolic else []) + allocated + self.lines
        return HEAD.format(params=", ".join(params), body="\n".join(body))

    def shape(self, dims: tuple[str, ...], quoted: bool) -> str:
        return "(" + "".join(f'"{d}", ' if quoted and d == "n" else f"{d}, " for d in dims) + ")"

    def param(self, name: str) -> str:
        dims = dict(self.made)[name]
        return f"{name}: T.Buffer({self.shape(dims, True)}, 'int32')"

    def stage(self, name: str) -> None:
        rng = self.rng
        source, dims = rng.choice(self.made)
        kinds: list[Callable[[str, str, tuple[str, ...]], None]] = [self.elementwise]
        if len(dims) == 2:
            kinds += [self.transposed, self.row_sum, self.product, self.window]
        rng.choice(kinds)(name, source, dims)

    def change(self, block: str) -> None:
        """Elements of the last buffer changed in place, in an order that may matter."""
        name, dims = self.made[-1]
        if len(dims) < 2 or "n" in dims or min(map(int, dims)) < 2:
            return
        rows, columns = map(int, dims)
        writes, reads = self.rng.choice([
            (f"{name}[vi + 1, vj]", f"{name}[vi, vj + 1]"),
            (f"{name}[vi, vj + 1]", f"{name}[vi + 1, vj]"),
            (f"{name}[vi, vj]", f"{name}[vi, vj]"),
            (f"{name}[vi, vj]", f"{name}[vi + 1, vj + 1]"),
            (f"{name}[vi * 2 % {rows}, vj]", f"{name}[vi, vj]"),
            (f"{name}[vi, vj]", f"{name}[{rows - 1} - vi, vj]"),
            (f"{name}[0, vj]", f"{name}[vi, vj]"),
            (f"{name}[vi + 1, vj + 1]", "vi * 3 + vj"),
        ])  # fmt: skip
        lines = self.nest((str(rows - 1), str(columns - 1)), "SS", block)
        self.lines += [*lines, f"            {writes} = {reads} * 2 + 1"]

    def nest(self, extents: tuple[str, ...], kinds: str, name: str) -> list[str]:
        loops = "ijk"[: len(extents)]
        grid = f"T.grid({', '.join(extents)})" if len(extents) > 1 else f"range({extents[0]})"
        axes = ", ".join(f"v{x}" for x in loops)
        remap = f"T.axis.remap('{kinds}', [{', '.join(loops)}])"
        return [
            f"    for {', '.join(loops)} in {grid}:",
            f"        with T.block('{name}'):",
            f"            {axes} = {remap}"
            if len(loops) > 1
            else f"            v{loops} = {remap}",
        ]

    def add(self, name: str, dims: tuple[str, ...], lines: list[str]) -> None:
        self.made.append((name, dims))
        self.lines += lines

    def elementwise(self, name: str, source: str, dims: tuple[str, ...]) -> None:
        at = ", ".join(f"v{x}" for x in "ij"[: len(dims)])
        others = [other for other, shape in self.made if shape == dims]
        value = f"{source}[{at}] * {self.rng.randint(1, 3)} + {self.rng.choice(others)}[{at}]"
        if self.rng.random() < 0.3:
            value = f"T.max({value}, {self.rng.randint(-3, 3)})"
        lines = self.nest(dims, "S" * len(dims), name)
        self.add(name, dims, [*lines, f"            {name}[{at}] = {value}"])

    def transposed(self, name: str, source: str, dims: tuple[str, ...]) -> None:
        lines = self.nest(dims, "SS", name)
        self.add(name, dims[::-1], [*lines, f"            {name}[vj, vi] = {source}[vi, vj] + 1"])

    def row_sum(self, name: str, source: str, dims: tuple[str, ...]) -> None:
        if "n" in dims[1]:
            return self.elementwise(name, source, dims)
        reducer = self.rng.choice(["{0} + {1}", "T.max({0}, {1})"])
        value = reducer.format(f"{name}[vi]", f"{source}[vi, vj]")
        lines = self.nest(dims, "SR", name)
        lines += ["            with T.init():", f"                {name}[vi] = -1"]
        self.add(name, dims[:1], [*lines, f"            {name}[vi] = {value}"])
        return None

    def product(self, name: str, source: str, dims: tuple[str, ...]) -> None:
        if "n" in dims[1]:
            return self.elementwise(name, source, dims)
        rows, columns = dims
        lines = self.nest((rows, rows, columns), "SSR", name)
        lines += ["            with T.init():", f"                {name}[vi, vj] = 0"]
        value = f"{name}[vi, vj] + {source}[vi, vk] * {source}[vj, vk]"
        self.add(name, (rows, rows), [*lines, f"            {name}[vi, vj] = {value}"])
        return None

    def window(self, name: str, source: str, dims: tuple[str, ...]) -> None:
        if "n" in dims[1] or int(dims[1]) < 3:
            return self.elementwise(name, source, dims)
        made = (dims[0], str(int(dims[1]) - 2))
        value = f"{source}[vi, vj] - {source}[vi, vj + 2]"
        lines = self.nest(made, "SS", name)
        self.add(name, made, [*lines, f"            {name}[vi, vj] = {value}"])
        return None


def random_program(seed: int) -> PrimFunc:
    """The function of a seed: elementwise stages, transpositions, windows, sums, products."""
    made = from_source(_Program(random.Random(seed)).text(), mode="python")
    assert isinstance(made, PrimFunc)
    return made


# ---------------------------------------------------------------- steps


def random_step(sch: Schedule, rng: random.Random) -> str | None:
    """Take a step, which a schedule may refuse; its name where it was accepted."""
    blocks = sch.get_child_blocks(sch.get_block("root"))
    block = rng.choice(blocks)
    loops = sch.get_loops(block)
    if not loops:
        return None
    before, after = (
        [loop for other in found for loop in sch.get_loops(other)] or loops
        for found in (sch.get_producers(block), sch.get_consumers(block))
    )
    loop = rng.choice(loops)
    some = rng.sample(loops, rng.randint(1, len(loops)))
    factors = rng.choice([[None, 2], [None, 3], [2, None], [None, 4, 2], [2, 3], [None, 1]])
    first = rng.randrange(len(loops))
    steps: dict[str, Callable[[], object]] = {
        "split": lambda: sch.split(loop, factors, rng.random() < 0.8),
        "loop_partition": lambda: sch.loop_partition(loop, rng.choice([[1], [2, None], [None, 1]])),
        "fuse": lambda: sch.fuse(*loops[first : first + 2]),
        "reorder": lambda: sch.reorder(*some),
        "parallel": lambda: sch.parallel(loop),
        "vectorize": lambda: sch.vectorize(loop),
        "unroll": lambda: sch.unroll(loop),
        "bind": lambda: sch.bind(loop, rng.choice(["threadIdx.x", "blockIdx.x"])),
        "compute_inline": lambda: sch.compute_inline(block),
        "reverse_compute_inline": lambda: sch.reverse_compute_inline(block),
        "compute_at": lambda: sch.compute_at(
            block, rng.choice(after), rng.random() < 0.5, rng.choice([-1, -2])
        ),
        "reverse_compute_at": lambda: sch.reverse_compute_at(
            block, rng.choice(before), rng.random() < 0.5, rng.choice([-1, -2])
        ),
        "cache_read": lambda: sch.cache_read(block, 0, "global"),
        "cache_write": lambda: sch.cache_write(block, 0, "local"),
        "rfactor": lambda: sch.rfactor(loop, rng.choice([0, -1])),
        "decompose_reduction": lambda: sch.decompose_reduction(block, loop),
    }
    often = ["split", "reorder", "compute_at", "reverse_compute_at"]
    name = rng.choice([*steps, *often])
    program, written = sch.mod["main"], str(sch.trace)
    try:
        steps[name]()
    except ScheduleError:
        assert sch.mod["main"] is program
        assert str(sch.trace) == written
        return None
    return name
