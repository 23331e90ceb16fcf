"""Programs by calls of the script's functions inside of an IRBuilder."""

import tvm
from tvm import relax
from tvm.script import relax as R
from tvm.script.ir_builder import IRBuilder, relax as relax_builder


def parallel_matmul(num_branches):
    with IRBuilder() as builder:
        with relax_builder.function():
            R.func_name("main")
            x = R.arg("x", R.Tensor((4, 8), "float32"))
            rhs = [R.arg(f"w{i}", R.Tensor((8, 2), "float32")) for i in range(num_branches)]
            with R.dataflow() as frame:
                branches = [R.emit(R.matmul(x, w)) for w in rhs]
                R.output(R.emit(R.concat(branches, axis=1)))
            R.func_ret_value(frame.output_vars[0])
    return tvm.IRModule({"main": builder.get()})


mod = parallel_matmul(3)
assert isinstance(mod["main"], relax.Function)
assert len(mod["main"].params) == 4
assert mod["main"].ret_struct_info == R.Tensor((4, 6), "float32")
mod = relax.transform.Normalize()(mod)
assert "R.concat" in mod.script()
