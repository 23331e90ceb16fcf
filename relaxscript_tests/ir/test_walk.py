"""Traversal and rewriting are derived from fields and never recurse."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from relaxscript.ir import prim, structural_equal, tir
from relaxscript.ir.node import traversal_of
from relaxscript.ir.prim import Add, IntImm, Let, Mul, Var
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    DataflowBlock,
    Function,
    MatchCast,
    Op,
    SeqExpr,
    ShapeExpr,
    Tuple,
    Var as RelaxVar,
    VarBinding,
)
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.tir import Buffer, BufferStore, For, PrimFunc
from relaxscript.ir.walk import (
    bound_vars,
    children,
    compounds,
    free_vars,
    mentioned,
    nodes_in,
    post_order,
    rewrite,
    rewrite_top_down,
    substitute,
    variables,
    walk,
)
from relaxscript_tests.node_samples import node_classes, sample

n, m = Var("n", "int64"), Var("m", "int64")


@st.composite
def scalars(draw, depth=4):
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from([n, m, IntImm("int64", 1), IntImm("int64", 2)]))
    kind = draw(st.sampled_from([Add, Mul, prim.FloorDiv, prim.Max]))
    return kind(draw(scalars(depth - 1)), draw(scalars(depth - 1)))


def test_children_are_the_nodes_directly_inside():
    call = Call(Op("relax.add"), [Tuple([RelaxVar("x", None)]), ShapeExpr([n, 2])])
    assert [type(c).__name__ for c in children(call)] == ["Op", "Tuple", "ShapeExpr"]


@pytest.mark.parametrize("name", node_classes())
def test_children_of_every_class_are_the_nodes_in_its_fields(name):
    for seed in range(8):
        node = sample(node_classes()[name], seed)
        values = [getattr(node, field.name) for field in traversal_of(type(node))]
        assert children(node) == [part for value in values for part in nodes_in(value)]


def test_a_scalar_in_a_field_of_any_kind_is_a_child():
    statement = tir.AttrStmt(n, "pragma", 1, tir.Evaluate(0))
    assert children(statement) == [n, statement.value, statement.body]


def test_walk_meets_parents_before_children_and_post_order_after():
    e = Add(n, Mul(m, n))
    assert [type(v).__name__ for v in walk(e)] == ["Add", "Var", "Mul", "Var", "Var"]
    assert [type(v).__name__ for v in post_order(e)] == ["Var", "Var", "Mul", "Add"]


@pytest.mark.slow
@given(scalars())
def test_rewriting_nothing_gives_the_same_object(e):
    assert rewrite(e, lambda node: None) is e


@pytest.mark.slow
@given(scalars())
def test_substituting_and_substituting_back_changes_nothing(e):
    k = Var("k", "int64")
    there = substitute(e, {n: k})
    assert n not in free_vars(there)
    assert structural_equal(substitute(there, {k: n}), e)


@pytest.mark.slow
@given(scalars())
def test_a_shared_node_is_rebuilt_once(e):
    pair = Add(e, e)
    widened = rewrite(pair, lambda v: IntImm("int64", 7) if v is n else None)
    assert widened.a is widened.b


def test_top_down_replacements_are_not_entered():
    e = Add(Mul(n, n), n)
    replaced = rewrite_top_down(e, lambda v: Add(v, v) if isinstance(v, Mul) else None)
    assert isinstance(replaced.a, Add)
    assert replaced.b is n


def test_a_relax_variable_is_replaced_wherever_a_call_may_mention_it():
    info = TensorStructInfo((IntImm("int64", 2),), "float32")
    x, y, s, t = (RelaxVar(name, info) for name in "xyst")
    shaped = RelaxVar("shaped", TensorStructInfo(s, "float32"))
    sizes, tuples = ShapeExpr([2]), Tuple([x, Tuple([s])])
    calls = [
        Call(Op("relax.f"), [x, y, sizes], {"axis": (1,)}),
        Call(Op("relax.f"), [tuples, y, ShapeExpr([Var("n", "int64")])]),
        Call(Op("relax.f"), [y, shaped], sinfo_args=[TensorStructInfo(s, "float32")]),
        Call(Op("relax.f"), [y], {"held": x}),
    ]
    for call in calls:
        made = substitute(call, {x: y, s: t})
        assert not {x, s} & set(variables(made))
        assert made.span is call.span
        assert made.arg_spans is call.arg_spans
        assert str(made) == str(rewrite(call, {x: y, s: t}.get))
        assert substitute(call, {t: y}) is call


def test_substitution_reaches_definitions_buffers_and_mappings():
    a = Var("a", "handle")
    i = Var("i", "int32")
    buffer = Buffer("A", (n,), "float32")
    store = BufferStore(buffer, 1.0, (i,))
    func = PrimFunc([a], For(i, 0, n, "serial", store), None, {a: buffer})
    other = substitute(func, {n: m})
    assert free_vars(other) == []
    assert other.buffer_map[a].shape[0] is m
    assert other.body.body.buffer is other.buffer_map[a]


def function() -> Function:
    x = RelaxVar("x", TensorStructInfo((n, 4), "float32"))
    y = RelaxVar("y", TensorStructInfo((n, 4), "float32"))
    z = RelaxVar("z", TensorStructInfo((m,), "float32"))
    cast = MatchCast(z, y, z.struct_info)
    body = SeqExpr([DataflowBlock([VarBinding(y, x)]), BindingBlock([cast])], z)
    return Function([x], body, None)


def test_parameters_bindings_and_casts_bind_their_variables():
    names = [v.name for v in bound_vars(function())]
    assert sorted(names) == ["m", "n", "x", "y", "z"]


def test_free_variables_are_those_without_a_definition():
    w = RelaxVar("w", None)
    assert free_vars(function()) == []
    assert free_vars(Tuple([w, function()])) == [w]
    assert free_vars(Let(n, 1, n + m)) == [m]


def test_variables_come_in_the_order_of_their_first_occurrence():
    assert variables(Add(m, Add(n, m))) == [m, n]


@pytest.mark.slow
def test_nothing_recurses():
    e = n
    for _ in range(100_000):
        e = Add.make(e, m)
    assert free_vars(e) == [n, m]
    assert rewrite(e, lambda v: m if v is n else None) is not e
    assert sum(1 for _ in walk(e)) == 200_001


def test_compounds_are_what_is_above_the_leaves_parents_first():
    x, y = RelaxVar("x", TensorStructInfo((n,), "float32")), RelaxVar("y", None)
    call = Call(Op("relax.add"), [Tuple([x, ShapeExpr([n, 2])]), x])
    body = SeqExpr([BindingBlock([VarBinding(y, call)])], Tuple([y, y]))
    kinds = [type(node).__name__ for node in compounds(Function([x], body))]
    assert kinds == ["Function", "SeqExpr", "BindingBlock", "VarBinding", "Call", "Tuple", "Tuple"]


def test_the_variables_that_are_mentioned_are_those_of_relax_among_all():
    s = RelaxVar("s", ShapeStructInfo(ndim=1))
    x, y = RelaxVar("x", TensorStructInfo((n,), "float32")), RelaxVar("y", TensorStructInfo(s))
    many = [Tuple([x, Tuple([y, x])]), x]
    held = TensorStructInfo(s, "float32")
    for args in (
        [x, x],
        [Tuple([y]), x],
        [x, y],
        many,
        [Tuple([ShapeExpr([n])]), x],
        [many[0]],
        [],
    ):
        for infos in (
            (),
            (TensorStructInfo((n,), "float32"),),
            (held,),
            (TupleStructInfo([held]),),
        ):
            call = Call(Op("relax.add"), args, None, infos)
            relax_vars = [v for v in variables(call) if isinstance(v, RelaxVar)]
            assert mentioned(call) == relax_vars
    assert mentioned(y) == [y, s]
