"""Programs that ask for more than can be: numbers, ranks, parts, and mistakes beyond number.

Each would have taken all memory, or all time, of whoever reads the text.
"""

from __future__ import annotations

import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.ir import IRModule, prim, structural_equal, tir
from relaxscript.ir.prim import Var
from relaxscript.ir.relax import PrimValue, ShapeExpr
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo
from relaxscript.script import from_source
from relaxscript_tests.growth import growth

HUGE = "0x" + "f" * 1_000_000
WIDE = str(2**64)


def function(*lines: str, x: str = 'R.Tensor(("n",), "float32")') -> str:
    return "\n".join(["@R.function", f"def f(x: {x}):", *(f"    {line}" for line in lines), ""])


def mistakes(text: str) -> list[str]:
    with pytest.raises(DiagnosticError) as caught:
        from_source(text)
    return [f"{d.code} {d.message}" for d in caught.value.diagnostics]


@pytest.mark.parametrize(
    "line",
    [
        f"y = R.prim_value({HUGE})",
        f"y = R.const({HUGE})",
        f"y = R.zeros(({HUGE},), 'float32')",
        f"y = R.sum(x, axis={HUGE})",
        f"y = R.reshape(x, (n + {HUGE},))",
        f"y: R.Tensor(({HUGE},), 'float32') = x",
        f"R.func_attr({{'a': {HUGE}}})",
        f"y = R.repeat(x, -{HUGE})",
    ],
    ids=lambda line: line.replace(HUGE, "huge"),
)
def test_a_number_of_a_million_digits(line: str):
    assert mistakes(function(line, "return x")) == [
        "RX0104 this number or sequence is too large for a script"
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"y = R.reshape(x, (n * {WIDE}, 0))", f"RX0104 {WIDE} does not fit in int64"),
        (f"y = R.zeros((n * {WIDE}, 4), 'float32')", f"RX0104 {WIDE} does not fit in int64"),
        (f"y = R.prim_value({WIDE})", f"RX0502 {WIDE} does not fit in int64"),
        (f"y = R.arange(0, {WIDE}, 1, 'int64')", f"RX0202 {WIDE} does not fit in int64"),
        (
            f"y: R.Tensor(({WIDE},), 'float32') = x",
            f"RX0108 a dimension fits in int64, unlike {WIDE}",
        ),
    ],
)
def test_a_number_of_more_than_64_bits(line: str, expected: str):
    assert mistakes(function(line, "return x")) == [expected]


def test_numbers_that_python_cannot_write_are_named_by_their_bits():
    huge = 1 << 100_000
    for make in (PrimValue, lambda value: ShapeExpr([value]), lambda v: prim.IntImm("int64", v)):
        with pytest.raises((TypeError, ValueError), match="a number of 100,001 bits does not fit"):
            make(huge)


@pytest.mark.parametrize("info", ["R.Tensor(ndim={})", "R.Shape(ndim={})"])
@pytest.mark.parametrize("rank", [1001, 10**9, 10**12, 10**30])
def test_a_rank_beyond_all_arrays(info: str, rank: int):
    message = "RX0108 a tensor has at most 1,000 dimensions"
    for text in (
        function("return x", x=info.format(rank)),
        function(f"return R.match_cast(x, {info.format(rank)})"),
    ):
        assert mistakes(text) == [message]
    for make in (TensorStructInfo, ShapeStructInfo):
        with pytest.raises(ValueError, match="is at most 1000"):
            make(ndim=rank)


def test_a_rank_that_grows_beyond_all_arrays():
    assert mistakes(function("return R.expand_dims(x, list(range(1000)))")) == [
        "RX0204 a tensor has at most 1,000 dimensions"
    ]


def test_a_thousand_dimensions_are_a_rank():
    text = function("return R.sum(x, keepdims=True)", x="R.Tensor(ndim=1000)")
    assert structural_equal(from_source(from_source(text).script()), from_source(text))


DOUBLINGS = ["v + v", "v * v", "T.max(v, v * n)", "T.Select(v > 0, v, v - 1)"]


@pytest.mark.parametrize("form", DOUBLINGS)
def test_an_expression_that_doubles_with_each_line(form: str):
    lines = ["@T.prim_func", "def f(n: T.int64, b: T.Buffer((4,), 'int64')):"]
    lines += [
        "    v = T.meta_var(n + 1)",
        *[f"    v = T.meta_var({form})"] * 40,
        "    b[0] = v",
        "",
    ]
    assert mistakes("\n".join(lines)) == [
        "RX0104 `f` has more than 1,000,000 parts when it is written out"
    ]


def test_a_made_function_that_shares_too_much_is_not_built():
    n, b = Var("n", "int64"), tir.Buffer("b", (4,), "int64")
    value: prim.PrimExpr = n
    for _ in range(40):
        value = value + value
    handle = tir.handle_var("b_handle")
    f = tir.PrimFunc((n, handle), tir.BufferStore(b, value, (0,)), None, {handle: b})
    for target in ("llvm", "reference"):
        with pytest.raises(DiagnosticError, match="`f` has more than 1,000,000 parts"):
            rx.build(IRModule({"f": f}), target=target)


@pytest.mark.slow
def test_a_script_that_would_have_too_many_parts():
    dim: prim.PrimExpr = Var("n", "int64")
    for _ in range(40):
        dim = prim.Max(dim, dim)
    with pytest.raises(DiagnosticError, match="it would have more than 1,000,000 parts"):
        TensorStructInfo([dim]).script()


def undefined(count: int, known: int = 0) -> str:
    bound = [f"variable_{i} = x" for i in range(known)]
    return function(*bound, *(f"y{i} = R.add(x, variabel_{i})" for i in range(count)), "return x")


@pytest.mark.slow
def test_some_hundred_mistakes_are_reported_and_the_others_counted():
    found = mistakes(undefined(1_000))
    assert len(found) == 201
    assert found[0] == "RX0101 `variabel_0` is not defined"
    assert found[-1] == "RX0101 800 more mistakes are not shown"
    assert mistakes(undefined(201))[-1] == "RX0101 1 more mistake is not shown"
    assert "not shown" not in mistakes(undefined(200))[-1]


def test_members_that_there_are_not_are_counted_too():
    found = mistakes(function(*(f"y{i} = R.ad{i}(x)" for i in range(250)), "return x"))
    assert found[0] == "RX0102 `R` has no `ad0`"
    assert found[-1] == "RX0102 50 more mistakes are not shown"


@pytest.mark.slow
def test_what_was_meant_is_said_of_every_mistake_that_is_shown():
    with pytest.raises(DiagnosticError) as caught:
        from_source(undefined(300, known=300))
    *shown, last = caught.value.diagnostics
    assert [d.help for d in shown] == [f"did you mean `variable_{i}`?" for i in range(200)]
    assert last.help == "correct those that are shown first"


@pytest.mark.slow
def test_mistakes_and_suggestions_cost_what_they_are():
    def reading(count: int):
        return lambda: mistakes(undefined(count * 200, known=count * 50))

    assert growth(reading, 2, 4) < 6


@pytest.mark.slow
@pytest.mark.parametrize("word", ["float", "int", "float32x", "uint", "bfloat"])
def test_a_data_type_of_a_million_digits(word: str):
    name = word + "3" * 1_000_000
    found = mistakes(function("return x", x=f'R.Tensor((4,), "{name}")'))
    assert len(found) == 1
    assert mistakes(function(f'return R.astype(x, "{name}")')) == [
        'RX0204 the attribute `dtype` must be a dtype, such as "float32"'
    ]
