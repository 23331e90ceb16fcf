"""Dimensions that are derived are int64 and can be read, whatever goes into them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from relaxscript.analysis.dimensions import MOST_NODES
from relaxscript.ir import prim, structural_equal
from relaxscript.ir.prim import INT64, IntImm, Var
from relaxscript.ir.relax import Function, ShapeExpr
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.walk import walk
from relaxscript.script import from_source
from relaxscript_tests import examples

HEADER = """
@R.function
def main(x: R.Tensor(("n",), "float32"), p: R.Prim(value="m"), q: R.Prim(value="k")):
    n = T.int64()
    m = T.int32()
    k = T.int16()
"""


def function(*lines: str, header: str = HEADER) -> Function:
    made = from_source(header + "\n".join(f"    {line}" for line in lines) + "\n")
    assert isinstance(made, Function)
    return made


def scalar(rng: random.Random, depth: int) -> str:
    """A scalar of any of the dtypes, which is at least 0."""
    number = rng.randrange(5)
    if depth == 0:
        # Alone, a variable of less than 64 bits is no dimension.
        names = ["n", "(m + k)", "T.max(m, 2)", "(k // 2)"]
        return rng.choice([*names, str(number), f"T.int32({number})", f"T.int64({number})"])
    a, b = scalar(rng, depth - 1), scalar(rng, depth - 1)
    form = rng.choice(["{} + {}", "{} * {}", "T.max({}, {})", "T.min({}, {})", "{} // 2 + {} % 3"])
    return f"({form.format(a, b)})"


STEPS = (
    'v{i} = R.zeros(({a}, {b}), "float32")',
    "v{i} = R.flatten(v{j})",
    "v{i} = R.concat([v{j}, v{j}])",
    "v{i} = R.outer(R.flatten(v{j}), x)",
    'v{i} = R.outer(R.zeros(({a},), "float32"), R.flatten(v{j}))',
    "v{i} = R.expand_dims(v{j}, 0)",
    'v{i} = R.full((m * k, {a}), R.const(1.0, "float32"))',
    "v{i} = R.repeat(v{j}, 3)",
)


def program(rng: random.Random) -> Function:
    lines = ["v0 = R.outer(x, x)"]
    for i in range(1, rng.randint(2, 6)):
        a, b = scalar(rng, rng.randint(0, 2)), scalar(rng, rng.randint(0, 1))
        lines.append(rng.choice(STEPS).format(i=i, j=i - 1, a=a, b=b))
    return function(*lines, f"return v{len(lines) - 1}")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_what_is_derived_of_mixed_scalars_is_int64_and_reads_back(rng: np.random.Generator):
    choices = random.Random(int(rng.integers(1 << 32)))
    for _ in range(examples(4000)):
        main = program(choices)
        text = main.script()
        assert structural_equal(from_source(text), main), text
        for node in walk(main):
            if isinstance(node, prim.Binary):
                assert node.a.dtype is node.b.dtype, text
            if isinstance(node, ShapeExpr):
                assert all(d.dtype is INT64 or isinstance(d, Var) for d in node.values), text


def test_a_number_of_int32_is_an_int64_where_it_is_a_dimension():
    three = IntImm("int32", 3)
    for dims in (ShapeExpr([three]).values, ShapeStructInfo([three]).values):
        assert dims is not None
        assert dims[0].dtype is INT64
    (dim,) = TensorStructInfo([three * Var("m", "int32")]).dims or ()
    assert dim.dtype is INT64


def test_a_variable_of_int32_that_stands_alone_stays_one():
    m = Var("m", "int32")
    assert ShapeExpr([m]).values == (m,)


def test_a_variable_is_proved_equal_to_itself_in_more_bits():
    value = 'R.flatten(R.zeros((n, T.Cast("int64", m)), "float32"))'
    main = function(f'w: R.Tensor((m * n,), "float32") = {value}', "return w")
    assert structural_equal(from_source(main.script()), main)


@pytest.mark.parametrize("times", [9, 12, 16, 20, 60])
def test_a_dimension_that_nobody_can_read_is_forgotten(times: int):
    lines = [f"x{i + 1} = R.flatten(R.outer(x{i}, x{i}))" for i in range(times)]
    header = '\n@R.function\ndef main(x0: R.Tensor(("n",), "float32")):\n'
    main = function(*lines, f"return x{times}", header=header)
    text = main.script()
    assert len(text) < 30_000 + 200 * times
    again = from_source(text)
    assert structural_equal(again, main)
    assert str(again.ret_struct_info) == 'R.Tensor(dtype="float32", ndim=1)'  # type: ignore[union-attr]


def test_a_dimension_that_can_be_read_is_kept():
    header = '\n@R.function\ndef main(x0: R.Tensor(("n",), "float32")):\n'
    lines = [f"x{i + 1} = R.flatten(R.outer(x{i}, x{i}))" for i in range(8)]
    main = function(*lines, "return x8", header=header)
    assert str(main.ret_struct_info).count("n") == 256 + 'R.Tensor("float32")'.count("n")


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_what_a_function_gives_back_is_forgotten_in_all_the_tuples_that_share_it():
    text = """
@I.ir_module
class Doubling:
    @R.function(private=True)
    def twice(x: R.Tensor(("n",), "float32")) -> R.Tuple(
        R.Tensor(("n * n",), "float32"), R.Tensor("float32", ndim=1)
    ):
        n = T.int64()
        y = R.flatten(R.outer(x, x))
        return (y, y)

    @R.function
    def main(x0: R.Tensor(("n",), "float32")):
        n = T.int64()
"""
    lines = [f"        x{i + 1} = Doubling.twice(x{i})[0]" for i in range(12)]
    module = from_source("\n".join([text.rstrip(), *lines, "        return x12"]))
    assert structural_equal(from_source(module.script()), module)
    last = module["main"].ret_struct_info
    assert isinstance(last, TensorStructInfo)
    assert last.dims is None
    assert last.ndim == 1
    assert MOST_NODES < 2**12


def test_a_tuple_of_shared_tuples_is_looked_at_once():
    header = '\n@R.function\ndef main(x: R.Tensor(("n",), "float32")):\n'
    lines = ["t0 = (x, x)", *(f"t{i + 1} = (t{i}, t{i})" for i in range(40)), "return x"]
    main = function(*lines, header=header)
    last = main.body.blocks[0].bindings[-1].var.struct_info
    assert isinstance(last, TupleStructInfo)
    assert last.fields[0] is last.fields[1]
