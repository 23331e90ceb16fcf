"""Functions that have a signature and no body yet."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import relax
from relaxscript.analysis import well_formed
from relaxscript.errors import Span, VMError
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, relax as R


def halves() -> relax.Function:
    x = relax.Var("x", R.Tensor(("n", 4), "float32"))
    n = x.struct_info.shape.values[0]
    return relax.Function.create_empty([x], R.Tensor((n, 2), "float32"))


@pytest.mark.parametrize("is_pure", [True, False])
def test_a_function_without_a_body_is_well_formed_and_has_its_signature(is_pure: bool):
    x = relax.Var("x", R.Tensor(("n", 4), "float32"))
    span = Span("net.py", 3, 5, 3, 9)
    attrs = {"global_symbol": "main"}
    made = relax.Function.create_empty([x], x.struct_info, is_pure, attrs, span)
    assert (made.params, made.ret_struct_info, made.is_pure) == ((x,), x.struct_info, is_pure)
    assert made.attrs["global_symbol"] == "main"
    assert made.span is span
    mod = rx.IRModule({"main": made})
    assert well_formed(mod)
    assert_structural_equal(from_source(mod.script()), mod)


def test_others_call_it_until_it_gets_its_body():
    bb = relax.BlockBuilder()
    part = bb.add_func(halves(), "part")
    y = relax.Var("y", R.Tensor((3, 4), "float32"))
    with bb.function("main", [y]):
        bb.emit_func_output(bb.emit(part(y)))
    x = relax.Var("x", R.Tensor(("n", 4), "float32"))
    with bb.function("other", [x], private=True):
        bb.emit_func_output(bb.emit(relax.op.strided_slice(x, [1], [0], [2])))
    mod = bb.finalize()
    assert str(mod["main"].ret_struct_info) == 'R.Tensor((3, 2), "float32")'
    value = np.arange(12, dtype="float32").reshape(3, 4)
    with pytest.raises(VMError, match="function_without_body"):
        rx.jit(mod).main(value)
    mod.update_func(mod.get_global_var("part"), mod["other"])
    np.testing.assert_array_equal(rx.jit(mod).main(value), value[:, :2])


def test_a_result_of_which_nothing_is_said_is_refused():
    with pytest.raises(TypeError, match="`ret_struct_info` is the StructInfo of results, not None"):
        relax.Function.create_empty([], None)
