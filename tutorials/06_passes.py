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
# # Programs that change programs
#
# A compiler is a row of *passes*: each takes a module and gives a module that means the same and is
# nearer to what a machine can run fast. Most are ready-made, and you can write your own. Here you
# write passes in three ways, each with less work than the one before, and then two that are wrong,
# to see how that is found out.

# %%
import textwrap
from collections import Counter
from typing import Any

import numpy as np

import relaxscript as rx
from relaxscript import dpl, transform
from relaxscript.relax.expr_functor import mutator, visitor
from relaxscript.script import ir as I, relax as R
from relaxscript.testing import bisect
from relaxscript.transform import PassContext, Sequential, function_pass

# %% [markdown]
# ## 1. A module with something to improve
#
# Rows of `x` are centred, divided by their spread, and sent through one layer. Whoever wrote it was
# in no hurry: `unused` is not used, the same power is computed twice, and 0.25 + 0.25 is left for
# the machine to add up.

# %%
n = R.dim("n")


@I.ir_module
class Model(I.Module):
    @R.function
    def main(x: R.Tensor[R.f32, n, 8], w: R.Tensor[R.f32, 8, 8]) -> R.Tensor[R.f32, n, 8]:
        with R.dataflow():
            unused = R.exp(x)
            centred = x - R.mean(x, axis=1, keepdims=True)
            square = R.power(centred, R.const(2.0, "float32"))
            again = R.power(centred, R.const(2.0, "float32"))
            spread = R.sqrt(R.mean(again, axis=1, keepdims=True))
            h = R.nn.relu(centred / spread @ w)
            y = h * (R.const(0.25, "float32") + R.const(0.25, "float32"))
            R.output(y)
        return y


Model.show()

# %% [markdown]
# What you see is the form in which passes meet a program. Every value has a name, every operand is
# a name or a constant (so `lv2 = R.divide(centred, spread)` stands by itself), and every name has a
# type. Nothing is nested, so a pass never has to look far.
#
# The first ready-made pass: `DeadCodeElimination` drops what nobody reads. A pass is called with a
# module, leaves it as it is, and gives another. `rx.diff` shows where the two differ.

# %%
lean = transform.DeadCodeElimination()(Model)
rx.diff(Model, lean)

# %% [markdown]
# ## 2. Dataflow: what a pass may rely on
#
# Dropping `unused` is right because computing it does nothing but give a value. A function that
# prints, or writes a file, does something else besides: it has a *side effect*, and is called
# *impure*. A dataflow block promises that there is nothing impure in it. So inside of one a pass
# may drop, move and merge as it likes; outside, where the order of things may matter, it keeps its
# hands off.


# %%
@I.ir_module
class Talking(I.Module):
    @R.function(pure=False)
    def main(x: R.Tensor[R.f32, n]) -> R.Tensor[R.f32, n]:
        outside = R.exp(x)
        R.print(x, format="x is {}")
        with R.dataflow():
            inside = R.log(x)
            y = R.nn.relu(x)
            R.output(y)
        return y


rx.diff(Talking, transform.DeadCodeElimination()(Talking))

# %% [markdown]
# `inside` is gone, `outside` stays, and the line that prints of course.
#
# The promise is checked, since a pass would drop or move what breaks it. Here is the same `R.print`
# one line further down:


# %% tags=["raises-exception"]
@R.function(pure=False)
def talking(x: R.Tensor[R.f32, n]) -> R.Tensor[R.f32, n]:
    with R.dataflow():
        R.print(x, format="x is {}")
        y = R.nn.relu(x)
        R.output(y)
    return y


# %% [markdown]
# ## 3. A visitor looks
#
# Before you change anything you want to find it. A *visitor* goes through a function and calls a
# method of yours for each kind of thing it meets: `visit_op_` for operators, `visit_call_` for
# calls, `visit_var_binding_` for bindings, and so on. This one counts operators.


