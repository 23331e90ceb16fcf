"""Networks as modules are exported, read back, and run alike on every executor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


@pytest.mark.parametrize("name", NETWORKS)
@every_executor
def test_a_network_is_exported_and_runs(load: Callable[[Any], Any], name: str):
    model, spec = NETWORKS[name]
    rng = np.random.default_rng(17)
    model.load_state_dict(weights(model, rng))
    tensors = {arg: nn.spec.Tensor(*kind) for arg, kind in spec.items()}
    mod, params = model.export_tvm({"forward": tensors})
    assert rx.analysis.well_formed(mod)
    read = rx.from_source(mod.script(show_meta=True))
    assert_structural_equal(read, mod)
    given = arguments(spec, rng)
    got = load(read).forward(*given, *[parameter.data for _, parameter in params])
    wanted = Interpreter(mod).forward(*given, *[parameter.data for _, parameter in params])
    assert got.dtype == np.float32
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
