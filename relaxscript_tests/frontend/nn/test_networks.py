"""Networks as modules are exported, read back, and run alike on every executor."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.interpreter import Interpreter
from relaxscript.ir import assert_structural_equal
from relaxscript.relax.frontend import nn
from relaxscript_tests.end_to_end.executors import every_executor
from relaxscript_tests.frontend.nn.networks import NETWORKS

SIZES = {"n": 2, "t": 5}


def arguments(spec: dict[str, Any], rng: np.random.Generator) -> list[Any]:
    """Random arguments of a network."""
    found: list[Any] = []
    for shape, dtype in spec.values():
        sizes = [SIZES.get(size, size) for size in shape]
        if dtype == "float32":
            found.append(rng.standard_normal(sizes).astype("float32"))
        else:
            found.append(np.ones(sizes, "bool") if dtype == "bool" else np.array([3, 41], "int32"))
    return found


def weights(model: nn.Module, rng: np.random.Generator) -> dict[str, Any]:
    """Random weights of a network, such that numbers stay small from layer to layer."""
    found = {}
    for name, parameter in model.named_parameters():
        shape = [int(size) for size in parameter.shape]
        scale = 0.5 / np.sqrt(max(np.prod(shape[1:]), 1))
        array = rng.standard_normal(shape) * scale + (len(shape) == 1 and "bias" not in name)
        found[name] = np.asarray(np.abs(array) if "var" in name else array, parameter.dtype)
    return found


class Exported(NamedTuple):
    """A network as a module, the one of its script, arguments, and what it makes of them."""

    mod: rx.IRModule
    read: Any
    given: list[Any]
    wanted: Any


@functools.cache
def exported(name: str) -> Exported:
    """The network of a name with random weights; made once for all executors."""
    model, spec = NETWORKS[name]
    rng = np.random.default_rng(17)
    model.load_state_dict(weights(model, rng))
    tensors = {arg: nn.spec.Tensor(*kind) for arg, kind in spec.items()}
    mod, params = model.export_tvm({"forward": tensors})
    given = [*arguments(spec, rng), *[parameter.data for _, parameter in params]]
    read = rx.from_source(mod.script(show_meta=True))
    return Exported(mod, read, given, Interpreter(mod).forward(*given))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_exported_and_read_back(name: str):
    made = exported(name)
    assert rx.analysis.well_formed(made.mod)
    assert_structural_equal(made.read, made.mod)


@pytest.mark.parametrize("name", NETWORKS)
@every_executor
def test_a_network_runs(load: Callable[[Any], Any], name: str):
    made = exported(name)
    got = load(made.read).forward(*made.given)
    assert got.dtype == np.float32
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got, made.wanted, rtol=1e-4, atol=1e-5)