# %%
@visitor
class Operators(rx.PyExprVisitor):
    def __init__(self) -> None:
        self.count: Counter[str] = Counter()

    def visit_op_(self, op: rx.Op) -> None:
        self.count[op.name] += 1


def operators(mod: rx.IRModule) -> Counter[str]:
    """How often each operator is called in the functions of a module."""
    found = Operators()
    for function in mod.functions.values():
        if isinstance(function, rx.Function):
            found.visit_expr(function)
    return found.count


assert operators(Model)["relax.power"] == 2
for name, count in sorted(operators(Model).items()):
    print(f"{name:16} {count}")

# %% [markdown]
# ## 4. A mutator changes
#
# A power is dear and a product is cheap, so `power(x, 2)` should be `x * x`. A *mutator* is a
# visitor whose methods give back what takes the place of what they were given. It begins with
# `super()`, which takes care of everything further inside, and gives the call itself where there is
# nothing to do.


# %%
@mutator
class ProductForSquare(rx.PyExprMutator):
    def visit_call_(self, op: rx.Call) -> rx.Expr:
        made = super().visit_call_(op)
        if isinstance(made, rx.Call) and made.op == rx.Op.get("relax.power"):
            base, exponent = made.args
            if isinstance(exponent, rx.Constant) and np.all(exponent.data == 2):
                product: rx.Expr = R.multiply(base, base)
                return product
        return made


@function_pass(opt_level=0)
def product_for_square(func: rx.Function, mod: rx.IRModule, ctx: PassContext) -> rx.Expr:
    return ProductForSquare(mod).visit_expr(func)


faster = product_for_square(lean)
rx.diff(lean, faster)

# %% [markdown]
# `function_pass` makes a pass of a function; it is called once for each Relax function of a module.
# Nobody had to say which type the product has: whatever a mutator gives is brought into the form of
# section 1 and typed again.
#
# A pass has to keep two promises: it gives the same object where it has nothing to do, and it
# settles, which means that a second run changes nothing. Both can be asked.

# %%
assert product_for_square(faster) is faster

rng = np.random.default_rng(0)
x = rng.normal(size=(3, 8)).astype("float32")
w = rng.normal(size=(8, 8)).astype("float32")


def run(mod: rx.IRModule) -> Any:
    return rx.jit(mod, target="reference").main(x, w)


assert np.allclose(run(faster), run(Model), atol=1e-6)
print("the same object where there is nothing to do, and the same numbers")

# %% [markdown]
# ## 5. A pattern is shorter
#
# Most passes replace one shape of expression by another. Then a *pattern* says what is looked for,
# and a function what takes its place. `wildcard()` is anything, and `found` says what it was.

# %%
base, exponent = dpl.wildcard(), dpl.is_const()
power = dpl.is_op("relax.power")(base, exponent)


def product(call: rx.Expr, found: Any) -> Any:
    if np.all(found[exponent].data == 2):
        return R.multiply(found[base], found[base])
    return call


@function_pass(opt_level=0)
def by_pattern(func: rx.Function, mod: rx.IRModule, ctx: PassContext) -> rx.Expr:
    return dpl.rewrite_call(power, product, func)


assert rx.structural_equal(by_pattern(lean), faster)

# %% [markdown]
# Where both sides can be written down, there is nothing left to program. A *rewriter* is made of a
# module with two functions, `pattern` and `replacement`. This one divides by a root the cheaper
# way. It is called like a pass.


# %%
@I.ir_module
class DivideByRoot(I.Module):
    @R.function
    def pattern(x: R.Tensor[R.f32, n, 8], y: R.Tensor[R.f32, n, 1]) -> R.Tensor[R.f32, n, 8]:
        return x / R.sqrt(y)

    @R.function
    def replacement(x: R.Tensor[R.f32, n, 8], y: R.Tensor[R.f32, n, 1]) -> R.Tensor[R.f32, n, 8]:
        return x * R.rsqrt(y)


