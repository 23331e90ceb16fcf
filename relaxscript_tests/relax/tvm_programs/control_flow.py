"""Branches, recursion, tuples, shapes and casts in scripts."""

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.script.parser import ir as I, relax as R, tir as T


@I.ir_module
class Flow:
    @R.function
    def select(cond: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")) -> R.Tensor(
        (2,), "float32"
    ):
        if cond:
            w = R.add(x, x)
            y = R.multiply(w, w)
        else:
            w = R.multiply(x, x)
            y = R.add(w, w)
        return y

    @R.function
    def factorial(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cond: R.Tensor((), "bool") = R.less_equal(n, R.const(1, "int64"))
        if cond:
            r: R.Tensor((), "int64") = R.const(1, "int64")
        else:
            a: R.Tensor((), "int64") = Flow.factorial(R.subtract(n, R.const(1, "int64")))
            r: R.Tensor((), "int64") = R.multiply(n, a)
        return r

    @R.function
    def shapes(x: R.Tensor(dtype="float32")):
        m, k = T.int64(), T.int64()
        y = R.match_cast(x, R.Tensor((m, k), "float32"))
        s = R.shape([k, m])
        z = R.reshape(y, (k, m))
        t = (z, s, R.prim_value(m * k))
        return t


vm = relax.VirtualMachine(tvm.compile(Flow, "llvm"), tvm.cpu())
x = tvm.nd.array(np.array([1.0, 2.0], "float32"))
assert vm["select"](tvm.nd.array(np.array(True)), x).numpy().tolist() == [4, 16]
assert vm["select"](tvm.nd.array(np.array(False)), x).numpy().tolist() == [2, 8]
assert int(vm["factorial"](tvm.nd.array(np.array(5, "int64"))).numpy()) == 120
z, s, p = vm["shapes"](tvm.nd.array(np.zeros((2, 3), "float32")))
assert z.numpy().shape == (3, 2)
assert tuple(s) == (3, 2)
assert p == 6
with pytest.raises(tvm.TVMError):
    vm["shapes"](tvm.nd.array(np.zeros((2,), "float32")))
