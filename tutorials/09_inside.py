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
# # Inside
#
# One function of four lines goes all the way down, and we look at it after every step:
#
# text → Python's `ast` → typed IR → passes → loops → scheduled loops → LLVM → machine code,
# and the bytecode that calls it.
#
# Nothing here is needed to use relaxscript. It is for those who want to know what happens, and for
# those who will write a pass, because every step is an object that one can print.

# %%
import ast

import numpy as np

import relaxscript as rx
from relaxscript.script import from_source

# %% [markdown]
# ## 1. Text
#
# Usually `@I.ir_module` finds the text of the class in the file or the notebook cell where it
# stands. `from_source` takes the text itself, which is handy here. The function is written as
# somebody might who does not think about speed: it multiplies two numbers that are known, and it
# adds `x` and `b` twice.

# %%
source = """
from relaxscript.script import ir as I, relax as R

@I.ir_module
class Small:
    @R.function
    def main(x: R.Tensor(("n", 16), "float32"), b: R.Tensor((16,), "float32")):
        with R.dataflow():
            scale = R.const(1.5, "float32") * R.const(2.0, "float32")
            h = x + b
            again = x + b
            y = R.nn.relu(h) * again * scale
            R.output(y)
        return y
"""

# %% [markdown]
# ## 2. Python's syntax tree
#
# Python itself does the reading. What it makes of a line is a tree, and it says of each part of it
# where it stood. That is where the arrows under a mistake come from.


# %%
def outline(node: ast.AST, depth: int = 0) -> None:
    """Print the names of the nodes, each with what it names and its place."""
    name = getattr(node, "id", getattr(node, "attr", ""))
    place = (
        f"line {node.lineno}, column {node.col_offset + 1}" if isinstance(node, ast.expr) else ""
    )
    print(f"{'    ' * depth + type(node).__name__ + ' ' + name:34}{place}".rstrip())
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr_context):
            outline(child, depth + 1)


[line] = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Assign) and n.lineno == 12]
print(ast.unparse(line))
outline(line)

# %% [markdown]
# The body is never run. The parser goes through this tree and makes IR of it, binding by binding.
#
# ## 3. Typed IR
#
# The IR is in *A-normal form*: every operand is a variable or a constant, and what was nested gets
# a name (`lv`, `lv1`). Every variable has a type, which in Relax is called its *StructInfo*. The
# dimension `n` stays a symbol.

# %%
small = from_source(source)
small.show()

# %% [markdown]
# Underneath are plain objects with named fields. A function has parameters and a body, the body has
# blocks, and a block has bindings:

# %%
main = small["main"]
[block] = main.body.blocks
for binding in block.bindings:
    call = binding.value
    print(f"{binding.var.name_hint} is bound to a {type(call).__name__} of {call.op}")
    print("    operands:   ", *call.args)
    print("    StructInfo: ", binding.var.struct_info)

# %% [markdown]
# A variable is one object, however often it is used. The operand `x` of the addition *is* the first
# parameter, so a pass that wants to know who uses a value compares by `is`.

# %%
addition = block.bindings[1].value
assert addition.args[0] is main.params[0]
assert block.bindings[2].value.args[0] is main.params[0]

info = addition.struct_info
print(type(info).__name__, info.shape.values, info.dtype, info.ndim)
print("written in line", block.bindings[1].span.line, "as", repr(block.bindings[1].span.text))

# %% [markdown]
# The types were derived: nobody wrote that `x + b` is an `(n, 16)` tensor. The rule of `add` asked
# whether `(n, 16)` and `(16,)` can be broadcast, and the answer was yes for every `n`. With another
# `b` the answer is no, and there is no module:

# %% tags=["raises-exception"]
from_source(source.replace("b: R.Tensor((16,)", "b: R.Tensor((15,)"))

# %% [markdown]
# Nodes are frozen. A pass cannot damage the module that it was given; it makes a new one that
# shares with the old what stays the same.

# %%
try:
    addition.args = ()
except AttributeError as error:
    print(error)

doubled = addition.replace(args=(main.params[0], main.params[0]))
print(addition, "is as it was,", doubled, "is new")

# %% [markdown]
# ## 4. The passes
#
# A pass is a function from module to module. `build` runs a row of them, which is chosen by the
# target and is an object as well:

# %%
pipeline = rx.relax.get_default_pipeline(rx.target.Target("llvm"))
assert isinstance(pipeline, rx.transform.Sequential)
print(pipeline.script())

# %% [markdown]
# We run them one by one and keep what went in and what came out. A pass that changes nothing gives
# back the same object, so `is` tells us who did something.

# %%
steps = []
module = small
for each in pipeline.passes:
    before, module = module, each(module)
    steps.append((each.info.name, before, module))

changed = [(name, before, after) for name, before, after in steps if after is not before]
print(len(steps), "passes, of which these changed something:")
print(*(name for name, _, _ in changed), sep="\n")


