"""Functions of Python are registered, looked up, and called by programs in every way."""

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R


@tvm.register_func("env.linear", override=True)
def numpy_linear(x: tvm.nd.NDArray, w: tvm.nd.NDArray, b: tvm.nd.NDArray, out: tvm.nd.NDArray):
    out.copyfrom(x.numpy() @ w.numpy().T + b.numpy())


@tvm.register_func("env.twice", override=True)
def twice(x):
    return tvm.nd.array(x.numpy() * 2)


@I.ir_module
class MyModule:
    @R.function
    def main(
        x: R.Tensor((1, 4), "float32"), w: R.Tensor((3, 4), "float32"), b: R.Tensor((3,), "float32")
    ):
        with R.dataflow():
            lv0 = R.call_dps_packed("env.linear", (x, w, b), R.Tensor((1, 3), "float32"))
            out = R.call_pure_packed("env.twice", lv0, sinfo_args=(R.Tensor((1, 3), "float32"),))
            R.output(out)
        return out

    @R.function(pure=False)
    def effects(x: R.Tensor((2,), "float32")) -> R.Tensor:
        y = R.call_packed("env.twice", x, sinfo_args=R.Tensor((2,), "float32"))
        z = R.call_packed("vm.builtin.copy", y, sinfo_args=R.Tensor((2,), "float32"))
        return z


ex = relax.build(MyModule, target="llvm")
vm = relax.VirtualMachine(ex, tvm.cpu())
x, w, b = (np.random.rand(*s).astype("float32") for s in ((1, 4), (3, 4), (3,)))
nd_res = vm["main"](tvm.nd.array(x), tvm.nd.array(w), tvm.nd.array(b))
np.testing.assert_allclose(nd_res.numpy(), (x @ w.T + b) * 2, rtol=1e-5)
assert vm["effects"](tvm.nd.array(b[:2])).numpy().tolist() == (b[:2] * 2).tolist()

f = tvm.get_global_func("env.twice")
assert f(tvm.nd.array(np.ones(2))).numpy().tolist() == [2, 2]
assert tvm.get_global_func("env.nothing", allow_missing=True) is None
with pytest.raises(ValueError if False else tvm.TVMError):
    tvm.get_global_func("env.nothing")
reshape = tvm.get_global_func("vm.builtin.reshape")
assert reshape(tvm.nd.array(np.ones((2, 3))), tvm.runtime.ShapeTuple([3, 2])).shape == (3, 2)

vm.set_input("main", tvm.nd.array(x), tvm.nd.array(w), tvm.nd.array(b))
vm.invoke_stateful("main")
np.testing.assert_allclose(vm.get_outputs("main").numpy(), nd_res.numpy())
vm.save_function("main", "saved", tvm.nd.array(x), tvm.nd.array(w), tvm.nd.array(b))
np.testing.assert_allclose(vm["saved"]().numpy(), nd_res.numpy())
