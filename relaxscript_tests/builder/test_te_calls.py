"""Calls of PrimFuncs that tensor expressions describe, made by the builder."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import relax, te, tir
from relaxscript.errors import DiagnosticError
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, relax as R
from relaxscript.te import topi


def variable(name, info):
    return relax.Var(name, info)


def module_of(params, body):
    bb = relax.BlockBuilder()
    with bb.function("main", params):
        with bb.dataflow():
            result = bb.emit_output(body(bb))
        bb.emit_func_output(result)
    made = bb.finalize()
    assert_structural_equal(from_source(made.script()), made)
    return made


def test_a_function_of_tensors_becomes_a_prim_func_and_its_call():
    x = variable("x", R.Tensor(("n", 4), "float32"))
    w = variable("w", R.Tensor((4,), "float32"))
    made = module_of([x, w], lambda bb: bb.emit_te(topi.add, x, w))
    assert [gv.name_hint for gv in made.functions] == ["add", "main"]
    assert 'R.call_tir(cls.add, (x, w), out_sinfo=R.Tensor((n, 4), "float32"))' in made.script()
    a, b = np.ones((3, 4), "float32"), np.arange(4, dtype="float32")
    np.testing.assert_array_equal(rx.jit(made).main(a, b), a + b)


def test_equal_functions_are_shared():
    x = variable("x", R.Tensor((2, 4), "float32"))
    made = module_of([x], lambda bb: bb.emit_te(topi.exp, bb.emit_te(topi.exp, x)))
    assert [gv.name_hint for gv in made.functions] == ["exp", "main"]


def test_other_arguments_are_given_as_they_are():
    x = variable("x", R.Tensor((2, 3), "float32"))

    def scaled(tensors, by, *, offset):
        (a,) = tensors
        return te.compute(a.shape, lambda *i: a[i] * by + offset, name="scaled")

    made = module_of([x], lambda bb: bb.emit_te(scaled, [x], 2.0, offset=1.0))
    a = np.ones((2, 3), "float32")
    np.testing.assert_array_equal(rx.jit(made).main(a), a * 2 + 1)


def test_shapes_and_scalars_are_given_as_scalars_of_the_prim_func():
    x = variable("x", R.Tensor(("n",), "float32"))
    n = x.struct_info.shape.values[0]

    def repeated(a, shape, first):
        return te.compute(shape, lambda i: a[i // 2] + first.astype("float32"), name="repeated")

    made = module_of(
        [x],
        lambda bb: bb.emit_te(repeated, x, relax.ShapeExpr([n * 2]), relax.PrimValue(n + 1)),
    )
    result = rx.jit(made).main(np.array([10, 20], "float32"))
    np.testing.assert_array_equal(result, [13, 13, 23, 23])


def test_what_a_function_knows_of_the_caller_is_given_to_the_prim_func():
    n, m = tir.Var("n", "int64"), tir.Var("m", "int64")
    x, s = variable("x", R.Tensor((n,), "float32")), variable("s", R.Shape((m,)))

    def divided(a):
        return te.compute((n,), lambda i: a[i] / (n + m).astype("float32"))

    made = module_of([x, s], lambda bb: bb.emit_te(divided, x))
    assert "tir_vars=R.shape([m])" in made.script()
    assert made["divided"].buffer_map[made["divided"].params[0]].shape[0].name == "n"
    result = rx.jit(made).main(np.array([10, 20], "float32"), (8,))
    np.testing.assert_array_equal(result, [1, 2])


def test_a_result_that_is_given_twice_is_written_twice():
    x = variable("x", R.Tensor((4,), "float32"))

    def twice(a):
        b = topi.exp(a)
        return b, b

    made = module_of([x], lambda bb: bb.emit_te(twice, x))
    a, b = rx.jit(made).main(np.zeros(4, "float32"))
    np.testing.assert_array_equal(a, b)


def test_a_mistake_says_which_argument_a_tensor_is():
    x, w = variable("x", R.Tensor((5,), "float32")), variable("w", R.Tensor((4,), "float32"))
    with pytest.raises(DiagnosticError) as caught:
        module_of([x, w], lambda bb: bb.emit_te(topi.add, x, w))
    (found,) = caught.value.diagnostics
    assert found.message.endswith("axis -1: `A` has 5 elements there, `B` has 4")
    assert found.notes == (
        '`A` is `x`, `R.Tensor((5,), "float32")`', '`B` is `w`, `R.Tensor((4,), "float32")`',
    )  # fmt: skip


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "`add` needs `rhs`"),
        ((1.0, 2.0), {}, "`add` takes 2 arguments, not 3"),
        ((1.0,), {"axis": 0}, "`add` has no parameter `axis`"),
    ],
)
def test_arguments_that_the_function_does_not_take_are_refused(args, kwargs, message):
    x = variable("x", R.Tensor((5,), "float32"))
    with pytest.raises(TypeError, match=message):
        module_of([x], lambda bb: bb.emit_te(topi.add, x, *args, **kwargs))


def test_elements_that_do_not_exist_are_refused():
    x = variable("x", R.Tensor((5,), "float32"))

    def shifted(a):
        return te.compute((5,), lambda i: a[i + 1])

    def guarded(a):
        return te.compute((5,), lambda i: te.if_then_else(i < 4, a[i + 1], 0.0))

    with pytest.raises(DiagnosticError, match="`A` has no element 5 here: axis 0 has extent 5"):
        module_of([x], lambda bb: bb.emit_te(shifted, x))
    result = rx.jit(module_of([x], lambda bb: bb.emit_te(guarded, x))).main(
        np.arange(5, dtype="float32")
    )
    np.testing.assert_array_equal(result, [1, 2, 3, 4, 0])


@pytest.mark.parametrize("name", ["two words", "for", 3])
def test_a_name_that_is_none_is_refused(name):
    x = variable("x", R.Tensor((4,), "float32"))
    with pytest.raises(DiagnosticError, match="`primfunc_name_hint` is the name of a PrimFunc"):
        module_of([x], lambda bb: bb.emit_te(topi.exp, x, primfunc_name_hint=name))


def test_several_results_are_a_tuple():
    x = variable("x", R.Tensor((4,), "float32"))
    made = module_of([x], lambda bb: bb.emit_te(lambda a: [topi.exp(a), a], x))
    assert "cls.te_func" in made.script()
    found = rx.jit(made).main(np.zeros(4, "float32"))
    np.testing.assert_array_equal(found[0], np.ones(4))
    np.testing.assert_array_equal(found[1], np.zeros(4))


def test_names_and_attributes_of_the_function_may_be_given():
    x = variable("x", R.Tensor((4,), "float32"))
    made = module_of(
        [x],
        lambda bb: bb.emit_te(
            topi.exp, x, primfunc_name_hint="e_to", primfunc_attrs={"op_pattern": 0}
        ),
    )
    assert made["e_to"].attrs["op_pattern"] == 0


@pytest.mark.parametrize(
    ("info", "function", "message"),
    [
        (R.Tensor(ndim=1, dtype="float32"), topi.exp, "operands of known shape and dtype"),
        (R.Object(), topi.exp, "takes tensors, shapes, scalars of known value and tuples"),
        (R.Tensor((2,)), topi.exp, r'R\.match_cast\(x, R\.Tensor\(\(2,\), "float32"\)\)'),
        (R.Tensor((2,), "float32"), lambda a: [], "gives nothing"),
        (
            R.Tensor((2,), "float32"),
            lambda a: te.compute((te.var("m"),), lambda i: a[i]),
            "makes a tensor of the variable `m`, which has no value",
        ),
        (R.Tensor((2,), "float32"), lambda a: 3, "`te_func` gives a Python int"),
    ],
)
def test_what_cannot_be_a_tensor_expression_is_refused(info, function, message):
    x = variable("x", info)
    with pytest.raises(DiagnosticError, match=message):
        module_of([x], lambda bb: bb.emit_te(function, x))


def test_the_inputs_of_a_call_of_a_prim_func_make_the_call_that_a_builder_makes():
    x = variable("x", R.Tensor(("n", 4), "float32"))
    n = x.struct_info.shape.values[0]

    def both(a, k):
        return topi.add(a, tir.Cast("float32", k)), topi.exp(a)

    attrs = {"op_pattern": 0}
    made, args, infos, scalars = relax.utils.gen_call_tir_inputs(
        both, x, n + 1, primfunc_attrs=attrs
    )
    assert made.attrs["op_pattern"] == 0
    assert scalars is None  # the size is that of the first tensor
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        call = relax.call_tir(bb.add_func(made, "both"), args, infos, scalars)
        theirs = bb.call_te(both, x, n + 1, primfunc_attrs=attrs)
        assert_structural_equal(theirs, call)
        bb.emit_func_output(bb.emit(call))


def test_scalars_that_no_tensor_has_for_a_size_are_inputs_of_the_call():
    n = tir.Var("n", "int64")
    made, args, infos, scalars = relax.utils.gen_call_tir_inputs(
        topi.full, relax.ShapeExpr([n * 2]), "float32", 1.0
    )
    assert [str(info) for info in infos] == ['R.Tensor((n * 2,), "float32")']
    assert args.fields == ()
    assert scalars.values == (n,)
    assert next(p.name for p in made.params) == "n"


def test_what_makes_no_prim_func_has_no_inputs_of_a_call():
    x = variable("x", R.Tensor("float32", ndim=2))
    with pytest.raises(DiagnosticError, match="operands of known shape and dtype") as caught:
        relax.utils.gen_call_tir_inputs(topi.exp, x)
    assert caught.value.diagnostics[0].span.filename == __file__


def test_a_tensor_of_tensor_expressions_stands_for_one_of_relax():
    x = variable("x", R.Tensor(("n", 4), "float32"))
    n = x.struct_info.shape.values[0]
    m = tir.Var("m", "int64")
    made = relax.expr.te_tensor(x, {n: m})
    assert (made.name, made.dtype, made.shape[0]) == ("rxplaceholder", "float32", m)
    assert relax.expr.te_tensor(x, {}, "A").shape[0] is n
    with pytest.raises(DiagnosticError, match="takes tensors, shapes, scalars of known value"):
        relax.expr.te_tensor(variable("o", R.Object()), {})
