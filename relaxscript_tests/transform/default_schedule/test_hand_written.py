"""Random functions of plain loops, as people write them: whatever is arranged gives the same."""

from __future__ import annotations

import random
import re

import numpy as np

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.transform import ApplyDefaultSchedule
from relaxscript_tests import examples

M, N = 12, 16
_CONDITIONS = (
    "k < 9", "2 <= i + k and i + k < 18", "A[i, k] < T.float32(1)", "not (k < 4)", "j < 5",
    "k < i and B[k, 0] > T.float32(0)",
)  # fmt: skip
_GIVEN = (
    "A[i, j]", "B[i, j]", "A[j, i]", "T.Cast('float32', i)", "T.Cast('float32', j + 1)",
    "T.if_then_else(1 <= j and j < 9, A[i, j - 1], T.float32(2))", "T.float32(3)",
)  # fmt: skip
_ADDED = (
    "A[i, k]",
    "B[k, j]",
    "A[i, k] * B[k, j]",
    "A[k, j]",
    "B[i, k] * A[j, k]",
    "A[i, j]",
    "T.if_then_else(2 <= j + k and j + k < 18, A[i, j + k - 2], T.float32(0)) * B[0, k]",
)


def statements(rng: random.Random, stored: list[str]) -> list[str]:
    """A value, a sum, or what is made of what has been stored; now and then what is elsewhere."""
    place = rng.choice(("C[i, j]", "C[i, j]", "D[i, j]", "D[i, j]", "s[0]"))
    reads = [*_GIVEN, *stored * 2]
    if rng.random() < 0.05:
        reads += ["C[i, 0]", "D[j, i]", "s[0]"] * 3
    value = rng.choice(reads)
    kind = rng.randrange(4)
    if kind == 0 and rng.random() < 0.3:
        condition = rng.choice(("i < 5", "j == 0 or i > 9", "A[i, j] > T.float32(0)", "j < i"))
        other = rng.choice((place, place, "C[i, j]"))
        lines = [f"if {condition}:", f"    {place} = {value}",
                 "else:", f"    {other} = {rng.choice(reads)}"]  # fmt: skip
        stored.append(other)
    elif kind == 0:
        lines = [f"{place} = {value}"]
    elif kind == 1:
        lines = [f"{place} = T.max({value}, {rng.choice(reads)})"]
    elif kind == 2 and place in stored:
        forms = ("{0} * T.float32(2) + {1}", "{0} * T.float32(2)", "{0} + T.float32(1)",
                 "T.max({0}, {1})", "T.float32(3)")  # fmt: skip
        lines = [f"{place} = {rng.choice(forms).format(place, value)}"]
    else:
        lines = reduction(rng, place, value)
        if rng.random() < 0.2:
            last = rng.choice((f"k == {M - 1}", f"{M - 1} <= k", f"k > {M - 2}", f"k == {M - 2}"))
            ended = rng.choice(("C[i, j]", "D[i, j]"))
            lines += [f"    if {last}:", f"        {ended} = {place} * T.float32(2)"]
            stored.append(ended)
    stored.append(place)
    return lines


def reduction(rng: random.Random, place: str, value: str) -> list[str]:
    """A sum or a maximum that begins before its loop or in it, with zero or with a value."""
    added, start = rng.choice(_ADDED), rng.choice(("T.float32(0)", "T.float32(0)", value))
    kind = rng.choice(("{} + {}", "{} + {}", "T.max({}, {})"))
    operands = rng.choice(((place, added), (added, place)))
    loop, total = f"for k in range({M}):", kind.format(*operands)
    if rng.random() < 0.5:
        before = [] if rng.random() < 0.1 else [f"{place} = {start}"]
        added_in = [f"{place} = {total}"]
        if rng.random() < 0.3:
            added_in = [f"if {rng.choice(_CONDITIONS)}:", f"    {place} = {total}"]
        return [*before, loop, *[f"    {line}" for line in added_in]]
    firsts = ("k == 1", "j == 0 and k == 0") if rng.random() < 0.1 else ()
    first = rng.choice(("k == 0", "k < 1", "0 == k", "k <= 0", *firsts))
    how = rng.randrange(3)
    if how == 0:
        return [loop, f"    if {first}:", f"        {place} = {start}", f"    {place} = {total}"]
    if how == 1:
        begun = start if rng.random() < 0.1 else added.replace("k", "0")
        lines = [f"    if {first}:", f"        {place} = {begun}"]
        return [loop, *lines, "    else:", f"        {place} = {total}"]
    old = rng.choice((
        f"T.if_then_else({first}, {start}, {place})", f"T.if_then_else(k > 0, {place}, {start})",
    ))  # fmt: skip
    return [loop, f"    {place} = {total.replace(place, old, 1) if place not in added else total}"]


