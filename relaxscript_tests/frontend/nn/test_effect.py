"""Effects are states that go into a function and out again, from call to call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.ir import assert_structural_equal
from relaxscript.relax import BlockBuilder, Var
from relaxscript.relax.frontend import nn
from relaxscript.script import relax as R


class Total(nn.Effect):
    """The sum of what it was given so far."""

    def __init__(self, dtype: str = "float32") -> None:
        self.dtype = dtype
        self.state: Var | None = None

    def emit_init(self, name_hint: str, builder: BlockBuilder) -> list[Var]:
        return [builder.emit(R.zeros((), self.dtype), f"{name_hint}.total")]

    def create(self, name_hint: str) -> list[Var]:
        self.state = Var(f"{name_hint}.total", R.Tensor((), self.dtype))
        return [self.state]

    def set_state(self, state_vars: list[Var]) -> None:
        (self.state,) = state_vars

    def finalize(self) -> list[Var]:
        state, self.state = self.state, None
        assert state is not None
        return [state]

    def to(self, dtype: str | None = None) -> None:
        self.dtype = dtype or self.dtype

    def add(self, x: nn.Tensor) -> nn.Tensor:
        total = nn.Tensor(_expr=self.state) + nn.wrap_nested(R.sum(x._expr), "sum")
        self.state = total._expr
        return total


class Adder(nn.Module):
    """Two states: one that changes in each call, and one that a call may leave as it is."""

    def __init__(self) -> None:
        self.total = Total()
        self.inner = nn.ModuleList([nn.ModuleDict()])
        self.other = Total()

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        return self.total.add(x) + x

    def peek(self) -> nn.Tensor:
        return nn.Tensor(_expr=self.total.state) * 1.0


def spec(mode: str) -> dict[str, Any]:
    modes = {"param_mode": "plain", "effect_mode": mode}
    x = nn.spec.Tensor((2,), "float32")
    return {"forward": {"x": x, "$": modes}, "peek": {"$": modes}}


@pytest.mark.parametrize("mode", ["plain", "packed"])
@pytest.mark.parametrize("debug", [False, True])
def test_a_state_is_kept_from_call_to_call(mode: str, debug: bool):
    model = Adder()
    mod = model.export_tvm(spec(mode), debug=debug)[0]
    assert rx.analysis.well_formed(mod)
    assert_structural_equal(rx.from_source(mod.script(show_meta=True)), mod)
    run = model.jit(spec(mode), debug=debug)
    x = np.array([1, 2], "float32")
    assert run.forward(x).tolist() == [4, 5]
    assert run.forward(x).tolist() == [7, 8]
    assert run.peek().tolist() == 6


def test_states_are_parameters_after_the_inputs_by_the_names_of_their_attributes():
    function = Adder().export_tvm(spec("plain"))[0]["forward"]
    assert [var.name_hint for var in function.params] == ["x", "total.total", "other.total"]
    assert function.attrs["num_input"] == 3


def test_another_dtype_is_that_of_states_too():
    model = Adder()
    model.to("float16")
    assert model.total.dtype == model.other.dtype == "float16"


@pytest.mark.parametrize("step", ["emit_init", "create", "set_state", "finalize"])
def test_an_effect_that_lacks_a_step_is_refused_by_its_name(step: str):
    lacking = type("Lacking", (nn.IOEffect,), {step: getattr(nn.Effect, step)})
    with pytest.raises(TypeError, match=f"Lacking .*{step}"):
        lacking()
