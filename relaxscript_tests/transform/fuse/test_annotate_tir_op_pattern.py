"""AnnotateTIROpPattern: which PrimFuncs get the attribute, and what it says."""

from __future__ import annotations

from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same
from relaxscript.transform import AnnotateTIROpPattern, LegalizeOps

SCRIPT = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def own(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        T.func_attr({"op_pattern": 8})
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                b[vi] = a[vi]

    @R.function
    def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 3), "float32")):
        a = R.nn.relu(x)
        b = R.permute_dims(a)
        c = R.max(x, axis=1)
        d = R.matmul(x, w)
        e = R.cumsum(x, axis=1)
        return b, c, d, e
"""


def test_prim_funcs_get_the_pattern_of_their_loops_and_keep_one_that_they_have():
    mod = LegalizeOps()(from_source(SCRIPT))
    text = mod.script()
    made = AnnotateTIROpPattern()(mod)
    patterns = {
        gvar.name_hint: (func.attrs or Attrs())["op_pattern"]
        for gvar, func in made.functions.items()
        if isinstance(func, PrimFunc)
    }
    assert patterns == {
        "own": 8, "relu": 0, "permute_dims": 2, "max": 3, "matmul": 4, "cumsum": 8,
    }  # fmt: skip
    assert mod.script() == text


def test_the_attribute_prints_and_reads_back():
    made = AnnotateTIROpPattern()(LegalizeOps()(from_source(SCRIPT)))
    assert_same(from_source(made.script()), made)


def test_a_module_that_says_all_stays_as_it_is():
    made = AnnotateTIROpPattern()(LegalizeOps()(from_source(SCRIPT)))
    assert AnnotateTIROpPattern()(made) is made
