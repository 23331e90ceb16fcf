"""Comparisons for tests of schedules."""

from __future__ import annotations

import pytest

from relaxscript import tir
from relaxscript.script import from_source
from relaxscript.testing.schedules import (
    assert_structural_equal_ignore_global_symbol,
    verify_trace_roundtrip,
)

TWICE = """
@I.ir_module
class M:
    @T.prim_func
    def {name}(a: T.Buffer((8,), "float32"), b: T.Buffer((8,), "float32")):
        {attrs}
        for i in range(8):
            with T.block("b"):
                v = T.axis.spatial(8, i)
                b[v] = a[v] + a[v]
"""


def twice(name="main", attrs="", by="+"):
    return from_source(TWICE.format(name=name, attrs=attrs).replace("+", by))


def test_functions_are_the_same_whatever_they_are_called_outside():
    other = twice(attrs='T.func_attr({"global_symbol": "main", "tir.noalias": True})')
    assert_structural_equal_ignore_global_symbol(twice("f")["f"], twice("g")["g"])
    assert_structural_equal_ignore_global_symbol(twice(), twice())
    with pytest.raises(AssertionError, match="noalias"):
        assert_structural_equal_ignore_global_symbol(twice(), other)
    with pytest.raises(AssertionError, match="differ"):
        assert_structural_equal_ignore_global_symbol(twice()["main"], twice(by="*")["main"])


@pytest.mark.parametrize("text_format", ["python", "json", ("python", "json")])
def test_the_steps_of_a_schedule_do_the_same_again(text_format):
    mod = twice()
    sch = tir.Schedule(mod)
    (loop,) = sch.get_loops(sch.get_block("b"))
    outer, _ = sch.split(loop, factors=[None, 4])
    sch.parallel(outer)
    made = verify_trace_roundtrip(sch, mod, text_format=text_format)
    assert made is not sch
    assert_structural_equal_ignore_global_symbol(made.mod, sch.mod)


def test_a_schedule_of_another_function_is_told_apart():
    sch = tir.Schedule(twice())
    with pytest.raises(AssertionError, match="differ"):
        verify_trace_roundtrip(sch, twice(by="*"))


def test_a_trace_has_two_formats():
    with pytest.raises(ValueError, match='a trace is written as "python" or "json", not \'xml\''):
        verify_trace_roundtrip(tir.Schedule(twice()), twice(), text_format="xml")
