"""Structural equality and hash respect where variables are defined."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from relaxscript.ir import (
    IRModule,
    StructuralMismatch,
    assert_structural_equal,
    get_first_structural_mismatch,
    structural_equal,
    structural_hash,
)
from relaxscript.ir.prim import Add, FloatImm, IntImm, Let, Var
from relaxscript.ir.relax import (
    Attrs,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    Function,
    Op,
    SeqExpr,
    Tuple,
    Var as RelaxVar,
    VarBinding,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
    equal_at_a_glance,
)
from relaxscript.ir.tir import Block, Buffer, BufferStore, For, PrimFunc, Range, SeqStmt
from relaxscript.ir.tir_compute import BufferRealize


def tensor(*dims, dtype="float32"):
    return TensorStructInfo(dims, dtype)


def double(name="x", dim="n", op="relax.add", second=None, dtype="float32", block=BindingBlock):
    n = Var(dim, "int64")
    x = RelaxVar(name, TensorStructInfo((n, 4), dtype))
    y = RelaxVar(name + "2", TensorStructInfo((n, 4), dtype))
    call = Call(Op(op), [x, x if second is None else second])
    return Function(
        [x], SeqExpr([block([VarBinding(y, call)])], y), TensorStructInfo((n, 4), dtype)
    )


def test_names_of_defined_variables_do_not_matter():
    assert structural_equal(double("x", "n"), double("a", "b"))
    assert structural_hash(double("x", "n")) == structural_hash(double("a", "b"))


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (double(op="relax.multiply"), "`name` is `relax.add` here, `relax.multiply` there"),
        (double(dtype="float64"), "`dtype` is `float32` here, `float64` there"),
        (double(block=DataflowBlock), "a BindingBlock here, a DataflowBlock there"),
        (double(second=RelaxVar("z", tensor("k", 4))), "variable `x` here, variable `z` there"),
    ],
)
def test_what_differs_is_said(other, reason):
    mismatch = get_first_structural_mismatch(double(), other)
    assert mismatch is not None
    assert reason in mismatch.reason
    assert structural_hash(double()) != structural_hash(other)


def test_no_attributes_in_either_way_hash_alike():
    x = RelaxVar("x", tensor(2))
    absent, empty = (Call.make(Op("relax.add"), (x, x), attrs) for attrs in (None, Attrs()))
    assert structural_equal(absent, empty)
    assert structural_hash(absent) == structural_hash(empty)


def test_the_hash_tells_in_which_field_something_is():
    x, info = RelaxVar("x", tensor(2)), tensor(3)
    calls = [
        Call(Op("f"), [x], None, []),
        Call(Op("f"), [x, x], None, []),
        Call(Op("f"), [], None, [info]),
        Call(Op("f"), [x], {"f": 1}, [info]),
        Call(Op("f"), [Tuple([x])], None, []),
        Call(Op("f"), [Tuple([]), x], None, []),
    ]
    assert len({structural_hash(call) for call in calls}) == len(calls)


def test_a_hash_of_a_part_alone_is_that_of_another_object_which_says_the_same():
    n, x = Var("n", "int64"), RelaxVar("x", tensor(2))
    infos = [TupleStructInfo([tensor(n, 2), tensor(n, 2)]) for _ in range(2)]
    shared = tensor(n, 2)
    infos.append(TupleStructInfo([shared, shared]))
    calls = [Call(Op("f"), [x, x], None, [info, tensor(n)]) for info in infos]
    assert len({structural_hash(info, True) for info in infos}) == 1
    assert len({structural_hash(call, True) for call in calls}) == 1


def test_a_free_variable_equals_itself_only_unless_mapped():
    a, b = Var("a", "int64"), Var("b", "int64")
    assert structural_equal(a + 1, a + 1)
    assert not structural_equal(a + 1, b + 1)
    assert structural_equal(a + 1, b + 1, map_free_vars=True)
    assert not structural_equal(a + a, a + b, map_free_vars=True)
    assert not structural_equal(a + b, a + a, map_free_vars=True)
    assert structural_hash(a + 1, True) == structural_hash(b + 1, True)


def test_two_variables_never_stand_for_one():
    n, m, k = (Var(c, "int64") for c in "nmk")
    one = FuncStructInfo([tensor(n), tensor(n)], tensor(n))
    two = FuncStructInfo([tensor(m), tensor(k)], tensor(m))
    assert not structural_equal(one, two)
    assert not structural_equal(two, one)


def test_a_definition_is_seen_before_its_use():
    i, j = Var("i", "int64"), Var("j", "int64")
    assert structural_equal(Let(i, 1, i + 1), Let(j, 1, j + 1))
    assert not structural_equal(Let(i, 1, i + 1), Let(j, 1, i + 1))


def prim_func(name="A", index="i", block="b", value=1.0):
    a = Var(name.lower(), "handle")
    i = Var(index, "int32")
    buffer = Buffer(name, (16,), "float32")
    body = Block([], [], [], block, BufferStore(buffer, value, (i,)))
    from relaxscript.ir.tir import BlockRealize

    return PrimFunc([a], For(i, 0, 16, "serial", BlockRealize([], True, body)), None, {a: buffer})


def test_buffers_and_loop_variables_are_defined_too():
    assert structural_equal(prim_func(), prim_func("B", "j"))
    assert not structural_equal(prim_func(), prim_func(value=2.0))


def test_constants_are_compared_by_every_bit():
    nan = np.array([np.nan, 0.0], "float32")
    assert structural_equal(Constant(nan), Constant(nan))
    assert not structural_equal(Constant(np.float32(0.0)), Constant(np.float32(-0.0)))
    assert not structural_equal(Constant(np.zeros(2, "int32")), Constant(np.zeros(2, "int64")))
    assert not structural_equal(Constant(np.zeros((1, 2))), Constant(np.zeros((2, 1))))
    assert structural_equal(FloatImm("float32", float("nan")), FloatImm("float32", float("nan")))
    assert not structural_equal(FloatImm("float32", 0.0), FloatImm("float32", -0.0))


def test_booleans_are_not_integers():
    assert not structural_equal(Call(Op("o"), [], {"k": 1}), Call(Op("o"), [], {"k": True}))


def test_places_take_no_part():
    import ast

    from relaxscript.errors import Source

    source = Source("f.py", "x + y")
    span = source.span(ast.parse("x + y").body[0])
    op = Op("relax.add")
    assert structural_equal(Call(op, [2]), Call(op, [2], arg_spans=(span,), span=span))
    assert structural_equal(op, op.replace(span=span))


def test_modules_are_the_same_whatever_their_order():
    f, g = double(), double(op="relax.multiply")
    assert structural_equal(IRModule({"f": f, "g": g}), IRModule({"g": g, "f": f}))
    assert structural_hash(IRModule({"f": f, "g": g})) == structural_hash(
        IRModule({"g": g, "f": f})
    )
    mismatch = get_first_structural_mismatch(IRModule({"f": f}), IRModule({"g": f}))
    assert mismatch is not None
    assert mismatch.reason == "the second has no function `f`"
    assert not structural_equal(IRModule({"f": f}), IRModule({"f": f}, attrs={"a": 1}))


def test_a_failed_assertion_shows_the_place_in_both_scripts():
    with pytest.raises(StructuralMismatch, match="the programs differ") as caught:
        assert_structural_equal(double(), double(op="relax.multiply"))
    text = str(caught.value)
    assert "differs here in the first" in text
    assert "differs here in the second" in text
    assert "R.multiply" in text
    assert_structural_equal(double(), double("q"))


@pytest.mark.long
def test_depth_is_no_limit():
    def deep(v):
        e = v
        for _ in range(100_000):
            e = Add.make(e, IntImm.make(v.dtype, 1))
        return e

    a, b = deep(Var("a", "int64")), deep(Var("b", "int64"))
    assert structural_equal(a, b, map_free_vars=True)
    assert structural_hash(a, True) == structural_hash(b, True)


@pytest.mark.slow
def test_the_hash_is_the_same_in_every_process():
    program = (
        "from relaxscript.ir import structural_hash\n"
        "from relaxscript.ir.relax import Call, Op, Tuple, Constant\n"
        "print(structural_hash(Call(Op('relax.add'), [Tuple([]), 2, 'text'], {'b': 1, 'a': 2})))"
    )
    values = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    here = structural_hash(Call(Op("relax.add"), [Tuple([]), 2, "text"], {"b": 1, "a": 2}))
    assert values == {f"{here}\n"}


def test_the_type_of_a_function_binds_its_own_dimensions():
    n, m, k = (Var(c, "int64") for c in "nmk")

    def pair(first, second):
        return Tuple(
            [RelaxVar("f", FuncStructInfo([tensor(v)], tensor(v))) for v in (first, second)]
        )

    shared, fresh = pair(n, n), pair(m, k)
    assert structural_equal(shared, fresh, map_free_vars=True)
    assert structural_equal(fresh, shared, map_free_vars=True)
    assert structural_hash(shared, True) == structural_hash(fresh, True)


def test_a_captured_dimension_of_a_function_type_is_the_one_outside():
    def closure(inner):
        n = Var("n", "int64")
        x = RelaxVar("x", tensor(n))
        own = n if inner is None else inner
        f = RelaxVar("f", FuncStructInfo([tensor(own)], tensor(own)))
        return Function([x, f], SeqExpr([], x), tensor(n))

    assert structural_equal(closure(None), closure(None))
    assert not structural_equal(closure(None), closure(Var("m", "int64")))


def realizing(name, other=False):
    """A function with a buffer that has memory by a region only, or that writes elsewhere."""
    x, c = Buffer("x", (4,)), Buffer(name, (4,))
    body = SeqStmt([BufferStore(c, 1.0, (0,)), BufferStore(x if other else c, 2.0, (1,))])
    whole = BufferRealize(c, (Range(0, 4),), True, body)
    x_handle = Var("x", "handle")
    return PrimFunc([x_handle], whole, None, {x_handle: x})


def test_a_buffer_that_a_region_gives_memory_is_that_of_its_function():
    assert structural_equal(realizing("c"), realizing("d"))
    assert structural_hash(realizing("c")) == structural_hash(realizing("d"))
    assert structural_equal(IRModule({"f": realizing("c")}), IRModule({"f": realizing("d")}))
    assert not structural_equal(realizing("c"), realizing("c", other=True))


def test_a_shared_function_type_is_compared_again_where_its_variable_means_another():
    n, k, a = (Var(name, "int64") for name in "nka")

    def gives(size: Var) -> FuncStructInfo:
        return FuncStructInfo([], ShapeStructInfo((size,)))

    # What stands free in the result may not be another variable there, as it may in a parameter.
    mine, theirs = gives(n), gives(a)
    assert not structural_equal(FuncStructInfo([mine], mine), FuncStructInfo([theirs], theirs))

    def takes(size: Var) -> FuncStructInfo:
        return FuncStructInfo([ShapeStructInfo((size,))], ObjectStructInfo())

    # A function type binds `n` where it is unknown, and not inside of one that has bound it.
    mine, theirs = takes(n), takes(k)
    assert structural_equal(mine, theirs)
    own = ShapeStructInfo((n,))
    assert not structural_equal(
        TupleStructInfo([mine, FuncStructInfo([own], mine)]),
        TupleStructInfo([theirs, FuncStructInfo([own], theirs)]),
    )


def test_tensors_are_compared_at_a_glance_as_they_are_part_by_part(rng):
    n, m = Var("n", "int64"), Var("n", "int64")
    choices = [2, 3, IntImm("int32", 2), n, m, Add(n, IntImm("int64", 1))]
    infos = [TensorStructInfo(None, "float32", ndim=2), TensorStructInfo((), "float32")]
    for _ in range(40):
        sizes = [choices[i] for i in rng.integers(0, len(choices), rng.integers(1, 3))]
        dtype = ("float32", "int64")[rng.integers(0, 2)]
        device = (None, "llvm:1")[rng.integers(0, 2)]
        infos.append(TensorStructInfo(sizes, dtype, device))
    glances = set()
    for a in infos:
        for b in infos:
            quick = equal_at_a_glance(a, b)
            glances.add(quick)
            if quick is not None:
                assert quick is (get_first_structural_mismatch(a, b) is None)
    assert glances == {True, False, None}
