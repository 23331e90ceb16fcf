"""Weights among the attributes of functions are taken out of a module."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.relax.frontend import detach_params
from relaxscript.script import ir as I, relax as R

WEIGHTS = [np.arange(6, dtype="float32").reshape(2, 3), np.ones(3, "int8")]


@I.ir_module
class Model:
    I.module_attrs({"k": 1})

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((2, 3), "float32")):
        return R.add(x, w)

    @R.function
    def other(x: R.Tensor((2, 3), "float32")):
        return x


def with_params(params: Any) -> IRModule:
    found = Model.clone()
    found.update_func("main", Model["main"].with_attr("params", params))
    return found


def test_arrays_are_taken_out_by_the_names_of_functions():
    given = with_params(WEIGHTS)
    mod, params = detach_params(given)
    assert list(params) == ["main"]
    for one, other in zip(params["main"], WEIGHTS, strict=True):
        assert (one.dtype, one.tolist()) == (other.dtype, other.tolist())
    assert mod.script() == Model.script()
    assert (mod.__name__, dict(mod.attrs)) == ("Model", {"k": 1})
    assert "params" in given["main"].attrs


def test_a_module_without_params_stays_itself():
    assert detach_params(Model) == (Model, {})


def test_what_has_no_arrays_is_refused():
    with pytest.raises(DiagnosticError, match="RX0103") as raised:
        detach_params(with_params(["w", 1]))
    (found,) = raised.value.diagnostics
    assert found.message.startswith('the attribute "params" of `main` is a tuple of arrays, not tu')
    assert found.span == Model["main"].span
    with pytest.raises(TypeError, match=r"`detach_params` takes a module, not int \(3\)"):
        detach_params(3)
