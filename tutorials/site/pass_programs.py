"""Small programs, each with something that passes look for."""

from __future__ import annotations

LAYER = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 8), "float32")):
        with R.dataflow():
            h = R.matmul(x, w)
            y = R.nn.relu(h)
            R.output(y)
        return y
"""
PLAIN = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((2, 4), "float32")):
        a = R.exp(x)
        b = R.log(a)
        return b
"""
REPEATED = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.exp(x)
            unused = R.log(x)
            y = R.add(a, b)
            R.output(y)
        return y
"""
CONSTANTS = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            c = R.add(R.const([1.0, 2.0], "float32"), R.const([3.0, 4.0], "float32"))
            y = R.multiply(x, c)
            R.output(y)
        return y
"""
TRIVIAL = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        a = x
        t = (a, a)
        b = t[0]
        y = R.exp(b)
        return y
"""
PRIVATE = """
@I.ir_module
class Model:
    @R.function(private=True)
    def scaled(x: R.Tensor((2,), "float32"), unused: R.Tensor((3,), "float32")):
        a = R.add(x, x)
        b = R.exp(x)
        return (a, b)

    @R.function
    def main(x: R.Tensor((2,), "float32"), z: R.Tensor((3,), "float32")):
        t = Model.scaled(x, z)
        y = t[0]
        return y
"""
TUPLE_ARGUMENT = """
@I.ir_module
class Model:
    @R.function(private=True)
    def total(t: R.Tuple(R.Tensor((2,), "float32"), R.Tensor((2,), "float32"))):
        y = R.add(t[0], t[1])
        return y

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = Model.total((x, x))
        return y
"""
LOCAL = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        @R.function
        def shifted(y: R.Tensor((2,), "float32")):
            return R.add(y, x)

        z = shifted(x)
        return z
"""
NORMALIZATION = """
@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor((1, 3, 8, 8), "float32"), w: R.Tensor((4, 3, 3, 3), "float32"),
        gamma: R.Tensor((4,), "float32"), beta: R.Tensor((4,), "float32"),
        mean: R.Tensor((4,), "float32"), var: R.Tensor((4,), "float32"),
    ):
        with R.dataflow():
            a = R.nn.conv2d(x, w)
            b = R.nn.batch_norm(a, gamma, beta, mean, var, axis=1)
            y = b[0]
            R.output(y)
        return y
"""
RESHAPES = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((2, 3, 4), "float32")):
        with R.dataflow():
            a = R.reshape(x, (6, 4))
            y = R.reshape(a, (24,))
            R.output(y)
        return y
"""
PRODUCTS = """
@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor((1, 64), "float32"), a: R.Tensor((64, 8), "float32"),
        b: R.Tensor((8, 64), "float32"),
    ):
        with R.dataflow():
            w = R.matmul(a, b)
            y = R.matmul(x, w)
            R.output(y)
        return y
"""
PARALLEL = """
@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor((2, 64), "float32"), a: R.Tensor((64, 4), "float32"),
        b: R.Tensor((64, 8), "float32"),
    ):
        with R.dataflow():
            p = R.matmul(x, a)
            q = R.matmul(x, b)
            R.output(p, q)
        return (p, q)
"""
SUM_OF_WEIGHTS = """
@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor((2, 16), "float32"), w: R.Tensor((16, 8), "float32"),
        d: R.Tensor((16, 8), "float32"),
    ):
        with R.dataflow():
            s = R.add(w, d)
            y = R.matmul(x, s)
            R.output(y)
        return y
"""
TAKEN = """
@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor((2, 16), "float32"), w: R.Tensor((16, 32), "float32"),
        rows: R.Tensor((5,), "int64"),
    ):
        with R.dataflow():
            s = R.take(w, rows, axis=1)
            y = R.matmul(x, s)
            R.output(y)
        return y
"""
TRANSPOSED = """
@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor((2, 64), "float32"), w: R.Tensor((32, 64), "float32"),
        v: R.Tensor((32, 64), "float32"),
    ):
        with R.dataflow():
            a = R.permute_dims(w)
            b = R.permute_dims(v)
            c = R.concat((a, b), axis=1)
            d = R.matmul(x, a)
            y = R.matmul(x, c)
            R.output(d, y)
        return (d, y)
"""
WEIGHTS = """
@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor((2, 4), "float32"), w: R.Tensor((8, 4), "float32"), b: R.Tensor((8,), "float32")
    ):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            t = R.permute_dims(w)
            h = R.matmul(x, t)
            y = R.add(h, b)
            R.output(y)
        return y
"""
TRANSFORM_PARAMS = """
@I.ir_module
class Model:
    @R.function
    def transform_params(
        params: R.Tuple(R.Tensor((8, 4), "float32"), R.Tensor((8,), "float32"))
    ):
        with R.dataflow():
            a = params[0]
            t = R.permute_dims(a)
            b = params[1]
            R.output(t, b)
        return (t, b)
"""
DEVICES = """
@I.ir_module
class Model:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

    @R.function
    def main(x: R.Tensor((2,), "float32", "llvm:0")):
        with R.dataflow():
            a = R.exp(x)
            b = R.hint_on_device(a, R.cpu(1))
            y = R.add(b, b)
            R.output(y)
        return y
"""
IMAGES = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((1, 3, 8, 8), "float32"), w: R.Tensor((4, 3, 3, 3), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w)
            y = R.nn.relu(a)
            R.output(y)
        return y
"""
SCALAR = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.prim_value(n * 2 + 1)
        return y
"""
IMPURE = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.call_pure_packed("my.sorted", x, sinfo_args=R.Tensor((2,), "float32"))
        return y
"""
CHECKS = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
        a = R.add(x, y)
        b = R.multiply(x, y)
        return (a, b)
"""
FAST = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((2, 4), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.tanh(a)
            y = R.nn.softmax(b)
            R.output(y)
        return y
"""
KERNEL = """
@I.ir_module
class Model:
    @T.prim_func
    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            if i < 20:
                with T.block("B"):
                    vi = T.axis.spatial(16, i)
                    B[(vi * 4 + 1) // 4] = A[vi + 0] + T.float32(1)
"""
CALLED = """
@I.ir_module
class Model:
    @T.prim_func
    def double(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tir(Model.double, (x,), out_sinfo=R.Tensor((4,), "float32"))
        return y
"""

REDUCTION = """
@I.ir_module
class Model:
    @T.prim_func
    def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
        C = T.alloc_buffer((4, 8), "float32")
        for i, j in T.grid(4, 8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(4, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] += C[vi, vj]
"""
LOOPS = """
@I.ir_module
class Model:
    @T.prim_func
    def main(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
        for i in T.unroll(4):
            for j in T.vectorized(4):
                B[i, j] = A[i, j] + T.float32(1)
        for k in range(0):
            B[0, 0] = T.float32(0)
"""
LOSS = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 3), "float32")):
        with R.dataflow():
            h = R.matmul(x, w)
            loss = R.sum(h)
            R.output(loss)
        return loss
"""
CALLED = """
@I.ir_module
class Model:
    @T.prim_func
    def double(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.call_tir(Model.double, (x,), R.Tensor((4,), "float32"))
            R.output(y)
        return y
"""
