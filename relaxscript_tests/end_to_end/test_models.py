"""Whole models, each a decorated class, become loops that mean the same to all executors.

The evaluators run models with few channels on small images; the others, native code alone runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from relaxscript.analysis import well_formed
from relaxscript.compiler import VirtualMachine, build, jit
from relaxscript.ir import IRModule
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import Op
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.walk import walk
from relaxscript.op.calls import call_tir
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_allclose_tree
from relaxscript.transform import LegalizeOps
from relaxscript_tests.end_to_end.executors import EXECUTORS
from relaxscript_tests.end_to_end.models.detection import detection
from relaxscript_tests.end_to_end.models.lstm import lstm
from relaxscript_tests.end_to_end.models.resnet18 import resnet18
from relaxscript_tests.end_to_end.models.transformer import transformer
from relaxscript_tests.end_to_end.models.unet import unet


class Model(NamedTuple):
    """A model, its sizes for the evaluators and for native code, and the operators that stay."""

    make: Callable[..., IRModule]
    small: dict[str, int]
    large: dict[str, int]
    stays: frozenset[str] = frozenset()


MODELS = {
    "transformer": Model(
        transformer,
        {"width": 16, "heads": 2, "sequence": 8},
        {"width": 128, "heads": 8, "sequence": 64},
    ),
    "lstm": Model(lstm, {"inputs": 4, "hidden": 8}, {"inputs": 32, "hidden": 64}),
    "unet": Model(unet, {"width": 2, "image": 16}, {"width": 16, "image": 128}),
    "resnet18": Model(
        resnet18,
        {"width": 8, "image": 16, "classes": 10},
        {"width": 64, "image": 224, "classes": 1000},
    ),
    "detection": Model(
        detection,
        {"width": 8, "image": 4, "anchors": 3, "classes": 4},
        {"width": 64, "image": 32, "anchors": 9, "classes": 10},
        frozenset({"relax.call_pure_packed"}),
    ),
}

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def arguments(module: IRModule, batch: int) -> list[Any]:
    """An input, and weights that keep the size of what goes through them."""
    rng = np.random.default_rng(0)

    def value(info: StructInfo | None) -> Any:
        if isinstance(info, TupleStructInfo):
            return tuple(map(value, info.fields))
        assert isinstance(info, TensorStructInfo)
        shape = [d.value if isinstance(d, IntImm) else batch for d in info.dims or ()]
        if len(shape) == 1:
            return rng.uniform(0.5, 1.5, shape).astype(np.float32)
        terms = shape[0] if len(shape) == 2 else math.prod(shape[1:])
        return (rng.normal(size=shape) / math.sqrt(terms)).astype(np.float32)

    first, *rest = (value(param.struct_info) for param in module["main"].params)
    return [first / first.std(), *rest]


def operators_in(module: IRModule) -> set[str]:
    """The names of the operators that are called, but for the call of PrimFuncs."""
    functions = module.relax_functions().values()
    called = {e.name for f in functions for e in walk(f.body) if isinstance(e, Op)}
    return called - {call_tir.name}


@pytest.mark.slow
@every_model
def test_a_model_is_made_of_loops_and_means_the_same_to_every_executor(model: Model) -> None:
    module = model.make(**model.small)
    legal = LegalizeOps()(module)
    assert operators_in(legal) == model.stays
    assert well_formed(legal)
    assert_structural_equal(from_source(legal.script(show_meta=True)), legal)
    inputs = arguments(module, 1)
    expected = EXECUTORS["interpreter"](module).main(*inputs)
    for load in EXECUTORS.values():
        assert_allclose_tree(load(legal).main(*inputs), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.long
@every_model
def test_native_loops_of_a_large_model_give_what_its_operators_mean(model: Model) -> None:
    module = model.make(**model.large)
    inputs = arguments(module, 2)
    expected = jit(module).main(*inputs)
    machine = VirtualMachine(build(module, "llvm", relax_pipeline="zero"))
    assert_allclose_tree(machine["main"](*inputs), expected, rtol=1e-3, atol=1e-4)
