"""Calls of PrimFuncs whose gradient is the user's own, as tensor expressions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import op, te
from relaxscript.analysis import well_formed
from relaxscript.builder import BlockBuilder
from relaxscript.errors import DiagnosticError, OperandError
from relaxscript.ir.relax import Call, Tuple, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.opdef import gradient
from relaxscript.opdef.gradient import gradients_of
from relaxscript.relax.training import register_te_gradient
from relaxscript.script import from_source

INFO = TensorStructInfo(("n", 3), "float32")
ROW = TensorStructInfo((3,), "float32")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry of its own for each test."""
    monkeypatch.setattr(gradient, "_TE_GRADIENTS", {})

    @register_te_gradient("product_grad")
    def product_grad(grad: Any, x: Any, y: Any, factor: float = 1.0) -> list[Any]:
        rows = te.reduce_axis((0, x.shape[0]), "rows")
        by_x = te.compute(x.shape, lambda i, j: grad[i, j] * y[j] * factor)
        by_y = te.compute(y.shape, lambda j: te.sum(grad[rows, j] * x[rows, j] * factor, axis=rows))
        return [by_x, by_y]


def product(x: Any, y: Any) -> Any:
    """Each row of `x` times `y`."""
    return te.compute(x.shape, lambda i, j: x[i, j] * y[j])


def module_of(grad_name: str, options: Any = None, args: int = 2) -> Any:
    """A module that calls `product`, and gives its value and its gradients."""
    builder = BlockBuilder()
    x, y, g = Var("x", INFO), Var("y", ROW), Var("g", INFO)
    with builder.function("main", [x, y, g]):
        out = builder.emit_te(product, x, y, te_grad_name=grad_name, te_grad_kwargs=options)
        call = builder.lookup_binding(out)
        assert isinstance(call, Call)
        found = gradients_of(call, out, g, builder.call_te)
        assert found[0] is None
        builder.emit_func_output(Tuple([out, found[1]]))
    return builder.finalize()


def test_the_gradient_is_what_the_user_registered():
    module = module_of("product_grad", {"factor": 2.0})
    assert well_formed(module)
    assert_structural_equal(from_source(module.script(show_meta=True)), module)
    x, y, g = np.arange(6, dtype="f").reshape(2, 3), np.array([1, 2, 4], "f"), np.ones((2, 3), "f")
    for target in ("reference", "llvm"):
        machine = rx.VirtualMachine(rx.build(module, target))
        out, (by_x, by_y) = machine["main"](x, y, g)
        assert np.array_equal(out, x * y)
        assert np.array_equal(by_x, np.stack([2 * y, 2 * y]))
        assert np.array_equal(by_y, 2 * x.sum(0))


def test_the_call_is_printed_with_the_name_and_the_keywords():
    script = module_of("product_grad", {"factor": 2.0}).script()
    assert "gv = R.call_tir_with_grad(" in script
    assert 'te_grad_name="product_grad",\n            te_grad_kwargs={"factor": 2.0},' in script


def test_an_argument_without_a_gradient_gets_zeros():
    @register_te_gradient("of_first")
    def of_first(grad: Any, x: Any, y: Any) -> Any:
        return te.compute(x.shape, lambda i, j: grad[i, j] * y[j]), None

    machine = rx.VirtualMachine(rx.build(module_of("of_first")))
    ones = np.ones((2, 3), "f")
    _, (by_x, by_y) = machine["main"](ones, np.array([1, 2, 4], "f"), ones)
    assert np.array_equal(by_x, [[1, 2, 4], [1, 2, 4]])
    assert np.array_equal(by_y, [0, 0, 0])


def test_a_name_that_is_not_registered_is_refused():
    with pytest.raises(OperandError) as caught:
        module_of("produkt_grad")
    error = caught.value
    assert (error.operand, error.fact) == ("te_grad_name", 'is "produkt_grad"')
    assert error.message == "no gradient is registered under this name"
    assert error.help == "did you mean `product_grad`?"


def test_a_gradient_that_does_not_fit_the_arguments_is_refused():
    register_te_gradient("single", lambda grad, x, y: grad)
    with pytest.raises(DiagnosticError) as caught:
        module_of("single")
    (found,) = caught.value.diagnostics
    assert found.message == "this gradient gives 1 tensor for 2 arguments"
    register_te_gradient("exchanged", lambda grad, x, y: [y, x])
    with pytest.raises(OperandError) as refused:
        module_of("exchanged")
    assert refused.value.operand == "args[0]"
    assert refused.value.message == (
        'the gradient "exchanged" by it is `R.Tensor((3,), "float32")`'
    )


def test_keywords_of_a_gradient_are_a_dict_that_a_script_can_say():
    x = Var("x", ROW)
    for wrong in (3, {"f": print}):
        with pytest.raises(OperandError) as caught:
            op.call_tir_with_grad.build(("f", (x,), ROW, "g", wrong))
        assert caught.value.message == (
            "the attribute `te_grad_kwargs` must be a dict of names and of values "
            "that a script can say"
        )


def test_the_builder_has_the_names_of_tvm():
    builder = BlockBuilder()
    x, y = Var("x", INFO), Var("y", ROW)
    with builder.function("main", [x, y]):
        call = builder.call_te_with_grad(product, x, y, te_grad_name="product_grad")
        assert call.op == op.call_tir_with_grad.op
        out = builder.emit_te_with_grad(product, x, y, te_grad_name="product_grad")
        builder.emit_func_output(out)
    assert well_formed(builder.finalize())
