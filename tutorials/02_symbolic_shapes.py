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
# # Symbolic shapes
#
# A model is written once and gets batches of 1, 7 and 449 images, sentences of any length, pictures
# of any size. So some dimensions are not numbers but names, such as the `n` of the first notebook.
# This one is about what such a name means, what is proved of it before anything runs, what is left
# to check when it runs, and what you do when only you know how long something is.

# %%
import numpy as np

import relaxscript as rx
from relaxscript.arith import prove_equal
from relaxscript.script import ir as I, relax as R

# %% [markdown]
# ## 1. What `n` is
#
# `R.dim` makes a name for a dimension. In a function it stands for one whole number, zero or more,
# which the arguments of a call decide.

# %%
n = R.dim("n")


@R.function
def twice(x: R.Tensor[R.f32, n, 4]) -> R.Tensor[R.f32, 2 * n, 4]:
    y = R.concat([x, x], axis=0)
    return y


twice

# %% [markdown]
# Two things happened while this was read. From the shape of `x` followed that of `y`: nobody wrote
# `n * 2`. And the result that we declared, `2 * n` rows, was compared with the one that followed.
#
# What is printed is TVM's spelling: a name in quotes where a dimension is introduced, and
# `n = T.int64()` where the body uses it. Both spellings mean the same.
#
# The function may be called at once. Each call has an `n` of its own.

# %%
for length in (1, 3, 1000, 0):
    result = twice(np.ones((length, 4), "float32"))
    assert result.shape == (2 * length, 4)
    print(f"n = {length}: {result.shape}")

# %% [markdown]
# The 4 is no name, so it has to be 4. Every call looks at its arguments, and says which axis is
# wrong, where that was declared, and what came instead.

# %% tags=["raises-exception"]
twice(np.ones((3, 5), "float32"))

# %% [markdown]
# A name that stands twice is one number. Here both parameters have `n` rows:


# %%
@R.function
def dots(x: R.Tensor[R.f32, n, 4], y: R.Tensor[R.f32, n, 4]) -> R.Tensor[R.f32, n]:
    return R.sum(x * y, axis=1)


# %% tags=["raises-exception"]
dots(np.ones((3, 4), "float32"), np.ones((2, 4), "float32"))

# %% [markdown]
# ## 2. Yes, no, and unknown
#
# A dimension may be any expression of whole numbers. Whether two are equal has three answers:
# *yes*, for all values of the names; *no*, for none; and *unknown*, if it depends, or if nobody
# found out.

# %%
m = R.dim("m")

