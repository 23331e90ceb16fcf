"""The guide-level programs of the Relax RFC.

The first one and that of its section D1 are as they stand there, but for the names of packed
functions. The others say what the final specification demands of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relaxscript.compiler import VirtualMachine, build
from relaxscript.errors import VMError
from relaxscript.ir import IRModule
from relaxscript.runtime import Shape, register_func, remove_global_func
from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import every_executor
from relaxscript_tests.script.parser.round_trip import round_trip

pytestmark = pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")


def module_of(text: str) -> IRModule:
    """The module that a text means, after its round trip."""
    program = from_source(text)
    module = program if isinstance(program, IRModule) else IRModule({"main": program})
    round_trip(module)
    return module


@pytest.fixture
def packed():
    """Registers packed functions for one test."""
    names = []

    def register(name: str, function: Any) -> None:
        register_func(name, function, override=True)
        names.append(name)

    yield register
    for name in names:
        remove_global_func(name)


OPENING = """
import tvm.script
from tvm.script import relax as R, tir as T

# Relax IRModule written in TVMScript
@tvm.script.ir_module
class MyIRModule:
    # This is a TIR PrimFunc which calls the TIR intrinsic T.exp
    @T.prim_func
    def tir_exp_func(x: T.handle, y: T.handle): ## <= D2
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        with T.grid(n) as i:
            Y[i] = T.exp(X[i])

    # This is a Relax function which contains a dataflow block
    # representing a computational graph, as well as a call to an
    # opaque packed function which performs an in-place update to the
    # data in variable gv0.
    # We mark the corresponding design points (D0, D1, D2) that map to
    # the following sections throughout the relax function bellow.
    @R.function
    def relax_func(x: R.Tensor[(n, k), "float32"], w: R.Tensor[_, "float32"]):
    # n, k above are implicitly defined within the function signature
    # so we will be able to refer to n, k within all of relax_func
        with R.dataflow(): ## <= D2
            lv0 = R.match_shape(w, (k, m)) ## <= D1
            lv1: R.Tensor[(n, m), "float32"] = R.dot(x, lv0)
            lv2: R.Tensor[(n * m,), "float32"] = R.flatten(lv1) ## <= D1
            lv3: R.Shape = (n * m,)  ## <= D1
            gv0 = R.call_tir(tir_exp_func, [lv2], lv3, dtype="float32") ## <= D0
            R.outputs(gv0)

        R.call_packed("rfc.inplace_update", gv0) ## <= D0, D2
        return gv0
"""


@every_executor
def test_the_opening_example(load, packed):
    seen = []
    packed("rfc.inplace_update", lambda x: seen.append(x.copy()))
    x, w = np.arange(6, dtype="float32").reshape(2, 3) / 7, np.ones((3, 4), "float32") / 5
    found = load(module_of(OPENING)).relax_func(x, w)
    np.testing.assert_allclose(found, np.exp(x @ w).reshape(-1), rtol=1e-6)
    np.testing.assert_array_equal(seen, [found])


PACKED = """
@I.ir_module
class MyIRModule:
    @T.prim_func
    def tir_matmul(x: T.handle, y: T.handle, z: T.handle) -> None:
        m = T.var("int32")
        n = T.var("int32")
        k = T.var("int32")
        A = T.match_buffer(x, (m, n))
        B = T.match_buffer(y, (n, k))
        C = T.match_buffer(z, (m, k))

        for (i0, j0, k0) in T.grid(m, k, n):
            with T.block():
                i, j, l = T.axis.remap("SSR", [i0, j0, k0])
                with T.init():
                    C[i, j] = 0.0
                C[i, j] += A[i, l] * B[l, j]

    @R.function
    def main(x: R.Tensor[(m, n), "float32"], y: R.Tensor[(n, k), "float32"]):
        with R.dataflow():
            gv0 = R.call_tir(tir_matmul, (x, y), (m, k), dtype="float32")
            R.outputs(gv0)

        R.call_packed("rfc.print", gv0)
        gv1 = R.call_packed("rfc.add", gv0, gv0, sinfo_args=R.Tensor[(m, k), "float32"])
        gv2 = R.call_dps_packed("rfc.tile", (gv1), (m, k * 2), dtype="float32")
        return gv2
"""


@every_executor
def test_calls_of_prim_funcs_and_packed_functions(load, packed):
    printed = []

    def tile(a, b):
        b[:] = np.tile(a, (1, 2))

    packed("rfc.print", printed.append)
    packed("rfc.add", lambda a, b: a + b)
    packed("rfc.tile", tile)
    x = np.arange(6, dtype="float32").reshape(2, 3)
    y = np.arange(12, dtype="float32").reshape(3, 4)
    found = load(module_of(PACKED)).main(x, y)
    np.testing.assert_array_equal(found, np.tile(2 * (x @ y), (1, 2)))
    assert len(printed) == 1


SHAPES = """
from tvm.script import relax as R

@R.function
def main(x: R.Tensor[(n, 2, 2), "float32"]):
    with R.dataflow():
        # V0: symbolic and static shape deduction
        lv0: R.Tensor[(n, 4), "float32"] = R.reshape(x, (n, 4))
        lv1: R.Tensor[(n * 4,), "float32"] = R.flatten(lv0)
        lv2: R.Shape = (n * 4,)

        # V1: external opaque shape function
        lv3: R.Shape = R.call_packed("rfc.shape", lv2)
        lv4 = R.call_tir("rfc.custom", (lv1,), lv3, dtype="float32")

        # V2: runtime dependent case: _ is used to represent RuntimeDepShape
        lv5: R.Tensor[_, "float32"] = R.unique(lv4)

        # re-match shape
        lv6: R.Tensor[(m,), "float32"] = R.match_shape(lv5, (m,))
        lv7: R.Shape = R.match_shape(lv3, (m,))

        gv0: R.Tensor[(m,), "float32"] = R.exp(lv6)
        R.outputs(gv0)

    return gv0
