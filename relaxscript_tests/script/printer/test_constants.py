"""Constants: every bit comes back, from the text or from the metadata."""

from __future__ import annotations

import ast
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from relaxscript.dtypes import DataType
from relaxscript.ir.relax import Constant
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.script import from_source
from relaxscript.script.printer.constants import MetadataError, decode, encode
from relaxscript.script.printer.module import metadata, script

from .programs import add, function, text

REFERENCE = 'metadata["relax.expr.Constant"][0]'


def written(value: Any, dtype: Any = None) -> str:
    return script(Constant(np.asarray(value, dtype)))


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (1.0, "float32", 'R.const(1.0, "float32")'),
        (0.1, "float32", 'R.const(0.1, "float32")'),
        (-0.0, "float64", 'R.const(-0.0, "float64")'),
        (1e-45, "float32", 'R.const(1e-45, "float32")'),
        (float("inf"), "float16", 'R.const(float("inf"), "float16")'),
        (float("-inf"), "float32", 'R.const(float("-inf"), "float32")'),
        (float("nan"), "float32", 'R.const(float("nan"), "float32")'),
        (-3, "int8", 'R.const(-3, "int8")'),
        (2**64 - 1, "uint64", 'R.const(18446744073709551615, "uint64")'),
        (True, "bool", 'R.const(True, "bool")'),
        ([[1, 2], [3, 4]], "int32", 'R.const([[1, 2], [3, 4]], "int32")'),
        ([1.5, float("nan")], ml_dtypes.bfloat16, 'R.const([1.5, float("nan")], "bfloat16")'),
        (0.5, ml_dtypes.float8_e4m3fn, 'R.const(0.5, "float8_e4m3fn")'),
        ([], "float32", 'R.const([], "float32")'),
        (np.zeros((2, 0)), "float32", 'R.const([[], []], "float32")'),
    ],
)
def test_a_small_constant_is_written_out(value: Any, dtype: Any, expected: str):
    assert written(value, dtype) == expected


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (np.zeros((0, 3)), "float32"),  # nested lists cannot say this shape
        (np.uint32(0x7FC00001).view("float32"), "float32"),  # a nan with something in it
        (np.arange(65), "int64"),
    ],
)
def test_what_a_literal_would_not_give_back_is_metadata(value: Any, dtype: Any):
    assert written(value, dtype) == REFERENCE


DTYPES = ["bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64",
          "bfloat16", "float8_e4m3fn", "float8_e5m2"]  # fmt: skip


@given(st.sampled_from(DTYPES), st.binary(min_size=0, max_size=64))
def test_a_constant_that_is_written_out_is_exact(name: str, content: bytes):
    dtype = DataType(name).numpy
    if name == "bool":
        content = bytes(b & 1 for b in content)
    data = np.frombuffer(content[: len(content) // dtype.itemsize * dtype.itemsize], dtype)
    shown = script(Constant(data), line_width=10**6)
    if shown != REFERENCE:
        values, kind = ast.parse(shown, mode="eval").body.args
        inner = compile(ast.Expression(values), "", "eval")
        again = np.asarray(eval(inner)).astype(DataType(kind.value).numpy)
        assert again.tobytes() == data.tobytes()


@given(st.sampled_from(DTYPES), st.lists(st.integers(0, 3), max_size=3))
def test_metadata_gives_back_the_constant(name: str, shape: list[int]):
    rng = np.random.default_rng(len(shape))
    data = rng.integers(0, 2, shape).astype(DataType(name).numpy)
    constant = Constant(data)
    assert structural_equal(decode(encode(constant)), constant)


def test_metadata_is_little_endian_on_every_machine():
    swapped = Constant(np.asarray([1, 2], ">i4"))
    assert encode(swapped)["data"] == encode(Constant(np.asarray([1, 2], "<i4")))["data"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"dtype": "float32"}, "has the keys `dtype`, `shape` and `data`"),
        (3, "has the keys"),
        (
            {"dtype": "float3", "shape": [], "data": ""},
            "holds no constant: .float3. is not a dtype",
        ),
        ({"dtype": "int8", "shape": [2], "data": "AA=="}, "holds no constant: cannot reshape"),
        ({"dtype": "int8", "shape": [1], "data": "??"}, "holds no constant"),
    ],
)
def test_metadata_that_holds_no_constant_is_refused(entry: Any, message: str):
    with pytest.raises(MetadataError, match=message):
        decode(entry)


def big(first: int) -> Constant:
    return Constant(np.arange(first, first + 100, dtype="int8"))


def test_without_metadata_a_comment_says_so():
    a = big(0)
    assert script(function([], result=a)).endswith(
        text("""
            return metadata["relax.expr.Constant"][0]


        # Metadata is left out; `show_meta=True` of `script()` shows it.
    """)
    )


def test_metadata_stands_above_what_uses_it():
    lines = script(function([], result=Constant(np.zeros(100))), show_meta=True).split("\n")
    assert lines[1] == "metadata = {"
    assert lines.index("@R.function") > lines.index("}")


def test_with_metadata_the_script_is_complete():
    a, b = big(0), big(20)
    made = script(function([], result=add(a, add(b, a))), show_meta=True)
    (table,) = [s for s in ast.parse(made).body if isinstance(s, ast.Assign)]
    entries = ast.literal_eval(table.value)["relax.expr.Constant"]
    assert [decode(e).data.tolist() for e in entries] == [a.data.tolist(), b.data.tolist()]
    references = re.findall(r'Constant"\]\[(\d)\]', made)
    assert references == ["0", "1", "0"]


SIGNALLING = {
    "bfloat16": 0x7F81, "float16": 0x7C01, "float32": 0x7F800001, "float64": 0x7FF0000000000001,
    "float8_e5m2": 0x7D,
}  # fmt: skip


@pytest.mark.parametrize("dtype", SIGNALLING)
def test_every_kind_of_nan_comes_back(dtype: str):
    kind = DataType(dtype).numpy
    ones = np.frombuffer(b"\xff" * kind.itemsize, kind)
    signalling = np.frombuffer(SIGNALLING[dtype].to_bytes(kind.itemsize, "little"), kind)
    for data in (ones, signalling, np.concatenate([ones, signalling, ones])):
        e = Constant(data)
        again = from_source(
            f"@R.function\ndef f():\n    return {script(e)}\n", metadata=metadata(e)
        )
        assert again.body.body.data.tobytes() == data.tobytes()