for a, b in [(n + n, 2 * n), (4 * (n + 1), 4 * n + 4), (n, n + 1), (n, m), (n // 2 * 2, n)]:
    print(f"{a} = {b}: {prove_equal(a, b).name}")

# %% [markdown]
# **Yes** is accepted without a word. Blocks of eight need the next multiple of 8, and that the
# number of elements stays the same is proved:


# %%
@R.function
def in_eights(x: R.Tensor[R.f32, n]) -> R.Tensor[R.f32, (n + 7) // 8, 8]:
    padding = R.zeros(((n + 7) // 8 * 8 - n,), "float32")
    return R.reshape(R.concat([x, padding]), ((n + 7) // 8, 8))


in_eights(np.arange(10, dtype="float32"))

# %% [markdown]
# **No** is an error, before anything runs. Whatever `n` is, these do not fit:


# %% tags=["raises-exception"]
@R.function
def never(x: R.Tensor[R.f32, 4, n], y: R.Tensor[R.f32, n + 1, 4]) -> R.Tensor[R.f32, 4, 4]:
    return x @ y


# %% [markdown]
# **Unknown** is a warning. `n` and `m` may be equal or not, so the program is accepted, and there
# will be a check when it runs.


# %%
@R.function
def perhaps(x: R.Tensor[R.f32, 4, n], y: R.Tensor[R.f32, m, 4]) -> R.Tensor[R.f32, 4, 4]:
    return x @ y


# %%
perhaps(np.ones((4, 3), "float32"), np.ones((3, 4), "float32"))

# %% [markdown]
# The check comes before the product, in every executor: you get an error with the line of your
# script, never a wrong number.

# %% tags=["raises-exception"]
perhaps(np.ones((4, 3), "float32"), np.ones((2, 4), "float32"))

# %% [markdown]
# ## 3. Nothing left open
#
# Where you want no such surprise, say `strict=True`: then what is unknown is an error as well. For
# all functions in a block of Python it is `with rx.config(strict=True):`, and for a whole program
# the variable `RELAXSCRIPT_STRICT=1`.


# %% tags=["raises-exception"]
@R.function(strict=True)
def certain(x: R.Tensor[R.f32, 4, n], y: R.Tensor[R.f32, m, 4]) -> R.Tensor[R.f32, 4, 4]:
    return x @ y


# %% [markdown]
# The best answer is often a better declaration: if `y` always has `n` rows, write `n`. If the
# caller cannot promise it, say that it is to be checked, and where. That is `R.match_cast`.


# %%
@R.function(strict=True)
def checked(x: R.Tensor[R.f32, 4, n], y: R.Tensor[R.f32, m, 4]) -> R.Tensor[R.f32, 4, 4]:
    y_of_n = R.match_cast(y, R.Tensor[R.f32, n, 4])
    return x @ y_of_n


assert checked(np.ones((4, 3), "float32"), np.ones((3, 4), "float32")).shape == (4, 4)

# %% tags=["raises-exception"]
checked(np.ones((4, 3), "float32"), np.ones((2, 4), "float32"))

# %% [markdown]
# `R.match_cast` is a check and a promise at once: when the program runs, the value is compared with
# what you say; while it is read, the rest of the function believes you. A tensor of which nothing
# is known gets its shape the same way, and names without a value get one from it:

# %%
rows, columns = R.dim("rows"), R.dim("columns")


@R.function(strict=True)
def as_column(x: R.Object) -> R.Tensor[R.f32, None, None]:
    matrix = R.match_cast(x, R.Tensor[R.f32, rows, columns])
    return R.reshape(matrix, (rows * columns, 1))


as_column

# %% [markdown]
# (Callers cannot know the shape of this result from the argument, so it is declared without one:
# `None` for each dimension says how many there are, and no more.)
#
# ## 4. Several functions
#
# A name belongs to its function. `totals` and `main` both speak of `n`, and mean their own: `main`
# calls `totals` once with its `n` rows and once with its `m`, and both results are known.


# %%
@I.ir_module
class Report(I.Module):
    @R.function
    def totals(x: R.Tensor[R.f32, n, 4]) -> R.Tensor[R.f32, n]:
        return R.sum(x, axis=1)

    @R.function
    def main(x: R.Tensor[R.f32, n, 4], y: R.Tensor[R.f32, m, 4]) -> R.Tensor[R.f32, n + m]:
        first = Report.totals(x)
        second = Report.totals(y)
        return R.concat([first, second])


Report.show()

# %% [markdown]
# A call is compared with the parameters of the callee as a call from outside is: proved, refused,
# or left to a check. The help says how to take the check into your own hands.


# %%
@I.ir_module
class Mixed(I.Module):
    @R.function
    def products(x: R.Tensor[R.f32, n, 4], y: R.Tensor[R.f32, n, 4]) -> R.Tensor[R.f32, n, 4]:
        return x * y

    @R.function
    def main(x: R.Tensor[R.f32, n, 4], y: R.Tensor[R.f32, m, 4]) -> R.Tensor[R.f32, n, 4]:
        return Mixed.products(x, y)


# %% [markdown]
# ## 5. Shapes that depend on data
#
# How many different words a sentence has is not known from its length. (To a model, a word is a
# number.) `R.unique` gives a tensor of rank 1, that is with one axis, and of some length, and no
# name for it.


# %%
@R.function
def different(words: R.Tensor[R.i64, n]) -> R.Tensor[R.i64, None]:
    found = R.unique(words)
    return found


different

# %% [markdown]
# With `R.match_cast` the length gets a name, when the program runs and the data is there. From then
# on shapes are known again: which of the words is which of the different ones is a table of `n`
# rows and `k` columns.

# %%
k = R.dim("k")


@R.function(strict=True)
def one_hot(words: R.Tensor[R.i64, n]) -> R.Tensor[R.bool, None, None]:
    vocabulary = R.match_cast(R.unique(words), R.Tensor[R.i64, k])
    same = R.equal(R.reshape(words, (n, 1)), R.reshape(vocabulary, (1, k)))
    return same


one_hot.show()
one_hot(np.array([7, 3, 7, 5])).astype(int)

# %% [markdown]
# A shape is a value as well. `R.shape_of` gives that of a tensor, `R.tensor_to_shape` makes one of
# numbers that were computed, and `R.reshape` and others take it.

# %%
p, q = R.dim("p"), R.dim("q")


@R.function
def reshaped(x: R.Tensor[R.f32, n], wanted: R.Tensor[R.i64, 2]) -> R.Tensor[R.f32, None, None]:
    shape = R.match_cast(R.tensor_to_shape(wanted), R.Annotated[R.Shape, p, q])
    return R.reshape(x, (p, q))


reshaped(np.arange(6, dtype="float32"), np.array([2, 3]))

# %% [markdown]
# The warning says what cannot be known before: that `p * q` are `n`. So this is checked:

# %% tags=["raises-exception"]
reshaped(np.arange(6, dtype="float32"), np.array([2, 4]))

# %% [markdown]
# ## 6. Compiled once
#
# What is compiled is the function, not a shape of it. The code reads `n` from the array that it is
# given; there is nothing to compile again, and no list of lengths to prepare.

# %%
model = rx.jit(Report)
rng = np.random.default_rng(0)

for length in range(300):
    x = rng.random((length, 4), dtype="float32")
    y = rng.random((300 - length, 4), dtype="float32")
    expected = np.concatenate([x.sum(axis=1), y.sum(axis=1)])
    assert np.allclose(model.main(x, y), expected, rtol=1e-6)
print("300 lengths, one compilation")

# %% [markdown]
# ## 7. None at all
#
# One of these lengths was 0. Zero is a dimension like any other: an empty batch goes through a
# model and comes out empty. What an operator makes of nothing is what numpy makes of it, or the
# limit where numpy refuses: no terms add up to 0, and the largest of no numbers is less than all
# numbers.


# %%
@R.function
def of_columns(x: R.Tensor[R.f32, n, 4]) -> R.Tuple[R.Tensor[R.f32, 4], R.Tensor[R.f32, 4]]:
    return R.sum(x, axis=0), R.max(x, axis=0)


of_columns(np.ones((0, 4), "float32"))

# %% [markdown]
# It follows that `x[0]` is left to a check if `x` has `n` rows, for there may be no first row. And
# it follows that fewer things are *no* than you may think; see the first exercise.
#
# ## Exercises
#
# **1. Why only a warning?** Adding tensors of `n` and of `n + 1` rows is accepted with a warning,
# and the product in section 2 was not. Find a value of `n` for which the sum has a meaning. There
# are two.
#
# <details><summary>Solution</summary>
#
# ```python
# @R.function
# def sums(x: R.Tensor[R.f32, n, 4], y: R.Tensor[R.f32, n + 1, 4]):
#     return x + y
#
#
# assert sums(np.ones((1, 4), "float32"), np.ones((2, 4), "float32")).shape == (2, 4)
# assert sums(np.ones((0, 4), "float32"), np.ones((1, 4), "float32")).shape == (0, 4)
# try:
#     sums(np.ones((2, 4), "float32"), np.ones((3, 4), "float32"))
# except rx.VMError as error:
#     print(error)
# ```
#
# As in numpy, an axis of one element is repeated as often as needed. With `n = 1` the single row of
# `x` is; with `n = 0` the single row of `y` is repeated no times at all.
#
# </details>

# %% [markdown]
# **2. Every second row.** Write `every_second`, which gives the rows 0, 2, 4 and so on of a tensor
# of `n` rows by `x[::2]`, with its result declared and `strict=True`. How many are there?
#
# <details><summary>Solution</summary>
#
# ```python
# @R.function(strict=True)
# def every_second(x: R.Tensor[R.f32, n, 4]) -> R.Tensor[R.f32, (n + 1) // 2, 4]:
#     return x[::2]
#
#
# assert every_second(np.ones((5, 4), "float32")).shape == (3, 4)
# ```
#
# With `n // 2` you are told that `(n + 1) // 2` is not known to be that.
#
# </details>

# %% [markdown]
# **3. Only the positive ones.** `R.nonzero(condition)` gives a tensor of shape `(1, k)` for a
# condition of rank 1: the places where it holds. Write `positives`, which gives the positive
# elements of a tensor of `n` numbers, by `R.take(x, places)`.
#
# <details><summary>Solution</summary>
#
# ```python
# @R.function(strict=True)
# def positives(x: R.Tensor[R.f32, n]) -> R.Tensor[R.f32, None]:
#     found = R.match_cast(R.nonzero(x > 0.0), R.Tensor[R.i64, 1, k])
#     return R.take(x, R.reshape(found, (k,)), axis=0)
#
#
# numbers = np.array([1, -2, 3, -4, 5], "float32")
# assert positives(numbers).tolist() == [1, 3, 5]
# assert positives(-abs(numbers)).shape == (0,)
# ```
#
# </details>
#
# ## Where to go from here
#
# You have met some messages on the way. The next notebook, [03_errors](03_errors.ipynb), makes
# twelve mistakes on purpose, and shows how to have them mended.
