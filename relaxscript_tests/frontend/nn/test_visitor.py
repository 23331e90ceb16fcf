"""A mutator puts other modules, parameters and effects in the places of those of a model."""

from __future__ import annotations

from typing import Any

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.relax.frontend import nn
from relaxscript_tests.frontend.nn.models import MLP


class Held(nn.Module):
    """A module with everything that is visited."""

    def __init__(self) -> None:
        self.layers = nn.ModuleList([MLP(), nn.ReLU()])
        self.heads = nn.ModuleDict({"out": nn.Linear(3, 2)})
        self.scale = nn.Parameter((1,))
        self.io = nn.IOEffect()
        self.again = self.heads["out"]
        self.width = 3


def test_all_that_a_model_holds_is_visited_once_with_its_name():
    seen: list[str] = []

    class Names(nn.Mutator):
        def visit_module(self, name: str, node: nn.Module) -> Any:
            seen.append(f"module {name}")
            return super().visit_module(name, node)

        def visit_modulelist(self, name: str, node: nn.ModuleList) -> Any:
            seen.append(f"list {name}")
            return super().visit_modulelist(name, node)

        def visit_moduledict(self, name: str, node: nn.ModuleDict) -> Any:
            seen.append(f"dict {name}")
            return super().visit_moduledict(name, node)

        def visit_param(self, name: str, node: nn.Parameter) -> Any:
            seen.append(f"param {name}")
            return super().visit_param(name, node)

        def visit_effect(self, name: str, node: nn.Effect) -> Any:
            seen.append(f"effect {name}")
            return super().visit_effect(name, node)

    model = Held()
    assert Names().visit("", model) is model
    assert seen == [
        "module ", "list layers", "module layers.0", "module layers.0.fc1",
        "param layers.0.fc1.weight", "param layers.0.fc1.bias", "module layers.0.relu",
        "module layers.0.fc2", "param layers.0.fc2.weight", "module layers.1", "dict heads",
        "module heads.out", "param heads.out.weight", "param heads.out.bias", "param scale",
        "effect io",
    ]  # fmt: skip


def test_what_is_given_takes_the_place_of_what_was_visited():
    class Narrow(nn.Mutator):
        def visit_module(self, name: str, node: nn.Module) -> Any:
            if isinstance(node, nn.Linear):
                return nn.Linear(1, 1)
            return super().visit_module(name, node)

    model = Held()
    Narrow().visit("model", model)
    assert model.layers[0].fc1.in_features == 1
    assert model.heads["out"].in_features == 1
    assert model.again is model.heads["out"]


# ---------------------------------------------------------------- mistakes


def told(mutator: nn.Mutator) -> str:
    """The message of a visit; the note says where the method is."""
    with pytest.raises(DiagnosticError) as refused:
        mutator.visit("", Held())
    (found,) = refused.value.diagnostics
    assert (found.code, found.span is not None) == ("RX0711", True)
    assert __file__ in found.notes[0]
    return found.message


@pytest.mark.parametrize("name", ["module", "modulelist", "moduledict", "param", "effect"])
@pytest.mark.parametrize("made", [None, 3])
def test_a_method_that_gives_no_part_of_a_model_is_told(name: str, made: Any):
    def forgetful(self: nn.Mutator, name: str, node: Any) -> Any:
        return made if name else getattr(nn.Mutator, method)(self, name, node)

    method = f"visit_{name}"
    mutator = type("Forgetful", (nn.Mutator,), {method: forgetful})()
    assert f"`forgetful` gives {'NoneType (None)' if made is None else 'int (3)'}" in told(mutator)


def test_a_visit_that_returns_nothing_is_told_with_the_path():
    class Forgetful(nn.Mutator):
        def visit(self, name: str, node: Any) -> Any:
            made = super().visit(name, node)
            if not isinstance(node, nn.ReLU):
                return made
            return None

    message = "`visit` gives NoneType (None) for `layers.0.relu`, which is no part of a model"
    assert told(Forgetful()) == message
