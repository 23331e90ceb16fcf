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
# # Errors
#
# Everybody makes mistakes; what counts is how long one looks for them. Here are twelve that people
# really make when they come from numpy or torch, each with what it is told. After that: several
# mistakes at a time, files that are checked and mended without running them, messages as data for
# your own tools, and errors while a program runs.
#
# Every message is built alike. The first line says what is wrong, with a code. The picture shows
# your own lines: `^^^` is under the culprit, `---` under what it disagrees with. `help` is
# something to type, and where that is mechanical, a line with `+` shows how it would look.

# %%
import numpy as np

import relaxscript as rx
from relaxscript.script import from_source, ir as I, relax as R

# Type checkers find some of these mistakes as well. Here they are on purpose:
# pyright: reportAttributeAccessIssue=false, reportCallIssue=false, reportArgumentType=false
# pyright: reportUndefinedVariable=false
# mypy: disable-error-code="attr-defined, call-arg, call-overload, name-defined"

n = R.dim("n")

# %% [markdown]
# ## Names
#
# **1. A name that there is not.** The nearest one is offered, also if it is elsewhere: this one
# lacked a `t` and an `nn`.


# %% tags=["raises-exception"]
@R.function
def scores(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n, 10]:
    return R.sofmax(x)


# %% [markdown]
# **2. A parameter that there is not.** `help(R.sum)` shows those that there are.


# %% tags=["raises-exception"]
@R.function
def total(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n]:
    return R.sum(x, axes=1)


# %% [markdown]
# **3. A function of the same class.** In Python, too, a method is not called by its bare name. Here
# it is called through the class.


# %% tags=["raises-exception"]
@I.ir_module
class Model(I.Module):
    @R.function
    def shares(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n, 10]:
        return x / R.sum(x, axis=1, keepdims=True)

    @R.function
    def main(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n, 10]:
        return shares(R.exp(x))


# %% [markdown]
# ## Python that is read, not run
#
# **4. numpy inside.** The body is read once, before there are any arrays, so `x` is not an array
# but a name for one. `np.maximum` cannot take it; the operator of `R` can.


# %% tags=["raises-exception"]
@R.function
def positive(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n, 10]:
    return np.maximum(x, 0)


# %% [markdown]
# **5. A loop of unknown length.** `for _ in range(3):` is fine, it is written out three times while
# the function is read. How often would this one be?


# %% tags=["raises-exception"]
@R.function
def halved(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n, 10]:
    for _ in range(n):
        x = x / 2.0
    return x


# %% [markdown]
# **6. Writing into a tensor.** Values never change, new ones are made. The help is the line that
# makes this one.


# %% tags=["raises-exception"]
@R.function
def first_row_cleared(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n, 10]:
    x[0] = 0.0
    return x


# %% [markdown]
# **7. One way only.** An `if` on a tensor is decided when the program runs, so what comes after it
# must find a value whichever way was taken.


# %% tags=["raises-exception"]
@R.function
def dropout(x: R.Tensor[R.f32, n, 10], training: R.Tensor[R.bool, ()]) -> R.Tensor[R.f32, n, 10]:
    if training:
        x = x * 0.5
    return x


# %% [markdown]
# ## Types
#
# **8. Shapes that do not fit.** PyTorch keeps the weights of a layer as outputs by inputs. Both
# operands say where they got their shape.


# %% tags=["raises-exception"]
@R.function
def layer(x: R.Tensor[R.f32, n, 64], w: R.Tensor[R.f32, 10, 64]) -> R.Tensor[R.f32, n, 10]:
    return R.matmul(x, w)


# %% [markdown]
# **9. Dtypes that differ.** Nothing is converted behind your back: half precision that quietly
# becomes single costs time and memory, and the other way round it costs digits.


# %% tags=["raises-exception"]
@R.function
def both(x: R.Tensor[R.f32, n, 10], y: R.Tensor[R.f16, n, 10]) -> R.Tensor[R.f32, n, 10]:
    return x + y


# %% [markdown]
# **10. Not what was promised.** What a function declares is compared with what follows from its
# body.


# %% tags=["raises-exception"]
@R.function
def means(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n]:
    return R.mean(x, axis=1, keepdims=True)


