"""What is used after a call has written into it, and what is not."""

from __future__ import annotations

import pytest

from relaxscript.analysis.inplace_use import uses_after_write, writer_name
from relaxscript.script import from_source
from relaxscript.testing import diagnostics_of

PROGRAM = """
from relaxscript.script import ir as I, relax as R, tir as T

@R.function(pure=False)
def f(
    x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32"), c: R.Tensor((), "bool"),
    t: R.Tuple(R.Tensor((2,), "float32"), R.Tensor((2,), "float32")),
):
    row = R.Tensor((2,), "float32")
    {}
    return {}
"""
CALL = 'R.call_inplace_packed("f", {}, inplace_indices={}, sinfo_args={})'
ONCE = CALL.format("x", "[0]", "row")


def uses(body: str, result: str = "y") -> list[str]:
    """The names that are used although something was written into them."""
    program = PROGRAM.format(body.replace("\n", "\n    "), result)
    found = diagnostics_of(lambda: from_source(program))
    assert {d.code for d in found} <= {"RX0403"}
    return [d.span.text for d in found if d.span is not None]


@pytest.mark.parametrize(
    ("body", "result", "expected"),
    [
        (f"a = {ONCE}", "x", ["x"]),
        (f"a = {ONCE}", "(a, x)", ["(a, x)"]),
        (f"a = {ONCE}\nb = R.add(x, a)\nd = R.add(a, x)", "y", ["x", "x"]),
        (f"b = x\na = {ONCE}", "b", ["b"]),
        (f"a = {ONCE}\nb = x\nd = R.exp(b)", "d", ["b"]),
        (f"b = R.match_cast(x, R.Tensor((2,)))\na = {ONCE}", "b", ["b"]),
        (f"b = (y, (x, y))\na = {ONCE}", "b[1][0]", ["b[1][0]"]),
        (f"b = (y, (x, y))\na = {ONCE}", "b[1]", ["b[1]"]),
        (f"b = (y, (x, y))\na = {ONCE}", "b", ["b"]),
        (f"a = {CALL.format('t[0]', '[0]', 'row')}", "t[0]", ["t[0]"]),
        (f"a = {CALL.format('t[0]', '[0]', 'row')}", "t", ["t"]),
        (f"b = t[0]\na = {ONCE.replace('x', 'b')}", "t", ["t"]),
        (f"a = {CALL.format('y, x', '[1, 0]', '[row, row]')}", "(x, y)", ["(x, y)", "(x, y)"]),
        (f"if c:\n    a = {ONCE}\nelse:\n    a = R.exp(y)", "x", ["x"]),
        (f"if c:\n    a = R.exp(y)\nelse:\n    a = {ONCE}", "x", ["x"]),
        (f"if c:\n    a = {ONCE}\n    b = R.add(a, x)\nelse:\n    b = x", "b", ["x"]),
        (f"@R.function\ndef g():\n    return x\na = {ONCE}\nb = g()", "b", ["g()"]),
        (f"@R.function\ndef g():\n    a = {ONCE}\n    return x\nb = g()", "b", ["x"]),
        (f"a = {ONCE}\nb = {ONCE.replace('x', 'a')}", "a", ["a"]),
    ],
)  # fmt: skip
def test_a_use_of_what_was_written_into_is_found(body, result, expected):
    assert uses(body, result) == expected


@pytest.mark.parametrize(
    ("body", "result"),
    [
        (f"a = {ONCE}", "a"),
        (f"a = {ONCE}\nb = {ONCE.replace('x', 'a')}", "b"),
        (f"b = R.exp(x)\na = {ONCE}", "(a, b)"),
        (f"b = (y, (x, y))\na = {ONCE}", "(b[0], b[1][1])"),
        (f"a = {CALL.format('t[0]', '[0]', 'row')}", "t[1]"),
        (f"a = {CALL.format('x, y', '[-1]', 'row').replace('[-1]', '[0]')}", "(a, y)"),
        (f"if c:\n    a = {ONCE}\nelse:\n    a = R.exp(x)", "a"),
        ('a = R.call_pure_packed("f", x, sinfo_args=row)', "x"),
        (f"b = R.exp(x)\na = {ONCE.replace('x', 'b')}\nR.memory.kill_tensor(b)", "a"),
    ],
)
def test_what_only_was_used_before_or_beside_it_is_not(body, result):
    assert uses(body, result) == []


def test_the_call_that_wrote_is_told_by_its_name_in_scripts():
    program = """
from relaxscript.script import ir as I, relax as R, tir as T

@I.ir_module
class M:
    @T.prim_func
    def add(a: T.Buffer((2,), "float32"), n: T.int64, b: T.Buffer((2,), "float32")):
        for i in range(2):
            b[i] = a[i]
            a[i] = T.float32(0)

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        row = R.Tensor((2,), "float32")
        both = R.call_tir_inplace(
            M.add, (x,), inplace_indices=[-1, 0], out_sinfo=[row, row], tir_vars=R.shape([1])
        )
        return both
"""
    main = from_source(program)["main"]
    assert uses_after_write(main) == []
    call = main.body.blocks[0].bindings[0].value
    seq = main.body.replace(body=main.params[0])
    (found,) = uses_after_write(main.replace(body=seq))
    assert (found.var, found.call) == (main.params[0], call)
    assert writer_name(call) == "R.call_tir_inplace"
