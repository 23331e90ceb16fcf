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
# # Your own operator
#
# A model may need an operator that Relax has not. You define it in a file of your own, with the
# decorator by which all operators here are defined: what it computes, what is known of its result,
# its loops and its gradient. From then on it is one of them: scripts call it and print it, passes
# know it, mistakes in its operands are told as those of `R.matmul` are.
#
# Our example is the *rotary position embedding* of Su et al., "RoFormer" (2021): transformers use
# it to tell each token where it is. Each row is a token; its features are turned in pairs, by an
# angle that grows with the place of the row, quickly for the first pairs and slowly for the last.

# %%
from typing import Any

import numpy as np

import relaxscript as rx
from relaxscript import te, tir
from relaxscript.opdef import OperandError, Tensor, op, require_dtype
from relaxscript.script import from_source, ir as I, relax as R

# %% [markdown]
# ## 1. The meaning
#
# The operator begins as a function on numpy arrays. The name has a namespace of yours in front;
# the annotations say what the parameters take: `Tensor` for operands, and plain types for
# attributes, which are known when the program is compiled. The example is for its page: `x: n 4`
# is an operand with `n` rows of 4, and behind it stands the call.


# %%
@op("my.rotary", example="x: n 4; R.my.rotary(x)")
def rotary(x: Tensor, base: float = 10000.0, inverse: bool = False) -> Tensor:
    """Each row turned by its place: feature `i` and feature `i + d/2` are turned together.

    Row `t` of `d` features is turned by `t / base ** (2 * i / d)`; with `inverse` the other way.
    """
    rows, features = x.shape
    half = features // 2
    angles = np.outer(np.arange(rows), base ** (np.arange(half) * -2.0 / features))
    cos, sin = np.cos(angles), np.sin(angles) * (-1 if inverse else 1)
    a, b = x[:, :half], x[:, half:]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=1).astype(x.dtype)


# %% [markdown]
# It computes already. In scripts that are read as text its name is `R.my.rotary`; in Python,
# `rotary` is the same operator, and a name that editors know.

# %%
tokens = np.ones((3, 4), "float32")
print(rotary(tokens).round(3))

# %% [markdown]
# ## 2. What is known of the result
#
# A rule of inference gets what is known of each operand and gives what is known of the result:
# here the same shape and dtype. What does not fit is an `OperandError`, which names the operand and
# what is wrong with it; the place in the program is found for you.


# %%
@rotary.infer_rule
def _(context: Any, x: Any, base: float, inverse: bool) -> Any:
    require_dtype("x", x.dtype, "float")
    if x.ndim not in (-1, 2):
        raise OperandError("x", f"has rank {x.ndim}", wanted="a matrix", code="RX0203")
    features = x.dims and x.dims[1]
    if features is not None and isinstance(features, tir.IntImm) and features.value % 2:
        raise OperandError(
            "x",
            f"has {features.value} features",
            message="features are turned in pairs",
            code="RX0203",
        )
    return x


# %% [markdown]
# Now a script can use it, and a mistake is told at its place.

# %% tags=["raises-exception"]
from_source("""
@R.function
def main(x: R.Tensor(("n", 7), "float32")):
    return R.my.rotary(x)
""")


# %% [markdown]
# ## 3. Its loops
#
# `compute` says the same as the meaning, element by element, with tensor expressions. It is what
# `LegalizeOps` makes a PrimFunc of. A compute gives the bits of the meaning unless it says how far
# away it may be: `ulp=2` would be two units in the last place. Ours adds two products, which may
# nearly cancel, so what is lost is measured by their sizes: `sums=8` is eight roundings of these.


# %%
@rotary.compute(sums=8)
def _(context: Any, x: te.Tensor, base: float, inverse: bool) -> Any:
    rows, features = x.shape
    half = features // 2

    def element(t: tir.Var, i: tir.Var) -> Any:
        pair = te.if_then_else(i < half, i, i - half)
        exponent = pair.astype("float64") * -2.0 / features.astype("float64")
        angle = t.astype("float64") * te.power(te.const(base, "float64"), exponent)
        partner = te.if_then_else(i < half, -x[t, i + half], x[t, i - half])
        turned = te.sin(angle) * (-1.0 if inverse else 1.0)
        wide = x[t, i].astype("float64") * te.cos(angle) + partner.astype("float64") * turned
        return wide.astype(x.dtype)

    return te.compute(x.shape, element, name="T_rotary")


# %% [markdown]
# ## 4. Its gradient
#
# The gradient of a turn is the turn back. A rule of gradients is written with operators: it gets
# the operands of the call, and in `context.grad` the gradient of the loss by its result.


# %%
@rotary.gradient
def _(context: Any, x: Any, base: float, inverse: bool) -> Any:
    return (rotary(context.grad, base=base, inverse=not inverse),)


