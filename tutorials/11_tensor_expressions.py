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
# # Tensor expressions
#
# An operator such as `R.matmul` says *what* is computed; a PrimFunc says it loop by loop. A
# **tensor expression** is in between: you say what one element of a tensor is, and the loops
# follow. With it you write operators that there are not, in a line or two, and use them in a model.
#
# We blur a photograph, find its edges, and look at what was made on the way.

# %%
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_sample_image

import relaxscript as rx
from relaxscript import relax, te, tir
from relaxscript.script import from_source, ir as I, relax as R
from relaxscript.te import topi

# %% [markdown]
# ## 1. A tensor by its elements
#
# `te.placeholder` is a tensor that is given. `te.compute` is one that is computed: its shape, and
# a function from the indices of an element to its value. Nothing is computed yet. `n` is a
# symbolic dimension: any number of rows.

# %%
n = te.var("n", "int64")
A = te.placeholder((n, 4), name="A")
B = te.compute((n, 4), lambda i, j: te.if_then_else(j > 0, A[i, j] - A[i, j - 1], 0.0), name="B")

# %% [markdown]
# `te.create_prim_func` makes a PrimFunc of tensors: they are its parameters. Each tensor that is
# computed is a block in loops over its axes.

# %%
differences = te.create_prim_func([A, B])
print(differences.script())

# %% [markdown]
# A reduction goes over axes of its own. `te.sum`, `te.max`, `te.min` and `te.prod` are there;
# `where` leaves elements out.

# %%
k = te.reduce_axis((0, 4), name="k")
C = te.compute((n,), lambda i: te.sum(A[i, k], axis=k, where=A[i, k] > 0), name="C")
print(te.create_prim_func([A, C]).script())

# %% [markdown]
# ## 2. A function of tensors
#
# What is used twice is a function: it takes tensors and gives one. This is a blur, the mean of
# the pixels around each. `topi` has many such functions ready: `topi.add`, `topi.exp`,
# `topi.matmul` and so on; and Python's operators work on tensors as on numpy's arrays.


# %%
def blur(image: te.Tensor, radius: int) -> te.Tensor:
    """The mean of each pixel and those around it; at the edge, the nearest pixel is repeated."""
    height, width = image.shape
    size = 2 * radius + 1
    p = te.reduce_axis((0, size), name="p")
    q = te.reduce_axis((0, size), name="q")

    def inside(place: tir.PrimExpr, length: tir.PrimExpr) -> Any:
        return te.max(te.min(place, length - 1), 0)

    total = te.compute(
        (height, width),
        lambda i, j: te.sum(
            image[inside(i + p - radius, height), inside(j + q - radius, width)], axis=[p, q]
        ),
        name="total",
    )
    mean: te.Tensor = total * (1.0 / size**2)
    return mean


def edges(image: te.Tensor, sharpness: float) -> te.Tensor:
    """How much each pixel differs from those around it."""
    drawn: te.Tensor = topi.tanh(topi.abs(image - blur(image, 1)) * sharpness)
    return drawn


# %% [markdown]
# ## 3. In a model
#
# In a script, `R.emit_te` runs such a function on tensors in the place of its operands. What it
# returns becomes a PrimFunc of the module, and what is bound is its call. Other arguments, such
# as the radius, are given to the function as they are.


# %%
height, width = R.dim("height"), R.dim("width")


@I.ir_module
class Picture(I.Module):
    @R.function
    def main(
        image: R.Tensor[R.f32, height, width],
    ) -> R.Tuple[R.Tensor[R.f32, height, width], R.Tensor[R.f32, height, width]]:
        with R.dataflow():
            soft = R.emit_te(blur, image, 2)
            lines = R.emit_te(edges, soft, 4.0)
            R.output(soft, lines)
        return soft, lines


Picture.show()

# %% [markdown]
# The PrimFuncs are printed with the rest, so the text is all that there is: it can be read
# without running any Python.

# %%
text = Picture.script()
rx.ir.assert_structural_equal(from_source(text), Picture)
print(f"{len(text.splitlines())} lines parsed back to an equal module")

# %% [markdown]
# Programs that build models by hand use the same function: `bb.emit_te`.

# %%
[parameter] = Picture["main"].params
image = relax.Var("image", parameter.struct_info)
bb = relax.BlockBuilder()
with bb.function("main", [image]):
    with bb.dataflow():
        soft = bb.emit_te(blur, image, 2)
        both = bb.emit_output((soft, bb.emit_te(edges, soft, 4.0)))
    bb.emit_func_output(both)
print(sorted(gv.name_hint for gv in bb.get().functions))

# %% [markdown]
# ## 4. Running it
#
# A photograph comes with scikit-learn. Here is a part of it in shades of grey, through all
# executors: they agree with each other, and with plain numpy.

# %% tags=["varies"]
photograph = load_sample_image("china.jpg")[100:196, 200:328].mean(axis=2).astype("float32") / 255


def blur_by_numpy(pixels: NDArray[Any], radius: int) -> NDArray[Any]:
    padded = np.pad(pixels, radius, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2 * radius + 1,) * 2)
    means: NDArray[Any] = windows.mean(axis=(2, 3))
    return means


soft_by_numpy = blur_by_numpy(photograph, 2)
lines_by_numpy = np.tanh(np.abs(soft_by_numpy - blur_by_numpy(soft_by_numpy, 1)) * 4)

executors = {
    "virtual machine, reference": rx.jit(Picture, target="reference"),
    "virtual machine, llvm": rx.jit(Picture, target="llvm"),
}
for name, model in executors.items():
    soft, lines = model.main(photograph)
    error = max(abs(soft - soft_by_numpy).max(), abs(lines - lines_by_numpy).max())
    assert error < 1e-5, error
    print(f"{name:<27} at most {error:.0e} from plain numpy")

