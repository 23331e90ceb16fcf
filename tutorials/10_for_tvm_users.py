# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # For TVM users: a program ported
#
# Relax is the language of [Apache TVM](https://tvm.apache.org), and the names here are TVM's: the
# nodes, the passes, `BlockBuilder`, the visitors, the virtual machine. You change the import lines.
# This notebook does that with one program, lists what else is not the same, and then shows what you
# get that you did not have.

# %%
import difflib
import runpy
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path

import numpy as np

import relaxscript as rx
from relaxscript.interpreter import Interpreter
from relaxscript.script import ir as I, relax as R

# %% [markdown]
# ## 1. The import lines
#
# | for TVM | here |
# |---|---|
# | `import tvm` | `import relaxscript as tvm` |
# | `from tvm import relax, tir, te, topi` | `from relaxscript import relax, tir, te, topi` |
# | `from tvm.script import relax as R` | `from relaxscript.script import relax as R` |
# | `from tvm.relax import transform` | `from relaxscript.relax import transform` |
# | `from tvm.script import tirx as T` (0.26 on) | `from relaxscript.script import tir as T` |
#
# Parameters and defaults are those of TVM 0.20. Where later versions spell something differently
# (`T.sblock`, `out_ty=`, `tvm.runtime.tensor`), both are understood.
#
# ## 2. A program for TVM
#
# This is how somebody might write it, with a bit of everything: TVMScript with a PrimFunc, a second
# function made by `BlockBuilder` and `topi`, a visitor, a mutator in a pass, a pipeline, a build
# and a run.

# %%
tvm_program = """
import numpy as np
import tvm
from tvm import relax, tir, topi
from tvm.relax.expr_functor import PyExprMutator, PyExprVisitor, mutator, visitor
from tvm.script import ir as I, relax as R, tir as T


@I.ir_module
class Model:
    @T.prim_func(private=True)
    def halve(x: T.handle, y: T.handle):
        T.func_attr({"tir.noalias": True})
        n = T.int64()
        A = T.match_buffer(x, (n, 8), "float32")
        B = T.match_buffer(y, (n, 8), "float32")
        for i, j in T.grid(n, 8):
            with T.block("halve"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(0.5)

    @R.function
    def main(
        x: R.Tensor(("n", 8), "float32"),
        w: R.Tensor((8, 4), "float32"),
        b: R.Tensor((4,), "float32"),
    ) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
        cls = Model
        with R.dataflow():
            lv = R.call_tir(cls.halve, (x,), out_sinfo=R.Tensor((n, 8), "float32"))
            lv1 = R.matmul(lv, w)
            lv2 = R.add(lv1, b)
            gv = R.nn.relu(lv2)
            R.output(gv)
        return gv


# A second function, by hand.
n = tir.Var("n", "int64")
x = relax.Var("x", relax.TensorStructInfo((n, 4), "float32"))
bb = relax.BlockBuilder(Model)
with bb.function("classify", [x]):
    with bb.dataflow():
        scores = bb.emit_te(topi.nn.softmax, x, axis=1)
        best = bb.emit_output(relax.op.argmax(scores, axis=1))
    bb.emit_func_output(best)
mod = bb.finalize()


@visitor
class OperatorNames(PyExprVisitor):
    def __init__(self):
        super().__init__()
        self.found = []

    def visit_call_(self, call):
        super().visit_call_(call)
        if isinstance(call.op, tvm.ir.Op):
            self.found.append(call.op.name)


names = OperatorNames()
names.visit_expr(mod["main"])
print("operators:", names.found)


@mutator
class Softener(PyExprMutator):
    def visit_call_(self, call):
        call = super().visit_call_(call)
        if call.op == tvm.ir.Op.get("relax.nn.relu"):
            return relax.op.nn.silu(call.args[0])
        return call


@relax.transform.function_pass(opt_level=0, name="ReluToSilu")
class ReluToSilu:
    def transform_function(self, func, mod, ctx):
        return Softener(mod).visit_expr(func)


rng = np.random.default_rng(0)
weights = {"w": rng.normal(size=(8, 4)).astype("float32"), "b": np.ones(4, "float32")}
softened = ReluToSilu()(mod)
seq = tvm.transform.Sequential(
    [
        relax.transform.BindParams("main", {k: tvm.nd.array(v) for k, v in weights.items()}),
        relax.transform.LegalizeOps(),
        relax.transform.AnnotateTIROpPattern(),
        relax.transform.FoldConstant(),
        relax.transform.FuseOps(),
        relax.transform.FuseTIR(),
        relax.transform.DeadCodeElimination(["main", "classify"]),
    ]
)
with tvm.transform.PassContext(opt_level=3):
    optimised = seq(softened)
print("functions:", sorted(gv.name_hint for gv in optimised.get_global_vars()))

ex = tvm.compile(optimised, tvm.target.Target("llvm"))
vm = relax.VirtualMachine(ex, tvm.cpu())

data = rng.normal(size=(3, 8)).astype("float32")
hidden = vm["main"](tvm.nd.array(data))
labels = vm["classify"](hidden)
expected = data / 2 @ weights["w"] + weights["b"]
expected = expected / (1 + np.exp(-expected))
np.testing.assert_allclose(hidden.numpy(), expected, rtol=1e-5)
np.testing.assert_array_equal(labels.numpy(), expected.argmax(axis=1))
print("labels:", labels.numpy(), labels.numpy().dtype)
"""

