"""Whatever text it is given, the parser ends in a program or in diagnostics inside the text."""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Iterator

import pytest

from relaxscript.errors import DiagnosticError, Span
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.script import from_source
from relaxscript.testing.mutations import mutations
from relaxscript.testing.prim_funcs import random_prim_func
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples
from relaxscript_tests.script.parser import test_module_accepted
from relaxscript_tests.script.parser.relax_functions import (
    test_expression_accepted,
    test_statement_accepted,
)

DIGITS = """
@I.ir_module
class Digits:
    @T.prim_func
    def relu(x: T.Buffer(("n", 64), "float32"), y: T.Buffer(("n", 64), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 64):
            with T.block("relu"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.max(x[vi, vj], T.float32(0))

    @R.function
    def twice(x: R.Tensor(("n", 64), "float32")) -> R.Tensor(("n", 64), "float32"):
        return x + x

    @R.function(pure=False)
    def main(
        x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 10), "float32"), c: R.Prim("bool")
    ):
        n = T.int64()
        cls = Digits
        with R.dataflow():
            a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n, 64), "float32"))
            gv: R.Tensor((n, 10), "float32") = R.nn.softmax(a @ w, axis=-1)
            R.output(gv)
        if c:
            z = R.multiply(gv, R.const(2.0, "float32"))
        else:
            z = gv
        t = (z, R.shape([n, 10]))
        m = T.int64()
        k = R.match_cast(t[0], R.Tensor((m, 10), "float32"))
        p = R.call_packed("f", k, sinfo_args=R.Tensor((m, 10), "float32"))
        u, v = t
        return p
"""


MACROS = """
@R.macro
def scaled(x, k=2.0, *more, act=None, **named):
    y = R.multiply(x, R.const(k))
    if act is not None:
        y = act(y)
    with R.dataflow():
        z = R.add(y, x)
        R.output(z)
    return z

@R.macro(hygienic=False)
def repeated(x, n):
    if n == 0:
        return x
    return R.add(repeated(x, n - 1), y)

@T.macro
def filled(A, n, v):
    for i in range(n):
        A[i] = v
    if n > 2:
        return
    A[0] = v

@T.prim_func
def relu(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    filled(y, 4, x[0])
    for i in range(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            y[vi] = T.max(x[vi], T.float32(0))

@I.ir_module
class Library:
    @R.function
    def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        @R.macro
        def inner(a):
            return R.add(a, x)
        return inner(R.exp(x))

@I.ir_module
class Module:
    kept = relu

    @R.macro
    def own(x):
        cls = Module
        return cls.last(x)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = scaled(x, act=R.exp)
        z = R.call_tir(relu, (y,), out_sinfo=R.Tensor((4,), "float32"))
        a = cls.own(Library.f(z))
        return own(repeated(a, 3))

    @R.function
    def last(x: R.Tensor((4,), "float32")):
        return R.log(x)
"""


# Every construct of the language stands in one of these.
ACCEPTED = [
    inspect.cleandoc(text)
    for text in [
        *test_module_accepted.MODULES.values(),
        *test_statement_accepted.programs(),
        *test_expression_accepted.programs(),
    ]
]


def texts() -> Iterator[str]:
    """Programs to damage: those written by hand, then random ones."""
    while True:
        for seed in itertools.count():
            yield DIGITS
            yield MACROS
            yield ACCEPTED[seed % len(ACCEPTED)]
            yield random_module(seed).script(show_meta=True)
            yield random_prim_func(seed).script(show_meta=True)


def check(text: str, mode: str) -> bool:
    """Parse a text and look at what comes of it; False when it was rejected."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = from_source(text, filename="<damaged>", mode=mode)
    except DiagnosticError as error:
        check_rejection(error, text)
        return False
    except Exception as error:
        shown = text if len(text) < 5000 else text[:500]
        raise AssertionError(f"{type(error).__name__}: {error}\n\nmode: {mode}\n{shown}") from error
    # What is left of a damaged text may be a part of a program, which is read as that.
    assert isinstance(program, (IRModule, Node))
    return True


def check_rejection(error: DiagnosticError, text: str) -> None:
    """Every place lies in the text, and the whole can be shown."""
    assert error.diagnostics
    for diagnostic in error.diagnostics:
        for span in (diagnostic.span, *(label.span for label in diagnostic.labels)):
            check_place(span, text)
    assert str(error)


def check_place(span: Span | None, text: str) -> None:
    if span is None:
        return
    lines = span.source.lines
    assert span.filename == "<damaged>"
    assert span.start <= span.end
    assert 1 <= span.line <= span.end_line <= len(lines)
    assert 1 <= span.column <= len(lines[span.line - 1]) + 1
    assert 1 <= span.end_column <= len(lines[span.end_line - 1]) + 1


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["data", "python"])
def test_damaged_programs_end_in_a_program_or_in_diagnostics(mode):
    outcomes = [
        check(damaged, mode)
        for seed, text in zip(range(examples(600)), texts())
        for damaged in mutations(text, seed, 10)
    ]
    assert 0.03 < sum(outcomes) / len(outcomes) < 0.97


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "x = 1",
        "(",
        "\0",
        "'''",
        "\ufeff@R.function\ndef f(x: R.Object):\n    return x",
        "@R.function\ndef f(): return",
        "@R.function\ndef f(x: R.Object):\n\treturn x",
        "@R.function\r\ndef f(x: R.Object):\r\n    return x\r\n",
        "@R.function\ndef f(x: R.Object):\n    return " + "(" * 60 + "x" + ")" * 60,
        "@R.function\ndef f(x: R.Object):\n    return " + "-" * 200 + "x",
        "@R.function\ndef f(x: R.Object):\n    return x" + " + x" * 3000,
        "@R.function\ndef f(x: R.Object):\n    return x" + "[0]" * 50,
        "class A: pass",
        "@I.ir_module\nclass A: pass",
        "@I.ir_module\nclass A:\n    @I.ir_module\n    class B: pass",
        "@R.function\nclass A: pass",
        "@I.ir_module\ndef f(): pass",
        "@T.prim_func\ndef f(): pass",
        "@X.function\ndef f(): pass",
        "@R.function\nasync def f(): pass",
    ],
    ids=lambda text: repr(text[:40]),
)
@pytest.mark.parametrize("mode", ["data", "python"])
def test_odd_texts_end_in_a_program_or_in_diagnostics(text, mode):
    check(text, mode)
