"""Operators that users define: everything is as for those of Relax."""

import pickle
from collections.abc import Iterator
from typing import Any, Optional

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import te
from relaxscript.artifact import inspect
from relaxscript.cli import main as run_command
from relaxscript.errors import DiagnosticError
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.opdef import (
    Axes,
    GradientContext,
    Gradients,
    Operator,
    Tensor,
    Tensors,
    op,
    remove_op,
)
from relaxscript.opdef.gradient import gradients_of
from relaxscript.script import from_source, relax as R
from relaxscript.transform import LegalizeOps

MODULE = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        with R.dataflow():
            y = R.my.swish(x, beta=2.0)
            R.output(y)
        return y
"""
X = np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)
EXPECTED = X / (1 + np.exp(-2 * X))


@pytest.fixture
def swish() -> Iterator[Operator]:
    @op("my.swish")
    def swish(x: Tensor, beta: float = 1.0) -> Tensor:
        """x times the sigmoid of beta times x."""
        return np.asarray(x / (1 + np.exp(-beta * x)))

    @swish.infer_rule
    def infer(context: Any, x: Any, beta: float) -> Any:
        return x

    @swish.compute(ulp=8)
    def compute(context: Any, x: Any, beta: float) -> Any:
        return te.compute(x.shape, lambda *i: x[i] / (1 + te.exp(x[i] * -beta)), name="T_swish")

    @swish.gradient
    def gradient(context: GradientContext, x: Any, beta: float) -> Gradients:
        share = R.sigmoid(x * beta)
        return (context.grad * share * (1.0 + x * beta * (1.0 - share)),)

    yield swish
    remove_op("my.swish")


def test_a_script_calls_it_prints_it_and_runs_it(swish):
    module = from_source(MODULE)
    assert "R.my.swish(x, beta=2.0)" in module.script()
    assert rx.structural_equal(from_source(module.script()), module)
    np.testing.assert_allclose(module.main(X), EXPECTED, rtol=1e-6)


def test_it_is_differentiated_by_its_gradient(swish):
    x, grad = (rx.relax.Var(name, TensorStructInfo((2, 4), "float32")) for name in ("x", "g"))
    builder = rx.relax.BlockBuilder()
    with builder.function("main", [x, grad]):
        out = builder.emit(swish(x, beta=2.0))
        call = builder.lookup_binding(out)
        (found,) = gradients_of(call, out, grad, builder.call_te)
        builder.emit_func_output(builder.emit(found))
    share = 1 / (1 + np.exp(-2 * X))
    expected = share * (1 + 2 * X * (1 - share))
    np.testing.assert_allclose(builder.finalize().main(X, np.ones_like(X)), expected, rtol=1e-6)


@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_it_is_legalised_by_its_compute(swish, target):
    legalised = LegalizeOps()(from_source(MODULE))
    assert "R.my.swish" not in legalised.script()
    np.testing.assert_allclose(rx.jit(legalised, target=target).main(X), EXPECTED, rtol=1e-6)


def test_it_computes_on_arrays_and_checks_its_arguments(swish):
    np.testing.assert_allclose(R.my.swish(X, 2.0), EXPECTED, rtol=1e-6)
    with pytest.raises(DiagnosticError, match=r"`R.my.swish` has no parameter `gamma`"):
        R.my.swish(X, gamma=2.0)


def test_a_name_in_its_namespace_that_there_is_not_is_told_with_the_nearest():
    @op("my.swish")
    def swish(x: Tensor) -> Tensor:
        return x

    try:
        with pytest.raises(DiagnosticError, match=r"`R.my` has no `swiss`") as caught:
            from_source(MODULE.replace("swish(", "swiss("))
        assert caught.value.diagnostics[0].help == "did you mean `R.my.swish`?"
    finally:
        remove_op("my.swish")


def test_a_saved_program_calls_it_only_where_that_is_allowed(swish, tmp_path):
    path = tmp_path / "model.rx"
    rx.save(rx.build(from_source(MODULE)), path)
    assert inspect(path).packed_funcs == ("relax.my.swish",)
    with pytest.raises(DiagnosticError, match=r"the program calls `relax.my.swish`"):
        rx.load(path)
    machine = rx.VirtualMachine(rx.load(path, allowed=["relax.my.swish"]))
    np.testing.assert_allclose(machine["main"](X), EXPECTED, rtol=1e-6)


def test_who_defines_it_again_replaces_it(swish):
    @op("my.swish")
    def other(x: Tensor, beta: float = 1.0) -> Tensor:
        return -x

    other.infer_rule(swish.rules["infer"])
    np.testing.assert_array_equal(from_source(MODULE).main(X), -X)


def test_what_is_removed_is_gone_with_its_namespace(swish):
    @op("my.layers.twice")
    def twice(x: Tensor) -> Tensor:
        return x + x

    assert R.my.layers.twice is twice
    assert pickle.loads(pickle.dumps(twice)) is twice
    remove_op("my.layers.twice")
    assert not hasattr(R.my, "layers")
    assert "my" in dir(R)
    with pytest.raises(
        DiagnosticError, match=r"no operator `my\.swisch` was defined here"
    ) as caught:
        remove_op("my.swisch")
    assert caught.value.diagnostics[0].help == "did you mean `my.swish`?"


def test_annotations_are_understood_whether_they_are_evaluated_or_not():
    @op("my.all")
    def every(
        x: Tensor, y: "Tensor | None" = None, z: Optional[Tensor] = None,  # noqa: UP045
        w: "Tensor | None" = None, *, axis: Axes = (), n: "int | None" = None,
    ) -> Tensors:  # fmt: skip
        return (x,)

    try:
        kinds = [(p.kind, p.annotation) for p in every.parameters]
        optional = ("optional", "Tensor | None")
        attributes = [("attribute", "Axes"), ("attribute", "int | None")]
        assert kinds == [("operand", "Tensor"), optional, optional, optional, *attributes]
    finally:
        remove_op("my.all")


def plain(x: Tensor) -> Tensor:
    return x


def of_arrays(x: np.ndarray) -> Tensor:
    return x


@pytest.mark.parametrize(
    ("name", "meaning", "options", "said", "help"),
    [
        ("swish", plain, {}, "its name is two or more names", 'of your own: "my.swish"'),
        ("my.2", plain, {}, "its name is two or more names", None),
        ("my.class", plain, {}, "its name is two or more names", None),
        ("nn.swish", plain, {}, r"`R\.nn` is a name of Relax", 'of your own: "my.swish"'),
        ("my.f", lambda x: x, {}, "the parameter `x` of `<lambda>` has no annotation", "`Tensor`"),
        ("my.f", of_arrays, {}, "`ndarray` is no annotation of a parameter", "`Tensor`"),
        ("my.f", plain, {"traits": ["view_"]}, "has the unknown trait `view_`", None),
        ("my.swish.more", plain, {}, r"`R\.my\.swish` is an operator, no namespace", None),
        ("my.deep", plain, {}, r"`R\.my\.deep` is a namespace", None),
    ],
)
def test_what_cannot_be_an_operator_is_refused(swish, name, meaning, options, said, help):
    op("my.deep.inner")(plain)
    try:
        with pytest.raises(DiagnosticError, match=said) as caught:
            op(name, **options)(meaning)
        diagnostic = caught.value.diagnostics[0]
        assert diagnostic.code == "RX0708"
        assert help is None or help in str(diagnostic.help)
    finally:
        remove_op("my.deep.inner")


def test_a_check_leaves_an_operator_that_the_file_defines_to_its_run(tmp_path, capsys):
    file = tmp_path / "model.py"
    file.write_text(
        "from relaxscript.script import ir as I, relax as R\n"
        "from relaxscript.opdef import op, Tensor\n"
        "@op('my.swish')\ndef swish(x: Tensor) -> Tensor:\n    return x\n" + MODULE
    )
    assert run_command(["check", str(file)]) == 0
    assert "`R.my`" in capsys.readouterr().out
    file.write_text(MODULE.replace("R.my.swish", "R.nm.relu"))
    assert run_command(["check", str(file)]) == 1