by_reciprocal_root = dpl.PatternMatchingRewriter.from_module(DivideByRoot)
rx.diff(faster, by_reciprocal_root(faster))

# %% [markdown]
# And when a pattern does not match, and you do not see why? `explain_match` says which part of it
# stopped where. There is a root in the model, but of a mean, and we look for one of a product:

# %%
root_of_product = dpl.is_op("relax.sqrt")(dpl.is_op("relax.multiply")(base, base))
main = faster["main"]
[spread] = rx.analysis.name_to_binding(main)["spread"]

print(dpl.explain_match(root_of_product, spread.value, rx.analysis.get_var2val(main)))

# %% [markdown]
# ## 6. Built-in passes, one after the other
#
# `Sequential` makes one pass of several, and a `PassContext` says how passes run. Its *instruments*
# are told of each pass before and after it runs. Ours says what each pass leaves.


# %%
class Counting(rx.instrument.PassInstrument):
    def run_after_pass(self, mod: rx.IRModule, info: transform.PassInfo) -> None:
        calls = sum(operators(mod).values())
        kernels = len(mod.functions) - len(mod.relax_functions())
        print(f"{info.name:24} {calls:2} calls of operators, {kernels:2} PrimFuncs")


pipeline = Sequential(
    [
        transform.DeadCodeElimination(),
        transform.EliminateCommonSubexpr(),
        transform.FoldConstant(),
        transform.CanonicalizeBindings(),
        by_pattern,
        transform.LegalizeOps(),
        transform.AnnotateTIROpPattern(),
        transform.FuseOps(),
        transform.FuseTIR(),
    ],
    name="ours",
)

with PassContext(instruments=[Counting()]):
    done = pipeline(Model)

assert np.allclose(run(done), run(Model), atol=1e-6)

# %% [markdown]
# The first five make the program smaller; not each of them finds something to do. `LegalizeOps`
# replaces each operator by a PrimFunc, a function of loops, which is called by `R.call_tir` (an
# operator as well, and counted as one; both means share one PrimFunc). The last three find out
# which loops can run in one go and join them: fewer functions, and fewer arrays that have to be
# written and read again.
#
# `main` is now this short:

# %%
done["main"].show()

# %% [markdown]
# Or as a picture, with the values that are handed from one function to the next:

# %%
done["main"].graph()

# %% [markdown]
# A context can also leave passes out, by name, or those above a level. That is the quickest way to
# learn what one of them is good for.

# %%
with PassContext(disabled_pass=["FuseOps"], instruments=[Counting()]):
    apart = pipeline(Model)

assert len(apart.functions) > len(done.functions)

# %% [markdown]
# `PassTimingInstrument` tells which passes take long. (These times are an example; yours differ.)

# %% tags=["varies"]
timing = rx.instrument.PassTimingInstrument()
with PassContext(instruments=[timing]):
    pipeline(Model)
    print(timing.render())

# %% [markdown]
# `rx.build` and `rx.jit` run such a row too. These are its passes for native code, and
# `native.script()` says of each what it does.

# %%
native = rx.get_pipeline("llvm")
assert isinstance(native, Sequential)
print(textwrap.fill(" > ".join(step.info.name for step in native.passes), 90))


# %% [markdown]
# ## 7. A pass that breaks programs
#
# Now the mistakes. This pass is meant to drop what nobody reads. Its author looked only at the
# *next* binding, which seemed enough in the example on the desk.


# %%
@transform.dataflowblock_pass(opt_level=0)
def drop_unread(block: rx.DataflowBlock, mod: rx.IRModule, ctx: PassContext) -> rx.DataflowBlock:
    *others, last = block.bindings
    kept = [
        binding
        for binding, following in zip(block.bindings, block.bindings[1:])
        if binding.var in rx.analysis.used_vars(following.value)
    ]
    return rx.DataflowBlock((*kept, last))