# %%
soft, lines = rx.jit(Picture).main(photograph)

figure = Figure(figsize=(9, 2.5), layout="constrained")
pictures = {"photograph": photograph, "blurred": soft, "edges": lines}
for axes, (title, pixels) in zip(figure.subplots(1, 3), pictures.items(), strict=True):
    axes.imshow(pixels, cmap="gray")
    axes.set(title=title, xticks=[], yticks=[])
if "ipykernel" in sys.modules:  # in a notebook they are shown below
    from IPython.display import display_png

    picture = io.BytesIO()
    figure.savefig(picture)
    display_png(picture.getvalue(), raw=True)
else:
    file = Path(tempfile.mkdtemp(prefix="relaxscript-")) / "edges.png"
    figure.savefig(file)
    print(f"pictures of the photograph: {file}")

# %% [markdown]
# ## 5. Rules of your own
#
# `te.comm_reducer` makes a reduction of any function that may combine values in any order; also
# of several values at once. This one finds the brightest pixel of each row, and where it is.


# %%
Found = tuple[tir.PrimExpr, tir.PrimExpr]  # a place and the value there


def brighter(a: Found, b: Found) -> Found:
    (place, value), (other_place, other) = a, b
    later = tir.any(other > value, tir.all(other == value, other_place < place))
    return tir.Select(later, other_place, place), tir.Select(later, other, value)


brightest = te.comm_reducer(
    brighter, lambda place, value: (te.const(-1, place), te.min_value(value)), name="brightest"
)


def brightest_of_rows(image: te.Tensor) -> Any:
    k = te.reduce_axis((0, image.shape[1]), name="k")
    return te.compute((image.shape[0],), lambda i: brightest((k.var, image[i, k]), axis=k))


@I.ir_module
class Brightest(I.Module):
    @R.function
    def main(
        image: R.Tensor[R.f32, height, width],
    ) -> R.Tuple[R.Tensor[R.i64, height], R.Tensor[R.f32, height]]:
        places, values = R.emit_te(brightest_of_rows, image)
        return places, values


places, values = rx.jit(Brightest).main(photograph)
assert np.array_equal(places, photograph.argmax(axis=1))
assert np.array_equal(values, photograph.max(axis=1))
print(f"the brightest pixel of the first row is number {places[0]}, of {values[0]:.2f}")

# %% [markdown]
# ## 6. Mistakes
#
# A mistake is told where it is: at the line of the function, with the axis of the tensor, and
# with the call in the script that led there. (Before Python 3.11 the whole line is marked.)


# %% tags=["raises-exception", "varies"]
def last_columns(image: te.Tensor) -> Any:
    return te.compute((image.shape[0],), lambda i: image[i, 3])


@I.ir_module
class TooFar(I.Module):
    @R.function
    def main(image: R.Tensor[R.f32, 2, 3]) -> R.Tensor[R.f32, 2]:
        return R.emit_te(last_columns, image)


# %% [markdown]
# ## Exercises
#
# **1. The last column.** Mend `last_columns`, so that it gives the last column of a picture of any
# width, and use it in a module.
#
# <details><summary>Solution</summary>
#
# ```python
# def last_column(image):
#     return te.compute((image.shape[0],), lambda i: image[i, image.shape[1] - 1])
#
#
# @I.ir_module
# class Last:
#     @R.function
#     def main(image: R.Tensor[R.f32, height, width]):
#         return R.emit_te(last_column, image)
#
#
# assert np.array_equal(rx.jit(Last).main(photograph), photograph[:, -1])
# ```
#
# Is there always a last column? A picture of width 0 has none. That is checked when the program
# runs, and `rx.jit(Last).main(photograph[:, :0])` says so.
#
# </details>

# %% [markdown]
# **2. Sharper.** A picture is sharpened by adding to each pixel what it differs by from those
# around it: `image + amount * (image - blur(image, 1))`. Write it as a function of tensors, emit
# it with an amount of 0.5, and compare it with numpy.
#
# <details><summary>Solution</summary>
#
# ```python
# def sharpen(image, amount):
#     return image + (image - blur(image, 1)) * amount
#
#
# @I.ir_module
# class Sharp:
#     @R.function
#     def main(image: R.Tensor[R.f32, height, width]):
#         return R.emit_te(sharpen, image, 0.5)
#
#
# by_numpy = photograph + 0.5 * (photograph - blur_by_numpy(photograph, 1))
# assert abs(rx.jit(Sharp).main(photograph) - by_numpy).max() < 1e-5
# ```
#
# </details>

# %% [markdown]
# **3. The darkest pixel of all.** `te.min` reduces over several axes, too: `axis=[p, q]`. Write
# `darkest`, whose result has the shape `()`, and compare it with `photograph.min()`.
#
# <details><summary>Solution</summary>
#
# ```python
# def darkest(image):
#     p = te.reduce_axis((0, image.shape[0]), name="p")
#     q = te.reduce_axis((0, image.shape[1]), name="q")
#     return te.compute((), lambda: te.min(image[p, q], axis=[p, q]), name="darkest")
#
#
# @I.ir_module
# class Darkest:
#     @R.function
#     def main(image: R.Tensor[R.f32, height, width]):
#         return R.emit_te(darkest, image)
#
#
# assert rx.jit(Darkest).main(photograph) == photograph.min()
# ```
#
# </details>
#
# ## Where to go from here
#
# An operator that you want to write as `R.` something, with rules of its own for shapes and a
# gradient, is what the next notebook makes: [12_your_own_operator](12_your_own_operator.ipynb).
