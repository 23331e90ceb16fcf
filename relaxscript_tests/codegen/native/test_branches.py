"""Random functions of kernels, branches, tuples, views and calls: native as in the machine."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np

from relaxscript_tests import examples
from relaxscript_tests.codegen.native.calls import is_native, model, outcome

HEAD = """
@I.ir_module
class Model:
    @T.prim_func
    def scale(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 4):
            y[i, j] = x[i, j] * T.float32(3)

    @T.prim_func
    def mix(
        x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32"),
        z: T.Buffer(("n", 4), "float32"),
    ):
        n = T.int64()
        for i, j in T.grid(n, 4):
            z[i, j] = x[i, 3 - j] - y[i, j]

    @T.prim_func
    def corner(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        y[0, 0] = x[0, 0]

    @T.prim_func
    def third(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 4):
            y[i, j] = x[2, j]

    @R.function(private=True)
    def either(
        c: R.Prim("bool"), t: R.Tensor(("m", 4), "float32"), u: R.Tensor(("m", 4), "float32")
    ):
        m = T.int64()
        if c:
            y = R.call_tir(Model.mix, (t, u), out_sinfo=R.Tensor((m, 4), "float32"))
        else:
            y = u
        return (y, t)

    @R.function
    def main(
        c: R.Tensor((), "bool"), x: R.Tensor(("n", 4), "float32"), d: R.Prim("bool"),
        t: R.Tuple(R.Tensor(("n", 4), "float32"), R.Tensor(("n", 4), "float32")),
    ):
        n = T.int64()
"""
INFO = 'R.Tensor((n, 4), "float32")'


class Writer:
    """Writes random statements; `names` are the tensors that are known at some place."""

    def __init__(self, rng: Any) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.count = 0

    def one_of(self, things: Any) -> Any:
        return things[self.rng.integers(len(things))]

    def new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def statements(self, indent: str, names: list[str], depth: int) -> None:
        for _ in range(self.rng.integers(1, 5)):
            kind = self.rng.integers(10)
            if kind < 5:
                self.kernel(indent, names)
            elif kind < 7 and depth:
                self.branches(indent, names, depth - 1)
            elif kind < 9:
                pair = self.new()
                given = f"{self.one_of(names)}, {self.one_of(names)}"
                self.lines.append(f"{indent}{pair} = Model.either(d, {given})")
                names += [f"{pair}[0]", f"{pair}[1]"]
            else:
                view, info = self.new(), 'R.Tensor((4, n), "float32")'
                self.reshape(indent, view, self.one_of(names), info, "4, n")
                back = self.new()
                self.reshape(indent, back, view, INFO, "n, 4")
                self.lines.append(f"{indent}{self.new()} = {self.call('scale', [back])}")
                names.append(f"v{self.count}")

    def reshape(self, indent: str, name: str, value: str, info: str, shape: str) -> None:
        given = f'"vm.builtin.reshape", {value}, R.shape([{shape}]), sinfo_args={info}'
        self.lines.append(f"{indent}{name}: {info} = R.call_pure_packed({given})")

    def call(self, kernel: str, args: list[str]) -> str:
        return f"R.call_tir(Model.{kernel}, ({', '.join(args)},), out_sinfo={INFO})"

    def kernel(self, indent: str, names: list[str]) -> None:
        kernel = self.one_of(["scale", "scale", "mix", "mix", "corner", "third"])
        args = [self.one_of(names) for _ in range(2 if kernel == "mix" else 1)]
        name = self.new()
        self.lines.append(f"{indent}{name} = {self.call(kernel, args)}")
        names.append(name)

    def branches(self, indent: str, names: list[str], depth: int) -> None:
        name, width = self.new(), self.rng.integers(1, 4)
        for head in (f"if {self.one_of(['c', 'd'])}:", "else:"):
            self.lines.append(indent + head)
            inner = [*names]
            self.statements(indent + "    ", inner, depth)
            # New tensors more often than others.
            fields = [self.one_of(inner[-4:]) for _ in range(width)]
            value = fields[0] if width == 1 else f"({', '.join(fields)})"
            self.lines.append(f"{indent}    {name} = {value}")
        names += [name] if width == 1 else [f"{name}[{i}]" for i in range(width)]

    def function(self) -> str:
        names = ["x", "t[0]", "t[1]"]
        self.kernel("        ", names)
        self.statements("        ", names, 2)
        self.statements("        ", names, 2)
        fields = [self.one_of(names[-6:]) for _ in range(self.rng.integers(1, 4))]
        self.lines.append(f"        return ({', '.join(fields)}, ({fields[0]}, R.shape([n])))")
        return HEAD + "\n".join(self.lines) + "\n"


def cases(rows: int, rng: Any) -> list[tuple[Any, ...]]:
    x, y = rng.random((2, rows, 4)).astype("float32")
    flags = (True, False)
    return [(np.array(c), x, d, (y, x)) for c in flags for d in flags]


def same_arrays(value: Any, args: tuple[Any, ...]) -> Any:
    """Which results are arguments, and which are each other."""
    known = {id(args[1]): "x", id(args[3][0]): "y"}
    found: list[Any] = []

    def look(part: Any) -> None:
        if isinstance(part, np.ndarray):
            found.append(known.setdefault(id(part), f"new {len(known)}"))
        elif type(part) is tuple:
            for field in part:
                look(field)

    look(value)
    return found


def test_random_functions_do_what_they_do_in_the_machine(rng: Any) -> None:
    count = native = 0
    for _ in range(examples(200)):
        vm = model(Writer(rng).function())
        count += 1
        native += is_native(vm.main)
        machine = getattr(vm.main, "__self__", vm.main)
        for rows in (1, 3, 600):
            for args in cases(rows, rng):
                told = outcome(vm.main, args)
                assert told == outcome(machine, args)
                if not isinstance(told, str):
                    one, other = vm.main(*args), machine(*args)
                    assert same_arrays(one, args) == same_arrays(other, args)
    assert native > count // 2


def test_random_functions_hold_nothing_after_a_call(rng: Any) -> None:
    for _ in range(examples(50)):
        vm = model(Writer(rng).function())
        given = [args for rows in (1, 3, 5000) for args in cases(rows, rng)]
        for args in given:
            outcome(vm.main, args)
        gc.collect()
        arrays = [array for args in given for array in (args[0], args[1], args[3], args[3][0])]
        counts = [sys.getrefcount(array) for array in arrays]
        blocks = sys.getallocatedblocks()
        for _ in range(10):
            for args in given:
                outcome(vm.main, args)
        gc.collect()
        assert [sys.getrefcount(array) for array in arrays] == counts
        assert abs(sys.getallocatedblocks() - blocks) < 10 * len(given) // 3
