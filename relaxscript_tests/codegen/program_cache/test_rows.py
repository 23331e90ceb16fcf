"""Rows: what is equal has the same ones, what differs has others, and they are read as it was."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relaxscript import runtime
from relaxscript.codegen.program_cache.read_rows import RowReader
from relaxscript.codegen.program_cache.rows import Arrays, NotStorable, Rows, SourceLines
from relaxscript.errors import InternalError, SequentialSpan, Source, Span
from relaxscript.ir import prim, relax
from relaxscript.ir.loop_kinds import LoopKind
from relaxscript.ir.node import Node, node
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.runtime.bytecode import VM_STATE, VOID_ARG, Call
from relaxscript.runtime.checks import AnyCheck, DimConst, TensorCheck, TupleCheck
from relaxscript.script import from_source

MOST = 1 << 20
SOURCE = Source("model.py", "first = 1\nsecond = 2  # é\nthird = 3\n")


def written(value, places=None):
    """The rows of a value, as they come out of a file, and what stands for it."""
    rows = Rows(places or SourceLines(), Arrays(MOST))
    said = rows.value(value)
    return json.loads(json.dumps([rows.rows, said])), rows


def read(value):
    (found, said), rows = written(value)
    reader = RowReader(
        found, rows.places.sources, rows.arrays.arrays.__getitem__, rows.arrays.arrays
    )
    return reader.value(said)


PLAIN = [
    None, True, False, 0, 1, -(1 << 70), 0.0, 1.5, float("inf"), "text", "\ud800", (),
    (1, (True, "t")), [1, [2]], {"a": 1, "b": (2,)}, relax.Attrs({"axis": 1, "of": {"b": None}}),
    runtime.Shape([2, 3]), runtime.Prim(5, "int32"), runtime.Device("cpu", 1), LoopKind("serial"),
    Span(SOURCE, 2, 1, 2, 7), AnyCheck(), TupleCheck(), VOID_ARG, VM_STATE,
    Call(3, 1, (VM_STATE,), TensorCheck("float32", 1, (DimConst(4),)), None, (0,), ("x", None)),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_are_read_as_they_were(value):
    found = read(value)
    assert (found, type(found)) == (value, type(value))


def test_numbers_that_are_equal_and_differ_are_told_apart():
    values = (0, False, 0.0, -0.0, 1, True, 1.0)
    texts = {json.dumps(written(relax.Attrs({"value": value}))[0]) for value in values}
    assert len(texts) == len(values)
    assert str(read(-0.0)) == "-0.0"


def test_one_that_is_no_number_keeps_its_bits():
    given = np.array([0x7FF8000000000123, 0xFFF8000000000000], np.uint64).view(np.float64)
    found = np.array([read(float(number)) for number in given])
    assert found.tobytes() == given.tobytes()


def test_what_is_equal_is_one_row_however_it_shares_memory():
    n = prim.Var("n", "int64")
    shared = TensorStructInfo((n, 4), "float32")
    twice = (TensorStructInfo((n, 4), "float32"), TensorStructInfo((n, 4), "float32"))
    assert written((shared, shared))[0] == written(twice)[0]
    first, second = read(twice)
    assert first is second


def test_variables_of_one_name_are_several():
    n, m = prim.Var("n", "int64"), prim.Var("n", "int64")
    assert written((n, n))[0] != written((n, m))[0]
    first, second = read((n, m))
    assert first is not second
    assert read((n, n))[0].name == "n"


def test_a_deep_expression_is_refused_before_python_runs_out_of_stack():
    e = prim.Var("n", "int64")
    for _ in range(100_000):
        e = prim.Add.make(e, e)
    with pytest.raises(RecursionError):
        written(e)


def test_places_count_from_where_the_module_begins():
    texts = ["x = 1", "\n\n# a comment\nx = 1"]
    sources = [Source("a.py", texts[0]), Source("elsewhere/b.py", texts[1])]
    found = [written(Span(sources[0], 1, 1, 1, 2))[0], written(Span(sources[1], 4, 1, 4, 2))[0]]
    assert found[0] == found[1]
    assert found[0] != written(Span(sources[0], 1, 1, 1, 3))[0]


def test_places_are_counted_in_characters():
    text = "é = 1"
    in_bytes, in_characters = (
        Span(Source("a.py", text), 1, 3, 1, 4, True),
        Span(Source("a.py", text), 1, 3, 1, 4),
    )
    assert written(in_bytes)[0] == written(in_characters)[0]


def test_the_place_of_what_several_pieces_say_is_all_of_them():
    pieces = Span(SOURCE, 1, 1, 1, 6), Span(SOURCE, 3, 1, 3, 6)
    found = read(SequentialSpan(pieces))
    assert (type(found), found.spans) == (SequentialSpan, pieces)


def test_a_source_that_is_not_of_the_module_is_refused():
    places = SourceLines()
    written(Span(SOURCE, 1, 1, 1, 2), places)
    places.complete = True
    written(Span(Source("model.py", SOURCE.text), 3, 1, 3, 2), places)
    with pytest.raises(NotStorable):
        written(Span(Source("other.py", SOURCE.text), 1, 1, 1, 2), places)


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", ">i4"])
def test_arrays_are_told_by_their_contents(dtype):
    arrays = Arrays(MOST)
    first = np.arange(6).astype(dtype).reshape(2, 3)
    same, turned, other = first.copy(), first.reshape(3, 2), np.zeros_like(first)
    assert [arrays.number(array) for array in (first, same, turned, first, other)] == [
        0,
        0,
        1,
        0,
        2,
    ]
    assert [arrays.find(array) for array in (same.copy(), first[::-1])] == [0, None]


def test_arrays_that_are_too_many_bytes_are_refused():
    arrays = Arrays(100)
    arrays.number(np.zeros(100, "int8"))
    with pytest.raises(NotStorable):
        arrays.number(np.ones(1, "int8"))


def test_arrays_that_the_reader_has_are_told_apart_from_others():
    given = Arrays(MOST)
    mine, other = np.arange(3.0), np.arange(4.0)
    given.number(mine)
    rows = Rows(SourceLines(), Arrays(MOST), given)
    assert rows.value((mine.copy(), other)) == ("t", ("a", 0), ("c", 0))


@node
class Foreign(relax.Expr):
    """A node of somebody else."""


@pytest.mark.parametrize("value", [
    len, lambda: 1, object(), np.float32(1), b"bytes", np.array([object()]), {1, 2}, Foreign.make(),
], ids=lambda value: type(value).__name__)  # fmt: skip
def test_what_only_this_process_has_is_refused(value):
    with pytest.raises(NotStorable):
        written((value,))


def test_rows_make_nothing_but_nodes_and_records():
    rows = [["runtime.machine.VirtualMachine", None], ["ir.node.field"], ["version.__version__"]]
    reader = RowReader(rows, [], lambda number: np.zeros(1), [])
    for number in range(len(rows)):
        with pytest.raises(InternalError, match="a value of an unknown kind"):
            reader.value(number)


def test_whole_functions_are_read_as_they_were():
    mod = from_source("""
@I.ir_module
class Model:
    @T.prim_func
    def twice(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in T.vectorized(n):
            with T.block("b"):
                vi = T.axis.spatial(n, i)
                y[vi] = x[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.call_tir(Model.twice, (x,), out_sinfo=R.Tensor((n,), "float32"))
        return R.sum(y, axis=[0], keepdims=True)
""")
    for function in mod.functions.values():
        found = read(function)
        assert isinstance(found, Node)
        assert found.script() == function.script()
        assert found.span == function.span
