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
# # Three levels in one module
#
# A model is written at three levels, and all of them may stand in one class:
#
# | level | what it says | called by |
# |---|---|---|
# | **Relax** | what is computed, on whole tensors | `cls.f(x)` |
# | **PrimFunc** | how, loop by loop and element by element | `R.call_tir` |
# | **PackedFunc** | a name, for code in Python or C | `R.call_packed`, `R.call_dps_packed` |
#
# Usually these are three programs with walls between them: a graph, kernels, libraries. Here they
# are functions of one module that call each other, which is what
# [Relax was proposed for](https://github.com/apache/tvm-rfcs/blob/main/rfcs/0089-relax-upstreaming.md).
# So a part of a model can go from one level to another, and who calls it does not notice. We take
# one small function through all three.

# %%
import ctypes
import ctypes.util
import math
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import relaxscript as rx
from relaxscript import relax
from relaxscript.interpreter import Interpreter
from relaxscript.script import ir as I, relax as R, tir as T

# %% [markdown]
# ## 1. The top level: operators
#
# In 1898 Ladislaus von Bortkiewicz counted how many men of a Prussian army corps were kicked to
# death by a horse in a year: none in 109 of 200 cases, one in 65 of them, and so on. Such counts
# follow the distribution of Poisson, and we look for its rate $\lambda$. The larger this is, the
# better a rate explains the counts:
#
# $$\log p = \overline{k}\,\log\lambda - \lambda - \overline{\log k!}$$

# %%
counts = np.repeat([0.0, 1, 2, 3, 4], [109, 65, 22, 3, 1])
rates = np.arange(1, 200) / 100
print(f"{len(counts)} counts with the mean {counts.mean()}, {len(rates)} rates to try")

# %% [markdown]
# `main` below says that, with a rate in each element of `rates`. For $\log k!$ there is no
# operator, so `log_factorial` computes it from others by Stirling's series. It ends after four
# terms, and is a little off.

# %%
n, m = R.dim("n"), R.dim("m")


@I.ir_module
class Poisson(I.Module):
    @R.function
    def log_factorial(k: R.Tensor[R.f64, n]) -> R.Tensor[R.f64, n]:
        with R.dataflow():
            z = k + 1.0
            out = (z - 0.5) * R.log(z) - z + math.log(2 * math.pi) / 2 + 1.0 / (12.0 * z)
            R.output(out)
        return out

    @R.function
    def main(counts: R.Tensor[R.f64, n], rates: R.Tensor[R.f64, m]) -> R.Tensor[R.f64, m]:
        cls = Poisson
        with R.dataflow():
            constant = R.mean(cls.log_factorial(counts))
            fit = R.mean(counts) * R.log(rates) - rates - constant
            R.output(fit)
        return fit


# %% [markdown]
# Python's `math.lgamma(k + 1)` is $\log k!$ to nearly all digits. By it we judge.

# %%
log_factorials = [math.lgamma(k + 1) for k in counts]
expected = counts.mean() * np.log(rates) - rates - np.mean(log_factorials)


def judge(module: rx.IRModule) -> None:
    fit = rx.jit(module).main(counts, rates)
    error = abs(fit - expected).max()
    verdict = "right to 14 digits" if error < 1e-14 else f"off by {error:.1e}"
    print(f"best rate {rates[fit.argmax()]}, {verdict}")


judge(Poisson)

# %% [markdown]
# The best rate is the mean of the counts, as it should be. Now for the digits.

# %% [markdown]
# ## 2. Down to a packed function
#
# A **packed function** is any Python function, registered under a name. This one is in
# *destination-passing style*, "DPS": its last argument is an array for the result, and it fills
# that. (`out[...] =` fills it; `out =` would only make `out` the name of another array.) Kernels
# and libraries want it so, for then the compiler decides where results lie.


# %%
@rx.register_func("poisson.log_factorial", override=True)
def log_factorial_in_python(k: np.ndarray, out: np.ndarray) -> None:
    out[...] = [math.lgamma(element + 1) for element in k]


# %% [markdown]
# `R.call_dps_packed` makes the array, calls the function, and gives the array. Nobody can know
# what a function of Python will do, so the call says what comes out: `out_sinfo`.


# %%
@R.function
def by_python(k: R.Tensor[R.f64, n]) -> R.Tensor[R.f64, n]:
    out = R.call_dps_packed("poisson.log_factorial", (k,), out_sinfo=R.Tensor[R.f64, n])
    return out


