"""Whole models mean the same to all executors when what goes together is one PrimFunc."""

from __future__ import annotations

import pytest

from relaxscript.analysis import well_formed
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_allclose_tree
from relaxscript.transform import AnnotateTIROpPattern, FuseOps, FuseTIR, LegalizeOps
from relaxscript_tests.end_to_end.executors import EXECUTORS
from relaxscript_tests.end_to_end.test_models import MODELS, arguments

# Those that compute in dataflow blocks.
FUSED = {"transformer", "lstm", "detection"}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_fused_model_means_the_same_to_every_executor(name: str) -> None:
    module = MODELS[name].make(**MODELS[name].small)
    legal = AnnotateTIROpPattern()(LegalizeOps()(module))
    fused = FuseTIR()(FuseOps()(legal))
    assert (fused is not legal) == (name in FUSED)
    assert well_formed(fused)
    assert_structural_equal(from_source(fused.script(show_meta=True)), fused)
    inputs = arguments(module, 1)
    expected = EXECUTORS["interpreter"](module).main(*inputs)
    for load in EXECUTORS.values():
        assert_allclose_tree(load(fused).main(*inputs), expected, rtol=1e-4, atol=1e-5)