def in_tiles(text: str) -> str:
    """The same loops, those over rows and columns by tiles of four."""
    text = text.replace(
        f"i, j in T.grid({M}, {N})", f"u, v, p, q in T.grid({M // 4}, {N // 4}, 4, 4)"
    )
    text = text.replace(
        f"j, i in T.grid({N}, {M})", f"v, q, u, p in T.grid({N // 4}, 4, {M // 4}, 4)"
    )
    return re.sub(r"\bj\b", "(v * 4 + q)", re.sub(r"\bi\b", "(u * 4 + p)", text))


def in_one_loop(text: str) -> str:
    """The same loops, those over rows and columns as one."""
    text = text.replace(f"i, j in T.grid({M}, {N})", f"t in range({M * N})")
    text = text.replace(f"j, i in T.grid({N}, {M})", f"t in range({M * N})")
    return re.sub(r"\bj\b", f"(t % {N})", re.sub(r"\bi\b", f"(t // {N})", text))


def in_blocks(text: str) -> str:
    """The same statements, those of each row of loops in a block over rows and columns."""
    made = []
    for line in text.splitlines():
        if line.startswith("    for "):
            block = ['        with T.block("b"):', "vi, vj = T.axis.remap('SS', [i, j])"]
            made += [line, block[0], f"            {block[1]}"]
        else:
            made.append("    " + re.sub(r"\b([ij])\b", r"v\1", line))
    return "".join(f"{line}\n" for line in made)


def hand_written(seed: int) -> PrimFunc:
    """One or two rows of loops around one to three values and sums."""
    rng = random.Random(seed)
    body: list[str] = []
    stored: list[str] = []
    for _ in range(rng.randint(1, 2)):
        stored = [place for place in stored if place != "s[0]"]
        loops = (f"i, j in T.grid({M}, {N})", f"j, i in T.grid({N}, {M})")
        body.append(f"for {rng.choice((loops[0], *loops))}:")
        for _ in range(rng.randint(1, 3)):
            body += [f"    {line}" for line in statements(rng, stored)]
    text = "".join(f"    {line}\n" for line in body)
    rows = N if "D[j, i]" in text or rng.random() < 0.3 else M
    form = rng.random()
    if form < 0.4:
        text = in_tiles(text) if form < 0.25 else in_one_loop(text)
    elif form < 0.6 and "s[0]" not in text:
        text = in_blocks(text)
    flat = rng.choice(("", "", "ABCD", "CD", "ABC", "AD"))
    text = re.sub(rf"\b([{flat or '-'}])\[([^],]+), ([^],]+)\]", rf"\1[(\2) * {N} + \3]", text)
    counts = {"A": N, "B": N, "C": rows, "D": rows}
    sizes = {
        name: f"{count * N}," if name in flat else f"{count}, {N}" for name, count in counts.items()
    }
    shapes = ", ".join(f'{name}: T.Buffer(({size}), "float32")' for name, size in sizes.items())
    before = "    s[0] = T.float32(2)\n" if rng.random() < 0.1 else ""
    return from_source(
        f"@T.prim_func\ndef main({shapes}):\n    T.func_attr({{'tir.noalias': True}})\n"
        f'    s = T.alloc_buffer((1,), "float32")\n{before}{text}'
    )


def test_what_is_arranged_of_functions_written_by_hand_gives_the_same():
    """All numbers are integers, so that sums in another order are the same."""
    found = 0
    for seed in range(examples(600)):
        func = hand_written(seed)
        made = ApplyDefaultSchedule()(IRModule({"main": func}))["main"]
        if made is func:
            continue
        found += 1
        assert_structural_equal(from_source(made.script()), made)
        generator = np.random.default_rng(seed)
        shapes = [[int(n) for n in buffer.shape] for buffer in func.buffer_map.values()]
        given = [generator.integers(-3, 4, shape).astype("float32") for shape in shapes]
        expected = [array.copy() for array in given]
        evaluate(func, expected)
        for run in (lambda *args, f=made: evaluate(f, args), compile_prim_func(made)):
            arrays = [array.copy() for array in given]
            run(*arrays)
            for actual, wanted in zip(arrays, expected):
                np.testing.assert_allclose(actual, wanted, 1e-6, err_msg=f"seed {seed}")
    assert found