# %% [markdown]
# ## Blocks and effects
#
# **11. Out of its block.** What a dataflow block does not give out by `R.output` ends with it, so
# that passes may change it freely.


# %% tags=["raises-exception"]
@R.function
def residual(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n, 10]:
    with R.dataflow():
        e = R.exp(x)
        y = e * 2.0
        R.output(y)
    return y + e


# %% [markdown]
# **12. An effect where none may be.** Functions are pure unless they say otherwise. One that prints
# is not: it may not be left out, nor called twice.


# %% tags=["raises-exception"]
@R.function
def shown(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n, 10]:
    R.print(x, format="x is {}")
    return x


# %% [markdown]
# ## Several at a time
#
# One run tells every mistake that has its own cause, and no consequence of one: of `h`, whose value
# is not known after the first mistake, nothing is complained about.


# %% tags=["raises-exception"]
@R.function
def several(x: R.Tensor[R.f32, n, 64], w: R.Tensor[R.f32, 64, 10]) -> R.Tensor[R.f32, n, 10]:
    h = R.nn.rellu(x)
    scores = R.matmul(h, w) + bias
    return scores / R.sum(scores, axes=1, keepdims=True)


# %% [markdown]
# A code is the same for all mistakes of a kind, and has a page.

# %%
print(rx.explain("RX0107"))

# %% [markdown]
# ## Files: check, and have it mended
#
# `relaxscript check` reads files, notebooks and whole folders in the same manner, and runs nothing
# of them. We write a file and ask.

# %%
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """\
from relaxscript.script import ir as I, relax as R

n = R.dim("n")


@I.ir_module
class Model:
    @R.function
    def shares(x: R.Tensor[R.f32, n, 10]):
        return x / R.sum(x, axes=1, keepdims=True)

    @R.function
    def main(x: R.Tensor[R.f32, n, 10]):
        h = shares(R.exp(x))
        return h * scale
"""

place = tempfile.TemporaryDirectory()  # is removed at the end
folder = Path(place.name)
(folder / "model.py").write_text(PROGRAM, "utf-8")


