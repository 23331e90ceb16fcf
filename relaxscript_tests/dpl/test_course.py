"""Passes that a course on compilers sets, each in a few lines of patterns."""

from __future__ import annotations

import numpy as np

from relaxscript import relax, te, topi
from relaxscript.builder import BlockBuilder
from relaxscript.dpl import ExprPatternRewriter, is_const, is_op, wildcard
from relaxscript.ir.module import IRModule
from relaxscript.relax.analysis import well_formed
from relaxscript.script import ir as I, relax as R
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import module_pass

from .test_rewriter import operators_of

X, W, B = wildcard(), wildcard(), wildcard()


@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32"), b: R.Tensor((4,), "float32")
    ):
        with R.dataflow():
            one = R.add(R.const(1, "float32"), R.const(2, "float32"))
            two = R.add(one, R.const(3, "float32"))
            h = R.matmul(x, w)
            a = R.add(h, b)
            r = R.nn.relu(a)
            gv = R.multiply(r, two)
            R.output(gv)
        return gv


# ---- constant folding of adds


def fold_adds(mod: IRModule) -> IRModule:
    a, b = is_const(), is_const()
    rule = ExprPatternRewriter(
        is_op("relax.add")(a, b), lambda _, found: relax.const(found[a].data + found[b].data)
    )
    return rule(mod)


# ---- fusing a product, a bias and an activation


@I.ir_module
class Fused:
    @R.function
    def linear_relu(
        x: R.Tensor(("n", "k"), "float32"),
        w: R.Tensor(("k", "m"), "float32"),
        b: R.Tensor(("m",), "float32"),
    ):
        with R.dataflow():
            gv = R.nn.relu(R.add(R.matmul(x, w), b))
            R.output(gv)
        return gv


@module_pass(opt_level=0, name="FuseLinear")
def fuse_linear(mod, ctx):
    linear = is_op("relax.nn.relu")(is_op("relax.add")(is_op("relax.matmul")(X, W), B))
    with_fused = mod.clone()
    with_fused["linear_relu"] = Fused["linear_relu"]
    fused = with_fused.get_global_var("linear_relu")
    rule = ExprPatternRewriter(linear, lambda _, f: relax.Call(fused, [f[X], f[W], f[B]]))
    with_fused["main"] = rule(with_fused)["main"]
    return with_fused


# ---- an operator becomes a PrimFunc


@module_pass(opt_level=0, name="LowerRelu")
def lower_relu(mod, ctx):
    builder = BlockBuilder(mod)

    def lowered(call, found):
        info = call.struct_info
        x = te.placeholder(info.shape.values, info.dtype)
        relu = builder.add_func(te.create_prim_func([x, topi.nn.relu(x)]), "relu")
        return relax.call_tir(relu, [found[X]], info)

    rule = ExprPatternRewriter(is_op("relax.nn.relu")(X), lowered)
    for name, func in mod.relax_functions().items():
        builder.update_func(name, rule(func))
    return builder.get()


ARRAYS = [np.linspace(-1, 1, size, dtype="float32").reshape(shape)
          for size, shape in ((6, (2, 3)), (12, (3, 4)), (4, (4,)))]  # fmt: skip


def meaning(mod: IRModule) -> np.ndarray:
    return EXECUTORS["interpreter"](mod)("main", *ARRAYS)


def test_sums_of_constants_are_folded():
    made = fold_adds(Model)
    assert operators_of(made["main"]) == ["matmul", "add", "nn.relu", "multiply"]
    assert "R.const(6.0" in made.script()
    np.testing.assert_array_equal(meaning(made), meaning(Model))


def test_a_product_a_bias_and_an_activation_are_fused():
    made = fuse_linear(Model)
    assert operators_of(made["main"]) == ["add", "add", "multiply"]
    assert "cls.linear_relu(x, w, b)" in made.script()
    assert well_formed(made)
    np.testing.assert_array_equal(meaning(made), meaning(Model))


def test_an_operator_becomes_a_prim_func():
    made = lower_relu(Model)
    assert operators_of(made["main"]) == ["add", "add", "matmul", "add", "call_tir", "multiply"]
    assert "cls.relu, (a,)" in made.script()
    assert well_formed(made)
    np.testing.assert_array_equal(meaning(made), meaning(Model))
