"""What functions and modules of `nn` compute, and the mistakes that they find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir import assert_structural_equal
from relaxscript.relax.frontend import nn


class Computing(nn.Module):
    """A model whose method is this function of its arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def forward(self, operands: Any) -> Any:
        return self._function(*operands)


def tensor_spec(array: Any) -> nn.spec.Tensor:
    return nn.spec.Tensor(np.shape(array), str(np.asarray(array).dtype))


def computed(function: Callable[..., Any], *arrays: Any) -> Any:
    """What a function of tensors gives; it reads back as what was exported."""
    model, spec = Computing(function), {"forward": {"operands": [*map(tensor_spec, arrays)]}}
    mod = model.export_tvm(spec)[0]
    assert rx.analysis.well_formed(mod)
    assert_structural_equal(rx.from_source(mod.script(show_meta=True)), mod)
    return model.jit(spec).forward(arrays)


def refused(function: Callable[..., Any], *arrays: Any) -> Diagnostic:
    """The mistake in a function of tensors; it is said at a line of the caller's file."""
    spec = {"forward": {"operands": [*map(tensor_spec, arrays)]}}
    with pytest.raises(DiagnosticError) as raised:
        Computing(function).export_tvm(spec)
    found: Diagnostic = raised.value.diagnostics[0]
    assert found.span is not None
    assert found.span.filename == function.__code__.co_filename
    return found


def assert_near(got: Any, wanted: Any, tolerance: float = 1e-5) -> None:
    """The same dtype and shape, and elements as near as float32 is."""
    if isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted):
            assert_near(one, other, tolerance)
        return
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)
