"""A small U-Net: exported, printed, parsed back, and on every executor what numpy computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relaxscript.ir import assert_structural_equal
from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import every_executor
from relaxscript_tests.frontend.nn.unet import SPEC, random_unet, unet

MODEL, WEIGHTS = random_unet()
X = np.random.default_rng(1).standard_normal((2, 3, 6, 8)).astype("float32")
TIMES = np.array([3, 250], "int32")


@pytest.fixture(scope="module")
def exported() -> Any:
    return MODEL.export_tvm(SPEC)[0]


def test_it_is_printed_with_the_names_of_its_parts_and_parsed_back(exported: Any):
    text = exported.script(show_meta=True)
    assert_structural_equal(from_source(text), exported)
    for name in ("down_conv_weight", "attn_to_q_weight", "conv_out_bias"):
        assert f"{name}: R.Tensor(" in text
    assert text.count("with R.dataflow()") == 1
    assert exported["forward"].attrs["num_input"] == 2


@every_executor
def test_it_computes_what_numpy_does(exported: Any, load: Callable[[Any], Any]):
    got = load(exported).forward(X, TIMES, *WEIGHTS.values())
    exact = {name: array.astype("float64") for name, array in WEIGHTS.items()}
    np.testing.assert_allclose(got, unet(X, TIMES, exact), rtol=1e-3, atol=1e-4)