# %% [markdown]
# ## 3. The port
#
# Only lines that import are touched, by two replacements. The difference is all that was done:

# %%
ported = tvm_program.replace("import tvm\n", "import relaxscript as tvm\n")
ported = ported.replace("from tvm", "from relaxscript")

for line in difflib.ndiff(tvm_program.splitlines(), ported.splitlines()):
    if line[0] in "+-":
        print(line)

# %% [markdown]
# We write it to a file and run it, as you would.

# %%
script = Path(tempfile.mkdtemp(prefix="relaxscript-")) / "port.py"
script.write_text(ported)
port = runpy.run_path(str(script))

# %% [markdown]
# The assertions of the program hold, and its output is that of TVM. (We ran it with TVM 0.27, in
# the spellings of that version: it prints the same three lines.)
#
# ## 4. What is not the same
#
# | | TVM | here |
# |---|---|---|
# | arrays | `NDArray` | numpy's; `tvm.nd.array(x)` has `.numpy()` as well |
# | attributes of operators | nodes, in 0.20 | numbers of Python: `call.attrs.strides` is `(1, 1)` |
# | kind of a target | `target.kind.name` | `target.kind` |
# | a target and its host | `Target("llvm", host="llvm")` | `Target("llvm")` |
# | a program in a file | `ex.export_library("net.so")` | `rx.save(ex, "net.rx")`, no machine code |
# | mistakes in a script | the first one | all of them, each at its place |
# | an ill-formed module | `well_formed(mod)` warns | `ill_formed(mod)` says what and where |
# | shapes that may not fit | accepted | a warning, and a check at run time |
# | a shape in a variable `s` | forgotten | kept: `R.ones(s, "float32")` is `R.Tensor(s)` |
# | a profile | a machine with `profile=True` | every machine profiles |
# | loops | `MetaSchedule`, `dlight` | `build` arranges them; nothing tunes |
# | schedules of `te` | `te.create_schedule`, once | `te.create_prim_func`, then `tir.Schedule` |
# | hardware | many devices | the processor, one core |
#
# The full list, with the reasons, is the page
# [For TVM users](for_tvm_users.md), whose programs are tests as well. Some of it in a cell; `tvm`
# and `relax` are those of the port:

# %%
tvm, relax, mod = port["tvm"], port["relax"], port["mod"]

x = np.ones((1, 8), "float32")
assert type(port["vm"]["main"](x)) is np.ndarray
assert type(port["vm"]["main"](tvm.nd.array(x)).numpy()) is np.ndarray

argmax = mod["classify"].body.blocks[0].bindings[-1].value
assert argmax.attrs.axis == 1
assert tvm.target.Target("llvm").kind == "llvm"

assert relax.analysis.well_formed(mod)
assert not relax.analysis.ill_formed(mod)

# %% [markdown]
# What there is not says so when it is imported, and what there is instead:

# %%
try:
    from relaxscript import meta_schedule  # type: ignore[attr-defined]  # noqa: F401
except ImportError as error:
    print(error)

# %% [markdown]
# ## 5. What you get besides
#
# ### What a pass did
#
# `rx.diff` compares two modules or functions. Our mutator, for one:

# %%
rx.diff(mod["main"], port["softened"]["main"])

# %% [markdown]
# ### Mistakes, all of them, where they are
#
# Three mistakes in three lines. Each is shown at its place, and none because of another. To mypy
# and pyright these lines are fine.

# %%
n = R.dim("n")


# %% tags=["raises-exception"]
@I.ir_module
class Wrong(I.Module):
    @R.function
    def main(x: R.Tensor[R.f32, n, 8], w: R.Tensor[R.f32, 7, 4]) -> R.Tensor[R.f32, n, 4]:
        with R.dataflow():
            lv = R.matmul(x, w)
            lv1 = R.astype(x, "float31")
            lv2 = R.sum(x, axis=2)
            gv = R.add(lv, R.add(lv1, lv2))
            R.output(gv)
        return gv


# %% [markdown]
# ### Failures that name the line
#
# At run time, too. The message says which value it is about, what it is, and what it has to be.


# %%
@I.ir_module
class Rows(I.Module):
    @R.function
    def main(x: R.Tensor[R.f32, n, 8], y: R.Tensor[R.f32, n, 8]) -> R.Tensor[R.f32, n, 8]:
        return R.add(x, y)


rows = rx.jit(Rows)

