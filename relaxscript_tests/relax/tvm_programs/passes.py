"""Passes of one's own, instruments, and the passes of the lowering."""

import tvm
from tvm import relax
from tvm.ir.transform import PassContext
from tvm.relax.ir.instrument import WellFormedInstrument
from tvm.script import ir as I, relax as R


@I.ir_module
class Before:
    @R.function
    def main(x: R.Tensor((2, 2), "float32")) -> R.Tensor((2, 2), "float32"):
        with R.dataflow():
            lv0 = R.add(x, x)
            gv = R.multiply(lv0, x)
            R.output(gv)
        return gv


@relax.transform.function_pass(opt_level=1, name="Nothing")
class Nothing:
    def transform_function(self, func, mod, ctx):
        return func


@tvm.transform.module_pass(opt_level=0, name="AddAttr")
def add_attr(mod, ctx):
    return mod.with_attr("seen", True)


@tvm.instrument.pass_instrument
class Counter:
    def __init__(self):
        self.names = []

    def run_after_pass(self, mod, info):
        self.names.append(info.name)


counter = Counter()
seq = tvm.transform.Sequential([Nothing(), add_attr, relax.transform.ToNonDataflow()])
with PassContext(opt_level=3, instruments=[counter, WellFormedInstrument()]) as ctx:
    after = seq(Before)
assert {"Nothing", "AddAttr", "ToNonDataflow"} <= set(counter.names)
assert after.get_attr("seen")
assert len(after["main"].body.blocks) == 1
assert not isinstance(after["main"].body.blocks[0], relax.DataflowBlock)
assert seq.info.name == "sequential"
tvm.ir.assert_structural_equal(relax.transform.Normalize()(Before), Before)

lowered = relax.get_pipeline("default_build")(Before)
assert "vm.builtin" in lowered.script() or "R.vm" in lowered.script()
assert relax.analysis.contains_impure_call(lowered["main"]) in (True, False)


@I.ir_module
class Closures:
    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        @R.function
        def inner(z: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            s = R.add(z, x)
            return s

        r = inner(y)
        return r


lifted = relax.transform.LambdaLift()(Closures)
assert {gv.name_hint for gv in lifted.get_global_vars()} == {"main", "main_inner"}
