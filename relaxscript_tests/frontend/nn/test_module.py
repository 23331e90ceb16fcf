"""A model is a tree of modules; its parameters are named by the attributes that hold them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.relax.frontend import nn
from relaxscript_tests.frontend.nn.models import MLP, random_weights


class Nested(nn.Module):
    """Modules in lists and dicts."""

    def __init__(self) -> None:
        self.layers = nn.ModuleList([MLP(5), MLP(7)])
        self.heads = nn.ModuleDict({"left": nn.Linear(2, 3, bias=False)})
        self.parent = self


def test_names_of_parameters_are_paths_of_attributes():
    names = [name for name, _ in Nested().named_parameters()]
    assert names[:2] == ["layers.0.fc1.weight", "layers.0.fc1.bias"]
    assert names[-2:] == ["layers.1.fc2.weight", "heads.left.weight"]
    assert next(iter(Nested().named_parameters("model")))[0] == "model.layers.0.fc1.weight"


def test_parameters_are_those_of_the_names():
    model = Nested()
    assert list(model.parameters()) == [parameter for _, parameter in model.named_parameters()]


def test_a_state_dict_is_added_to_one_that_is_there():
    destination: dict[str, nn.Parameter] = {}
    found = nn.Linear(2, 3).state_dict(prefix="fc", destination=destination)
    assert found is destination
    assert list(found) == ["fc.weight", "fc.bias"]
    assert list(nn.Linear(2, 3).state_dict(prefix="fc.")) == ["fc.weight", "fc.bias"]


def test_loaded_arrays_are_not_copied():
    model = MLP()
    weights = random_weights(model)
    assert model.load_state_dict(weights) == ([], [])
    for name, parameter in model.named_parameters():
        assert np.shares_memory(parameter.data, weights[name])


class Foreign:
    """A tensor of another library: it speaks DLPack, and has a gradient unless it is detached."""

    def __init__(self, array: np.ndarray, requires_grad: bool = True) -> None:
        self.array, self.requires_grad = array, requires_grad

    def detach(self) -> Foreign:
        return Foreign(self.array, False)

    def __dlpack__(self, **options: object) -> object:
        assert not self.requires_grad
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def test_tensors_of_other_libraries_are_loaded_without_a_copy():
    model = MLP()
    weights = random_weights(model)
    model.load_state_dict({name: Foreign(array) for name, array in weights.items()})
    assert np.shares_memory(model.fc1.weight.data, weights["fc1.weight"])


def test_a_file_of_weights_is_loaded_without_a_copy(tmp_path: Path):
    model = MLP()
    rx.save_weights(random_weights(model), tmp_path / "mlp.safetensors")
    weights = rx.load_weights(tmp_path / "mlp.safetensors")
    model.load_state_dict(weights)
    assert np.shares_memory(model.fc1.weight.data, weights["fc1.weight"])


def test_a_model_is_loaded_from_the_state_dict_of_another():
    first, second = MLP(), MLP()
    first.load_state_dict(random_weights(first))
    second.load_state_dict(first.state_dict())
    assert np.shares_memory(second.fc1.weight.data, first.fc1.weight.data)


def test_what_is_missing_and_unexpected_is_given_where_that_is_allowed():
    model = nn.Linear(2, 3)
    given = {"weight": np.zeros((3, 2), "float32"), "scale": np.ones(3)}
    assert model.load_state_dict(given, strict=False) == (["bias"], ["scale"])
    assert model.bias.data is None


def test_another_dtype_is_that_of_all_parameters_and_their_data():
    model = MLP()
    model.load_state_dict(random_weights(model))
    model.to("float16")
    assert {parameter.dtype for parameter in model.parameters()} == {"float16"}
    assert model.fc1.weight.data.dtype == np.float16


def test_a_list_calls_its_modules_in_a_row():
    layers = nn.ModuleList([nn.ReLU()])
    layers.append(nn.Linear(4, 2, bias=False))
    assert [type(layer) for layer in layers] == [nn.ReLU, nn.Linear]
    mod, _ = layers.export_tvm({"forward": {"x": nn.spec.Tensor((1, 4), "float32")}})
    names = [binding.var.name_hint for binding in mod["forward"].body.blocks[0].bindings]
    assert names == ["relu", "permute_dims", "matmul"]
    layers[0] = layers[1]
    assert len(layers) == 2
    assert layers[0] is layers[1]


def test_a_dict_is_one_of_modules():
    heads = nn.ModuleDict()
    heads["a"] = nn.ReLU()
    heads.update({"b": nn.ReLU()})
    assert list(heads) == list(heads.keys()) == ["a", "b"]
    assert len(heads) == 2
    assert "a" in heads
    assert heads.get("c") is None
    assert heads.pop("b") is not heads["a"]
    assert list(heads.values()) == [module for _, module in heads.items()]


def refused(message: str, *others: str) -> object:
    """Expect a mistake whose rendering has all of these."""
    return pytest.raises(DiagnosticError, match="(?s)" + ".*".join([message, *others]))


def test_every_name_that_differs_is_told_at_once_and_nothing_is_loaded():
    model = MLP()
    weights = random_weights(model)
    weights["fc1.wieght"] = weights.pop("fc1.weight")
    weights["fc2.weight"] = weights["fc2.weight"].T
    with pytest.raises(DiagnosticError) as raised:
        model.load_state_dict(weights)
    (found,) = raised.value.diagnostics
    assert found.code == "RX0712"
    assert found.span.text == "model.load_state_dict(weights)"
    assert found.notes == (
        "`fc1.wieght` is no parameter of the model; did you mean `fc1.weight`?",
        "`fc1.weight` is missing",
        "`fc2.weight` is of shape (3, 6), the data are a tensor of shape (6, 3) and dtype float32",
    )
    assert all(parameter.data is None for parameter in model.parameters())


def test_a_prefix_that_all_names_have_is_one_mistake():
    model = nn.Linear(2, 3)
    longer = {f"model.{name}": array for name, array in random_weights(model).items()}
    with refused("drop `model.`", "removeprefix"):
        model.load_state_dict(longer)
    outer = nn.ModuleDict({"model": model})
    with refused('add `model.`: `{"model." \\+ k: v'):
        outer.load_state_dict(random_weights(model))


def test_names_beyond_the_first_twenty_are_told_in_one_note():
    model = nn.ModuleList([nn.Linear(2, 2, bias=False) for _ in range(25)])
    renamed = {f"{k}.kernel": np.zeros((2, 2), "float32") for k in range(25)}
    with pytest.raises(DiagnosticError) as raised:
        model.load_state_dict(renamed)
    notes = raised.value.diagnostics[0].notes
    assert len(notes) == 42
    assert notes[20] == (
        "no parameters of the model are `20.kernel`, `21.kernel`, `22.kernel`, `23.kernel`, "
        "`24.kernel`"
    )
    assert notes[41].startswith("missing are `20.weight`, `21.weight`")


def test_data_of_another_dtype_are_refused():
    model = nn.Linear(2, 3, bias=False)
    with refused("`weight` is float32, the data are float64"):
        model.load_state_dict({"weight": np.zeros((3, 2))})
    with refused("the parameter is float32, the data are float64"):
        model.weight.data = np.zeros((3, 2))
    with refused("the parameter takes a tensor: expected a tensor, got a list of 1"):
        model.weight.data = [1.0]
    with refused("the parameter would get its data of a parameter that has none"):
        model.weight.data = nn.Parameter((3, 2))


def test_a_state_dict_is_a_mapping():
    with refused("a state_dict maps names to data"):
        MLP().load_state_dict([1, 2])  # type: ignore[arg-type]


def test_a_parameter_with_two_names_gets_one_array():
    model = nn.ModuleList([nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)])
    model[1].weight = model[0].weight
    ones = np.ones((2, 2), "float32")
    assert model.load_state_dict({"1.weight": ones}) == ([], [])
    with refused("`1.weight` and `0.weight` are one parameter, and get different data"):
        model.load_state_dict({"0.weight": ones, "1.weight": ones + 1})


def test_two_parameters_of_one_name_are_refused():
    leaf = nn.Linear(2, 2, bias=False)
    model = nn.ModuleDict({"a.b": leaf, "a": nn.ModuleDict({"b": nn.Linear(2, 2)})})
    with refused("two parameters are called `a.b.weight`"):
        list(model.named_parameters())


def test_a_module_that_is_called_outside_of_an_export_is_refused():
    with refused("`MLP` is called outside of an export", "run = model.jit"):
        MLP()(np.ones((1, 4), "float32"))


def test_a_module_without_forward_is_refused():
    with refused("`Module` has no method `forward`"):
        nn.Module()(1)


def test_lists_and_dicts_hold_modules_only():
    with refused("`nn.ModuleList` holds modules, not int"):
        nn.ModuleList([1])  # type: ignore[list-item]
    with refused("`nn.ModuleList` holds modules, not list"):
        nn.ModuleList([nn.ReLU()]).append([])  # type: ignore[arg-type]
    with refused("`nn.ModuleDict` holds modules, not None"):
        nn.ModuleDict({"a": None})  # type: ignore[dict-item]


def test_a_parameter_that_the_model_does_not_own_is_refused():
    class Loose(nn.Module):
        def __init__(self) -> None:
            self.layers = [nn.Linear(2, 2)]

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return self.layers[0](x)

    spec = {"forward": {"x": nn.spec.Tensor((1, 2), "float32")}}
    with refused("the model which is exported does not own", "nn.ModuleList"):
        Loose().export_tvm(spec)


def test_an_attribute_that_a_module_has_not_made_is_named():
    class Scaled(nn.Linear):
        def __init__(self) -> None:
            self.scales = nn.Parameter((1,))

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return x * self.scale

    class Bare(nn.Linear):
        def __init__(self) -> None:
            pass

    spec = {"forward": {"x": nn.spec.Tensor((1, 4), "float32")}}
    with pytest.raises(DiagnosticError) as raised:
        nn.ModuleList([Scaled()]).export_tvm(spec)
    (found,) = raised.value.diagnostics
    assert found.code == "RX0711"
    assert found.message == "`Scaled` has no attribute `scale`"
    assert found.help == "did you mean `scales`?"
    assert found.notes == ("in `0`, a `Scaled`",)
    assert found.span.line == Scaled.forward.__code__.co_firstlineno + 1
    with refused("`Bare` has no attribute `weight`", r"after `super\(\).__init__"):
        Bare().export_tvm(spec)


def test_what_python_refuses_in_a_method_is_left_as_it_is():
    class Wrong(nn.Module):
        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return [].missing  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="'list' object has no attribute 'missing'"):
        Wrong().export_tvm({"forward": {"x": nn.spec.Tensor((1, 4), "float32")}})


class Pair(nn.Module):
    def forward(self, x: nn.Tensor, /, y: nn.Tensor) -> nn.Tensor:
        return x + y


class PairAsFunction(Pair):
    define_subroutine = True


@pytest.mark.parametrize("pair", [Pair, PairAsFunction])
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda pair, x: pair(x), "`{}.forward` needs `y`"),
        (lambda pair, x: pair(x, x, x), "`{}.forward` takes 2 arguments, not 3"),
        (lambda pair, x: pair(x, z=x), "`{}.forward` has no parameter `z`"),
        (lambda pair, x: pair(x, x, y=x), "`{}.forward` is given `y` twice"),
    ],
)
def test_arguments_that_forward_does_not_take_are_told_at_the_call(
    pair: Any, call: Callable[..., Any], message: str
):
    class Outer(nn.Module):
        def __init__(self) -> None:
            self.parts = nn.ModuleList([pair()])

        def forward(self, x: nn.Tensor) -> Any:
            return call(self.parts[0], x)

    with pytest.raises(DiagnosticError) as raised:
        Outer().export_tvm({"forward": {"x": nn.spec.Tensor((1, 4), "float32")}})
    (found,) = raised.value.diagnostics
    assert (found.code, found.message) == ("RX0103", message.format(pair.__name__))
    if "twice" not in message:
        assert found.help == f"it is called as `{pair.__name__}.forward(x, /, y)`"
    assert found.notes == (f"in `parts.0`, a `{pair.__name__}`",)
    assert found.span is not None
    assert found.span.filename == __file__
    assert found.span.line == call.__code__.co_firstlineno
    assert found.span.text.startswith("pair(")


def test_what_python_refuses_inside_of_forward_is_left_as_it_is():
    class Wrong(nn.Module):
        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return x + len(3)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match=r"object of type 'int' has no len\(\)"):
        Wrong().export_tvm({"forward": {"x": nn.spec.Tensor((1, 4), "float32")}})


def test_what_operators_refuse_is_said_with_the_module_and_the_line():
    class Outer(nn.Module):
        def __init__(self) -> None:
            self.layers = nn.ModuleList([nn.Linear(4, 3), nn.Linear(4, 3)])

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return self.layers[1](self.layers[0](x))

    with pytest.raises(DiagnosticError) as raised:
        Outer().export_tvm({"forward": {"x": nn.spec.Tensor((1, 4), "float32")}})
    (found,) = raised.value.diagnostics
    assert found.code == "RX0203"
    assert "in `layers.1`, a `Linear`" in found.notes


def test_what_an_operator_refuses_before_it_is_bound_has_a_line_too():
    class Wrong(nn.Module):
        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return x + 1.5

    with pytest.raises(DiagnosticError) as raised:
        Wrong().export_tvm({"forward": {"x": nn.spec.Tensor((1, 4), "int32")}})
    (found,) = raised.value.diagnostics
    assert found.span.line == Wrong.forward.__code__.co_firstlineno + 1


def test_what_a_module_of_ours_refuses_has_the_line_that_calls_it():
    class Wrong(nn.Module):
        def __init__(self) -> None:
            self.fc = nn.Linear(4, 3)

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return self.fc("text")  # type: ignore[arg-type]

    with pytest.raises(DiagnosticError) as raised:
        Wrong().export_tvm({"forward": {"x": nn.spec.Tensor((1, 4), "float32")}})
    (found,) = raised.value.diagnostics
    assert found.code == "RX0201"
    assert found.span.line == Wrong.forward.__code__.co_firstlineno + 1


def test_a_name_that_is_no_string_is_no_parameter_of_the_model():
    model = nn.Linear(2, 2)
    with pytest.raises(DiagnosticError, match=r"(?s)`3` is no parameter.*`weight` is missing"):
        model.load_state_dict({3: np.ones((2, 2), "float32"), "bias": np.ones(2, "float32")})
    assert model.weight.data is None