# %% [markdown]
# It takes and gives what the old `log_factorial` did, so it can stand in its place. `main` stays
# as it is: not one character of it changes.

# %%
with_python = Poisson.clone()
with_python["log_factorial"] = by_python
judge(with_python)

assert rx.ir.structural_equal(with_python["main"], Poisson["main"])

# %% [markdown]
# ## 3. What is passed, and whose it is
#
# `R.call_packed` is the other kind of call: the function gets its arguments and returns a value,
# or nothing. This one keeps what it sees.

# %%
seen: list[np.ndarray] = []
rx.register_func("poisson.look", seen.append, override=True)


@R.function(pure=False)
def watched(k: R.Tensor[R.f64, n]) -> R.Tensor[R.f64, n]:
    R.call_packed("poisson.look", k)
    z = k + 1.0
    R.call_packed("poisson.look", z)
    return z


machine = rx.jit(watched)
given = np.array([1.0, 2.0])
result = machine.watched(given)

assert seen[0] is given
assert seen[1] is result

# %% [markdown]
# Tensors are numpy's arrays and nothing is copied: the function saw the very array that we gave,
# and later the very array that we got. This has two sides.
#
# - What a packed function has seen, it may keep. That memory is not used for another value, not in
#   later calls either.
# - What it writes into an argument, everybody sees. Who needs a change makes a copy first, or says
#   so in the program by `R.call_inplace_packed`.

# %%
machine.watched(np.array([10.0, 20.0]))
assert result.tolist() == [2, 3]  # still ours
print("what the function saw:", [array.tolist() for array in seen])

# %% [markdown]
# Scalars come as Python's `int`, `float` and `bool`, strings as `str`, shapes and tuples as
# tuples.
#
# ## 4. Purity
#
# `watched` is declared with `pure=False`, because looking is an effect: it matters how often it
# happens, and when. Relax functions are *pure* unless they say otherwise, and the compiler relies
# on it: pure calls may be moved, joined, or left out where nobody needs them. So this is a mistake.


# %% tags=["raises-exception"]
@R.function
def best(rates: R.Tensor[R.f64, m], fit: R.Tensor[R.f64, m]) -> R.Tensor[R.f64, ()]:
    rate = R.take(rates, R.argmax(fit))
    R.call_packed("poisson.look", rate)
    return rate


# %% [markdown]
# The message names both ways out. `R.call_pure_packed` promises that the function has no effects;
# nothing can check that promise. `R.call_dps_packed` and `R.call_tir` promise it as well: what
# they write is the result, and nothing else. So they may stand in a dataflow block, where all is
# pure.
#
# The result that a call promises *is* checked, each time. This function works in float32, but the
# call says float64.

# %% tags=["raises-exception"]
rx.register_func("poisson.halve", lambda x: x.astype("float32") / 2, override=True)


@R.function
def careless(x: R.Tensor[R.f64, n]) -> R.Tensor[R.f64, n]:
    half = R.call_pure_packed("poisson.halve", x, sinfo_args=R.Tensor[R.f64, n])
    return half


rx.jit(careless).careless(counts)

# %% [markdown]
# ## 5. A function of a C library
#
# A packed function may also be written in C. The C library of mathematics, which every computer
# has, knows `lgamma` as well, and ctypes, a part of Python, opens it. What C takes and returns has
# to be declared: a library does not tell. The result is one number of float64, and `number` says
# so; what describes a result may be made in Python, too.

# %%
libm = ctypes.CDLL(ctypes.util.find_library("m"))
libm.lgamma.argtypes = [ctypes.c_double]
libm.lgamma.restype = ctypes.c_double

lgamma = rx.PackedFunc.from_ctypes("libm.lgamma", libm.lgamma)
rx.register_func("libm.lgamma", lgamma, override=True)
number = relax.PrimStructInfo(rx.DataType("float64"))


@R.function
def of_one_number(x: R.Prim[R.f64]) -> R.Prim[R.f64]:
    y = R.call_pure_packed("libm.lgamma", x, sinfo_args=number)
    return y


found = rx.jit(of_one_number).of_one_number(3.0 + 1)
print(f"{found:.12f} is log 3!, that is log 6, {math.log(6):.12f}")
assert math.isclose(found, math.log(6))

