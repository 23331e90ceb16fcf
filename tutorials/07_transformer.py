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
# # A transformer that counts
#
# We write a small language model of the kind that chatbots are made of, let the compiler derive its
# gradient, train it for a few seconds, and let it write. It is compiled once, and runs for texts of
# any length. In the end it gets a memory, the *KV cache*, so that a long text costs little more per
# letter than a short one.

# %%
import io
import timeit
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

import relaxscript as rx
from relaxscript.relax.training import SetupTrainer, Trainer
from relaxscript.relax.training.loss import CrossEntropyLoss
from relaxscript.relax.training.optimizer import Adam
from relaxscript.script import ir as I, relax as R
from relaxscript.transform import Gradient, InlinePrivateFunctions

Array = npt.NDArray[Any]

# %% [markdown]
# ## 1. A text
#
# Our text counts from one to ninety-nine, so anybody can see whether a continuation is right. It is
# less trivial than it looks to a program that sees single letters. It has to spell, to copy *forty*
# from the number before, to know that *eight* follows *seven*, and that after *forty-nine* nothing
# can be copied.

# %%
SMALL = """one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen""".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def spell(number: int) -> str:
    if number < 20:
        return SMALL[number - 1]
    tens, ones = divmod(number, 10)
    return TENS[tens - 2] + (f"-{SMALL[ones - 1]}" if ones else "")


text = "".join(f"{spell(number)}, " for number in range(1, 100))
alphabet = sorted(set(text))


def encode(letters: str) -> Array:
    return np.array([alphabet.index(letter) for letter in letters])


def decode(tokens: Array) -> str:
    return "".join(alphabet[token] for token in tokens)


assert decode(encode(text)) == text
print(f"{len(text)} letters, {len(alphabet)} different ones: {''.join(alphabet)!r}")
print(text[:60], "...", text[-60:])

# %% [markdown]
# ## 2. The parts
#
# Each letter becomes a row of 32 numbers. Three dimensions stay open: `b` texts at a time, of `n`
# letters, which may look at `m` letters. What comes up often gets a name.

# %%
LETTERS, WIDTH, HEADS, INNER = len(alphabet), 32, 4, 64
DEPTH = WIDTH // HEADS

b, n, m = R.dim("b"), R.dim("n"), R.dim("m")

Tokens = R.Tensor[R.i64, b, n]
Rows = R.Tensor[R.f32, b, n, WIDTH]
Seen = R.Tensor[R.f32, b, m, WIDTH]
Shares = R.Tensor[R.f32, b, HEADS, n, m]

Embed = R.Tensor[R.f32, LETTERS, WIDTH]  # the weights
Qkv = R.Tensor[R.f32, WIDTH, 3 * WIDTH]
Out = R.Tensor[R.f32, WIDTH, WIDTH]
Up = R.Tensor[R.f32, WIDTH, INNER]
Down = R.Tensor[R.f32, INNER, WIDTH]

# %% [markdown]
# The heart of a transformer is *attention*: each letter looks back at others and takes something
# from them. It has a query `q`, the others have keys `k`, and the better a key fits the query, the
# larger is the share that the letter takes. Four *heads* do so side by side.
#
# The `n` letters that look are the last of the `m` that are looked at. A letter sees itself and
# what is before it, never what comes. And heads have different eyesight: with the distance, the
# score falls by 1, ½, ¼ or ⅛ a letter (Press et al., "Train short, test long", 2022). A distance
# means the same at every place, so the model can write texts longer than any it has seen.
#
# `shares` says how much each letter takes from which, `mix` takes it. Before they are used rows are
# brought to one size by `normalise`.

# %%
BLUR = np.array([1, 1 / 2, 1 / 4, 1 / 8], "float32").reshape(HEADS, 1, 1)


@R.function(private=True)
def shares(q: Rows, k: Seen) -> Shares:
    with R.dataflow():
        queries = R.permute_dims(R.reshape(q, (b, n, HEADS, DEPTH)), (0, 2, 1, 3))
        keys = R.permute_dims(R.reshape(k, (b, m, HEADS, DEPTH)), (0, 2, 3, 1))
        own = R.reshape(R.arange(n) + R.prim_value(m - n), (n, 1))
        other = R.reshape(R.arange(m), (1, m))
        distance = R.astype(own - other, "float32") * R.const(BLUR)
        scores = queries @ keys * R.const(DEPTH**-0.5, "float32") - distance
        seen = R.where(other <= own, scores, R.const(-1e9, "float32"))
        result = R.nn.softmax(seen, axis=-1)
        R.output(result)
    return result


