"""Values are printed, and handed to debug functions, where the export says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.relax.frontend import nn
from relaxscript.relax.frontend.nn import op

X = np.array([[1.0, 2.0]], "float32")


class Watched(nn.Module):
    """A model that prints what it computes, and hands it to a debug function."""

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        y = x + 1.0
        op.print_(y)
        op.debug_func("tests.nn.watch", y, 3, 2.5, "text", x.shape[0])
        return y


SPEC = {"forward": {"x": nn.spec.Tensor(("n", 2), "float32")}}
LINE = Watched.forward.__code__.co_firstlineno + 2


@pytest.fixture
def watched() -> Iterator[list[Any]]:
    calls: list[Any] = []
    rx.register_func("tests.nn.watch", lambda *args: calls.append(args))
    yield calls
    rx.remove_global_func("tests.nn.watch")


def test_debug_functions_get_the_line_and_the_values(
    watched: list[Any], capsys: pytest.CaptureFixture[str]
):
    run = Watched().jit(SPEC, debug=True)
    for _ in range(2):
        assert run.forward(X).tolist() == [[2, 3]]
    assert len(watched) == 2
    line, tensor, *others = watched[1]
    assert line == f"{__file__}:{LINE + 1}"
    assert tensor.tolist() == [[2, 3]]
    assert others == [3, 2.5, "text", 1]
    text = f"{__file__}:{LINE}: shape = (1, 2), dtype = float32, data =\n[[2. 3.]]\n"
    assert capsys.readouterr().out == text * 2


@pytest.mark.parametrize("target", ["reference", "llvm"])
def test_calls_keep_their_order_and_none_is_dropped(watched: list[Any], target: str):
    class Twice(nn.Module):
        def forward(self, x: nn.Tensor) -> nn.Tensor:
            op.debug_func("tests.nn.watch", x, 1)
            op.debug_func("tests.nn.watch", x, 2, _line_info="here")
            return x

    mod, _ = Twice().export_tvm(SPEC, debug=True)
    assert rx.analysis.well_formed(mod)
    mod = rx.transform.DeadCodeElimination()(mod)
    vm = rx.VirtualMachine(rx.build(mod, target))
    vm["forward"](X, *vm["_initialize_effect"]())
    assert [call[2] for call in watched] == [1, 2]
    assert watched[1][0] == "here"


def test_without_debug_nothing_is_called(watched: list[Any], capsys: pytest.CaptureFixture[str]):
    without = {"forward": {**SPEC["forward"], "$": {"effect_mode": "none"}}}
    for run in (Watched().jit(SPEC), Watched().jit(without, debug=True)):
        assert run.forward(X).tolist() == [[2, 3]]
    assert not watched
    assert not capsys.readouterr().out


def test_a_private_function_prints_too(watched: list[Any]):
    class Inner(Watched):
        define_subroutine = True

    class Outer(nn.Module):
        def __init__(self) -> None:
            self.inner = Inner()

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return self.inner(self.inner(x))

    mod, _ = Outer().export_tvm(SPEC, debug=True)
    assert rx.analysis.well_formed(mod)
    assert Outer().jit(SPEC, debug=True).forward(X).tolist() == [[3, 4]]
    assert [call[1].tolist() for call in watched] == [[[2, 3]], [[3, 4]]]


# ---------------------------------------------------------------- mistakes


def test_a_debug_function_that_there_is_not_is_named():
    with pytest.raises(VMError, match=r"there is no packed function `tests\.nn\.watch`"):
        Watched().jit(SPEC, debug=True).forward(X)


def test_outside_of_an_export_there_is_nothing_to_print():
    with pytest.raises(DiagnosticError, match="no module is being exported"):
        op.print_(nn.Tensor.placeholder((2,), "float32"))


def test_only_tensors_are_printed():
    class Wrong(nn.Module):
        def forward(self, x: nn.Tensor) -> nn.Tensor:
            op.print_("text")  # type: ignore[arg-type]
            return x

    with pytest.raises(VMError, match=r"`vm\.builtin\.debug_print`: expected a tensor, got a"):
        Wrong().jit(SPEC, debug=True).forward(X)