# %% [markdown]
# C gets, for a tensor, a pointer to its elements in row-major order, or a `DLTensor`, which has the
# shape and dtype as well, where `argtypes` says so; for an integer an `int64_t`, for a float a
# `double`, for a string a `const char *`. What `argtypes` declares wins, and is checked: where it
# says a pointer to `double`, a tensor of float32 is refused.
#
# But this `lgamma` takes one number, and we have an array. A loop is missing.
#
# ## 6. The middle level: loops
#
# Loops are what a **PrimFunc** is for. This one goes over the elements, and calls C for each of
# them, by `T.call_pure_extern`: the dtype of the result, the name, and the arguments. It is
# compiled to machine code, and no Python runs in it.


# %%
@I.ir_module
class Loops(I.Module):
    @T.prim_func
    def lgamma(k: T.Buffer[T.f64, n], out: T.Buffer[T.f64, n]) -> None:
        for i in T.serial(n):
            with T.block("lgamma"):
                vi = T.axis.spatial(n, i)
                out[vi] = T.call_pure_extern("float64", "lgamma", k[vi] + 1.0)

    @R.function
    def log_factorial(k: R.Tensor[R.f64, n]) -> R.Tensor[R.f64, n]:
        out = R.call_tir(Loops.lgamma, (k,), out_sinfo=R.Tensor[R.f64, n])
        return out


# %% [markdown]
# A PrimFunc writes into a buffer that it is given, too. `R.call_tir` is to PrimFuncs what
# `R.call_dps_packed` is to packed functions: it makes the array and says what comes out. With
# `update`, both functions join the module, and again `main` does not notice.

# %%
with_loops = Poisson.clone()
with_loops.update(Loops)
judge(with_loops)
with_loops.show()

# %% [markdown]
# Three levels, one module, one text. (Notebook 5 is about what stands in the loops.)
#
# ## 7. C of your own
#
# If there is a compiler for C on your computer, the loop may be written in C as well. The function
# below is called with the tensors, the numbers, and last the array for the result, in this order;
# so the call adds the number of elements by `R.prim_value(n)`.

# %%
IN_C = """
#include <math.h>
#include <stdint.h>

void log_factorial(const double *k, int64_t n, double *out) {
    for (int64_t i = 0; i < n; i++) out[i] = lgamma(k[i] + 1);
}
"""


@R.function
def by_c(k: R.Tensor[R.f64, n]) -> R.Tensor[R.f64, n]:
    out = R.call_dps_packed("c.log_factorial", (k, R.prim_value(n)), out_sinfo=R.Tensor[R.f64, n])
    return out


with_c = Poisson.clone()
with_c["log_factorial"] = by_c

# %% [markdown]
# A program looks a packed function up when it calls it. So the module above is complete, though
# `c.log_factorial` is only now registered, if at all.

# %% tags=["varies"]
compiler = shutil.which("cc")
if compiler:
    folder = Path(tempfile.mkdtemp(prefix="relaxscript-"))
    source, library = folder / "functions.c", folder / "functions.so"
    source.write_text(IN_C)
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    function = ctypes.CDLL(str(library)).log_factorial
    pointer = ctypes.POINTER(ctypes.c_double)
    function.argtypes, function.restype = [pointer, ctypes.c_int64, pointer], None
    by_name = rx.PackedFunc.from_ctypes("c.log_factorial", function)
    rx.register_func("c.log_factorial", by_name, override=True)
    judge(with_c)
else:
    print("there is no C compiler here, so this module is not run")

# %% [markdown]
# Which of them is fast? Here are the times for 100,000 counts, in milliseconds.

# %% tags=["varies"]
many = np.tile(counts, 500)
choices = {"operators": Poisson, "Python": with_python, "loops": with_loops, "C": with_c}

for name, module in choices.items():
    if name == "C" and not compiler:
        print(f"{name:9} not here")
        continue
    times = rx.jit(module).time_evaluator("main", number=1, repeat=3)(many, rates)
    print(f"{name:9} {times.min * 1000:6.2f} ms")

# %% [markdown]
# ## 8. How operators become loops
#
# So far we went down by hand. A pass does the same for operators: `LegalizeOps` makes a PrimFunc
# for each, and calls it by `R.call_tir`.

# %%
lowered = rx.transform.LegalizeOps()(Poisson)
lowered["main"].show()