"""


@every_executor
def test_shapes_that_are_known_later(load, packed):
    def custom(x, y):
        y[:] = x[1 : 1 + len(y)]

    packed("rfc.shape", lambda shape: type(shape)((shape[0] - 5,)))
    packed("rfc.custom", custom)
    module = module_of(SHAPES)
    x = np.array([1, 1, 0, 2, 2, 2, 0, 5], "float32").reshape(2, 2, 2)
    np.testing.assert_allclose(load(module).main(x), np.exp([0, 1, 2]), rtol=1e-6)
    x[0, 1, 0] = 1
    with pytest.raises(VMError, match="must be `m = 2`"):
        load(module).main(x)


IN_VARIABLES = """
@I.ir_module
class Model:
    @T.prim_func
    def twice(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            Y[i] = X[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n",), "float32"), s: R.Shape(ndim=1), t: R.Shape):
        cls = Model
        a = R.call_tir(cls.twice, (x,), s, dtype="float32")
        b = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor(t, "float32"))
        c = R.call_dps_packed("rfc.fill", (b,), s, dtype="int8")
        return (b, c)
"""


@every_executor
def test_shapes_in_variables_describe_results(load, packed):
    def fill(given, made):
        made[:] = given + 1

    packed("rfc.fill", fill)
    b, c = load(module_of(IN_VARIABLES)).main(np.array([1, 2], "float32"), Shape([2]), Shape([2]))
    np.testing.assert_array_equal(b, np.array([4, 8], "float32"))
    np.testing.assert_array_equal(c, np.array([5, 9], "int8"))
    with pytest.raises(VMError, match=r"RX060"):
        load(module_of(IN_VARIABLES)).main(np.array([1, 2], "float32"), Shape([2]), Shape([3]))


def test_shapes_in_variables_are_lowered(packed):
    packed("rfc.fill", lambda given, made: made.fill(3))
    built = build(module_of(IN_VARIABLES), relax_pipeline="default_build")
    b, c = VirtualMachine(built).main(np.array([1, 2], "float32"), Shape([2]), Shape([2]))
    assert (b.tolist(), c.tolist()) == ([4, 8], [3, 3])


BLOCKS = """
@I.ir_module
class Model:
    @T.prim_func
    def linear(x: T.Buffer((1, 784), "float32"), w: T.Buffer((128, 784), "float32"),
               b: T.Buffer((128,), "float32"), y: T.Buffer((1, 128), "float32")):
        for i, j, k in T.grid(1, 128, 784):
            with T.block("linear"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    y[vi, vj] = b[vj]
                y[vi, vj] += x[vi, vk] * w[vj, vk]

    @T.prim_func
    def relu(x: T.Buffer((1, 128), "float32"), y: T.Buffer((1, 128), "float32")):
        for i, j in T.grid(1, 128):
            y[i, j] = T.max(x[i, j], 0.0)

    @T.prim_func
    def linear1(x: T.Buffer((1, 128), "float32"), w: T.Buffer((128, 128), "float32"),
                b: T.Buffer((128,), "float32"), y: T.Buffer((1, 128), "float32")):
        for i, j, k in T.grid(1, 128, 128):
            with T.block("linear"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    y[vi, vj] = b[vj]
                y[vi, vj] += x[vi, vk] * w[vj, vk]

    @R.function(pure=False)
    def main(x: R.Tensor((1, 784), "float32"),
             w: R.Tensor((128, 784), "float32"),
             b: R.Tensor((128,), "float32")):

        with R.dataflow():
            # linear and relu are PrimFuncs in the same IRModule
            lv0 = R.call_tir(linear, (x, w, b), (1, 128), dtype="float32")
            gv0 = R.call_tir(relu, (lv0,), (1, 128), dtype="float32")
            R.output(gv0)

        R.call_packed("rfc.inplace_update", gv0)
        gv1 = R.call_packed("rfc.read_tensor", R.str("tensor.txt"),
                            sinfo_args=R.Tensor((128, 128), "float32"))

        with R.dataflow():
            out = R.call_tir(linear1, (gv0, gv1, b), (1, 128), dtype="float32")
            R.output(out)
        return out
"""


@pytest.mark.slow
@every_executor
def test_dataflow_blocks_with_effects_between_them(load, packed):
    rng = np.random.default_rng(0)
    x, w, b, more = (
        rng.random(s, "float32") - 0.5 for s in ((1, 784), (128, 784), 128, (128, 128))
    )
    named = []

    def double(value):
        value *= 2

    def read(name):
        named.append(name)
        return more

    packed("rfc.inplace_update", double)
    packed("rfc.read_tensor", read)
    found = load(module_of(BLOCKS)).main(x, w, b)
    hidden = 2 * np.maximum(x @ w.T + b, 0)
    np.testing.assert_allclose(found, hidden @ more.T + b, rtol=2e-4, atol=1e-4)
    assert named == ["tensor.txt"]


SCOPES = """
@R.function(pure=False)
def main(x: R.Tensor) -> R.Tensor:
    if True:
        # the true branch will be a nested SeqExpr and hence a new scope
        # this x will shadow the function parameter x
        x = R.const(1)
        R.print(x) # prints 1
        # the inner x goes out of scope
    else:
        R.print("not executed")
    R.print(x) # this x is the function parameter
    return x
"""


@every_executor
def test_the_scopes_of_the_specification(load, capsys):
    given = np.array([5, 6], "int8")
    np.testing.assert_array_equal(load(module_of(SCOPES)).main(given), given)
    assert capsys.readouterr().out.split() == ["1", "[5", "6]"]
