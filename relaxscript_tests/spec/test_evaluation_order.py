"""The order in which expressions are evaluated (spec, "Evaluating Expressions" 3, 7, 10 and 12).

Functions that print their names are nested in each other, at random; every executor, normal form
and the printed script keep the order that the rules give, computed here from the nodes.
"""

from __future__ import annotations

import pytest

import relaxscript as relax
from relaxscript.script import from_source, ir as I, relax as R
from relaxscript_tests import examples
from relaxscript_tests.end_to_end.executors import EXECUTORS, every_executor

ANY = relax.ObjectStructInfo()
FUNCTION = relax.FuncStructInfo([ANY], ANY, False)


@I.ir_module
class Told:
    @R.function(pure=False)
    def make(name: R.Object) -> R.Callable((R.Object,), R.Object, False):
        R.print(name, format="make {}")

        @R.function(pure=False)
        def made(value: R.Object) -> R.Object:
            R.print(name, format="call {}")
            return value

        return made

    @R.function(pure=False)
    def tell(name: R.Object) -> R.Object:
        R.print(name, format="tell {}")
        return name

    @R.function(pure=False)
    def written(x: R.Object) -> R.Object:
        cls = Told
        return cls.make(x)(cls.make(R.str("inner"))(cls.tell(x)))

    @R.function(pure=False)
    def tensor(name: R.Object) -> R.Tensor((2,), "float32"):
        R.print(name, format="{}")
        return R.const([1.0, 2.0])

    @R.function(pure=False)
    def operands():
        cls = Told
        a = cls.tensor(R.str("a")) + cls.tensor(R.str("b")) * R.exp(cls.tensor(R.str("c")))
        b = (cls.tell(R.str("d")), R.add(cls.tensor(R.str("e")), cls.tensor(R.str("f"))))
        c = [cls.tell(R.str("g")), R.exp(cls.tensor(R.str("h")))][1]
        d = cls.tensor(R.str("i")) < R.exp(R.exp(cls.tensor(R.str("j"))))
        return (a, b, c, d)


MAKE, TELL = Told.get_global_var("make"), Told.get_global_var("tell")


class Nested:
    """A random expression, and the lines that it is to print."""

    def __init__(self, rng):
        self.rng, self.lines, self.count = rng, [], 0
        self.condition = relax.Var("c", relax.PrimStructInfo("bool"))

    def name(self):
        self.count += 1
        return f"n{self.count}"

    def value(self, depth):
        kind = self.rng.integers(5) if depth else 0
        if kind == 0:
            name = self.name()
            self.lines.append(f"tell {name}")
            return relax.Call(TELL, [relax.StringImm(name)])
        if kind == 1:
            callee, name = self.callee(depth - 1)
            argument = self.value(depth - 1)
            self.lines.append(f"call {name}")
            return relax.Call(callee, [argument])
        if kind == 2:
            return relax.Tuple([self.value(depth - 1) for _ in range(self.rng.integers(1, 4))])
        if kind == 3:
            return relax.TupleGetItem(relax.Tuple([self.value(depth - 1) for _ in range(2)]), 1)
        return self.choice(lambda: self.value(depth - 1))

    def callee(self, depth):
        if depth and self.rng.integers(2):
            names = []

            def made():
                callee, name = self.callee(0)
                names.append(name)
                return callee

            return self.choice(made), names[0]
        name = self.name()
        self.lines.append(f"make {name}")
        return relax.Call(MAKE, [relax.StringImm(name)]), name

    def choice(self, make):
        chosen = make()
        lines = list(self.lines)
        other = make()
        self.lines = lines
        return relax.If(self.condition, relax.SeqExpr([], chosen), relax.SeqExpr([], other))


def with_main(nested, body):
    attrs = {"global_symbol": "main"}
    module = Told.clone()
    module["main"] = relax.Function([nested.condition], body, ANY, is_pure=False, attrs=attrs)
    return module


@pytest.mark.parametrize("case", range(examples(60)))
def test_callees_come_before_arguments_however_they_are_nested(case, rng, capsys):
    nested = Nested(rng)
    module = with_main(nested, nested.value(3))
    for load in EXECUTORS.values():
        load(module).main(True)
        assert capsys.readouterr().out.split("\n")[:-1] == nested.lines
    for other in (relax.transform.Normalize()(module), from_source(module.script())):
        relax.jit(other).main(True)
        assert capsys.readouterr().out.split("\n")[:-1] == nested.lines


@every_executor
def test_what_is_written_as_a_call_of_a_call_keeps_the_order(load, capsys):
    load(Told).written("x")
    told = capsys.readouterr().out.split("\n")
    assert told == ["make x", "make inner", "tell x", "call inner", "call x", ""]


@every_executor
def test_python_operators_and_tuples_compute_from_left_to_right(load, capsys):
    load(Told).operands()
    assert capsys.readouterr().out.replace("tell ", "").split() == list("abcdefghij")


def test_operands_before_one_that_needs_statements_are_bound_before_these():
    c, x = relax.Var("c", relax.PrimStructInfo("bool")), relax.Var("x", ANY)
    seq = relax.SeqExpr([], x)
    body = relax.Tuple([relax.Call(TELL, [x]), x, relax.If(c, seq, seq)])
    f = relax.Function([x, c], body, ANY, is_pure=False)
    lines = [line.strip() for line in f.script().splitlines()]
    assert lines[-6:] == [
        "gv_1 = cls.tell(x)",
        "if c:",
        "gv = x",
        "else:",
        "gv = x",
        "return (gv_1, x, gv)",
    ]
