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

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_sample_image

import relaxscript as rx
from relaxscript import relax, te, tir, topi
from relaxscript.script import from_source, ir as I, relax as R

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
def blur(image, radius):
    """The mean of each pixel and those around it; at the edge, the nearest pixel is repeated."""
    height, width = image.shape
    size = 2 * radius + 1
    p = te.reduce_axis((0, size), name="p")
    q = te.reduce_axis((0, size), name="q")

    def inside(place, length):
        return te.max(te.min(place, length - 1), 0)

    total = te.compute(
        (height, width),
        lambda i, j: te.sum(
            image[inside(i + p - radius, height), inside(j + q - radius, width)], axis=[p, q]
        ),
        name="total",
    )
    return total * (1.0 / size**2)


def edges(image, sharpness):
    """How much each pixel differs from those around it."""
    return topi.tanh(topi.abs(image - blur(image, 1)) * sharpness)


# %% [markdown]
# ## 3. In a model
#
# In a script, `R.emit_te` runs such a function on tensors in the place of its operands. What it
# returns becomes a PrimFunc of the module, and what is bound is its call. Other arguments, such
# as the radius, are given to the function as they are.


# %%
@I.ir_module
class Picture:
    @R.function
    def main(image: R.Tensor(("height", "width"), "float32")):
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
image = relax.Var("image", R.Tensor(("height", "width"), "float32"))
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


def blur_by_numpy(pixels, radius):
    padded = np.pad(pixels, radius, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2 * radius + 1,) * 2)
    return windows.mean(axis=(2, 3))


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
def brighter(a, b):
    (place, value), (other_place, other) = a, b
    later = tir.any(other > value, tir.all(other == value, other_place < place))
    return tir.Select(later, other_place, place), tir.Select(later, other, value)


brightest = te.comm_reducer(
    brighter, lambda place, value: (te.const(-1, place), te.min_value(value)), name="brightest"
)


def brightest_of_rows(image):
    k = te.reduce_axis((0, image.shape[1]), name="k")
    return te.compute((image.shape[0],), lambda i: brightest((k.var, image[i, k]), axis=k))


@I.ir_module
class Brightest:
    @R.function
    def main(image: R.Tensor(("height", "width"), "float32")):
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
# with the call in the script that led there.


# %%
def last_columns(image):
    return te.compute((image.shape[0],), lambda i: image[i, 3])


try:

    @I.ir_module
    class TooFar:
        @R.function
        def main(image: R.Tensor((2, 3), "float32")):
            return R.emit_te(last_columns, image)

except rx.DiagnosticError as error:
    print(error)
