"""A parameter that is a shape describes the tensors after it."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import every_executor, failure
from relaxscript_tests.script.parser.round_trip import round_trip

pytestmark = pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")

MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(s: R.Shape(ndim=2), x: R.Tensor(s, "float32"), y: R.Tensor(s, "float32")):
        z: R.Tensor(s, "float32") = R.add(x, y)
        return z

    @R.function
    def other(x: R.Tensor((2, 3), "float32")):
        cls = Module
        return cls.main(R.shape([2, 3]), x, x)
"""


@every_executor
def test_tensors_have_the_shape_that_a_parameter_says(load):
    module = from_source(MODULE)
    round_trip(module)
    machine = load(module)
    x = np.ones((2, 3), "float32")
    np.testing.assert_array_equal(machine.main((2, 3), x, x), x + x)
    np.testing.assert_array_equal(machine.other(x), x + x)
    error = failure(lambda: machine.main((2, 4), x, x))
    assert (error.code, error.span.text) == ("RX0601", 'x: R.Tensor(s, "float32")')
    assert "must be `s = (2, 4)`" in str(error)
