"""What calls outside is not repeatable, and asking for it costs no printing."""

import pytest

from relaxscript import IRModule, tir
from relaxscript.analysis.repeatable import is_repeatable
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.prim import Call, StringImm, const
from relaxscript.ir.relax import GlobalVar
from relaxscript_tests.fresh_python import imported_by
from relaxscript_tests.prim_funcs import load, prim_func, store

X, Y = tir.Buffer("x", (4,)), tir.Buffer("y", (4,))


@pytest.mark.parametrize("op", ["call_packed", "tvm_call_packed", "call_extern"])
def test_what_calls_outside_is_not_repeatable(op):
    call = Call("int32", op_named(f"tir.{op}"), (StringImm("f"), const(1)))
    assert not is_repeatable(IRModule({"f": prim_func([X], tir.Evaluate(call))}), "f")


def test_loops_are_repeatable_and_so_is_what_calls_them_by_any_name():
    inner = prim_func([X, Y], store(Y, load(X, 0), 0))
    outer = prim_func([X, Y], tir.Evaluate(Call("void", GlobalVar("packed"), (X.data, Y.data))))
    assert is_repeatable(IRModule({"packed": inner, "f": outer}), "f")


BUILD = """
import numpy as np
import relaxscript as rx
from relaxscript.frontend import nn
mod, _ = nn.Linear(4, 4).export_tvm({"forward": {"x": nn.spec.Tensor((2, 4), "float32")}})
rx.jit(mod, params={"weight": np.eye(4, dtype="float32"), "bias": np.ones(4, "float32")})
"""


def test_a_build_takes_in_no_printer_no_patterns_and_no_masked_arrays():
    taken = imported_by(BUILD)
    assert "llvmlite" in taken
    unused = {"relaxscript.script.printer.module", "relaxscript.dpl", "astunparse", "numpy.ma"}
    assert not unused & set(taken)
