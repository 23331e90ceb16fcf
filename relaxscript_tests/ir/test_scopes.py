"""Equality, hashing and free variables follow where a definition begins and where it ends."""

from __future__ import annotations

import itertools

import pytest

from relaxscript.ir import IRModule, prim, relax, structural_equal, structural_hash, tir
from relaxscript.ir.prim import Let, Var
from relaxscript.ir.struct_info import FuncStructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.walk import bound_vars, free_vars, rewrite, substitute

X, Y, Z = (Var(name, "int64") for name in "xyz")
Q = tir.Buffer("q", (4,))


def param(name, *dims):
    return relax.Var(name, TensorStructInfo(dims))


def identity(var):
    return relax.Function([var], var, var.struct_info)


def chain(first, second):
    """Two bindings that each define a variable."""
    x = param("x", 4)
    add = relax.Op("relax.add")
    bindings = [relax.VarBinding(first, relax.Call(add, [x, x]))]
    bindings.append(relax.VarBinding(second, relax.Call(add, [first, x])))
    return relax.Function([x], relax.SeqExpr([relax.BindingBlock(bindings)], second))


def recursive(name):
    f = relax.Var(name, FuncStructInfo([TensorStructInfo((4,))], TensorStructInfo((4,))))
    inner_param = param("p", 4)
    inner = relax.Function([inner_param], relax.Call(f, [inner_param]), TensorStructInfo((4,)))
    block = relax.BindingBlock([relax.VarBinding(f, inner)])
    x = param("x", 4)
    return relax.Function([x], relax.SeqExpr([block], relax.Call(f, [x])))


def loops(first, second):
    def loop(var):
        return tir.For(var, 0, 4, "serial", tir.BufferStore(Q, 1, [var]))

    return tir.PrimFunc([Q], tir.SeqStmt([loop(first), loop(second)]))


A, B = param("a", 4), param("b", 4)
# In each group all are the same, and none is the same as one of another group.
GROUPS = [
    [Let(X, Y + 1, X + Y), Let(Z, Y + 1, Z + Y)],
    [Let(Y, Y + 1, Y + Y), Let(X, Y + 1, X + X)],  # the value does not see the variable
    [X + Let(X, 1, X), X + Let(Y, 1, Y)],
    [Y + Let(X, 1, X), Y + Let(Y, 1, Y)],
    [Let(X, 1, X) + X, Let(Z, 1, Z) + X],
    [Let(X, 1, Let(Y, 2, X)), Let(Y, 1, Let(X, 2, Y))],
    [Let(X, 1, Let(X, 2, X)), Let(X, 1, Let(Y, 2, Y)), Let(Z, 1, Let(Z, 2, Z))],
    [Let(X, 1, X + Y)],
    [Let(X, 1, X + Z), Let(Y, 1, Y + Z)],
    [
        IRModule({"f": identity(A), "g": identity(A)}),
        IRModule({"f": identity(A), "g": identity(B)}),
    ],
    [chain(param("u", 4), param("v", 4)), chain(param("v", 4), param("u", 4))],
    [recursive("f"), recursive("g")],
    [loops(X, X), loops(X, Y), loops(Y, X)],
    [
        relax.Function([param("x", X, Y)], relax.StringImm("s")),
        relax.Function([param("y", Y, X)], relax.StringImm("s")),
    ],
    [relax.Function([param("x", X, X)], relax.StringImm("s"))],
]


@pytest.mark.parametrize(("left", "right"), list(itertools.combinations(range(len(GROUPS)), 2)))
def test_programs_of_different_meaning_are_different(left, right):
    for a, b in itertools.product(GROUPS[left], GROUPS[right]):
        assert not structural_equal(a, b)
        assert not structural_equal(b, a)


def test_closed_programs_of_different_meaning_have_different_hashes():
    closed = [g[0] for g in GROUPS if isinstance(g[0], IRModule) or not free_vars(g[0])]
    assert len({structural_hash(e) for e in closed}) == len(closed) > 7
    assert structural_hash(X + Y) != structural_hash(X + X)


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: type(g[0]).__name__)
def test_names_and_reuse_of_variables_do_not_matter(group):
    for a, b in itertools.product(group, group):
        assert structural_equal(a, b)
        assert structural_hash(a) == structural_hash(b)