rx.diff(Model, drop_unread(Model))

# %% [markdown]
# `unused` and `square` are gone, as they should be. But `h` is gone as well, and `y` still reads
# it. Such a module is not *well-formed*, and one can ask:

# %%
assert not rx.analysis.well_formed(drop_unread(Model))

for mistake in rx.analysis.ill_formed(drop_unread(Model)):
    print(mistake.code, mistake.message)

# %% [markdown]
# In a long pipeline such a mistake shows up late, in a pass that is not to blame. `VerifyEach` is
# an instrument that looks after each pass: is the module well-formed, do the types fit, can the
# functions be called as before, was the input left alone? The first pass that breaks one of these
# rules is named, with the line before and after it.

# %% tags=["raises-exception"]
with PassContext(instruments=[transform.VerifyEach()]):
    Sequential([transform.FoldConstant(), drop_unread, transform.LegalizeOps()])(Model)

# %% [markdown]
# ## 8. A pass that computes something else
#
# The worst mistakes leave a program that is perfectly well-formed. Here is an idea: a constant
# factor behind a `relu` may as well be multiplied in before it, next to the matrix product, where
# it can be folded into the weights.

# %%
inner, factor = dpl.wildcard(), dpl.is_const()
scaled_relu = dpl.is_op("relax.multiply")(dpl.is_op("relax.nn.relu")(inner), factor)


@function_pass(opt_level=0)
def factor_first(func: rx.Function, mod: rx.IRModule, ctx: PassContext) -> rx.Expr:
    def moved(call: rx.Expr, found: Any) -> Any:
        return R.nn.relu(R.multiply(found[inner], found[factor]))

    return dpl.rewrite_call(scaled_relu, moved, func)


folded = transform.FoldConstant()(lean)
with PassContext(instruments=[transform.VerifyEach()]):
    moved_in_model = factor_first(folded)

assert np.allclose(run(moved_in_model), run(Model), atol=1e-6)
rx.diff(folded, moved_in_model)

# %% [markdown]
# `VerifyEach` is content, and the numbers of our model are the same. Is the pass right? One model
# is one example. In the next one the factor comes out negative.


# %%
@I.ir_module
class Negative(I.Module):
    @R.function
    def main(x: R.Tensor[R.f32, n, 8], w: R.Tensor[R.f32, 8, 8]) -> R.Tensor[R.f32, n, 8]:
        with R.dataflow():
            h = R.nn.relu(x @ w)
            y = h * (R.const(0.25, "float32") - R.const(0.75, "float32"))
            R.output(y)
        return y


suspects = Sequential(
    [
        transform.DeadCodeElimination(),
        transform.FoldConstant(),
        transform.CanonicalizeBindings(),
        by_pattern,
        factor_first,
        transform.LegalizeOps(),
        transform.FuseTIR(),
    ]
)
expected = run(Negative)


def agrees(mod: rx.IRModule) -> bool:
    return np.allclose(run(mod), expected, atol=1e-5)


assert agrees(Negative)
print("before:", agrees(Negative), " after seven passes:", agrees(suspects(Negative)))

# %% [markdown]
# Seven suspects. `bisect` asks a question of yours after each pass that changed something, and
# stops at the first that spoils the answer.

# %%
culprit = bisect(suspects, Negative, agrees)
assert culprit is not None
assert culprit.name == "factor_first"
print(culprit)


# %% [markdown]
# `max(a, 0) * c` is `max(a * c, 0)` only where `c` is not negative. So the pass has to ask:


# %%
@function_pass(opt_level=0)
def positive_factor_first(func: rx.Function, mod: rx.IRModule, ctx: PassContext) -> rx.Expr:
    def moved(call: rx.Expr, found: Any) -> Any:
        if np.all(found[factor].data >= 0):
            return R.nn.relu(R.multiply(found[inner], found[factor]))
        return call

    return dpl.rewrite_call(scaled_relu, moved, func)


