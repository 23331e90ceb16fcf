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
# # Make it fast
#
# relaxscript compiles a model to native code for one core. Usually there is nothing to do but to
# call it. This notebook is about seeing what one got: which kernels a program is made of, where
# the time of a call goes, how far from the limits of the computer that is, and what the programs
# look like that are slow.
#
# **All figures below are examples.** They were measured on one computer and will be others on
# yours. So that libraries are compared on equal terms, everything runs on one thread; that has to
# be said before numpy is imported. And nothing is taken from the cache until section 7.

# %%
import os

os.environ |= {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
os.environ["RELAXSCRIPT_CACHE"] = "off"

import json
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import relaxscript as rx
from relaxscript.script import ir as I, relax as R

Array = npt.NDArray[Any]


def microseconds(call: Callable[[], object], number: int = 20) -> float:
    """The time of one call: the best of seven rounds, for what disturbs only makes it longer."""
    call()
    return min(timeit.repeat(call, number=number, repeat=7)) / number * 1e6


# %% [markdown]
# ## 1. A model
#
# This is the feed-forward block of a transformer: normalise, widen from 64 to 256, a soft switch
# (`silu`), narrow again, and add to what came in.

# %%
n = R.dim("n")


@I.ir_module
class Block(I.Module):
    @R.function
    def main(
        x: R.Tensor[R.f32, n, 64],
        gamma: R.Tensor[R.f32, 64],
        beta: R.Tensor[R.f32, 64],
        w1: R.Tensor[R.f32, 64, 256],
        b1: R.Tensor[R.f32, 256],
        w2: R.Tensor[R.f32, 256, 64],
        b2: R.Tensor[R.f32, 64],
    ) -> R.Tensor[R.f32, n, 64]:
        with R.dataflow():
            normal = R.nn.layer_norm(x, gamma, beta, axes=[-1])
            hidden = R.nn.silu(normal @ w1 + b1)
            y = x + hidden @ w2 + b2
            R.output(y)
        return y


# %% [markdown]
# The same in numpy, and some weights:


# %%
def block(x: Array, gamma: Array, beta: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> Array:
    centred = x - x.mean(axis=1, keepdims=True)
    normal = centred / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * gamma + beta
    scores = normal @ w1 + b1
    y: Array = x + scores / (1 + np.exp(-scores)) @ w2 + b2
    return y


rng = np.random.default_rng(0)


def random(*shape: int) -> Array:
    return rng.normal(0, shape[0] ** -0.5, shape).astype("float32")


weights = {
    "gamma": np.ones(64, "float32"),
    "beta": np.zeros(64, "float32"),
    "w1": random(64, 256),
    "b1": random(256),
    "w2": random(256, 64),
    "b2": random(64),
}
x = rng.normal(size=(128, 64)).astype("float32")

# %% [markdown]
# `rx.jit` compiles. With `params=` the weights become part of the program, and only `x` is left to
# be given.

# %%
model = rx.jit(Block, params=weights)
expected = block(x, **weights)
np.testing.assert_allclose(model.main(x), expected, rtol=1e-4, atol=1e-5)

# %% tags=["varies"]
print(f"numpy        {microseconds(lambda: block(x, **weights)):6.0f} us")
print(f"relaxscript  {microseconds(lambda: model.main(x)):6.0f} us")

# %% [markdown]
# ## 2. What the program is made of
#
# `explain` lists the kernels of a program. For each there are the operators that it does and their
# lines in the source, the rule that arranged its loops, and for given sizes the bytes and
# operations. *At the roof* is the least time that this computer can take for them, by its memory
# or by its arithmetic. (The first call measures that, for half a second.)

# %% tags=["varies"]
model.explain(n=128)

# %% [markdown]
# Seven operators have become three kernels. Nearly all of the time should go into the two products,
# and they are bound by arithmetic. The remarks name parameters of kernels: of a fused one they have
# the names of your variables, elsewhere `A` is the first. `print` gives the same as text.
#
# ## 3. Fusion, seen
#
# How did seven become three? First, `LegalizeOps` writes each operator as loops, in a PrimFunc.
# Then `FuseOps` looks for calls that go together:

# %%
legalized = rx.transform.LegalizeOps()(Block)
annotated = rx.transform.AnnotateTIROpPattern()(legalized)
grouped = rx.transform.FuseOps()(annotated)

rx.diff(annotated["main"], grouped["main"])

# %% [markdown]
# Each group is a function of its own so far, `FuseTIR` makes one PrimFunc of each.

# %%
fused = rx.transform.DeadCodeElimination()(rx.transform.FuseTIR()(grouped))
for stage, mod in [("legalized", legalized), ("fused", fused)]:
    print(f"{stage:10}", *(var.name_hint for var in mod.functions if var.name_hint != "main"))

# %% [markdown]
# Why it matters: `normal @ w1 + b1` and its `silu` are three passes over `128 × 256` numbers when
# each is an operator of its own. In one kernel a number is finished while it is still in a
# register. In the fused PrimFunc the results in between are buffers that only it knows, and the
# schedule removes them.
#
# A product may be followed by what works element by element. Two products, or a product after a
# normalisation, are not fused, because every element of the second needs many of the first.
#
# ## 4. Where the time goes
#
# `profile` runs a function once and takes the times of what it calls. The column *roof* says how
# much of the possible speed a kernel had.

# %% tags=["varies"]
print(model.profile("main", x))

# %% [markdown]
# It is one call, with a clock around everything, so small things look larger than they are, and
# what is missing to the total went into the clock and the machine between the calls. Without a
# profile a program like this is a single native call.
#
# As a notebook shows it, a report also has a picture of the source with a bar for each line:

# %% tags=["varies"]
model.profile("main", x)

# %% [markdown]
# For programs with many calls there is a trace, which `chrome://tracing` and
# [Perfetto](https://ui.perfetto.dev) show on a time line. It is JSON:

# %%
trace = json.loads(model.profile("main", x).chrome_trace())["traceEvents"]
print(sorted(event["name"] for event in trace))

# %% [markdown]
# And `time_evaluator` calls a function many times, as TVM's does, and tells how much the times
# vary. What disturbs the computer only makes a call longer: the least is the one to compare.

# %% tags=["varies"]
print(model.time_evaluator("main", number=50, repeat=10)(x))

# %% [markdown]
# ## 5. Five slow programs
#
# ### Python in the middle
#
# A packed function may stand anywhere. It is a call from native code into Python, it takes whole
# arrays, and nothing is fused across it. Here it is `silu`, in numpy:


# %%
@rx.register_func("tutorial.silu", override=True)
def silu(scores: Array, result: Array) -> None:
    np.divide(scores, 1 + np.exp(-scores), out=result)


@I.ir_module
class Switch(I.Module):
    @R.function
    def main(x: R.Tensor[R.f32, n, 256]) -> R.Tensor[R.f32, n, 256]:
        with R.dataflow():
            y = R.nn.silu(x + x) * x
            R.output(y)
        return y


@I.ir_module
class SwitchInPython(I.Module):
    @R.function
    def main(x: R.Tensor[R.f32, n, 256]) -> R.Tensor[R.f32, n, 256]:
        with R.dataflow():
            doubled = x + x
            h = R.call_dps_packed("tutorial.silu", (doubled,), out_sinfo=R.Tensor[R.f32, n, 256])
            y = h * x
            R.output(y)
        return y


wide = rng.normal(size=(128, 256)).astype("float32")
native, mixed = rx.jit(Switch), rx.jit(SwitchInPython)
np.testing.assert_allclose(native.main(wide), mixed.main(wide), rtol=1e-5, atol=1e-6)

# %% tags=["varies"]
print(f"native           {microseconds(lambda: native.main(wide)):6.1f} us")
print(f"Python in there  {microseconds(lambda: mixed.main(wide)):6.1f} us")

# %% tags=["varies"]
mixed.explain()

# %% [markdown]
# *by Python* is what to look for in the column `schedule`. *by numpy* there means that an operator
# has no native code and is run by numpy instead, which costs as much. What helps is to write it
# with operators, or as a PrimFunc: [05_kernels](05_kernels.ipynb) and
# [12_your_own_operator](12_your_own_operator.ipynb) do so.
#
# ### float64
#
# numpy makes float64 of everything that is not told otherwise. A model of float32 does not take it
# in silence, since that would hide a conversion in every call:

# %% tags=["raises-exception"]
model.main(np.ones((128, 64)))

# %% [markdown]
# A model can be of float64 throughout. Then everything is twice as large, a vector holds half as
# many numbers, and functions such as `exp` are computed one number at a time:


# %%
@I.ir_module
class Switch64(I.Module):
    @R.function
    def main(x: R.Tensor[R.f64, n, 256]) -> R.Tensor[R.f64, n, 256]:
        with R.dataflow():
            y = R.nn.silu(x + x) * x
            R.output(y)
        return y


double = rx.jit(Switch64)
wide64 = wide.astype("float64")
assert "call double @exp(" in double.executable.get_source()  # of the C library, a number each

# %% tags=["varies"]
print(f"float32  {microseconds(lambda: native.main(wide)):6.1f} us")
print(f"float64  {microseconds(lambda: double.main(wide64)):6.1f} us")

# %% [markdown]
# ### A program for every size
#
# Somebody who is used to static shapes has a module for each. `BindSymbolicVars` makes one of ours:

# %%
rx.transform.BindSymbolicVars({"n": 3})(Switch)["main"].show()


# %%
sizes = range(1, 11)


def one_for_each() -> None:
    for rows in sizes:
        static = rx.transform.BindSymbolicVars({"n": rows})(Switch)
        rx.jit(static).main(wide[:rows])


def one_for_all() -> None:
    switch = rx.jit(Switch)
    for rows in sizes:
        switch.main(wide[:rows])


# %% tags=["varies"]
print(f"ten modules      {timeit.timeit(one_for_each, number=1) * 1e3:6.0f} ms")
print(f"one, with an n   {timeit.timeit(one_for_all, number=1) * 1e3:6.0f} ms")

# %% [markdown]
# With a symbolic `n` there is one compilation, and the kernel is about as good, since rows are
# counted in either. What is worth to be static is the inner size, here 256: vectors run along it.
#
# ### One row at a time
#
# A call costs something before it computes anything, and a product of one row reads all weights for
# it. Give a model as many rows as there are:

# %% tags=["varies"]
rows = [x[k : k + 1] for k in range(len(x))]
print(f"128 calls           {microseconds(lambda: [model.main(row) for row in rows]):6.0f} us")
print(f"one call            {microseconds(lambda: model.main(x)):6.0f} us")
print(f"128 calls of numpy  {microseconds(lambda: [block(r, **weights) for r in rows], 3):6.0f} us")

# %% [markdown]
# ### Work that nobody needs
#
# `build` keeps what you wrote, even if nobody reads the result: a call may fail, and you may want
# to know. So a value that was left from some debugging is computed in each call. `explain` shows
# it, and the pass `DeadCodeElimination` removes it.


# %%
@I.ir_module
class Forgotten(I.Module):
    @R.function
    def main(x: R.Tensor[R.f32, n, 256]) -> R.Tensor[R.f32, n, 256]:
        with R.dataflow():
            largest = R.max(x, axis=1)
            y = R.nn.silu(x + x) * x
            R.output(y)
        return y


def kernels(mod: rx.IRModule) -> list[str]:
    return [row.name for row in rx.build(mod).explain().kernels]


cleaned = rx.transform.DeadCodeElimination()(Forgotten)
print(kernels(Forgotten))
print(kernels(cleaned))
assert kernels(cleaned) == kernels(Switch)

# %% [markdown]
# ## 6. Beside other libraries
#
# The block once more, with what is installed here, each on one thread. You need none of these
# libraries; those that are not there are passed over.


# %%
def with_torch() -> Callable[[], Array]:
    torch: Any = import_module("torch")
    torch.set_num_threads(1)
    given, of = torch.from_numpy(x), {name: torch.from_numpy(w) for name, w in weights.items()}
    nn = torch.nn.functional

    def call() -> Any:
        with torch.inference_mode():
            normal = nn.layer_norm(given, (64,), of["gamma"], of["beta"])
            hidden = nn.silu(torch.addmm(of["b1"], normal, of["w1"]))
            return (given + torch.addmm(of["b2"], hidden, of["w2"])).numpy()

    return call


def with_onnxruntime() -> Callable[[], Array]:
    onnx: Any = import_module("onnx")
    onnxruntime: Any = import_module("onnxruntime")
    make, real = onnx.helper, onnx.TensorProto.FLOAT
    nodes = [
        make.make_node("LayerNormalization", ["x", "gamma", "beta"], ["normal"], epsilon=1e-5),
        make.make_node("Gemm", ["normal", "w1", "b1"], ["scores"]),
        make.make_node("Sigmoid", ["scores"], ["gate"]),
        make.make_node("Mul", ["scores", "gate"], ["hidden"]),
        make.make_node("Gemm", ["hidden", "w2", "b2"], ["change"]),
        make.make_node("Add", ["x", "change"], ["y"]),
    ]
    ends = [make.make_tensor_value_info(name, real, ["n", 64]) for name in ("x", "y")]
    constants = [onnx.numpy_helper.from_array(w, name) for name, w in weights.items()]
    graph = make.make_graph(nodes, "block", ends[:1], ends[1:], constants)
    made = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(made.SerializeToString(), options)

    def call() -> Any:
        return session.run(None, {"x": x})[0]

    return call


def with_jax() -> Callable[[], Array]:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    jax: Any = import_module("jax")
    of = {name: jax.numpy.asarray(w) for name, w in weights.items()}

    def forward(x: Any) -> Any:
        normal = jax.nn.standardize(x, epsilon=1e-5) * of["gamma"] + of["beta"]
        return x + jax.nn.silu(normal @ of["w1"] + of["b1"]) @ of["w2"] + of["b2"]

    compiled = jax.jit(forward)

    def call() -> Any:
        return np.asarray(compiled(x))

    return call


others = {
    "torch": (with_torch, ["torch"]),
    "onnxruntime": (with_onnxruntime, ["onnxruntime", "onnx"]),
    "jax": (with_jax, ["jax"]),
}

# %% tags=["varies"]
print(f"relaxscript  {microseconds(lambda: model.main(x)):6.0f} us")
print(f"numpy        {microseconds(lambda: block(x, **weights)):6.0f} us")
for name, (make, needed) in others.items():
    if all(map(find_spec, needed)):
        call = make()
        np.testing.assert_allclose(call(), expected, rtol=1e-4, atol=1e-5)
        print(f"{name:12} {microseconds(call):6.0f} us")
    else:
        print(f"{name:12} is not installed here")

# %% [markdown]
# A measured table of thirty such comparisons, with the versions and the rounds, is in
# [RESULTS.md](../relaxscript_tests/benchmarks/RESULTS.md), with those rows in which others are
# faster.
#
# ## 7. On the command line, and from the cache
#
# `relaxscript bench` measures the functions of a file without running anything of it: it parses the
# scripts and calls them with arrays that fit. We write the block to a file, and let the command
# keep what it builds in a folder of its own.

# %%
folder = Path(tempfile.mkdtemp(prefix="relaxscript-"))
script = folder / "block.py"
script.write_text(Block.script())


def relaxscript(*words: str) -> None:
    """Run the command, and print what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "relaxscript", *words],
        env={**os.environ, "RELAXSCRIPT_CACHE": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    print(done.stdout.replace(str(folder), "FOLDER"), end="")


# %% tags=["varies"]
relaxscript("bench", str(script), "--dims", "n=128")

# %% [markdown]
# The second time, in a new process, nothing is compiled. The program was kept, by the hash of all
# that it is made of, and is only read:

# %% tags=["varies"]
relaxscript("bench", str(script), "--dims", "n=128")
relaxscript("cache", "info")

# %% [markdown]
# You need not do anything for this. `rx.build` and `rx.jit` use the cache of the system
# (`~/.cache/relaxscript`), unless `RELAXSCRIPT_CACHE` names another folder or is `off`.
#
# ## Exercises

# %% [markdown]
# **1.** `R.nn.silu(h)` is `h * R.sigmoid(h)`. Write the switch that way. Does the program have more
# kernels?
#
# <details><summary>Solution</summary>
#
# ```python
# @I.ir_module
# class Sigmoid(I.Module):
#     @R.function
#     def main(x: R.Tensor[R.f32, n, 256]) -> R.Tensor[R.f32, n, 256]:
#         with R.dataflow():
#             h = x + x
#             y = h * R.sigmoid(h) * x
#             R.output(y)
#         return y
#
#
# print(kernels(Sigmoid))
# assert len(kernels(Sigmoid)) == 1
# np.testing.assert_allclose(rx.jit(Sigmoid).main(wide), native.main(wide), rtol=1e-5, atol=1e-6)
# ```
#
# </details>

# %% [markdown]
# **2.** Use `R.sinh` as the switch of a module. Find in what `explain` gives which operator is not
# compiled. `explain(...).kernels` has a row for each, with `.name`, `.schedule` and `.kind`.
#
# <details><summary>Solution</summary>
#
# ```python
# @I.ir_module
# class Sinh(I.Module):
#     @R.function
#     def main(x: R.Tensor[R.f32, n, 256]) -> R.Tensor[R.f32, n, 256]:
#         with R.dataflow():
#             y = R.sinh(x + x) * x
#             R.output(y)
#         return y
#
#
# for row in rx.build(Sinh).explain().kernels:
#     print(row.name, "-", row.schedule, row.kind)
# ```
#
# </details>

# %% [markdown]
# **3.** Give `model.main` an array that is not contiguous in memory, `np.asfortranarray(x)`. The
# result is the same. Is the time?
#
# <details><summary>Solution</summary>
#
# ```python
# turned = np.asfortranarray(x)
# np.testing.assert_array_equal(model.main(turned), model.main(x))
# print(microseconds(lambda: model.main(turned)), microseconds(lambda: model.main(x)))
# # A copy in the right order is made for each call: keep arrays as they are needed.
# ```
#
# </details>

# %% [markdown]
# ## Where to go on
#
# [09_inside](09_inside.ipynb) takes a function of four lines through all steps, down to the
# machine code. In [05_kernels](05_kernels.ipynb) you arrange loops yourself.