@R.function(private=True)
def mix(shares: Shares, v: Seen) -> Rows:
    with R.dataflow():
        values = R.permute_dims(R.reshape(v, (b, m, HEADS, DEPTH)), (0, 2, 1, 3))
        result = R.reshape(R.permute_dims(shares @ values, (0, 2, 1, 3)), (b, n, WIDTH))
        R.output(result)
    return result


@R.function(private=True)
def normalise(x: Rows) -> Rows:
    return R.nn.rms_norm(x, R.ones((WIDTH,), "float32"), axes=[-1])


# %% [markdown]
# ## 3. The model
#
# In a layer, each row takes something from others, and goes through a small network of its own;
# both are *added* to the row. There are two layers, and at both ends the table `embed`: it turns a
# letter into its row, and compares the last row with those of all letters to say which comes next.
# `backbone` gives a score for each letter of the alphabet, at each place of each text. `look` gives
# the shares of the second layer, to be drawn later.
#
# Functions from the cells above are used by their names, and become functions of the module; those
# of the class itself go by `cls`. The parameters of `backbone` behind the first are what is to be
# learnt, and `param_num` says how many they are.


# %%
@I.ir_module
class Writer(I.Module):
    I.module_attrs({"param_num": 9, "state_num": 0})

    @R.function(private=True)
    def layer(x: Rows, qkv: Qkv, out: Out, up: Up, down: Down) -> Rows:
        with R.dataflow():
            q, k, v = R.split(normalise(x) @ qkv, 3, axis=-1)
            attended = x + mix(shares(q, k), v) @ out
            result = attended + R.nn.relu(normalise(attended) @ up) @ down
            R.output(result)
        return result

    @R.function
    def backbone(
        tokens: Tokens, embed: Embed,
        qkv1: Qkv, out1: Out, up1: Up, down1: Down,
        qkv2: Qkv, out2: Out, up2: Up, down2: Down,
    ) -> R.Tensor[R.f32, b * n, LETTERS]:  # fmt: skip
        cls = Writer
        with R.dataflow():
            first = cls.layer(R.take(embed, tokens, axis=0), qkv1, out1, up1, down1)
            second = cls.layer(first, qkv2, out2, up2, down2)
            scores = normalise(second) @ R.permute_dims(embed)
            result = R.reshape(scores, (b * n, LETTERS))
            R.output(result)
        return result

    @R.function
    def look(
        tokens: Tokens, embed: Embed, qkv1: Qkv, out1: Out, up1: Up, down1: Down, qkv2: Qkv
    ) -> R.Tensor[R.f32, b, HEADS, n, n]:
        cls = Writer
        with R.dataflow():
            first = cls.layer(R.take(embed, tokens, axis=0), qkv1, out1, up1, down1)
            q, k, v = R.split(normalise(first) @ qkv2, 3, axis=-1)
            result = shares(q, k)
            R.output(result)
        return result


print(*sorted(var.name_hint for var in Writer.functions))

# %% [markdown]
# ## 4. The gradient, by a pass
#
# To learn, one needs the derivative of the loss by each of the nine weights. In
# [01_digits](01_digits.ipynb) we derived it by hand. Here a pass does: `Gradient` reads a function
# and writes another, which gives what the first gives and its derivatives. On something small it
# can be read: each line on the way there has lines on the way back.


# %%
@I.ir_module
class Small(I.Module):
    @R.function
    def loss(x: R.Tensor[R.f32, 4], w: R.Tensor[R.f32, 4, 3]) -> R.Tensor[R.f32, ()]:
        with R.dataflow():
            y = R.sum(R.nn.relu(x @ w))
            R.output(y)
        return y


Gradient("loss", require_grads="w")(Small)["loss_adjoint"].show()

# %% [markdown]
# `SetupTrainer` does that for a whole model: it appends a loss to `backbone`, runs `Gradient`, and
# adds the step of an optimizer. Derivatives are taken of one function at a time, so first the parts
# are put where they are called.

# %%
whole = InlinePrivateFunctions()(Writer)
rows = R.dim("rows")
operands: list[Any] = [R.Tensor[R.f32, rows, LETTERS], R.Tensor[R.i64, rows]]
training = SetupTrainer(CrossEntropyLoss(), Adam(0.005), operands)(whole)

for name in ("backbone", "backbone_loss_adjoint", "optimizer"):
    lines = len(training[name].script().splitlines())
    print(f"{name:22} {lines:4} lines")

