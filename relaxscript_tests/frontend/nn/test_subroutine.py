"""Modules as private functions, which each of their uses calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.ir import assert_structural_equal
from relaxscript.relax.frontend import nn
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.frontend.nn.models import random_weights
from relaxscript_tests.frontend.nn.test_effect import Total

SPEC = {"forward": {"x": nn.spec.Tensor(("n", 3), "float32")}}


class HeadBlock(nn.Module):
    """A block that is a function, with a number that is part of it."""

    define_subroutine = True

    def __init__(self) -> None:
        self.fc = nn.Linear(3, 3, bias=False)

    def forward(self, x: nn.Tensor, scale: float) -> nn.Tensor:
        return self.fc(x) * scale


class Tower(nn.Module):
    """Blocks in a row."""

    def __init__(self, *scales: float) -> None:
        self.scales = scales
        self.blocks = nn.ModuleList([HeadBlock() for _ in scales])

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        for block, scale in zip(self.blocks, self.scales):
            x = block(x, scale)
        return x


def exported(model: nn.Module, spec: Any) -> rx.IRModule:
    mod: rx.IRModule = model.export_tvm(spec)[0]
    assert rx.analysis.well_formed(mod)
    assert_structural_equal(rx.from_source(mod.script(show_meta=True)), mod)
    return mod


def test_equal_uses_call_one_function():
    @I.ir_module
    class Expected:
        @R.function(private=True)
        def head_block(x: R.Tensor(("n", 3), "float32"), fc_weight: R.Tensor((3, 3), "float32")):
            with R.dataflow():
                permute_dims = R.permute_dims(fc_weight)
                matmul = R.matmul(x, permute_dims)
                mul = R.multiply(matmul, R.const(2.0, "float32"))
                R.output(mul)
            return mul

        @R.function
        def forward(
            x: R.Tensor(("n", 3), "float32"),
            a: R.Tensor((3, 3), "float32"),
            b: R.Tensor((3, 3), "float32"),
        ):
            R.func_attr({"num_input": 1})
            cls = Expected
            with R.dataflow():
                first = cls.head_block(x, a)
                second = cls.head_block(first, b)
                R.output(second)
            return second

    assert_structural_equal(exported(Tower(2.0, 2.0), SPEC), Expected)


def test_uses_with_other_numbers_are_other_functions():
    mod = exported(Tower(2.0, 3.0, 2.0), SPEC)
    assert [gv.name_hint for gv in mod.functions] == ["head_block", "head_block1", "forward"]


def test_a_model_of_subroutines_computes_what_one_of_modules_does():
    model = Tower(2.0, -1.0)
    weights = random_weights(model)
    model.load_state_dict(weights)
    x = np.arange(6, dtype="float32").reshape(2, 3)
    wanted = (x @ weights["blocks.0.fc.weight"].T * 2) @ weights["blocks.1.fc.weight"].T * -1
    np.testing.assert_allclose(model.jit(SPEC).forward(x), wanted, rtol=1e-5, atol=1e-4)


def test_sizes_that_no_tensor_tells_are_an_argument():
    class Padded(nn.Module):
        define_subroutine = True

        def forward(self, x: nn.Tensor, n: T.Var) -> nn.Tensor:
            return x.reshape(n, 3)

    class Model(nn.Module):
        def __init__(self) -> None:
            self.padded = Padded()

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            n = x.shape[0]
            return self.padded(x.reshape(n * 3), n)

    mod = exported(Model(), SPEC)
    assert repr(mod["padded"].params[-1].struct_info) == "R.Shape([n])"
    x = np.ones((2, 3), "float32")
    assert Model().jit(SPEC).forward(x).tolist() == x.tolist()


def test_tuples_and_objects_go_in_and_come_out():
    class Swap(nn.Module):
        define_subroutine = True

        def forward(self, pair: Any, *, other: nn.Object) -> Any:
            a, b = pair
            return [b, (a, other)]

    class Model(nn.Module):
        def __init__(self) -> None:
            self.swap = Swap()

        def forward(self, x: nn.Tensor, state: nn.Object) -> Any:
            b, (a, same) = self.swap((x, x + x), other=state)
            assert isinstance(same, nn.Object)
            return b - a, same

    spec = {"forward": {**SPEC["forward"], "state": nn.spec.Object(nn.Object)}}
    exported(Model(), spec)
    x = np.ones((2, 3), "float32")
    difference, state = Model().jit(spec).forward(x, "state")
    assert difference.tolist() == x.tolist()
    assert state == "state"


@pytest.mark.parametrize("mode", ["plain", "packed"])
@pytest.mark.parametrize("debug", [False, True])
def test_states_of_effects_go_through_subroutines(mode: str, debug: bool):
    class Step(nn.Module):
        define_subroutine = True

        def __init__(self) -> None:
            self.total = Total()

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return x * self.total.add(x)

    class Outer(nn.Module):
        define_subroutine = True

        def __init__(self) -> None:
            self.step = Step()

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return self.step(x)

    model = nn.ModuleList([Outer(), nn.ReLU(), Outer()])
    spec = {"forward": {**SPEC["forward"], "$": {"effect_mode": mode}}}
    exported(model, spec)
    run = model.jit(spec, debug=debug)
    x = np.ones((1, 3), "float32")
    assert run.forward(x).tolist() == [[27, 27, 27]]  # 3, and then 9
    assert run.forward(x).tolist() == [[6 * (9 + 18)] * 3]


def test_states_that_a_function_is_not_given_do_not_go_through_it():
    model = nn.ModuleList([HeadBlock(), nn.ReLU()])
    model.modules[0].unused = Total()
    model.modules[0].forward = lambda x: x + x
    modes = {"effect_mode": "none", "param_mode": "none"}
    mod = model.export_tvm({"forward": {**SPEC["forward"], "$": modes}})[0]
    assert [var.name_hint for var in mod["forward"].params] == ["x"]


# ---------------------------------------------------------------- mistakes


def test_what_is_wrong_inside_of_a_subroutine_is_said_with_its_path():
    spec = {"forward": {"x": nn.spec.Tensor(("n", 4), "float32")}}
    with pytest.raises(DiagnosticError) as raised:
        Tower(2.0).export_tvm(spec)
    (found,) = raised.value.diagnostics
    assert "in `blocks.0.fc`, a `Linear`" in found.notes
    with pytest.raises(DiagnosticError) as again:
        Tower(2.0).export_tvm(spec)
    assert str(again.value) == str(raised.value)


def test_a_parameter_that_a_method_is_not_given_is_named_in_a_subroutine_too():
    spec = {"forward": {**SPEC["forward"], "$": {"param_mode": "none"}}}
    with pytest.raises(DiagnosticError, match=r"`blocks.0.fc.weight` is used in a method that is"):
        Tower(2.0).export_tvm(spec)
