"""Modules of PrimFuncs are compiled and called by name; arrays are written in place."""

import numpy as np
import tvm
from tvm import tir
from tvm.script import tir as T


@tvm.script.ir_module
class MyAdd:
    @T.prim_func
    def add(
        A: T.Buffer((4, 4), "int64"), B: T.Buffer((4, 4), "int64"), C: T.Buffer((4, 4), "int64")
    ):
        T.func_attr({"global_symbol": "add"})
        for i, j in T.grid(4, 4):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial(4, j)
                C[vi, vj] = A[vi, vj] + B[vi, vj]


rt_lib = tvm.build(MyAdd, target="llvm")
a = np.arange(16).reshape(4, 4)
b = np.arange(16, 0, -1).reshape(4, 4)
a_tvm, b_tvm = tvm.nd.array(a), tvm.nd.array(b)
c_tvm = tvm.nd.array(np.empty((4, 4), dtype=np.int64))
rt_lib["add"](a_tvm, b_tvm, c_tvm)
np.testing.assert_allclose(c_tvm.numpy(), a + b)


@T.prim_func
def element_wise(a: T.handle, c: T.handle) -> None:
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    C = T.match_buffer(c, (n,), "float32")
    for i in range(n):
        with T.block("C"):
            vi = T.axis.S(n, i)
            C[vi] = T.exp(A[vi]) * T.float32(2)


assert isinstance(element_wise, tir.PrimFunc)
assert len(element_wise.params) == 2
assert element_wise.buffer_map[element_wise.params[0]].dtype == "float32"
f = tvm.tir.build(tvm.IRModule({"main": element_wise.with_attr("global_symbol", "main")}))
x = tvm.nd.array(np.linspace(0, 1, 5).astype("float32"))
y = tvm.nd.empty((5,), "float32")
f["main"](x, y)
np.testing.assert_allclose(y.numpy(), np.exp(x.numpy()) * 2, rtol=1e-6)

i, j = tir.Var("i", "int32"), tir.Var("j", "int32")
analyzer = tvm.arith.Analyzer()
assert analyzer.can_prove_equal(i + j - i, j)
tvm.ir.assert_structural_equal(analyzer.simplify(i * 2 - i), i)
assert isinstance(i + 1, tir.Add)
assert tir.const(1, "int32").value == 1