# %% [markdown]
# Nobody has to read those lines. They are a program like any other, and compiled like any other;
# `b` and `n` are still open.
#
# ## 5. Training
#
# A batch is 16 pieces of the text, of 48 letters each, that begin with some number. What has to be
# foretold at each place is the next letter. The first number of a piece could be any, so no one is
# blamed for not knowing it: places marked -100 are left out of the loss.

# %%
BATCH, LENGTH, STEPS = 16, 48, 500

ring = encode(text * 2)  # behind ninety-nine it begins anew
starts = [0, *(place + 2 for place, letter in enumerate(text[:-2]) if letter == ",")]
rng = np.random.default_rng(0)


def batch() -> tuple[Array, Array]:
    pieces = np.stack([ring[start : start + LENGTH + 1] for start in rng.choice(starts, BATCH)])
    tokens, targets = pieces[:, :-1], pieces[:, 1:].copy()
    in_first = np.cumsum(tokens == alphabet.index(","), axis=1) == 0
    targets[in_first] = -100
    return tokens, targets.reshape(-1)


tokens, goals = batch()
print(decode(tokens[0]))
print("".join("." if goal < 0 else alphabet[goal] for goal in goals[:LENGTH]))

# %% tags=["varies"]
trainer = Trainer(training, rx.VirtualMachine(rx.build(training)), rx.cpu())
trainer.xavier_uniform_init_params(seed=0)

losses = []
for step in range(1, STEPS + 1):
    losses.append(float(trainer.update(*batch())))
    if step % 100 == 0:
        print(f"step {step}: loss {np.mean(losses[-20:]):.4f}")

# %% [markdown]
# The loss is the surprise per letter. It begins at about log 19, that of pure guessing, and falls
# to nearly nothing.

# %%
assert abs(losses[0] - np.log(LETTERS)) < 1
assert np.mean(losses[-20:]) < 0.02


