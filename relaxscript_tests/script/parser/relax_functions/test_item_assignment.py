"""What is said of `x[0, :] = 1.0` is a call that does it, as numpy does."""

from __future__ import annotations

import re

import numpy as np
import pytest

from relaxscript.compiler import jit
from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source

# Whether a slice lies inside of an axis of unknown length is checked when the program runs.
pytestmark = pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")

PROGRAM = """
@R.function
def main(
    x: R.Tensor((3, 4), "float32"), y: R.Tensor(("n", 4), "float32"),
    row: R.Tensor((4,), "float32"), column: R.Tensor((3,), "float32"),
):
    n = T.int64()
    {}
    return {}
"""


@pytest.mark.parametrize(
    "line",
    [
        "x[0, :] = 1.0", "x[0] = row", "x[-1] = row * row", "x[:, 1] = column", "x[:, -1] = 2",
        "x[:, 1:3] = 0.0", "x[..., 0] = 1.5", "x[0:2] = row", "x[:, ::2] = 7.0", "x[1:9] = 3.0",
        "x[x > 0] = 0.0", "y[0, :] = row", "y[:, 1] = 0.0", "y[1:3] = -1.0",
    ],
)  # fmt: skip
def test_the_call_that_is_offered_does_what_is_meant(line):
    name = line[0]
    with pytest.raises(DiagnosticError) as caught:
        from_source(PROGRAM.format(line, name))
    help = re.sub("\\s+", " ", caught.value.diagnostics[0].help or "")
    offered = re.fullmatch(r"bind a new value: `(.*)`", help)
    assert offered is not None, help
    values = {
        "x": np.arange(-5, 7, dtype="float32").reshape(3, 4),
        "y": np.arange(20, dtype="float32").reshape(5, 4),
        "row": np.arange(4, dtype="float32"),
        "column": np.arange(3, dtype="float32"),
    }
    found = jit(from_source(PROGRAM.format(offered[1], name)))(*values.values())
    exec(line, values)
    np.testing.assert_array_equal(found, values[name])


@pytest.mark.parametrize("line", ["x[0, 1] = 2.0", "x[5] = 0.0", "x[0, :] += 1.0", "x[row] = 1.0"])
def test_of_others_the_operators_are_named(line):
    with pytest.raises(DiagnosticError) as caught:
        from_source(PROGRAM.format(line, "x"))
    assert "made by `R." in (caught.value.diagnostics[0].help or "")