def test_a_shadowed_variable_is_not_taken_for_a_free_one():
    inner = Let(X, 1, Let(X, 2, Y))
    assert not structural_equal(inner, Let(Z, 1, Let(Y, 2, Y)))
    assert not structural_equal(Let(Z, 1, Let(Y, 2, Y)), inner)
    # On the right, `y` is bound by the outer Let, whose partner the inner one hides on the left.
    assert not structural_equal(inner, Let(Y, 1, Let(Z, 2, Y)))


@pytest.mark.parametrize(
    ("e", "free"),
    [
        (X + Let(X, 1, X), [X]),
        (Let(X, X + 1, X), [X]),
        (Let(X, 1, X) + Y, [Y]),
        (Let(X, 1, X + Let(Y, X, Y)), []),
        (Let(X, 1, Y) + Let(Y, 1, X), [Y, X]),
        (tir.For(X, 0, X, "serial", tir.Evaluate(X)), [X]),
    ],
)
def test_a_variable_is_free_where_no_definition_reaches(e, free):
    assert free_vars(e) == free


def test_free_variables_of_recursive_and_nested_functions():
    assert free_vars(recursive("f")) == []
    x, y = param("x", 4), param("y", 4)
    assert free_vars(relax.Tuple([identity(x), x, y])) == [x, y]
    assert free_vars(identity(param("x", X + 1, X))) == []
    assert free_vars(identity(param("x", X + 1))) == [X]


def test_the_info_of_a_binding_defines_no_dimensions():
    x, y = param("x", 4), param("y", X)
    call = relax.Call(relax.ExternFunc("f"), [x], None, [TensorStructInfo((X,))])
    f = relax.Function([x], relax.SeqExpr([relax.BindingBlock([relax.VarBinding(y, call)])], y))
    assert free_vars(f) == [X]
    assert X not in bound_vars(f)


def test_shared_parts_are_looked_at_once():
    e = X
    for _ in range(200):
        e = e + e
    assert free_vars(e) == [X]
    for var in (Y, Z, X):
        e = Let(var, 1, e)
    assert free_vars(e) == []


def test_tuples_of_structure_nest_without_limit():
    info = TensorStructInfo((X,))
    for _ in range(5_000):
        info = TupleStructInfo([info])
    assert bound_vars(identity(relax.Var("t", info)))[-1] is X


def test_only_a_variable_can_be_put_where_one_is_defined():
    with pytest.raises(TypeError, match="`x` is defined here, so only another variable"):
        substitute(Let(X, 1, X), {X: prim.IntImm("int64", 3)})
    assert structural_equal(substitute(Let(X, 1, X + Y), {X: Z}), Let(X, 1, X + Y))
    assert structural_equal(
        substitute(identity(param("x", X)), {X: prim.IntImm("int64", 3)}), identity(param("x", 3))
    )


def test_substitution_refuses_what_is_no_variable_or_no_node():
    with pytest.raises(TypeError, match="only variables are substituted, not str"):
        substitute(X + 1, {"x": Y})
    with pytest.raises(TypeError, match=r"`x` can be replaced by a node only, not by int \(3\)"):
        substitute(X + 1, {X: 3})


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: type(g[0]).__name__)
def test_rewriting_nothing_gives_the_same_object(group):
    for e in group:
        if not isinstance(e, IRModule):
            assert rewrite(e, lambda node: None) is e


def test_the_order_of_attributes_and_of_buffers_means_nothing():
    a, b = tir.Buffer("a", (4,)), tir.Buffer("b", (4,))
    pa, pb = Var("pa", "handle"), Var("pb", "handle")
    body = tir.BufferStore(a, prim.BufferLoad(b, [0]), [0])
    one = tir.PrimFunc([pa, pb], body, None, {pa: a, pb: b}, {"x": 1, "y": "float32"})
    attrs = {"y": prim.DataType("float32"), "x": 1}
    two = tir.PrimFunc([pa, pb], body, None, {pb: b, pa: a}, attrs)
    swapped = tir.PrimFunc([pa, pb], body, None, {pa: b, pb: a}, attrs)
    assert structural_equal(one, two)
    assert structural_hash(one) == structural_hash(two)
    assert not structural_equal(one, swapped)