# %% tags=["raises-exception"]
rows.main(np.zeros((3, 8), "float32"), np.zeros((4, 8), "float32"))

# %% [markdown]
# ### Speed without a schedule of your own
#
# In TVM, the passes above leave loops as they are written, and somebody has to schedule them. Here
# `build` arranges them. `relax_pipeline="zero"` fuses without arranging, so we can see what that is
# worth, for a somewhat larger product:


# %%
@I.ir_module
class Layer(I.Module):
    @R.function
    def main(
        x: R.Tensor[R.f32, n, 256], w: R.Tensor[R.f32, 256, 256], b: R.Tensor[R.f32, 256]
    ) -> R.Tensor[R.f32, n, 256]:
        with R.dataflow():
            lv = R.matmul(x, w)
            lv1 = R.add(lv, b)
            gv = R.nn.silu(lv1)
            R.output(gv)
        return gv


rng = np.random.default_rng(0)
shapes = [(64, 256), (256, 256), (256,)]
args = [rng.normal(size=shape).astype("float32") for shape in shapes]
fused_only = rx.build(Layer, target="llvm", relax_pipeline="zero")["main"]
arranged = rx.build(Layer, target="llvm")["main"]
np.testing.assert_allclose(fused_only(*args), arranged(*args), rtol=1e-3, atol=1e-4)


def microseconds(function: Callable[..., object]) -> float:
    """The time of a call: the best of five rounds."""
    return min(timeit.repeat(lambda: function(*args), number=3, repeat=5)) / 3 * 1e6


# %% tags=["varies"]
print(f"fused               {microseconds(fused_only):6.0f} us")
print(f"fused and arranged  {microseconds(arranged):6.0f} us")

# %% [markdown]
# `explain` tells what was done and why, without the figures here:

# %%
for row in rx.build(Layer).explain().kernels:
    print(f"{row.name}: {', '.join(row.operators)}; {row.schedule}, {row.reason}")

# %% [markdown]
# ### A second and a third opinion
#
# The same module runs on an interpreter that follows the specification, and on the machine with
# kernels that are evaluated in numpy. Both are slow, and plainly right. When a pass of yours is
# suspect, compare:

# %%
x8 = rng.normal(size=(5, 8)).astype("float32")
by_native_code = port["ex"]["main"](x8)
by_numpy = rx.build(port["optimised"], target="reference")["main"](x8)
by_specification = Interpreter(port["optimised"])["main"](x8)
np.testing.assert_allclose(by_native_code, by_numpy, rtol=1e-5, atol=1e-6)
np.testing.assert_array_equal(by_numpy, by_specification)

# %% [markdown]
# ### Looking inside
#
# What TVM programs print is there by the same names. And a call can be run step by step:

# %%
print(port["ex"].stats())
assert "define" in port["ex"].mod.imported_modules[0].get_source("ll")

stepper = rx.VirtualMachine(rx.build(Layer), rx.cpu()).step("main", *args)
stepper.break_at("lv1").run()
print("stopped with", *stepper.registers)

# %% [markdown]
# ## Exercises

# %% [markdown]
# **1.** Take the pass `ReluToSilu` of the port, and have a pipeline of it and `LegalizeOps` run on
# `mod`, with an instrument of TVM that prints the name of each pass before it runs
# (`tvm.instrument.pass_instrument`).
#
# <details><summary>Solution</summary>
#
# ```python
# from relaxscript.ir.instrument import pass_instrument
#
# seen = []
#
#
# @pass_instrument
# class Names:
#     def run_before_pass(self, mod, info):
#         seen.append(info.name)
#
#
# seq = tvm.transform.Sequential([port["ReluToSilu"](), relax.transform.LegalizeOps()])
# with tvm.transform.PassContext(instruments=[Names()]):
#     seq(mod)
# print(seen)
# assert "ReluToSilu" in seen and "LegalizeOps" in seen
# ```
#
# </details>

# %% [markdown]
# **2.** TVM saves a program as a shared library. Save `port["ex"]`, load it, and call it. Then open
# the file with `zipfile` and see what is in it.
#
# <details><summary>Solution</summary>
#
# ```python
# import zipfile
#
# saved = script.with_name("net.rx")
# rx.save(port["ex"], saved)
# again = rx.load(saved)
# np.testing.assert_array_equal(again["main"](x8), port["ex"]["main"](x8))
# print(*zipfile.ZipFile(saved).namelist(), sep="\n")
# ```
#
# </details>

# %% [markdown]
# ## Where to go on
#
# [06_passes](06_passes.ipynb) and [09_inside](09_inside.ipynb) are the next ones to read: how
# passes are written and checked here, and what `build` does step by step.
# [02_symbolic_shapes](02_symbolic_shapes.ipynb) has what differs most in daily use: what is
# proved about shapes, and what is checked. [11_tensor_expressions](11_tensor_expressions.ipynb)
# is about `te` and `topi`, which you know.
