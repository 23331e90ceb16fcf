"""The script of a part reads back as the part: what is free in it is declared before it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from relaxscript import op, tir
from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim, relax
from relaxscript.ir.node import Node
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import free_vars, walk
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.testing.prim_scripts import random_prim_script
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), s: R.Shape(ndim=2), y: R.Tensor(s, "float32")):
        n = T.int64()
        a = R.add(x, R.const([1, 2, 3], "float32"))
        with R.dataflow():
            lv = R.exp(a)
            b = R.multiply(lv, lv)
            R.output(b)
        c = R.match_cast(y, R.Tensor((n, 4), "float32"))
        return R.matmul(R.permute_dims(b), c)

    @T.prim_func
    def double(A: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 4):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = A[vi, vj] * T.float32(2)


MAIN, DOUBLE = Model["main"], Model["double"]
FIRST, FLOW, LAST = MAIN.body.blocks
N = MAIN.params[0].struct_info.shape.values[0]
A = DOUBLE.buffer_map[DOUBLE.params[0]]
LOOP = DOUBLE.body.block.body
RANGES = [
    tir.Range(prim.const(0, "int64"), prim.const(4, "int64")),
    tir.Range.from_min_extent(N, prim.const(2, "int64")),
]
PARTS = [
    FIRST.bindings[0].value, FIRST.bindings[0], FLOW, LAST, LAST.bindings[0], MAIN.body,
    *MAIN.params,
    MAIN.params[2].struct_info, MAIN.ret_struct_info, relax.ShapeExpr([N + 1, 3]),
    relax.PrimValue(3), relax.Tuple([MAIN.params[0], relax.StringImm("x")]), MAIN.body.body,
    N, N + 1, prim.const(2.5, "float16"), tir.BufferLoad(A, [N, 3]), A, tir.Range(0, 4),
    tir.BufferRegion(A, RANGES), prim.PrimType("int64"), prim.PointerType(prim.PrimType("int8")),
    DOUBLE.body, LOOP, tir.Evaluate(N), tir.SeqStmt([tir.Evaluate(N), LOOP]),
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_a_part_reads_back(part):
    back = from_source(part.script())
    assert type(back) is type(part)
    assert structural_equal(back, part, map_free_vars=True)
    assert back.script() == part.script()


def test_a_variable_that_is_read_has_its_name_in_a_part():
    x, y = relax.Var("x", R.Object()), relax.Var("y", R.Tuple([]))
    block = relax.BindingBlock([relax.VarBinding(y, op.print(x))])
    part = relax.SeqExpr([block], relax.Tuple([y]))
    assert part.script().splitlines()[1:] == ["y: R.Tuple = R.print(x)", "(y,)"]


def test_what_an_annotation_mentions_is_declared_before_it():
    assert MAIN.params[2].script() == 's: R.Shape(ndim=2)\ny: R.Tensor(s, "float32")\ny'


def test_large_constants_are_data_before_a_part():
    part = relax.Constant(np.arange(500))
    text = part.script(show_meta=True)
    assert text.startswith("metadata = ")
    assert structural_equal(from_source(text), part)


def test_a_local_function_of_a_part_is_no_function_of_the_text():
    text = """
