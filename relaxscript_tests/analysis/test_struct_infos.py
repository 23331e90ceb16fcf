"""Questions about StructInfos and shape variables, by TVM's names."""

from __future__ import annotations

import pytest

from relaxscript import BlockBuilder, analysis, op
from relaxscript.errors import DiagnosticError
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import Call, ExternFunc, ShapeExpr, Var
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
    default_derive,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.types import ShapeType, TensorType, TupleType
from relaxscript.script import relax as R, tir as T

Tensor, Shape, Prim, Tuple = TensorStructInfo, ShapeStructInfo, PrimStructInfo, TupleStructInfo
n, m, k = (PrimVar(name, "int64") for name in "nmk")
s, t = Var("s", Shape(ndim=2)), Var("t", Shape(ndim=2))
F = FuncStructInfo
OBJECT = ObjectStructInfo()


@pytest.mark.parametrize(
    ("info", "scalars", "values", "expected"),
    [
        (Tensor((n, m)), {n: n}, None, Tensor(ndim=2)),
        (Tensor((n, m)), {n: k, m: 3}, None, Tensor((k, 3))),
        (Tensor((n, m)), {n: m, m: n}, None, Tensor((m, n))),
        (Tensor((n + 1,)), {n: 3}, None, Tensor((4,))),
        (Tensor((2, 3)), None, None, Tensor((2, 3))),
        (Shape((n,)), None, None, Shape(ndim=1)),
        (Prim(value=n), None, None, Prim("int64")),
        (Tensor(s), None, None, Tensor(ndim=2)),
        (Tensor(s), None, {s: t}, Tensor(t)),
        (Tensor(s), None, {s: ShapeExpr((2, 3))}, Tensor((2, 3))),
        (Tuple([Tensor((n,)), Tensor((m,))]), {m: m}, None, Tuple([Tensor(ndim=1), Tensor((m,))])),
        (F([Tensor((n,))], Tensor((n, m))), {n: 3}, None, F([Tensor((n,))], Tensor(ndim=2))),
        (F([Tensor((n,))], Tensor((n, m))), {n: 3, m: 4}, None, F([Tensor((n,))], Tensor((n, 4)))),
    ],
)  # fmt: skip
def test_erasing_keeps_what_the_maps_know_and_says_it_in_their_words(
    info, scalars, values, expected
):
    found = analysis.erase_to_well_defined(info, scalars, values)
    assert structural_equal(found, expected), found


def test_a_shape_that_is_given_for_a_variable_has_its_own_rank():
    u = Var("u", Shape())
    found = analysis.erase_to_well_defined(Tensor(u), None, {u: ShapeExpr((2, 3))})
    assert structural_equal(found, Tensor((2, 3)))
    assert found.ndim == 2


def test_the_static_type_has_no_expressions():
    found = analysis.get_static_type(Tuple([Tensor((n, 2)), Shape((n,))]))
    assert found == TupleType([TensorType(2), ShapeType(1)])


def test_the_least_common_ancestor_keeps_what_both_say():
    found = analysis.struct_info_lca(Tensor((2, n)), Tensor((2, m)))
    assert structural_equal(found, Tensor(ndim=2))
    assert structural_equal(analysis.struct_info_lca(Tensor((2,)), Shape((2,))), OBJECT)


def test_the_result_of_a_call_is_said_in_the_words_of_its_arguments():
    callee = F([Tensor((n, m))], Tensor((m, n)))
    call = Call(Var("f", callee), [Var("x", Tensor((2, k)))])
    assert structural_equal(
        analysis.derive_call_ret_struct_info(callee, call, None), Tensor((k, 2))
    )
    packed = F.opaque_func(derive_func=default_derive)
    call = Call(ExternFunc("p"), [], sinfo_args=[Tensor((3,))])
    for context in (None, BlockBuilder(), analysis.Context()):
        found = analysis.derive_call_ret_struct_info(packed, call, context)
        assert structural_equal(found, Tensor((3,)))


def test_a_builder_knows_the_dimensions_in_scope():
    callee = F([OBJECT], Tensor((n,)))
    x = Var("x", Tensor((n,)))
    call = Call(Var("f", callee), [x])
    builder = BlockBuilder()
    found = analysis.derive_call_ret_struct_info(callee, call, builder)
    assert structural_equal(found, Tensor(ndim=1))
    with builder.testing_scope([n]):
        found = analysis.derive_call_ret_struct_info(callee, call, builder)
    assert structural_equal(found, Tensor((n,)))


