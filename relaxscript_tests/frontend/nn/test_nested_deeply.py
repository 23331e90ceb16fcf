"""Modules that hold each other by thousands: each is found, and what cannot be called says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.relax.frontend import nn

DEPTH = 3400
SPEC = {"forward": {"x": nn.spec.Tensor((1,), "float32")}}


class Nest(nn.Module):
    """A module with a scale around another one."""

    def __init__(self, inner: Nest | None) -> None:
        self.inner: Any = inner
        self.scale = nn.Parameter((1,))

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        found: nn.Tensor = x if self.inner is None else self.inner(x)
        return found * self.scale


def nested(depth: int) -> Nest:
    made = Nest(None)
    for _ in range(depth - 1):
        made = Nest(made)
    return made


def test_parameters_of_nested_modules_are_found_loaded_and_converted():
    model = nested(DEPTH)
    names = [name for name, _ in model.named_parameters()]
    assert names[:2] == ["inner." * (DEPTH - 1) + "scale", "inner." * (DEPTH - 2) + "scale"]
    assert names[-1] == "scale"
    assert len({*names}) == DEPTH
    model.load_state_dict(dict.fromkeys(names, np.ones(1, "float32")))
    model.to("float16")
    assert {parameter.data.dtype.name for parameter in model.parameters()} == {"float16"}


def test_names_come_in_the_order_of_attributes():
    model = nested(3)
    model.last = nn.ModuleList([nn.Linear(1, 1), nn.ReLU()])  # type: ignore[attr-defined]
    assert [*model.state_dict()] == [
        "inner.inner.scale", "inner.scale", "scale", "last.0.weight", "last.0.bias",
    ]  # fmt: skip


def test_the_dtype_of_a_module_inside_of_itself_changes():
    model = nested(2)
    model.inner.inner = model
    model.to("float16")
    assert [parameter.dtype for parameter in model.parameters()] == ["float16", "float16"]


def test_modules_too_deep_to_be_called_are_refused():
    for run in (nested(DEPTH).export_tvm, nested(DEPTH).jit):
        with pytest.raises(DiagnosticError) as refused:
            run(SPEC)
        (found,) = refused.value.diagnostics
        assert (found.code, found.message) == (
            "RX0104", "`forward` is nested too deeply to be exported"
        )  # fmt: skip
        assert found.help is not None
        assert "`nn.ModuleList`" in found.help
        assert found.span is not None
        assert found.span.filename == __file__


def test_modules_too_deep_to_be_visited_are_refused():
    with pytest.raises(DiagnosticError, match=r"RX0104.*the model is nested too deeply for `Mutat"):
        nn.Mutator().visit("", nested(DEPTH))


def refusal(depth: int) -> str | None:
    """The message of an export of so many modules; None where it succeeds."""
    try:
        nested(depth).export_tvm(SPEC)
    except DiagnosticError as error:
        return error.diagnostics[0].message
    return None


def test_wherever_python_gives_up_the_same_is_said():
    # Where it gives up, its version decides: newer ones need fewer frames for a call.
    depths = (50, *range(180, 420, 10), 225, 235, 1000)
    found = {refusal(depth) for depth in depths}
    assert found == {None, "`forward` is nested too deeply to be exported"}
