"""AttachExternModules: which function a call means afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import AttachExternModules

MOD = from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        y = R.call_dps_packed("scale", (x,), out_sinfo=R.Tensor((3,), "float32"))
        return y
""")
X = np.array([1.0, 2.0, 3.0], "float32")


def double(x, out):
    np.multiply(x, 2, out=out)


def triple(x, out):
    np.multiply(x, 3, out=out)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_call_means_the_function_of_its_module(executor):
    made = AttachExternModules([{"scale": double}, {"scale": triple}])(MOD)
    assert MOD.external_mods == ()
    assert made.script() == MOD.script()
    np.testing.assert_array_equal(EXECUTORS[executor](made)("main", X), X * 2)


def test_the_same_functions_are_attached_once():
    step = AttachExternModules([{"scale": double}])
    made = step(MOD)
    assert step(made) is made


@pytest.mark.parametrize("given", [3, {"scale": 3}])
def test_what_is_no_mapping_to_callables_is_refused(given):
    with pytest.raises(DiagnosticError) as caught:
        AttachExternModules([given])
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "RX0610"
    assert diagnostic.message == f"`{given!r}` is no mapping from names to callables"
    assert diagnostic.help