def test_arguments_that_do_not_fit_are_refused_by_the_name_of_the_callee():
    callee = F([Tensor((2,))], OBJECT)
    call = Call(Var("f", callee), [Var("x", Tensor((3,)))])
    with pytest.raises(DiagnosticError, match="argument 1 does not fit the function's parameter"):
        analysis.derive_call_ret_struct_info(callee, call, None)


EVERYTHING = Tuple(
    [Tensor((n, n + m)), Shape((4, k)), Prim(value=-m), F([Tensor((k * 2,))], OBJECT)]
)


def test_shape_variables_are_listed_in_order_of_appearance():
    assert analysis.tir_vars_in_struct_info(EVERYTHING) == [n, m, k]
    assert analysis.definable_tir_vars_in_struct_info(EVERYTHING) == [n, k]
    assert analysis.definable_tir_vars_in_struct_info(OBJECT) == []


def test_sizes_are_not_negative_but_values_may_be():
    found = analysis.collect_non_negative_expressions(Tuple([EVERYTHING, Shape((n + m, 2 * k))]))
    expected = [n, n + m, k, k * 2, 2 * k]
    assert len(found) == len(expected)
    assert all(structural_equal(a, b) for a, b in zip(found, expected))


def test_a_function_defines_what_its_parameters_and_match_casts_bind():
    @R.function
    def f(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(ndim=1, dtype="float32")):
        m = T.int64()
        z = R.match_cast(y, R.Tensor((m,), "float32"))
        return R.shape([n, m])

    assert [v.name for v in analysis.defined_symbolic_vars(f)] == ["n", "m"]
    assert analysis.free_symbolic_vars(f) == []


def test_what_a_local_function_takes_from_outside_is_free():
    @R.function
    def f(x: R.Tensor(("n",), "float32")):
        @R.function
        def g(y: R.Tensor(("m",), "float32")) -> R.Shape:
            return R.shape([n + m])

        return g(x)

    inner = f.body.blocks[0].bindings[0].value
    assert [v.name for v in analysis.free_symbolic_vars(inner)] == ["n"]
    assert [v.name for v in analysis.defined_symbolic_vars(inner)] == ["m"]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: analysis.struct_info_lca(Tensor((2,)), 3), "`struct_info_lca.rhs` must be a Str"),
        (lambda: analysis.defined_symbolic_vars(op.add), "`defined_symbolic_vars.func` must be a"),
        (
            lambda: analysis.derive_call_ret_struct_info(F([], OBJECT), Call(s, []), 3),
            "`derive_call_ret_struct_info.ctx` must be a Context or a BlockBuilder, not int",
        ),
        (
            lambda: analysis.struct_info_base_check(Tensor(), 3),
            "`struct_info_base_check.derived` must be a StructInfo, not int",
        ),
        (
            lambda: analysis.erase_to_well_defined(Tensor(s), [n]),
            "`erase_to_well_defined.shape_var_map` must be a Mapping, not list",
        ),
        (
            lambda: analysis.erase_to_well_defined(Tensor(s), {"n": 3}),
            "`a key of erase_to_well_defined.shape_var_map` must be a Var, not str",
        ),
        (
            lambda: analysis.erase_to_well_defined(Tensor(s), None, {s: 3}),
            r"`erase_to_well_defined.var_map\[s\]` must be an Expr, not int",
        ),
        (
            lambda: analysis.erase_to_well_defined(Tensor(s), None, {s: Var("x", Tensor())}),
            r"var_map\[s\]` must be a ShapeStructInfo, not TensorStructInfo",
        ),
        (lambda: analysis.get_static_type(3), "`get_static_type.sinfo` must be a StructInfo, not"),
        (lambda: analysis.tir_vars_in_struct_info(None), "must be a StructInfo, not None"),
    ],
)
def test_what_is_no_struct_info_or_function_is_refused_by_name(ask, message):
    with pytest.raises(TypeError, match=message):
        ask()


def test_the_shape_of_a_tensor_is_what_is_known_or_a_call():
    known, held, unknown = Var("x", Tensor((n, 4))), Var("y", Tensor(s)), Var("z", Tensor(ndim=2))
    assert structural_equal(analysis.struct_infos.get_shape_of(known), ShapeExpr((n, 4)))
    assert analysis.struct_infos.get_shape_of(held) is s
    made = analysis.struct_infos.get_shape_of(unknown)
    assert str(made) == "R.shape_of(z)"
    assert made.struct_info.ndim == 2
    with pytest.raises(TypeError, match=r"must be a tensor, not R\.Shape\(ndim=2\)"):
        analysis.struct_infos.get_shape_of(s)
    with pytest.raises(TypeError, match="must be an Expr, not int"):
        analysis.struct_infos.get_shape_of(3)
