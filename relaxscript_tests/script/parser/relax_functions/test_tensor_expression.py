"""Accepted programs: `R.emit_te`, which makes PrimFuncs of functions of tensor expressions."""

# ruff: noqa: E731  (a script knows no other function of its own)
from __future__ import annotations

import functools

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import te, topi
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.testing.compare import assert_same
from relaxscript_tests.script.parser.round_trip import round_trip

X = np.arange(12, dtype="float32").reshape(3, 4) - 5
W = np.arange(8, dtype="float32").reshape(4, 2)


def leaky(a, slope=0.5):
    return te.compute(
        a.shape, lambda *i: te.if_then_else(a[i] > 0, a[i], a[i] * slope), name="leaky"
    )


def names(module):
    return sorted(var.name_hint for var in module.functions)


def test_a_call_of_topi_is_printed_as_a_call_of_the_prim_func():
    @I.ir_module
    class Product:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 2), "float32")):
            n = T.int64()
            h = R.emit_te(topi.matmul, x, w)
            return h

    script = round_trip(Product)
    assert "def matmul(" in script
    assert 'h = R.call_tir(cls.matmul, (x, w), out_sinfo=R.Tensor((n, 2), "float32"))' in script
    assert Product["matmul"].attrs.get("global_symbol") is None
    np.testing.assert_array_equal(rx.jit(Product).main(X, W), X @ W)


def test_arguments_that_are_no_tensors_are_given_to_the_function():
    @I.ir_module
    class Leaky:
        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
            a = R.emit_te(leaky, R.add(x, x), 0.25)
            b = R.emit_te(leaky, a, slope=4.0)
            return b

    assert names(Leaky) == ["leaky", "leaky_1", "main"]
    round_trip(Leaky)
    np.testing.assert_array_equal(rx.jit(Leaky).main(X), X + X)


def test_equal_functions_are_one_and_no_name_of_the_class_is_taken():
    @I.ir_module
    class Twice:
        @R.macro
        def leaky(x):
            return R.emit_te(topi.exp, x)

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Twice
            a = cls.leaky(x)
            b = cls.leaky(a)
            c = R.emit_te(topi.abs, b, primfunc_name_hint="leaky")
            return cls.exp(c)

        @R.function
        def exp(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return x

    assert names(Twice) == ["exp", "exp_1", "leaky_1", "main"]
    round_trip(Twice)


def test_a_lambda_is_run_as_python_runs_it_over_the_names_of_the_script():
    scale = 3.0

    @I.ir_module
    class Lambdas:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32")):
            n = T.int64()
            scaled = lambda a: te.compute(a.shape, lambda i, j: a[i, j] * scale)
            return R.emit_te(
                lambda a: te.compute(
                    (n, 2), lambda i, j: scaled(a)[i, j * 2] + n.astype("float32")
                ),
                x,
            )

    assert "for i, j in T.grid(n, T.int64(2))" in round_trip(Lambdas)
    np.testing.assert_array_equal(rx.jit(Lambdas).main(X), X[:, ::2] * 3 + 3)


def test_a_lambda_may_be_an_argument():
    def mapped(a, function):
        return te.compute(a.shape, lambda *i: function(a[i]), name="mapped")

    @I.ir_module
    class Mapped:
        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
            return R.emit_te(mapped, x, lambda e: te.if_then_else(e > 0, e, -e))

    np.testing.assert_array_equal(rx.jit(Mapped).main(X), abs(X))


def test_several_results_are_a_tuple():
    @I.ir_module
    class Both:
        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
            a, b = R.emit_te(lambda a: [topi.negative(a), a, a], x)[:2]
            return R.subtract(a, b)

    round_trip(Both)
    np.testing.assert_array_equal(rx.jit(Both).main(X), -2 * X)


def test_tuples_lists_shapes_and_scalars_are_operands():
    def glued(pair, others, shape, first):
        (a, b), (c,) = pair, others
        assert isinstance(pair, tuple)
        assert isinstance(others, list)
        return te.compute(shape, lambda i: a[i] + b[i] + c[i] + first.astype("float32"))

    @I.ir_module
    class Operands:
        @R.function
        def main(pair: R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("n",), "float32"))):
            n = T.int64()
            return R.emit_te(glued, pair, [pair[0]], (n,), R.prim_value(n + 1))

    round_trip(Operands)
    a, b = np.array([1, 2], "float32"), np.array([10, 20], "float32")
    np.testing.assert_array_equal(rx.jit(Operands).main((a, b)), a + b + a + 3)


def test_names_and_attributes_of_the_prim_func_may_be_given():
    @I.ir_module
    class Named:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            options = {"primfunc_name_hint": "e_to", "primfunc_attrs": {"op_pattern": 0}}
            half = functools.partial(leaky, slope=0.5)
            return R.emit_te(half, R.emit_te(topi.exp, *[x], **options))

    assert names(Named) == ["e_to", "leaky", "main"]
    assert Named["e_to"].attrs["op_pattern"] == 0


def test_the_gradient_of_the_call_may_be_named():
    @I.ir_module
    class Graded:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return R.emit_te(topi.exp, x, te_grad_name="g", te_grad_kwargs={"factor": 2.0})

    script = round_trip(Graded)
    assert "R.call_tir_with_grad(" in script
    assert 'te_grad_name="g"' in script
    assert 'te_grad_kwargs={"factor": 2.0}' in script


def test_the_parser_and_the_builder_make_the_same_module():
    @I.ir_module
    class Script:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 2), "float32")):
            h = R.emit_te(topi.matmul, x, w)
            y = R.emit_te(leaky, h)
            return y

    x, w = rx.Var("x", R.Tensor(("n", 4), "float32")), rx.Var("w", R.Tensor((4, 2), "float32"))
    bb = rx.BlockBuilder()
    with bb.function("main", [x, w]):
        bb.emit_func_output(bb.emit_te(leaky, bb.emit_te(topi.matmul, x, w)))
    assert_same(Script, bb.get())


def test_a_function_of_a_builder_takes_it_too():
    x = rx.Var("x", R.Tensor((4,), "float32"))
    bb = rx.BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(R.emit_te(topi.exp, x)))
    assert names(bb.get()) == ["exp", "main"]


@pytest.mark.parametrize("mode", ["python", "data"])
def test_only_python_mode_runs_the_function(mode):
    source = """
        from relaxscript.script import ir as I, relax as R
        from relaxscript import topi

        @I.ir_module
        class Exp:
            @R.function
            def main(x: R.Tensor((4,), "float32")):
                return R.emit_te(topi.exp, x)
    """
    text = "\n".join(line[8:] for line in source.splitlines())
    if mode == "python":
        assert names(from_source(text, mode="python")) == ["exp", "main"]
        return
    with pytest.raises(rx.errors.DiagnosticError) as caught:
        from_source(text)
    (found,) = caught.value.diagnostics
    assert found.message == "`R.emit_te` runs `topi.exp`, and in data mode no Python is run"
    assert found.span.text == "topi.exp"
