"""Reading and building are linear in the bindings, also where no two have the same shape."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relaxscript.compiler import build
from relaxscript.ir import IRModule
from relaxscript.script import from_source
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.long_programs import long_module


def of_different_shapes(count: int) -> str:
    lines = [
        "@I.ir_module",
        "class Long:",
        "    @R.function",
        '    def main(x: R.Tensor(("n", 3), "float32")):',
        "        n = T.int64()",
    ]
    for i in range(count):
        lines.append(f'        a{i} = R.zeros(({i + 2}, 3), "float32")')
        lines.append(f'        b{i} = R.exp(R.zeros((n + {i}, 3), "float32"))')
    return "\n".join([*lines, f"        return (a{count - 1}, b{count - 1})", ""])


def read(count: int) -> IRModule:
    made = from_source(of_different_shapes(count))
    assert isinstance(made, IRModule)
    return made


def test_reading_bindings_of_different_shapes_is_linear():
    def prepare(count: int) -> Callable[[], object]:
        text = of_different_shapes(count)
        return lambda: from_source(text)

    assert growth(prepare, 20) < 10


@pytest.mark.slow
@pytest.mark.parametrize("exec_mode", ["bytecode", "compiled"])
def test_building_bindings_of_different_shapes_is_linear(exec_mode: str):
    def prepare(count: int) -> Callable[[], object]:
        module = read(count)
        return lambda: build(module, exec_mode=exec_mode)

    assert growth(prepare, 20) < 10


def test_building_a_model_whose_weights_are_one_tuple_is_linear_in_the_weights():
    def prepare(count: int) -> Callable[[], object]:
        module = long_module("weights", count)
        return lambda: build(module)

    assert growth(prepare, 24) < 10