x: R.Tensor((2,), "float32")
@R.function
def inner(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    return R.add(y, x)
inner(x)
"""
    part = from_source(text)
    assert isinstance(part, relax.SeqExpr)
    assert structural_equal(from_source(part.script()), part, map_free_vars=True)


# ---------------------------------------------------------------- random parts

KINDS = (
    relax.Expr, relax.Binding, relax.BindingBlock, StructInfo, prim.PrimExpr, tir.Stmt,
)  # fmt: skip
FUNCTIONS = (relax.GlobalVar, relax.Function)
# An operator by itself is no value; a text alone is a comment of Python.
NO_PARTS = (relax.Op, relax.StringImm, prim.StringImm)


def parts_of(root):
    """The parts of a function that mention no function and no pointer.

    A local function in which nothing is free reads as one by itself.
    """
    for node in walk(root):
        if isinstance(node, KINDS) and not isinstance(node, NO_PARTS):
            within = list(walk(node))
            if not any(isinstance(n, FUNCTIONS) or is_pointer(n) for n in within):
                yield node, within


def is_pointer(node):
    return isinstance(node, prim.Var) and node.dtype.kind == "handle"


def read(part):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return from_source(part.script(show_meta=True))


def is_told_by_its_text(part, within):
    """Whether no other kind of part has the same text.

    A text does not say which variables a dataflow block around it keeps for itself; a call that
    gives nothing reads as the call, whether it was a binding or a block or a value.
    """
    if isinstance(part, relax.If):
        return False
    mentions_one = any(isinstance(inner, relax.DataflowVar) for inner in within)
    if mentions_one and not any(isinstance(inner, relax.DataflowBlock) for inner in within):
        return False
    if any(isinstance(var, relax.DataflowVar) for var in free_vars(part)):
        return False
    match part:
        case relax.BindingBlock(bindings=bindings) if not isinstance(part, relax.DataflowBlock):
            return len(bindings) > 1 and not gives_nothing(bindings[-1])
        case relax.VarBinding():
            return not gives_nothing(part)
        case relax.SeqExpr(blocks=blocks):
            return bool(blocks)
    return True


def gives_nothing(binding):
    return str(binding.var.struct_info) == "R.Tuple"


def test_a_cast_of_a_constant_is_a_binding_and_no_value_of_a_file():
    back = read(from_source('y = R.match_cast(R.const(3.0, "float16"), R.Tensor((), "float16"))'))
    assert isinstance(back, relax.MatchCast)


def test_a_function_type_that_mentions_a_free_dimension_speaks_of_that_one():
    n = prim.Var("n", "int64")
    row = R.Tensor((n,), "float32")
    x, f = relax.Var("x", row), relax.Var("f", R.Callable((row,), row))
    part = relax.BindingBlock((
        relax.VarBinding(relax.Var("s", R.Shape((n,))), relax.ShapeExpr((n,))),
        relax.VarBinding(relax.Var("y", row), relax.Call(f, (x,))),
    ))  # fmt: skip
    assert part.script().startswith(
        'n = T.int64()\nf: R.Callable((R.Tensor((n,), "float32"),), R.Tensor((n,), "float32"))\n'
    )
    back = read(part)
    assert back.script() == part.script()
    assert structural_equal(back, part, map_free_vars=True)


@pytest.mark.slow
def test_random_parts_of_relax_read_back():
    read_back = 0
    for seed in range(examples(50)):
        for function in random_module(seed).functions.values():
            for part, within in parts_of(function):
                back = read(part)
                assert isinstance(back, Node)
                if is_told_by_its_text(part, within):
                    assert structural_equal(back, part, map_free_vars=True), part.script()
                    assert back.script(show_meta=True) == part.script(show_meta=True)
                    read_back += 1
    assert read_back > examples(50) * 20


def test_random_parts_of_prim_funcs_read_back():
    for seed in range(examples(50)):
        for part, _ in parts_of(random_prim_script(seed)):
            back = read(part)
            assert structural_equal(back, part, map_free_vars=True), part.script()


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('x: R.Tensor((2, 3), "float32")\nR.matmul(x, x)', "cannot multiply these operands"),
        ("R.add(x, x)", "`x` is not defined"),
        ("n = T.int64()\nT.grid(n)", "and no part of a program"),
        ('A = T.Buffer((4,), "int32")\nB[0] = T.int32(1)', "`B` is not defined"),
        ("x: R.Tensr((2,))\nx", "`R` has no `Tensr`"),
        ("N = 64", "the script defines no module and no function"),
        ("import os\nos.system('ls')", "only imports, modules and functions are allowed here"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_part_is_told(text, message):
    with pytest.raises(DiagnosticError) as caught:
        from_source(text)
    assert message in caught.value.msg


def test_nothing_of_a_part_is_executed(tmp_path):
    file = tmp_path / "made"
    text = f"x: R.Tensor((2,))\nR.add(x, open({str(file)!r}, 'w'))"
    with pytest.raises(DiagnosticError, match="`open` is not defined"):
        from_source(text)
    assert not file.exists()
