"""Passes over weights take time in proportion to the weights, those of a tuple too."""

from __future__ import annotations

import pytest

from relaxscript.script import from_source
from relaxscript.transform import (
    LazyGetInput,
    LazySetOutput,
    LazyTransformParams,
    LiftTransformParams,
    UpdateParamStructInfo,
)
from relaxscript_tests.growth import growth

TEXT = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), {parameters}):
        R.func_attr({{"num_input": 1}})
        with R.dataflow():
            v0 = R.exp(x)
{bindings}
            R.output(v{count})
        return v{count}
"""
BINDINGS = """            e{i} = R.exp({weight})
            v{next} = R.add(v{i}, e{i})"""
WEIGHT = 'R.Tensor((2, 3), "float32")'


def module(count, in_tuple):
    """A program of so many weights, alone or in a tuple, of which something is computed."""
    weights = [f"params[{i}]" if in_tuple else f"w{i}" for i in range(count)]
    parameters = (
        f"params: R.Tuple({', '.join([WEIGHT] * count)})"
        if in_tuple
        else ", ".join(f"{weight}: {WEIGHT}" for weight in weights)
    )
    bindings = [BINDINGS.format(i=i, next=i + 1, weight=w) for i, w in enumerate(weights)]
    return from_source(
        TEXT.format(parameters=parameters, bindings="\n".join(bindings), count=count)
    )


@pytest.mark.slow
@pytest.mark.parametrize("in_tuple", [False, True], ids=["alone", "in a tuple"])
@pytest.mark.parametrize(
    ("step", "is_lifted"),
    [
        (LiftTransformParams(), False),
        (LiftTransformParams(shared_transform=True), False),
        (LazyGetInput(), False),
        (LazySetOutput(), True),
        (LazyTransformParams(), True),
        (UpdateParamStructInfo(lambda param: param.struct_info), False),
    ],
    ids=["lift", "lift_shared", "get", "set", "transform", "update"],
)
def test_passes_are_linear_in_the_weights(step, is_lifted, in_tuple):
    def prepare(count):
        mod = module(count, in_tuple)
        mod = LiftTransformParams()(mod) if is_lifted else mod
        return lambda: step(mod)

    assert growth(prepare, 24) < 10
