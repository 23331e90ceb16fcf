"""PrimFuncs in the spelling of TVM 0.26 and later: read as what they mean, printed as today's."""

from __future__ import annotations

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, tir as T, tirx
from relaxscript.script.parser import tirx as of_parser

# Programs are written as users write them, whatever a formatter would rather have.
# fmt: off


@tirx.prim_func(s_tir=True)
def later(A: tirx.Buffer((16, 16), "float32"), B: tirx.Buffer((16,), "int32"), n: tirx.int32):
    C = tirx.sblock_alloc_buffer((16, 16))
    for i, j in tirx.grid(16, 16):
        with tirx.sblock("c"):
            vi, vj = tirx.axis.remap("SR", [i, j])
            tirx.where(i < n)
            tirx.sblock_attr({"a": 1})
            with tirx.init():
                C[vi, 0] = tirx.float32(0.0)
            C[vi, 0] = C[vi, 0] + A[vi, vj]
    for i in tirx.parallel(16):
        x: tirx.let[tirx.int32] = i + 1
        y: tirx.let = x * 2
        z = tirx.bind(y + 1)
        assert y > 0, ("RuntimeError", ["y is ", "positive"])
        B[i] = z


@T.prim_func
def today(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "int32"), n: T.int32):
    C = T.alloc_buffer((16, 16))
    for i, j in T.grid(16, 16):
        with T.block("c"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.where(i < n)
            T.block_attr({"a": 1})
            with T.init():
                C[vi, 0] = T.float32(0.0)
            C[vi, 0] = C[vi, 0] + A[vi, vj]
    for i in T.parallel(16):
        x: T.int32 = i + 1
        y: T.int32 = x * 2
        with T.LetStmt(y + 1) as z:
            assert y > 0, "y is positive"
            B[i] = z

# fmt: on


def test_names_of_later_versions_mean_what_today_s_mean():
    assert_structural_equal(later.with_attr("global_symbol", "today"), today)


def test_names_of_later_versions_are_printed_as_today_s():
    text = later.script()
    assert text == today.script().replace("today", "later")
    assert from_source(text).script() == text


def test_the_language_has_its_later_name_too():
    assert tirx is T
    assert of_parser is T


@pytest.mark.parametrize(
    "message", ['("ValueError", ["no"])', '("RuntimeError", [n])', '("RuntimeError", "no")']
)
def test_an_assertion_of_another_kind_is_no_string(message):
    text = f"@T.prim_func\ndef f(n: T.int32):\n    assert n > 0, {message}\n"
    with pytest.raises(DiagnosticError, match="the message of an assertion is a"):
        from_source(text)
