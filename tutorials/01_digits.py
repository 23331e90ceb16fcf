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
# # Handwritten digits
#
# relaxscript is a compiler for models: you write one down as a Python class, and it makes machine
# code of it. We train a small network with numpy, write it so, and let relaxscript check it, print
# it, compile it and run it. On the way you meet the three kinds of functions that a model is made
# of:
#
# - **Relax functions** (`R.function`) say what is computed on whole tensors;
# - **PrimFuncs** (`T.prim_func`) say how one step is computed, loop by loop;
# - **packed functions** are ordinary Python, registered under a name.
#
# Everything runs on a laptop in a few seconds.

# %%
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_digits

import relaxscript as rx
from relaxscript.script import from_source, ir as I, relax as R, tir as T

# %% [markdown]
# ## 1. Real data
#
# scikit-learn brings 1797 digits that people wrote by hand. An image is 8 × 8 pixels, 64 numbers
# from 0 to 16. We put a quarter of the images aside. The network never sees them while it learns;
# they tell us at the end how good it is.

# %%
pixels, labels = load_digits(return_X_y=True)
pixels = pixels.astype("float32")

rng = np.random.default_rng(0)
order = rng.permutation(len(pixels))
held_out, training = np.split(order, [len(pixels) // 4])

print(
    f"{len(training)} images to learn from, {len(held_out)} held out, {pixels.shape[1]} pixels each"
)

# %% [markdown]
# ## 2. Training, in plain numpy
#
# relaxscript does not care where weights come from, so we keep this part small. The network has
# two layers:
#
# $$p = \mathrm{softmax}(\mathrm{relu}(x\, w_1 + b_1)\, w_2 + b_2)$$
#
# Its input $x$ is *standardised*: each pixel is shifted and scaled so that, over the training
# images, its mean is 0 and its spread is 1. (Pixels in the corners are nearly always 0; the lower
# limit keeps us from dividing by nothing.)

# %%
mean = pixels[training].mean(axis=0)
scale = 1 / np.maximum(pixels[training].std(axis=0), np.float32(0.5))

Array = NDArray[Any]


def relu(x: Array) -> Array:
    positive: Array = np.maximum(x, 0)
    return positive


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    shares: Array = powers / powers.sum(axis=1, keepdims=True)
    return shares


def layer(rows: int, columns: int) -> tuple[Array, Array]:
    """Random weights and zero offsets."""
    weights = rng.normal(0, np.sqrt(2 / rows), (rows, columns)).astype("float32")
    return weights, np.zeros(columns, "float32")


def predict(images: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> Array:
    """The probability of each digit for each image: what every executor below has to give."""
    x = (images - mean) * scale
    return softmax(relu(x @ w1 + b1) @ w2 + b2)


# %% [markdown]
# One step of learning compares the probabilities with the true digits, follows the error back
# through both layers, and moves all weights a little against it. The momentum keeps some of the
# previous move.


# %% tags=["varies"]
def gradients(
    images: Array, digits: Array, w1: Array, b1: Array, w2: Array, b2: Array
) -> tuple[Array, tuple[Array, ...]]:
    """The mean loss of a batch, and its derivative by each weight."""
    rows = np.arange(len(digits))
    x = (images - mean) * scale
    hidden = relu(x @ w1 + b1)
    probabilities = softmax(hidden @ w2 + b2)
    loss = -np.log(probabilities[rows, digits]).mean()

    d_scores = probabilities.copy()
    d_scores[rows, digits] -= 1
    d_scores /= len(digits)
    d_hidden = (d_scores @ w2.T) * (hidden > 0)
    return loss, (x.T @ d_hidden, d_hidden.sum(0), hidden.T @ d_scores, d_scores.sum(0))


weights = (*layer(64, 64), *layer(64, 10))
moves = [np.zeros_like(w) for w in weights]

for epoch in range(1, 31):
    losses = []
    for batch in np.array_split(rng.permutation(training), 42):
        loss, slopes = gradients(pixels[batch], labels[batch], *weights)
        losses.append(loss)
        for w, move, slope in zip(weights, moves, slopes, strict=True):
            move *= 0.9
            move -= 0.02 * slope
            w += move
    if epoch % 5 == 0:
        right = predict(pixels[training], *weights).argmax(axis=1) == labels[training]
        print(
            f"epoch {epoch:2}: loss {np.mean(losses):.4f}, {right.mean():.1%} of these images right"
        )

# %% [markdown]
# ## 3. The model as a class
#
# First the packed function. `R.call_dps_packed` below calls it by its name and hands it an array
# for the result ("dps" is for *destination-passing style*); the function fills that array and
# returns nothing.


# %%
@rx.register_func("digits.standardise", override=True)
def standardise(images: Array, result: Array) -> None:
    np.multiply(images - mean, scale, out=result)


# %% [markdown]
# Now the class. The bodies in it are never run as Python. The decorator reads them, and in place
# of the class there is a *module*: the functions as data, which can be printed, changed, compiled
# and run. (`I.Module` is there for editors and type checkers, and may be left out.)
#
# - `R.Tensor[R.f32, n, 64]` is an array of float32 with `n` rows and 64 columns. `n` is a symbolic
#   dimension: it stands for any number of images, the same one everywhere in a function. TVM, the
#   compiler whose language this is, writes `R.Tensor(("n", 64), "float32")`, and `n = T.int64()` in
#   the body: that means the same, and is what is printed below.
# - `relu` is a PrimFunc: two loops around one line, for all elements of a buffer, which is memory
#   with a shape. The fifth notebook explains the rest. `R.call_tir` calls it and says what comes
#   out.
# - `R.matmul`, `+`, `@` and `R.nn.softmax` are operators on whole tensors.
# - `with R.dataflow():` promises that nothing inside has side effects. `R.output` says what
#   leaves the block.
# - `cls = Digits` lets one function name another.


# %%
n = R.dim("n")


@I.ir_module
class Digits(I.Module):
    @T.prim_func
    def relu(x: T.Buffer[T.f32, n, 64], y: T.Buffer[T.f32, n, 64]) -> None:
        for i, j in T.grid(n, 64):
            with T.block("relu"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.max(x[vi, vj], T.float32(0))

    @R.function
    def main(
        images: R.Tensor[R.f32, n, 64],
        w1: R.Tensor[R.f32, 64, 64],
        b1: R.Tensor[R.f32, 64],
        w2: R.Tensor[R.f32, 64, 10],
        b2: R.Tensor[R.f32, 10],
    ) -> R.Tensor[R.f32, n, 10]:
        cls = Digits
        with R.dataflow():
            x = R.call_dps_packed("digits.standardise", (images,), out_sinfo=R.Tensor[R.f32, n, 64])
            scores = R.matmul(x, w1) + b1
            hidden = R.call_tir(cls.relu, (scores,), out_sinfo=R.Tensor[R.f32, n, 64])
            probabilities = R.nn.softmax(hidden @ w2 + b2)
            R.output(probabilities)
        return probabilities


# %% [markdown]
# `show` prints what was understood. Expressions are taken apart, so that each step has a name:
# `lv` is the product whose sum with `b1` is `scores`. And each name has a type, which nobody wrote:
# `probabilities` is a `(n, 10)` tensor of float32, because the operators say so. (What `x` and
# `hidden` are was said by `out_sinfo`.) Of `relu` it was found out what it reads and writes.

# %%
Digits.show()

# %% [markdown]
# ## 4. Printed and parsed back
#
# What is printed is itself a script. Parsing it gives the same module again, and printing that
# gives the same text. So a module can be kept as text, read in a review, or edited by hand.

# %%
text = Digits.script(show_meta=True)
again = from_source(text)

assert rx.ir.structural_equal(again, Digits)
assert again.script(show_meta=True) == text
print(f"{len(text.splitlines())} lines parsed back to an equal module")

# %% [markdown]
# ## 5. Three executors, one meaning
#
# A model can be run in three ways:
#
# - the **reference interpreter** follows the definition of the language step by step; it is slow
#   and easy to trust;
# - the **virtual machine** runs a list of simple instructions, mostly calls. With
#   `target="reference"` operators are run by numpy and PrimFuncs are evaluated in numpy;
# - with `target="llvm"`, the default, both are compiled to machine code by LLVM, the library that
#   does it for many languages. Operators that go together become one *kernel*, a piece of code with
#   loops, which computes several numbers at a time. Without optimisation,
#   `target="llvm -opt-level=0"`, only PrimFuncs are compiled.
#
# All of them take numpy arrays and return numpy arrays. We give them the held-out images.

# %% tags=["varies"]
from relaxscript.interpreter import Interpreter

executors: dict[str, Callable[..., Any]] = {
    "reference interpreter": Interpreter(Digits)["main"],
    "virtual machine, reference": rx.VirtualMachine(rx.build(Digits, target="reference"))["main"],
    "virtual machine, plain": rx.jit(Digits, target="llvm -opt-level=0")["main"],
    "virtual machine, llvm": rx.jit(Digits, target="llvm")["main"],
}

images, digits = pixels[held_out], labels[held_out]
expected = predict(images, *weights)
results = {name: main(images, *weights) for name, main in executors.items()}

for name, probabilities in results.items():
    accuracy = (probabilities.argmax(axis=1) == digits).mean()
    difference = np.abs(probabilities - expected).max()
    print(f"{name:27} accuracy {accuracy:.2%}, at most {difference:.1e} from plain numpy")
    assert accuracy >= 0.95
    assert difference <= 1e-6

# %% [markdown]
# Those that do not optimise agree to the last bit: for each image, all ten probabilities are equal.
# Optimised code adds in another order, so its last bits may be others. That holds however many
# images come at a time, for `n` is open. So we ask again with one image a call, with seven, and
# with all of them. (The last batch of seven is smaller; nothing has to be compiled again for it.)


# %%
def in_batches(main: Callable[..., Any], size: int) -> Array:
    parts = [images[start : start + size] for start in range(0, len(images), size)]
    return np.concatenate([main(part, *weights) for part in parts])


for size in (1, 7, len(images)):
    reference, *others, optimised = [in_batches(main, size) for main in executors.values()]
    for other in others:
        assert (other == reference).all(axis=1).sum() == len(images)
    for found in (reference, optimised):
        assert (found.argmax(axis=1) == expected.argmax(axis=1)).all()
        assert np.abs(found - expected).max() <= 1e-6
    print(f"{size:3} at a time: {len(images)} of {len(images)} images equal, optimised within 1e-6")

# %% [markdown]
# ## 6. A look at some digits
#
# `rx.jit` is the short way: it compiles a module and gives something to call. We draw the ten
# images about which the network is least sure. A title in red is a wrong guess, with the right
# digit in brackets.

# %%
model = rx.jit(Digits)
probabilities = model.main(images, *weights)
guesses = probabilities.argmax(axis=1)
doubtful = probabilities.max(axis=1).argsort()[:10]

figure = Figure(figsize=(9, 4), layout="constrained")
for axes, k in zip(figure.subplots(2, 5).flat, doubtful, strict=True):
    right = guesses[k] == digits[k]
    axes.imshow(images[k].reshape(8, 8), cmap="gray_r")
    axes.set_title(
        f"{guesses[k]}" if right else f"{guesses[k]} ({digits[k]})",
        color="black" if right else "red",
    )
    axes.set_axis_off()

if "ipykernel" in sys.modules:  # in a notebook it is shown below
    from IPython.display import display_png

    picture = io.BytesIO()
    figure.savefig(picture)
    display_png(picture.getvalue(), raw=True)
else:
    file = Path(tempfile.mkdtemp(prefix="relaxscript-")) / "digits.png"
    figure.savefig(file)
    print(f"picture of {len(doubtful)} digits: {file}")

# %% [markdown]
# ## 7. A mistake, made on purpose
#
# The last weights have 64 rows and 10 columns. What if somebody stores them the other way round?
# Nothing has to run to find out. The function is not accepted, and the message points at the
# operand and at the place where it got its shape. (We catch the error, because this tour is also
# run from start to end as a script.)

# %%
try:

    @R.function
    def last_layer(hidden: R.Tensor[R.f32, n, 64], w2: R.Tensor[R.f32, 10, 64]) -> R.Object:
        scores = R.matmul(hidden, w2)
        return R.nn.softmax(scores)

except rx.DiagnosticError as error:
    print(error)
    [mistake] = error.diagnostics
    assert mistake.code == "RX0203"
    assert mistake.span is not None
    assert mistake.span.text == "w2"
else:
    raise AssertionError("a transposed weight was accepted")

# %% [markdown]
# The code in brackets has a page: `relaxscript explain RX0203` in a terminal, or
# `rx.explain("RX0203")` here. `relaxscript check` finds the same mistake in this file
# without running anything.
#
# ## Exercises
#
# **1. A wrong number of pixels.** `Digits` says that an image has 64 pixels. Call `model.main` with
# images of 63, and read what you are told.
#
# <details><summary>Solution</summary>
#
# ```python
# try:
#     model.main(images[:, :63], *weights)
# except rx.VMError as error:
#     assert "`images.shape[1]` is 63; must be 64" in str(error)
# else:
#     raise AssertionError("63 pixels were accepted")
# ```
#
# The parameter is named, with its axis and what it has to be. Nothing was computed before.
#
# </details>

# %% [markdown]
# **2. The standardising in Relax.** `digits.standardise` is Python, so the compiled program has to
# leave its machine code for it. Write a function `standardised` that does the same with operators,
# taking `mean` and `scale` from Python by `R.const`, and compare it with the packed function.
#
# <details><summary>Solution</summary>
#
# ```python
# @R.function
# def standardised(images: R.Tensor[R.f32, n, 64]) -> R.Tensor[R.f32, n, 64]:
#     return (images - R.const(mean)) * R.const(scale)
#
#
# result = np.empty_like(images)
# standardise(images, result)
# assert np.array_equal(standardised(images), result)
# ```
#
# A function that is decorated on its own is called as it stands, with arrays.
#
# </details>

# %% [markdown]
# **3. The softmax as a PrimFunc.** Write the softmax of ten scores per row as a PrimFunc, loop by
# loop, and compare it with `R.nn.softmax`. It needs the largest score of each row, then the sum of
# the powers, then the quotients: three blocks, and two buffers of `T.alloc_buffer((n,), "float32")`
# between them. In a block that reduces, `with T.init():` gives the value to begin with.
#
# <details><summary>Solution</summary>
#
# ```python
# @T.prim_func
# def my_softmax(x: T.Buffer[T.f32, n, 10], y: T.Buffer[T.f32, n, 10]) -> None:
#     largest = T.alloc_buffer((n,), "float32")
#     total = T.alloc_buffer((n,), "float32")
#     for i, j in T.grid(n, 10):
#         with T.block("largest"):
#             vi, vj = T.axis.remap("SR", [i, j])
#             with T.init():
#                 largest[vi] = T.min_value("float32")
#             largest[vi] = T.max(largest[vi], x[vi, vj])
#     for i, j in T.grid(n, 10):
#         with T.block("total"):
#             vi, vj = T.axis.remap("SR", [i, j])
#             with T.init():
#                 total[vi] = T.float32(0)
#             total[vi] = total[vi] + T.exp(x[vi, vj] - largest[vi])
#     for i, j in T.grid(n, 10):
#         with T.block("quotient"):
#             vi, vj = T.axis.remap("SS", [i, j])
#             y[vi, vj] = T.exp(x[vi, vj] - largest[vi]) / total[vi]
#
#
# scores = rng.normal(size=(5, 10)).astype("float32")
# found = np.empty_like(scores)
# my_softmax(scores, found)
# assert np.allclose(found, R.nn.softmax(scores), atol=1e-6)
# ```
#
# </details>
#
# ## Where to go from here
#
# The next notebook, [02_symbolic_shapes](02_symbolic_shapes.ipynb), is about the `n` that stood
# everywhere here: what is proved of it while the program is read, and what is checked when it runs.
