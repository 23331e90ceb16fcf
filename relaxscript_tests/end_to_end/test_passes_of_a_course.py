"""Passes that a course on compilers sets, each a mutator of a few lines."""

from __future__ import annotations

import inspect

import numpy as np

from relaxscript import relax, topi
from relaxscript.ir import IRModule, Op
from relaxscript.relax.expr_functor import PyExprMutator, mutator
from relaxscript.script import ir as I, relax as R, tir as T


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32"), w: R.Tensor((2, 3), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.add(R.const([1.0, 2.0], "float32"), R.const([3.0, 4.0], "float32"))
            b = R.add(a, R.const(1.0, "float32"))
            y = R.add(x, b)
            z = R.matmul(y, w)
            r = R.nn.relu(z)
            s = R.reshape(r, R.shape([n * 3]))
            R.output(s)
        return s


@mutator
class FoldAdds(PyExprMutator):
    """The sum of two constants is a constant."""

    def visit_call_(self, call: relax.Call) -> relax.Expr:
        call = super().visit_call_(call)
        if call.op == Op.get("relax.add"):
            values = [self.lookup_binding(a) if isinstance(a, relax.Var) else a for a in call.args]
            if all(isinstance(value, relax.Constant) for value in values):
                return relax.Constant(values[0].data + values[1].data)
        return call


@mutator
class LowerRelu(PyExprMutator):
    """R.nn.relu is a call of a PrimFunc."""

    def visit_call_(self, call: relax.Call) -> relax.Expr:
        call = super().visit_call_(call)
        if call.op == Op.get("relax.nn.relu"):
            return self.builder_.call_te(topi.nn.relu, call.args[0])
        return call


def rewritten(cls: type[PyExprMutator], mod: IRModule) -> IRModule:
    """The module with its functions rewritten, and what they do not need any more dropped."""
    rewriter = cls(mod)
    for gvar, func in mod.relax_functions().items():
        made = relax.analysis.remove_all_unused(rewriter.visit_expr(func))
        rewriter.builder_.update_func(gvar, made)
    return rewriter.builder_.get()


def operators(mod: IRModule) -> list[str]:
    bindings = [b for block in mod["main"].body.blocks for b in block.bindings]
    return [b.value.op.name for b in bindings if isinstance(b.value, relax.Call)]


def check(made: IRModule) -> None:
    assert relax.analysis.ill_formed(made) == ()
    x = np.arange(8, dtype="float32").reshape(4, 2) - 12
    w = np.array([[1, -2, 3], [-1, 2, 1]], dtype="float32")
    np.testing.assert_array_equal(made.main(x, w), Model.main(x, w))


def test_sums_of_constants_are_folded():
    made = rewritten(FoldAdds, Model)
    assert operators(made) == ["relax.add", "relax.matmul", "relax.nn.relu", "relax.reshape"]
    check(made)


def test_an_operator_is_replaced_by_a_prim_func():
    made = rewritten(LowerRelu, Model)
    assert operators(made) == [
        "relax.add", "relax.add", "relax.add", "relax.matmul", "relax.call_tir", "relax.reshape",
    ]  # fmt: skip
    assert {gvar.name_hint for gvar in made.get_global_vars()} == {"main", "relu"}
    check(made)


def test_each_pass_is_written_in_less_than_twenty_lines():
    for cls in (FoldAdds, LowerRelu):
        assert len(inspect.getsource(cls).splitlines()) < 20