mended = Sequential(
    [step if step is not factor_first else positive_factor_first for step in suspects.passes]
)
assert bisect(mended, Negative, agrees) is None
print("no pass changes the answer any more")

# %% [markdown]
# That is how passes are tested here: well-formed afterwards, settled after one run, and compared on
# many programs and numbers, among them those that nobody has on the desk.
#
# ## Exercises
#
# **1.** Write a visitor that lists the names of all variables bound to a tensor of one column.
# (The bound variable is `binding.var`, and `binding.var.struct_info.shape` its shape.)
#
# <details><summary>Solution</summary>
#
# ```python
# @visitor
# class Columns(rx.PyExprVisitor):
#     def __init__(self) -> None:
#         self.names: list[str] = []
#
#     def visit_var_binding_(self, binding: rx.VarBinding) -> None:
#         shape = binding.var.struct_info.shape
#         if len(shape) == 2 and isinstance(shape[1], rx.tir.IntImm) and shape[1].value == 1:
#             self.names.append(binding.var.name_hint)
#
#
# columns = Columns()
# columns.visit_expr(lean["main"])
# assert columns.names == ["lv", "lv1", "spread"]
# ```
#
# </details>

# %% [markdown]
# **2.** Write a pass that turns `relu(relu(x))` into `relu(x)`. Does it settle on
# `relu(relu(relu(relu(x))))`?
#
# <details><summary>Solution</summary>
#
# ```python
# twice = dpl.is_op("relax.nn.relu")(dpl.is_op("relax.nn.relu")(inner))
#
#
# @function_pass(opt_level=0)
# def relu_once(func: rx.Function, mod: rx.IRModule, ctx: PassContext) -> rx.Expr:
#     return dpl.rewrite_call(twice, lambda call, found: R.nn.relu(found[inner]), func)
#
#
# @I.ir_module
# class Often(I.Module):
#     @R.function
#     def main(x: R.Tensor[R.f32, n]):
#         with R.dataflow():
#             y = R.nn.relu(R.nn.relu(R.nn.relu(R.nn.relu(x))))
#             R.output(y)
#         return y
#
#
# once = transform.DeadCodeElimination()(relu_once(Often))
# assert operators(once) == {"relax.nn.relu": 1}
# assert relu_once(once) is once  # settled: matches are looked for until there are no more
# ```
#
# </details>

# %% [markdown]
# **3.** Somebody proposes to replace `sqrt(x * x)` by `x`. Which check finds the mistake, and with
# which numbers? Write the pass, a module for it, and let `bisect` name it.
#
# <details><summary>Solution</summary>
#
# ```python
# root = dpl.is_op("relax.sqrt")(dpl.is_op("relax.multiply")(inner, inner))
#
#
# @function_pass(opt_level=0)
# def no_root(func: rx.Function, mod: rx.IRModule, ctx: PassContext) -> rx.Expr:
#     return dpl.rewrite_call(root, lambda call, found: found[inner], func)
#
#
# @I.ir_module
# class Length(I.Module):
#     @R.function
#     def main(x: R.Tensor[R.f32, n]):
#         with R.dataflow():
#             y = R.sqrt(x * x)
#             R.output(y)
#         return y
#
#
# def right_for(values: Any) -> Any:
#     return lambda mod: np.allclose(rx.jit(mod, target="reference").main(values), abs(values))
#
#
# assert bisect(no_root, Length, right_for(np.array([1, 2], "float32"))) is None
# assert bisect(no_root, Length, right_for(np.array([1, -2], "float32"))).name == "no_root"
# ```
#
# </details>

# %% [markdown]
# Next, [07_transformer](07_transformer.ipynb) lets passes do the hard part: `Gradient` derives the
# derivative of a language model, and one compilation serves texts of every length.
# [09_inside](09_inside.ipynb) follows one function through all passes down to machine code.