# %% [markdown]
# For a small function without branches, devices or closures most passes have nothing to do. Now the
# others, one after the other. `rx.diff` compares two modules or functions.


# %%
def step(name: str) -> tuple[rx.IRModule, rx.IRModule]:
    """What went into a pass and what came out."""
    return next((before, after) for known, before, after in changed if known == name)


# %% [markdown]
# ### What is constant is computed now

# %%
rx.diff(*step("FoldConstant"))

# %% [markdown]
# ### What is equal is computed once
#
# `again` was the same sum as `h`. Both are pure, so one of them is enough: `again` becomes another
# name of `h`, which `CanonicalizeBindings` then takes away.

# %%
rx.diff(*step("EliminateCommonSubexpr"))

# %% [markdown]
# ### Operators become loops
#
# So far `R.add` was a name with a meaning. `LegalizeOps` writes the meaning down as a PrimFunc and
# calls that by `R.call_tir`. The attribute `relaxscript.repeatable` keeps what could be seen while
# there were operators: `main` has no effects, so it may be run a second time.

# %%
before, after = step("LegalizeOps")
rx.diff(before["main"], after["main"])

# %%
_, legalized = step("LegalizeOps")
print(sorted(var.name_hint for var in legalized.functions))
legalized["relu"].show()

# %% [markdown]
# Each function is now three lines of loops around one store. (One that is printed alone is called
# `main`.) The dimension is still `n`: this loop is for any number of rows.
#
# ### What goes together becomes one
#
# `AnnotateTIROpPattern` looks at the loops of each PrimFunc and says what kind it is; 0 means that
# each element depends on the elements at its own place only. Such functions can share their loops.
# `FuseOps` puts them together in a function of their own:

# %%
before, after = step("FuseOps")
rx.diff(before["main"], after["main"])

# %% [markdown]
# And `FuseTIR` makes one PrimFunc of that function. Results that nobody else needs are now buffers
# inside of it.

# %%
_, fused = step("FuseTIR")
[kernel] = [var.name_hint for var in fused.functions if var.name_hint != "main"]
fused[kernel].show()

# %% [markdown]
# ## 5. Loops, arranged
#
# These are still four loops, one after the other, and three arrays between them that nobody asked
# for. `ApplyDefaultSchedule` arranges them: the blocks are written into each other, and the columns
# are vectors. `T.Ramp(start, 1, 16)` are sixteen neighbours, read or written at once.
#
# Under `T.func_attr` are notes for what follows: the rule that arranged the loops, and that every
# element of parameter 3, the result, is filled.
#
# (The output of this cell and of those that show LLVM and machine code depends on the processor.
# Yours may have vectors of 4 or 8 numbers.)

# %% tags=["varies"]
_, scheduled = step("ApplyDefaultSchedule")
lines = scheduled[kernel].script().splitlines()
print(*lines[3:], sep="\n")

# %% [markdown]
# No array is left but those that come in and go out. This is still a program that can be written
# down, read back, and run without LLVM, by an evaluator of loops that is made to be plainly right.
# That is how a schedule is checked.

# %%
x = np.linspace(-2, 2, 48, dtype="float32").reshape(3, 16)
b = np.full(16, 0.5, "float32")
expected = np.maximum(x + b, 0) * (x + b) * np.float32(3)

again = from_source(scheduled.script(show_meta=True))
assert rx.structural_equal(again, scheduled)
by_reference = rx.build(again, target="reference")["main"]
np.testing.assert_allclose(by_reference(x, b), expected, rtol=1e-6)

# %% [markdown]
# ## 6. LLVM
#
# From here it is a short way. Every statement is written as text of LLVM, which turns it into
# machine code for this processor. The text can be asked for by TVM's names.

# %%
executable = rx.build(small)
[code] = executable.mod.imported_modules
print(code)

# %% tags=["varies"]
llvm = code.get_source("ll").splitlines()
start = next(k for k, text in enumerate(llvm) if " = load <" in text)
print(*llvm[start - 4 : start + 14], sep="\n")

# %% [markdown]
# Loads of `x`, `b` and `scale`, a sum, a maximum, two products and a store: this is the whole loop
# of the function that we began with. As machine code:

# %% tags=["varies"]
assembly = code.get_source("asm").splitlines()
start = next((k for k, text in enumerate(assembly) if "addps" in text or "fadd" in text), 1)
print(*assembly[start - 1 : start + 7], sep="\n")

# %% [markdown]
# ## 7. What calls the code
#
# The kernel fills an array that somebody has to make, and it trusts that its arguments fit. The
# last passes write that out in the Relax function. First the block of dataflow and its promises are
# given up (`ToNonDataflow`, `RemovePurityChecking`). Then the result is allocated, and the kernel
# is called on it:

# %%
before, after = step("CallTIRRewrite")
rx.diff(before["main"], after["main"])

# %% [markdown]
# Then arguments are matched, which is where `n` gets its value, and shapes are made of numbers:

