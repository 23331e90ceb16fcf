"""Laws of every operator beyond its own room: scripts give it back, executors give its meaning."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.builder import BlockBuilder
from relaxscript.errors import RelaxWarning
from relaxscript.interpreter import Interpreter
from relaxscript.ir import GlobalVar, IRModule, VDevice
from relaxscript.op import REGISTRY, Operator
from relaxscript.runtime import Prim
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same
from relaxscript_tests.op.nearness import assert_near
from relaxscript_tests.op.sampling import CALLEES, Sample, samples

# Both laws of an operator run before those of the next, on the same samples.
every_operator = pytest.mark.parametrize(
    "operator", REGISTRY.values(), ids=lambda o: o.script_name, scope="module"
)


def module_of(sample: Sample) -> IRModule:
    """A module whose `main` makes the call."""
    bb = BlockBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        with bb.function("main", list(sample.params), pure=sample.operator.pure):
            bb.emit_func_output(bb.emit(sample.call, "result"))
    mod = bb.finalize()
    if any(p.annotation == "VirtualDevice" for p in sample.operator.parameters):
        mod.update_global_info("vdevice", VDevice("llvm"))
    return mod


# These call PrimFuncs of their module, which their own tests provide.
CALLS_OF_PRIM_FUNCS = {
    "relax.call_tir", "relax.call_tir_inplace", "relax.call_tir_with_grad",
    "relax.dist.call_tir_local_view",
}  # fmt: skip


def runnable(operator: Operator) -> list[Sample]:
    """The samples that need no function of the module beside `main`."""
    found = [s for s in samples(operator) if not any(isinstance(a, GlobalVar) for a in s.call.args)]
    assert found or operator.name in CALLS_OF_PRIM_FUNCS
    return found


@pytest.fixture(autouse=True)
def packed_functions() -> Iterator[None]:
    """The functions that samples call by name."""
    for name, function in CALLEES.items():
        rx.register_func(name, function)
    yield
    for name in CALLEES:
        rx.remove_global_func(name)


def as_value(argument: Any) -> Any:
    """A Python function as the PackedFunc that it is registered as."""
    return rx.get_global_func(argument.__name__) if callable(argument) else argument


def copied(sample: Sample) -> dict[Any, Any]:
    """The operands of a sample, tensors copied."""
    return {v: x.copy() if isinstance(x, np.ndarray) else x for v, x in sample.values.items()}


def same_values(a: Any, b: Any) -> None:
    if isinstance(b, tuple) and not isinstance(a, np.ndarray):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same_values(x, y)
        return
    if isinstance(b, Prim):
        assert a == b
        return
    x, y = np.asarray(a), np.asarray(b)
    assert (x.dtype, x.shape) == (y.dtype, y.shape)
    assert x.tobytes() == y.tobytes()


@pytest.mark.slow
@every_operator
def test_a_call_is_printed_and_parsed_back(operator: Operator) -> None:
    for sample in runnable(operator):
        mod = module_of(sample)
        text = mod.script(show_meta=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelaxWarning)
            again = from_source(text)
        assert_same(again, mod)
        assert again.script(show_meta=True) == text


# A closure is made of a Relax function, which a sample has none of; test_control.py makes some.
@pytest.mark.slow
@pytest.mark.parametrize(
    "operator",
    [o for o in REGISTRY.values() if o.name != "relax.make_closure"],
    ids=lambda o: o.script_name,
    scope="module",
)
def test_all_executors_give_the_meaning(operator: Operator) -> None:
    for sample in runnable(operator):
        mod = module_of(sample)
        for run in (Interpreter(mod)["main"], rx.jit(mod, "llvm -opt-level=0").main):
            # Each gets its own tensors, for some operators write into them.
            result = run(*[as_value(v) for v in copied(sample).values()])
            same_values(result, dataclasses.replace(sample, values=copied(sample)).evaluate())
        result = rx.jit(mod).main(*[as_value(v) for v in copied(sample).values()])
        expected = dataclasses.replace(sample, values=copied(sample)).evaluate()
        if "compute" in operator.rules:
            assert_near(operator, sample, result, expected)
        else:
            same_values(result, expected)
