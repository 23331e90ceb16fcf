"""The names of `tvm.ir.base` and `tvm.ir.op` are those of the room itself."""

from __future__ import annotations

import pytest

from relaxscript import ir
from relaxscript.ir import base, op


@pytest.mark.parametrize("module", [base, op])
def test_each_name_is_that_of_the_room(module):
    for name in module.__all__:
        assert getattr(module, name) is getattr(ir, name)


def test_a_name_that_there_is_not_is_an_attribute_error():
    assert not hasattr(base, "deprecated")
    with pytest.raises(AttributeError, match="has no attribute `load_jsn`"):
        base.load_jsn