# %%
before, after = step("VMShapeLower")
rx.diff(before["main"], after["main"])

# %% [markdown]
# What is left are calls in a row, and calls in a row are nearly bytecode. The machine has four
# instructions: `call`, `ret`, `goto` and `if`.

# %%
print(executable.as_text())

# %% [markdown]
# `check` is not one of them: it says what an argument has to be, and is looked at before the first.
# `%0` to `%3` are registers, `c[1]` is a constant of the program, `vm` the machine itself, and the
# `heap` has a place for each dimension, here for `n`. The same program as Python, which really
# runs:

# %%
print(executable.as_python())

# %%
scope = {"executable": executable}
exec(executable.as_python(), scope)
np.testing.assert_allclose(scope["main"](x, b), expected, rtol=1e-6)
np.testing.assert_allclose(executable["main"](x, b), expected, rtol=1e-6)
print(executable.stats())

# %% [markdown]
# One thing more is made that is not shown here: for a function without Python inside, such as this
# one, a native entry that checks the arguments, allocates the result and calls the kernel without
# going through the bytecode. It does what the bytecode says.
#
# ## 8. Step by step
#
# `vm.step` begins a call and stops before its first instruction. Optimised code has no `h` and no
# `again` any more. So what is stepped is the program as it was written, operator by operator.

# %%
vm = rx.VirtualMachine(executable, rx.cpu())
stepper = vm.step("main", x, b)
while (here := stepper.location) is not None:
    print(f"{here.text:35} {', '.join(stepper.registers)}")
    stepper.step()
np.testing.assert_allclose(stepper.result, expected, rtol=1e-6)

# %% [markdown]
# On the left is what comes next, on the right what has a value. A register is used again when its
# value has been read for the last time: `h` gave its own to `lv1`.
#
# A breakpoint is the name of a variable, which stops when it has its value, or a line of the
# source.

# %%
stepper = vm.step("main", x, b)
stepper.break_at("h").break_at(12)
stepper.run()
print(stepper, "with n =", stepper.shapes["n"])
print("the first row of h:", stepper.registers["h"][0, :4])
stepper.run()
print(stepper)
print("largest difference:", np.abs(stepper.registers["h"] - stepper.registers["again"]).max())
stepper.clear().run()
assert stepper.finished

# %% [markdown]
# A name that is not there is a mistake, with a guess at what was meant:

# %% tags=["raises-exception"]
vm.step("main", x, b).break_at("agian")

# %% [markdown]
# ## Exercises

# %% [markdown]
# **1.** The function ends in `* scale`. Write `/ scale` instead, without touching the text above.
# After which pass is the division a loop, and what is the name of the kernel at the end?
#
# <details><summary>Solution</summary>
#
# ```python
# divided = from_source(source.replace("* scale", "/ scale"))
# for each in pipeline.passes:
#     divided = each(divided)
#     if "divide" in [var.name_hint for var in divided.functions]:
#         print("a loop after", each.info.name)
#         break
# names = list(rx.build(divided).kernels)
# print(names)
# assert each.info.name == "LegalizeOps"
# assert names == ["fused_add_relu_multiply_divide"]
# ```
#
# </details>

# %% [markdown]
# **2.** A mean over a row needs all of its elements, so it cannot simply share the loop of what
# comes before it. Return `y - R.mean(y, axis=1, keepdims=True)`. Which kernels are there now?
#
# <details><summary>Solution</summary>
#
# ```python
# more = "z = y - R.mean(y, axis=1, keepdims=True)\n            R.output(z)"
# text = source.replace("R.output(y)", more).replace("return y", "return z")
# centred = rx.build(from_source(text))
# print(*centred.kernels)  # two kernels, and `main_native`, which calls one after the other
# mean = expected.mean(axis=1, keepdims=True)
# np.testing.assert_allclose(centred["main"](x, b), expected - mean, rtol=1e-5, atol=1e-5)
# assert len(centred.kernels) == 3
# ```
#
# </details>

# %% [markdown]
# **3.** `rx.build(small, target="llvm -opt-level=0")` compiles what was written, without the passes
# that optimise. Print its bytecode. Which operators does it call, and how often?
#
# <details><summary>Solution</summary>
#
# ```python
# plain = rx.build(small, target="llvm -opt-level=0")
# print(plain.as_text())
# called = [line.split()[1] for line in plain.as_text().splitlines() if line.startswith("  call")]
# assert called.count("relax.add") == 2
# assert called.count("relax.multiply") == 3
# assert plain.get_source() == ""  # operators run by numpy here: there is nothing native
# ```
#
# </details>

# %% [markdown]
# ## Where to go on
#
# [06_passes](06_passes.ipynb) writes a pass of your own, [05_kernels](05_kernels.ipynb) a schedule.
# [10_for_tvm_users](10_for_tvm_users.ipynb) shows what of all this is the same in Apache TVM,
# whose names these are.