# %% [markdown]
# All of this stands on the page of the operator, which `help` shows; the example is run.

# %%
help(rotary)


# %% [markdown]
# ## 5. In a model
#
# Attention of one head, whose queries and keys know their places.


# %%
n = R.dim("n")


@I.ir_module
class Head(I.Module):
    @R.function
    def main(
        q: R.Tensor[R.f32, n, 8], k: R.Tensor[R.f32, n, 8], v: R.Tensor[R.f32, n, 8]
    ) -> R.Tensor[R.f32, n, 8]:
        with R.dataflow():
            scores = R.matmul(rotary(q), R.permute_dims(rotary(k)))
            weights = R.nn.softmax(R.multiply(scores, R.const(8**-0.5)))
            out = R.matmul(weights, v)
            R.output(out)
        return out


Head.show()
rx.ir.assert_structural_equal(from_source(Head.script()), Head)

# %% [markdown]
# `LegalizeOps` turns every operator into a PrimFunc, yours as all others: one for both calls.

# %%
loops = rx.transform.LegalizeOps()(Head)
print(sorted(gv.name_hint for gv in loops.functions))

# %% [markdown]
# Both forms run, on numpy's functions and as native code, and give the same.

# %% tags=["varies"]
rng = np.random.default_rng(0)
q, k, v = (rng.standard_normal((5, 8)).astype("float32") for _ in range(3))
expected = Head.main(q, k, v)
for target in ("reference", "llvm"):
    found = rx.jit(loops, target=target).main(q, k, v)
    distance = abs(found - expected).max()
    assert distance < 1e-5, distance
    print(f"loops on {target}: at most {distance:.0e} from the meaning")

# %% [markdown]
# The point of the whole is that only distances matter: when all tokens move on by the same number
# of places, the scores stay as they are.

# %%
padded = np.concatenate([np.zeros((3, 8), "float32"), q]), np.concatenate([v[:3], k])
before = rotary(q) @ rotary(k).T
after = (rotary(padded[0]) @ rotary(padded[1]).T)[3:, 3:]
assert abs(before - after).max() < 1e-5
print("scores depend on the distance of two tokens, not on their places")

# %% [markdown]
# ## Exercises
#
# **1. Integers.** What does a script hear that turns integers? Ask, and find the line of the rule
# that answers.
#
# <details><summary>Solution</summary>
#
# ```python
# try:
#     from_source("""
# @R.function
# def main(x: R.Tensor(("n", 8), "int32")):
#     return R.my.rotary(x)
# """)
# except rx.DiagnosticError as error:
#     [mistake] = error.diagnostics
#     assert mistake.span.text == "x"
#     print(error)
# else:
#     raise AssertionError("integers were turned")
# ```
#
# It is `require_dtype("x", x.dtype, "float")`.
#
# </details>

# %% [markdown]
# **2. An operator of your own.** `my.softsign` of `x` is `x / (1 + |x|)`, for each element. Define
# it with a meaning, a rule of inference, a compute and a gradient, which is `1 / (1 + |x|) ** 2`
# times the gradient of the result. Compare its loops with its meaning.
#
# <details><summary>Solution</summary>
#
# ```python
# @op("my.softsign", example="x: n 4; R.my.softsign(x)")
# def softsign(x: Tensor) -> Tensor:
#     """Each element divided by one more than its size."""
#     return x / (1 + np.abs(x))
#
#
# @softsign.infer_rule
# def _(context, x):
#     require_dtype("x", x.dtype, "float")
#     return x
#
#
# @softsign.compute(ulp=2)
# def _(context, x):
#     return te.compute(x.shape, lambda *i: x[i] / (te.abs(x[i]) + te.const(1, x.dtype)))
#
#
# @softsign.gradient
# def _(context, x):
#     size = R.add(R.abs(x), R.const(1.0))
#     return (R.divide(context.grad, R.multiply(size, size)),)
#
#
# @I.ir_module
# class Soft:
#     @R.function
#     def main(x: R.Tensor[R.f32, n, 8]):
#         with R.dataflow():
#             y = R.sum(softsign(x))
#             R.output(y)
#         return y
#
#
# soft_loops = rx.transform.LegalizeOps()(Soft)
# assert np.allclose(rx.jit(soft_loops).main(q), Soft.main(q), rtol=1e-6)
#
# trained = rx.transform.Gradient("main")(Soft)
# [slope] = rx.jit(trained).main_adjoint(q)[1]
# assert np.allclose(slope, 1 / (1 + abs(q)) ** 2, rtol=1e-6)
# ```
#
# </details>

# %% [markdown]
# ## Where to go from here
#
# This was the last notebook. A model that uses your operator is trained as the one in
# [07_transformer](07_transformer.ipynb), for its gradient is a rule like any other.
# [CONTRIBUTING.md](../CONTRIBUTING.md) says how operators are added to the package itself.
