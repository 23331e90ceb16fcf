"""Modules become functions that read as if somebody had written them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.ir import assert_structural_equal
from relaxscript.relax.frontend import nn
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.frontend.nn import models
from relaxscript_tests.frontend.nn.models import MLP, MLP_SPEC, random_weights


def exported(model: nn.Module, spec: object, **options: bool) -> rx.IRModule:
    """A module that was exported; it is well-formed, and reads back as what it is."""
    mod: rx.IRModule = model.export_tvm(spec, **options)[0]
    assert rx.analysis.well_formed(mod)
    assert_structural_equal(rx.from_source(mod.script(show_meta=True)), mod)
    return mod


def test_a_model_is_exported_as_a_person_would_write_it():
    @I.ir_module
    class Expected:
        @R.function
        def forward(
            x: R.Tensor(("n", 4), "float32"),
            fc1_weight: R.Tensor((6, 4), "float32"),
            fc1_bias: R.Tensor((6,), "float32"),
            fc2_weight: R.Tensor((3, 6), "float32"),
        ):
            R.func_attr({"num_input": 1})
            with R.dataflow():
                permute_dims = R.permute_dims(fc1_weight)
                matmul = R.matmul(x, permute_dims)
                add = R.add(matmul, fc1_bias)
                relu = R.nn.relu(add)
                permute_dims1 = R.permute_dims(fc2_weight)
                matmul1 = R.matmul(relu, permute_dims1)
                R.output(matmul1)
            return matmul1

    mod = exported(MLP(), MLP_SPEC)
    assert_structural_equal(mod, Expected)
    assert mod.script() == Expected.script().replace("class Expected", "class Module")


def test_the_parameters_are_given_with_the_attributes_that_lead_to_them():
    model = MLP()
    _, params = model.export_tvm(MLP_SPEC)
    assert [name for name, _ in params] == ["fc1.weight", "fc1.bias", "fc2.weight"]
    assert params[0][1] is model.fc1.weight


def test_names_that_begin_anew_in_each_function_do_not_depend_on_the_order_of_methods():
    class Two(MLP):
        def other(self, x: nn.Tensor) -> nn.Tensor:
            return self.relu(x)

    shape = nn.spec.Tensor(("n", 4), "float32")
    mod = exported(Two(), {"forward": {"x": shape}, "other": {"x": shape}})
    (binding,) = mod["other"].body.blocks[0].bindings
    assert binding.var.name_hint == "relu"


def test_packed_parameters_are_the_fields_of_one_tuple_by_their_names():
    spec = {"forward": {**MLP_SPEC["forward"], "$": {"param_mode": "packed"}}}
    function = exported(MLP(), spec)["forward"]
    assert [param.name_hint for param in function.params] == ["x", "packed_params"]
    names = [binding.var.name_hint for binding in function.body.blocks[0].bindings]
    assert names[:3] == ["fc1.weight", "fc1.bias", "fc2.weight"]


def test_without_parameters_a_method_takes_its_inputs_only():
    class Double(nn.Module):
        def __init__(self) -> None:
            self.unused = nn.Parameter((2,))

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return x + x

    none = {"param_mode": "none", "effect_mode": "none"}
    spec = {"forward": {"x": nn.spec.Tensor((2,), "float32"), "$": none}}
    assert len(exported(Double(), spec)["forward"].params) == 1


def test_what_is_printed_has_a_state_that_goes_through_the_function():
    mod = exported(MLP(), MLP_SPEC, debug=True)
    assert repr(mod["_initialize_effect"].ret_struct_info) == "R.Tuple(R.Object)"
    function = mod["forward"]
    assert [param.name_hint for param in function.params][:2] == ["x", "_io"]
    assert function.attrs["num_input"] == 2
    assert repr(function.ret_struct_info).endswith("R.Tuple(R.Object))")


def test_packed_effects_are_the_fields_of_one_tuple():
    spec = {"forward": {**MLP_SPEC["forward"], "$": {"effect_mode": "packed"}}}
    function = exported(MLP(), spec, debug=True)["forward"]
    assert function.params[1].name_hint == "packed_effects"


def test_an_input_that_is_returned_needs_no_block():
    class Same(nn.Module):
        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return x

    function = exported(Same(), {"forward": {"x": nn.spec.Tensor((2,), "float32")}})["forward"]
    assert function.body.blocks == ()
    assert function.body.body is function.params[0]


def test_integers_and_tuples_reach_the_method_as_what_they_are():
    class Arranged(nn.Module):
        def forward(self, pair: list[nn.Tensor], n: T.Var, scale: float = 2.0) -> object:
            a, b = pair
            assert isinstance(pair, list)
            return [(a * scale).reshape(n, 2), b]

    shape = nn.spec.Tensor(("n", 2), "float32")
    spec = {"forward": {"pair": [shape, shape], "n": int}}
    model = Arranged()
    exported(model, spec)
    a, b = np.ones((3, 2), "float32"), np.zeros((3, 2), "float32")
    doubled, same = model.jit(spec).forward((a, b), 3)
    assert doubled.tolist() == (a * 2).tolist()
    assert same.tolist() == b.tolist()


def test_a_parameter_with_two_names_is_one_parameter_of_the_function():
    class Tied(nn.Module):
        def __init__(self) -> None:
            self.up = nn.Linear(3, 3, bias=False)
            self.down = nn.Linear(3, 3, bias=False)
            self.down.weight = self.up.weight

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return self.down(self.up(x))

    model = Tied()
    mod, params = model.export_tvm({"forward": {"x": nn.spec.Tensor((2, 3), "float32")}})
    assert [name for name, _ in params] == ["up.weight"]
    assert len(mod["forward"].params) == 2
    assert list(model.state_dict()) == ["up.weight", "down.weight"]


def test_a_model_is_exported_in_many_threads_at_once():
    model = MLP()
    with ThreadPoolExecutor(8) as pool:
        made = [*pool.map(lambda _: model.export_tvm(MLP_SPEC, debug=True)[0], range(32))]
    for mod in made[1:]:
        assert_structural_equal(mod, made[0])


class Keeping(nn.Module):
    def __init__(self, kept: list[nn.Tensor]) -> None:
        self.kept = kept

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        self.kept.append(x)
        return nn.op.exp(self.kept[0])

    def give(self, x: nn.Tensor) -> nn.Tensor:
        return self.kept[0]


@pytest.mark.parametrize(
    ("method", "line"),
    [("forward", "return nn.op.exp(self.kept[0])"), ("give", "export_tvm")],
)
def test_a_tensor_of_another_call_is_told_at_the_line_that_uses_it(method: str, line: str):
    model = Keeping([])
    argument = {"x": nn.spec.Tensor((2,), "float32")}
    exported(model, {"forward": argument})
    with pytest.raises(DiagnosticError, match="uses `x`, which nothing in it makes") as refused:
        model.export_tvm({method: argument})
    assert line in str(refused.value)


def test_a_placeholder_is_no_value_of_a_model():
    model = Keeping([nn.Tensor.placeholder((2,), "float32", name="p")])
    with pytest.raises(DiagnosticError, match="`forward` uses `p`, which nothing in it makes"):
        model.export_tvm({"forward": {"x": nn.spec.Tensor((2,), "float32")}})


def test_bindings_know_the_line_of_the_user():
    function = exported(MLP(), MLP_SPEC)["forward"]
    spans = {binding.span for binding in function.body.blocks[0].bindings}
    line = MLP.forward.__code__.co_firstlineno + 1
    assert {(span.filename, span.line) for span in spans} == {(models.__file__, line)}


@pytest.mark.parametrize("target", ["reference", "llvm"])
def test_a_model_computes_what_numpy_does(target: str):
    model, x = MLP(), np.random.default_rng(1).standard_normal((5, 4)).astype("float32")
    mod, params = model.export_tvm(MLP_SPEC)
    weights = random_weights(model)
    model.load_state_dict(weights)
    wanted = np.maximum(x @ weights["fc1.weight"].T + weights["fc1.bias"], 0)
    wanted = wanted @ weights["fc2.weight"].T
    vm = rx.VirtualMachine(rx.build(mod, target))
    got = vm["forward"](x, *[parameter.data for _, parameter in params])
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