class Picture:
    """A figure that a notebook shows below a cell."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    def __repr__(self) -> str:
        return "a picture"

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.figure.savefig(file, format="png")
        return file.getvalue()


figure = Figure(figsize=(7, 2.5), layout="constrained")
axes = figure.subplots()
axes.semilogy(losses)
axes.set_xlabel("step")
axes.set_ylabel("loss")
Picture(figure)

# %% [markdown]
# ## 6. Writing
#
# The trained weights go into the model by name. `rx.jit` compiles it once, for every `b` and `n`.
# Then the model reads what is there, its best guess is appended, and it reads again: the text grows
# by a letter at each step.

# %%
weights = trainer.export_params()
writer = rx.jit(Writer, params=weights)


def write(prompt: str, count: int) -> tuple[str, Array]:
    """The prompt with `count` letters more, and the scores of each."""
    tokens, scores = encode(prompt), []
    for _ in range(count):
        scores.append(writer.backbone(tokens[None])[-1])
        tokens = np.append(tokens, scores[-1].argmax())
    return decode(tokens), np.array(scores)


written, scores_of_written = write("forty-six, ", 100)
print(written)
assert written in text

# %% [markdown]
# Right, and longer than anything the model was trained on. Several texts at a time go as well, for
# `b` is open too:

# %%
prompts = ["one, two, ", "six, seven", "ten, eleve"]
guesses = writer.backbone(np.stack([encode(prompt) for prompt in prompts]))
for prompt, row in zip(prompts, guesses.reshape(3, -1, LETTERS)[:, -1]):
    print(f"{prompt!r} goes on with {alphabet[row.argmax()]!r}")
    assert prompt + alphabet[row.argmax()] in text

# %% [markdown]
# ## 7. Where it looks
#
# Each row of the picture is a letter, and dark is where it takes from. The first head sees a letter
# or two. Those with better eyes also look into the number before, from which they copy and count
# on. (Which head does what is decided by the training, and nobody told them.)

# %%
seen = "forty-six, forty-seven, "
looks = writer.look(encode(seen)[None])[0]
assert np.allclose(looks.sum(axis=-1), 1, atol=1e-5)

places = np.arange(len(seen))
distances = np.maximum(places[:, None] - places, 0)
mean_distance = (looks * distances).sum(axis=-1).mean(axis=-1)
assert mean_distance[0] < mean_distance[2:].min()

figure = Figure(figsize=(9, 9), layout="constrained")
for head, axes in enumerate(figure.subplots(2, 2).flat):
    axes.imshow(looks[head], cmap="gray_r", vmin=0, vmax=1)
    axes.set_title(f"head {head + 1}")
    axes.set_xticks(places, list(seen))
    axes.set_yticks(places, list(seen))
Picture(figure)

# %% [markdown]
# ## 8. A memory
#
# `write` does a lot twice: for each new letter the model reads the whole text again. But a letter
# never sees what comes after it, so its keys and values stay. Kept, they are the KV cache.
#
# The machine has one: an object with rows that grows in place. `append` adds rows to it, and `view`
# gives all of them as a tensor. The type of the cache is `R.Object`, something that is only handed
# around. `R.call_inplace_packed` says of a call that it writes into an argument; what it returns is
# the argument as it is afterwards.
#
# Compare `cached_layer` with `layer`: only the keys and values come from elsewhere. `n` is now the
# number of new letters, `m` that of all, which the caller has to say: `Total` is the type of a
# shape `(m,)`, so the argument `(11,)` makes `m` eleven.


# %%
CREATE = "vm.builtin.attention_kv_cache_create"
APPEND = "vm.builtin.attention_kv_cache_append"
VIEW = "vm.builtin.attention_kv_cache_view"

Row = R.Tensor[R.f32, 1, n, WIDTH]
Total = R.Annotated[R.Shape, m]
Caches = R.Tuple[R.Object, R.Object]


@I.ir_module
class Remembering(I.Module):
    @R.function(private=True)
    def cached_layer(
        x: Row, total: Total, cache: R.Object, qkv: Qkv, out: Out, up: Up, down: Down
    ) -> R.Tuple[Row, R.Object]:
        with R.dataflow():
            q, kv = R.split(normalise(x) @ qkv, [WIDTH], axis=-1)
            new = R.reshape(kv, (n, 2 * WIDTH))
            longer = R.call_inplace_packed(
                APPEND, cache, new, inplace_indices=[0], sinfo_args=[R.Object]
            )
            kept = R.call_pure_packed(
                VIEW, longer, R.shape([m, 2 * WIDTH]), sinfo_args=[R.Tensor[R.f32, m, 2 * WIDTH]]
            )
            k, v = R.split(R.reshape(kept, (1, m, 2 * WIDTH)), 2, axis=-1)
            attended = x + mix(shares(q, k), v) @ out
            result = attended + R.nn.relu(normalise(attended) @ up) @ down
            R.output(result, longer)
        return result, longer

    @R.function
    def create() -> R.Object:
        with R.dataflow():
            none = R.zeros((1, 2 * WIDTH), "float32")  # of which 0 rows count
            cache = R.call_pure_packed(
                CREATE, none, R.shape([64, 2 * WIDTH]), R.prim_value(0), sinfo_args=[R.Object]
            )
            R.output(cache)
        return cache

    @R.function
    def extend(
        tokens: R.Tensor[R.i64, n], total: Total, caches: Caches, embed: Embed,
        qkv1: Qkv, out1: Out, up1: Up, down1: Down,
        qkv2: Qkv, out2: Out, up2: Up, down2: Down,
    ) -> R.Tuple[R.Tensor[R.f32, n, LETTERS], Caches]:  # fmt: skip
        cls = Remembering
        with R.dataflow():
            x = R.take(embed, R.reshape(tokens, (1, n)), axis=0)
            first, cache1 = cls.cached_layer(x, total, caches[0], qkv1, out1, up1, down1)
            second, cache2 = cls.cached_layer(first, total, caches[1], qkv2, out2, up2, down2)
            scores = R.reshape(normalise(second) @ R.permute_dims(embed), (n, LETTERS))
            R.output(scores, cache1, cache2)
        return scores, (cache1, cache2)


rememberer = rx.jit(Remembering, params=weights)


def no_memory() -> tuple[Any, Any]:
    """A new cache for each layer."""
    return rememberer.create(), rememberer.create()


# %% [markdown]
# At first the prompt is read in one go, and from then on one letter at a time. The same compiled
# function does both.

# %%
caches = no_memory()
print(caches[0])
scores, caches = rememberer.extend(encode("forty-six, "), (11,), caches)
print(caches[0])
scores, caches = rememberer.extend(encode("f"), (12,), caches)
print(caches[0], "- the next letter is", alphabet[scores[-1].argmax()])


# %%
def remember(prompt: str, count: int) -> tuple[str, Array]:
    """As `write`, but each letter is read once."""
    tokens, scores = encode(prompt), []
    new, caches = tokens, no_memory()
    for _ in range(count):
        found, caches = rememberer.extend(new, (len(tokens),), caches)
        scores.append(found[-1])
        new = found[-1:].argmax(axis=1)
        tokens = np.append(tokens, new)
    return decode(tokens), np.array(scores)


remembered, scores_of_remembered = remember("forty-six, ", 100)
assert remembered == written
assert np.allclose(scores_of_remembered, scores_of_written, atol=1e-3)
print("the same hundred letters, and all their scores within 0.001")

# %% [markdown]
# Now it may write all it knows: from *one* to *ninety-nine*, more than twenty times the length that
# it was trained on.

# %%
everything, _ = remember("one, ", len(text) - len("one, "))
assert everything == text
print(everything[:75], "...")
print("...", everything[-75:])

# %% [markdown]
# And the cost? For a letter behind a thousand others, `backbone` reads a thousand letters and
# `extend` reads one. (The times are an example. Where the text is short, handing the caches around
# costs more than it saves.)

# %% tags=["varies"]
long = ring[:1000]
_, caches = rememberer.extend(long, (1000,), no_memory())
total = iter(range(1001, 1100))

without = min(timeit.repeat(lambda: writer.backbone(long[None]), number=1, repeat=5))
with_cache = min(
    timeit.repeat(lambda: rememberer.extend(long[:1], (next(total),), caches), number=1, repeat=20)
)
print(f"without the cache {without * 1e3:6.1f} ms, with it {with_cache * 1e3:4.1f} ms a letter")

# %% [markdown]
# ## 9. What may go wrong
#
# Writing in place is dangerous: whoever still looks at the old value sees the new one. So nobody
# may. Here somebody views the cache by its old name, and is told before anything runs.


# %% tags=["raises-exception"]
@R.function
def forgetful(cache: R.Object, row: R.Tensor[R.f32, 1, 64]) -> R.Tensor[R.f32, 1, 64]:
    with R.dataflow():
        longer = R.call_inplace_packed(
            APPEND, cache, row, inplace_indices=[0], sinfo_args=[R.Object]
        )
        kept = R.call_pure_packed(
            VIEW, cache, R.shape([1, 64]), sinfo_args=[R.Tensor[R.f32, 1, 64]]
        )
        R.output(kept, longer)
    return kept


# %% [markdown]
# What only shows when it runs is told at the line of the script. Here the program is told of 7
# letters, and the cache has only 6.

# %% tags=["raises-exception"]
rememberer.extend(encode("seven,"), (7,), no_memory())

# %% [markdown]
# ## Exercises
#
# **1.** What does the model write behind *ninety-nine*? It was never told that numbers go on.
#
# <details><summary>Solution</summary>
#
# ```python
# after, _ = remember("ninety-nine, ", 10)
# assert after == "ninety-nine, one, two, "
# # The pieces that it was trained on came from a ring: there one follows ninety-nine.
# ```
#
# </details>

# %% [markdown]
# **2.** How sure is the model? Compute for a text the probability of each of its letters, given
# those before it, and find the letters of `"sixty, sixty-one, sixty-three, "` that surprise it.
#
# <details><summary>Solution</summary>
#
# ```python
# def probabilities(letters: str) -> Array:
#     scores = writer.backbone(encode(letters)[None])[:-1]
#     powers = np.exp(scores - scores.max(axis=1, keepdims=True))
#     every = powers / powers.sum(axis=1, keepdims=True)
#     return every[np.arange(len(every)), encode(letters)[1:]]
#
#
# odd = "sixty, sixty-one, sixty-three, "
# unlikely = [place + 1 for place, p in enumerate(probabilities(odd)) if p < 0.1]
# assert odd.index("three") + 1 in unlikely  # `t` is right, `w` was expected behind it
# ```
#
# </details>

# %% [markdown]
# **3.** A cache can forget: `vm.builtin.attention_kv_cache_array_popn` takes the last rows away
# from a tuple of caches. It is a packed function, and `rx.get_global_func` finds it by its name.
# Read `"twenty, thirty"`, take back `"thirty"`, read `"twenty"` instead, and compare the scores
# with those of a text that was right at once.
#
# <details><summary>Solution</summary>
#
# ```python
# caches = no_memory()
# _, caches = rememberer.extend(encode("twenty, thirty"), (14,), caches)
# rx.get_global_func("vm.builtin.attention_kv_cache_array_popn")(caches, 6)
# again, caches = rememberer.extend(encode("twenty"), (14,), caches)
#
# at_once = writer.backbone(encode("twenty, twenty")[None])[-6:]
# assert np.allclose(again, at_once, atol=1e-3)
# ```
#
# </details>

# %% [markdown]
# Servers keep texts in pages of memory: `relaxscript.frontend.nn.llm` wraps such a cache. The page
# [Models that own their weights](models_that_own_their_weights.md) writes models as objects. Next,
# [08_make_it_fast](08_make_it_fast.ipynb) looks at where the time of a program goes.