def relaxscript(*words: str) -> None:
    """What a command says in a terminal, in the folder of the file."""
    command = [sys.executable, "-u", "-m", "relaxscript", *words]
    done = subprocess.run(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(done.stdout, end="")


relaxscript("check", "model.py")

# %% [markdown]
# Where the help is mechanical, it need not be typed. `--diff` shows what would be changed, `--fix`
# changes it, and says what is left for you.

# %%
relaxscript("check", "--diff", "model.py")

# %%
relaxscript("check", "--fix", "model.py")

# %% [markdown]
# Only you know what `scale` is.

# %%
model = folder / "model.py"
model.write_text(model.read_text("utf-8").replace("h * scale", "h * 2.0"), "utf-8")

relaxscript("check", "model.py")

# %% [markdown]
# ## Messages as data
#
# A `DiagnosticError` is Python's own `SyntaxError` with a list, `.diagnostics`. Nobody has to read
# texts to know what was wrong, where, and what would mend it.

# %%
try:
    from_source(PROGRAM)
except rx.DiagnosticError as error:
    for d in error.diagnostics:
        assert d.span is not None
        print(f"{d.code}, line {d.span.line}, column {d.span.column}: {d.message}")
        for edit in d.fix:
            print(f"    write `{edit.new_text}` for `{edit.span.text}`")

# %% [markdown]
# Editors and other programs get the same from `relaxscript check --json` or `--sarif`.
#
# ## What is not certain
#
# A mistake is not always certain. In the mean over the wrong axis there are 10 numbers where `n`
# were promised, and `n` might be 10. So it is a warning, a `RelaxWarning`, and a check when the
# program runs.


# %%
@R.function
def column_means(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n]:
    return R.mean(x, axis=0)


# %% [markdown]
# Who wants to be told at once says `strict=True`: of one function as here, of all in a block by
# `with rx.config(strict=True):`, of files by `relaxscript check --strict`, of everything by
# `RELAXSCRIPT_STRICT=1`.


# %% tags=["raises-exception"]
@R.function(strict=True)
def strict_means(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n]:
    return R.mean(x, axis=0)


# %% [markdown]
# ## While it runs
#
# What goes wrong when a program runs is a `VMError`. It names the line of the script, though what
# runs is machine code. This is the check of the warning above:

# %% tags=["raises-exception"]
column_means(np.ones((3, 10), "float32"))

# %% [markdown]
# The most common of all: numpy makes float64 unless told otherwise.

# %% tags=["raises-exception"]
column_means(np.ones((10, 10)))

# %% [markdown]
# What your own functions of Python raise comes through with their lines, and with the line that
# called them.


# %% tags=["raises-exception"]
from typing import Any

from numpy.typing import NDArray


@rx.register_func("errors.checked_log", override=True)
def checked_log(x: NDArray[Any], result: NDArray[Any]) -> None:
    if (x <= 0).any():
        raise ValueError("the logarithm needs positive numbers")
    np.log(x, out=result)


@R.function
def entropy(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n]:
    logs = R.call_dps_packed("errors.checked_log", (x,), out_sinfo=R.Tensor[R.f32, n, 10])
    return -R.sum(x * logs, axis=1)


entropy(np.zeros((1, 10), "float32"))

# %% [markdown]
# ## Exercises
#
# **1. Mend by hand.** Write `mended(text)`, which gives a text with all the fixes of its mistakes
# applied: `edit.span` has `line`, `column`, `end_line` and `end_column`, counted from 1. (Begin
# with the last edit, then the places of the others stay right.)
#
# <details><summary>Solution</summary>
#
# ```python
# def mended(text):
#     try:
#         from_source(text)
#     except rx.DiagnosticError as error:
#         edits = [edit for d in error.diagnostics for edit in d.fix]
#     else:
#         return text
#     lines = text.splitlines()
#     for edit in sorted(edits, key=lambda e: (e.span.line, e.span.column), reverse=True):
#         at = edit.span
#         rest = lines[at.end_line - 1][at.end_column - 1 :]
#         new = lines[at.line - 1][: at.column - 1] + edit.new_text + rest
#         lines[at.line - 1 : at.end_line] = new.split("\n")
#     return "\n".join(lines) + "\n"
#
#
# assert "R.sum(x, axis=1, keepdims=True)" in mended(PROGRAM)
# assert "Model.shares(R.exp(x))" in mended(PROGRAM)
# ```
#
# </details>

# %% [markdown]
# **2. A kernel that reads too far.** In a kernel, an index that is outside for certain is an error
# as well, RX0503. Write a PrimFunc of `x` and `y`, with 8 elements each, in which `y[i]` is
# `x[i + 1] - x[i]`. Read what you are told, and mend it.
#
# <details><summary>Solution</summary>
#
# ```python
# from relaxscript.script import tir as T
#
# try:
#
#     @T.prim_func
#     def steps(x: T.Buffer[T.f32, 8], y: T.Buffer[T.f32, 8]):
#         for i in range(8):
#             y[i] = x[i + 1] - x[i]
#
# except rx.DiagnosticError as error:
#     assert error.diagnostics[0].code == "RX0503"
#     print(error)
#
#
# @T.prim_func
# def steps(x: T.Buffer[T.f32, 8], y: T.Buffer[T.f32, 7]):
#     for i in range(7):
#         y[i] = x[i + 1] - x[i]
# ```
#
# </details>

# %% [markdown]
# **3. Warnings as data.** A `RelaxWarning` has its `.diagnostic`, too. Use
# `warnings.catch_warnings(record=True)` to collect the warning about `column_means`, and print what
# its label points at.
#
# <details><summary>Solution</summary>
#
# ```python
# import warnings
#
# with warnings.catch_warnings(record=True) as caught:
#     warnings.simplefilter("always")
#
#     @R.function
#     def column_means(x: R.Tensor[R.f32, n, 10]) -> R.Tensor[R.f32, n]:
#         return R.mean(x, axis=0)
#
# [warning] = caught
# assert issubclass(warning.category, rx.RelaxWarning)
# d = warning.message.diagnostic
# [label] = d.labels
# assert (d.code, d.severity, label.text) == ("RX0207", "warning", "declared here")
# print(label.span.text)
# ```
#
# </details>
#
# ## Where to go from here
#
# The next notebook, [04_three_levels](04_three_levels.ipynb), goes below the operators: to kernels
# of your own, and to functions of C.