# %% [markdown]
# `cls.log` and the others are functions of the same module. They can be read, and changed by hand.

# %%
lowered["log"].show(name="log")

# %% [markdown]
# You may choose what an operator becomes. The function below answers for `R.log`: not by loops,
# but by a call of a library, here of numpy. It gets the call of the operator and gives another
# expression; `call.struct_info` is what the compiler has found out about the result.


# %%
@rx.register_func("numpy.log", override=True)
def log_by_numpy(x: np.ndarray, out: np.ndarray) -> None:
    np.log(x, out=out)


def log_by_library(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    by_name: relax.Expr = relax.call_dps_packed("numpy.log", call.args, out_sinfo=call.struct_info)
    return by_name


mixed = rx.transform.LegalizeOps({"relax.log": log_by_library})(with_loops)
mixed["main"].show()
judge(mixed)

# %% [markdown]
# That is one function in which each step is at the level that suits it: libraries where there are
# some, loops elsewhere. All of it is the same program as before, and all executors agree.

# %%
fit = Interpreter(mixed)["main"](counts, rates)
for target in ("reference", "llvm"):
    assert np.allclose(rx.jit(mixed, target=target).main(counts, rates), fit, rtol=1e-14)
print(f"three executors agree: {rates[fit.argmax()]}")

# %% [markdown]
# At the very bottom all levels meet. What is built is a list of calls, of kernels and packed
# functions alike: each gets arrays, and the array for its result is made before, by `alloc_tensor`.
# `%0` and so on are the values, `c[0]` constants; `check` compares an argument with its annotation.
# Operators that go together have become one kernel, such as `fused_mean_multiply_subtract`, and
# `lgamma_noalias` is our `lgamma`, compiled for arrays that do not overlap.

# %%
print(rx.build(mixed).as_text())

# %% [markdown]
# ## Exercises
#
# 1. Write `middle(x)`, the median of a tensor of float64, by calling numpy. Is it pure?

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# rx.register_func("numpy.median", lambda x: np.array(np.median(x)), override=True)
#
#
# @R.function
# def middle(x: R.Tensor[R.f64, n]) -> R.Tensor[R.f64, ()]:
#     out = R.call_pure_packed("numpy.median", x, sinfo_args=R.Tensor[R.f64, ()])
#     return out
#
#
# # It is: it only reads its argument. (`np.median` copies before it sorts.)
# assert rx.jit(middle).middle(counts) == np.median(counts) == 0
# ```
#
# </details>

# %% [markdown]
# 2. Give `log_factorial` one more body: a table of $\log k!$ for `k` up to 4, and `R.take`. What
#    do you lose?

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# table = np.array([math.lgamma(k + 1) for k in range(5)])
#
#
# @R.function
# def by_table(k: R.Tensor[R.f64, n]) -> R.Tensor[R.f64, n]:
#     out = R.take(R.const(table), R.astype(k, "int64"))
#     return out
#
#
# with_table = Poisson.clone()
# with_table["log_factorial"] = by_table
# judge(with_table)
# # Only whole numbers up to 4 can be looked up.
# ```
#
# </details>

# %% [markdown]
# 3. Write a PrimFunc that computes `hypot(x, y)` of two vectors by the C function of that name,
#    call it from a Relax function, and compare it with `np.hypot`.

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @I.ir_module
# class Lengths(I.Module):
#     @T.prim_func
#     def hypot(x: T.Buffer[T.f64, n], y: T.Buffer[T.f64, n], out: T.Buffer[T.f64, n]) -> None:
#         for i in T.serial(n):
#             with T.block("hypot"):
#                 vi = T.axis.spatial(n, i)
#                 out[vi] = T.call_pure_extern("float64", "hypot", x[vi], y[vi])
#
#     @R.function
#     def main(x: R.Tensor[R.f64, n], y: R.Tensor[R.f64, n]) -> R.Tensor[R.f64, n]:
#         out = R.call_tir(Lengths.hypot, (x, y), out_sinfo=R.Tensor[R.f64, n])
#         return out
#
#
# x, y = np.array([3.0, 5.0]), np.array([4.0, 12.0])
# assert np.array_equal(rx.jit(Lengths).main(x, y), np.hypot(x, y))
# ```
#
# </details>

# %% [markdown]
# Next is [05_kernels](05_kernels.ipynb): what may stand in the loops of a PrimFunc, and how they
# become fast.
