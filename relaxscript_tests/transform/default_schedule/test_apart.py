"""Functions that promise nothing are arranged for arrays that share no memory."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import IfThenElse, PrimFunc
from relaxscript.script import from_source
from relaxscript.transform import ApplyDefaultSchedule
from relaxscript.transform.default_schedule.apart import promising
from relaxscript_tests import examples
from relaxscript_tests.transform.default_schedule.test_hand_written import hand_written

HEAD = 'A: T.Buffer((12, 16), "float32"), C: T.Buffer((12, 16), "float32")'
TWICE = """for i, j in T.grid(12, 16):
    C[i, j] = T.float32(0)
    for k in range(16):
        C[i, j] = C[i, j] + A[i, k]"""
MANY = ("A", "C", *map("B{}".format, range(32)))
# How many elements one array begins behind another, of those that share memory.
SHIFTS = (0, 1, 5, 16, 100)


def without_promise(func: PrimFunc) -> PrimFunc:
    attrs = {name: value for name, value in func.attrs.items() if name != "tir.noalias"}
    return func.replace(attrs=attrs)


def arranged(func: PrimFunc) -> PrimFunc:
    return ApplyDefaultSchedule()(IRModule({"main": func}))["main"]


def compiled(func: PrimFunc):
    """Native code whose memory begins as zeros: some functions read before they store."""
    return compile_prim_func(func, options={"zero_memory": True})


def function(head: str, body: str) -> PrimFunc:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return from_source(f"@T.prim_func\ndef main({head}):\n{lines}")


def overlapping(generator, shapes, shift):
    """Arrays in one memory, each of which begins a few elements behind the one before."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    memory = generator.integers(-3, 4, max(sizes) + shift * len(shapes)).astype("float32")
    return memory, [
        memory[k * shift : k * shift + size].reshape(shape)
        for k, (size, shape) in enumerate(zip(sizes, shapes))
    ]


@pytest.mark.parametrize("shift", SHIFTS)
def test_arrays_that_share_memory_get_what_is_written(shift):
    found = 0
    for seed in range(examples(100)):
        func = without_promise(hand_written(seed))
        made = arranged(func)
        if not isinstance(made.body, IfThenElse):
            continue
        found += 1
        shapes = [[int(n) for n in buffer.shape] for buffer in func.buffer_map.values()]
        expected, arrays = overlapping(np.random.default_rng(seed), shapes, shift)
        evaluate(func, arrays)
        for run in (lambda *args, f=made: evaluate(f, args), compiled(made)):
            memory, arrays = overlapping(np.random.default_rng(seed), shapes, shift)
            run(*arrays)
            np.testing.assert_allclose(memory, expected, 1e-6, err_msg=f"seed {seed}")
    assert found


def test_arrays_that_share_none_get_what_a_promise_gives():
    for seed in range(examples(100)):
        func = hand_written(seed)
        made, promised = arranged(without_promise(func)), arranged(func)
        generator = np.random.default_rng(seed)
        shapes = [[int(n) for n in buffer.shape] for buffer in func.buffer_map.values()]
        given = [generator.integers(-3, 4, shape).astype("float32") for shape in shapes]
        results = []
        for each in (made, promised):
            arrays = [array.copy() for array in given]
            compiled(each)(*arrays)
            results.append(arrays)
        for mine, theirs in zip(*results):
            np.testing.assert_allclose(mine, theirs, 1e-6, err_msg=f"seed {seed}")


def test_what_is_arranged_promises_nothing_and_parses_back():
    made = arranged(function(HEAD, TWICE))
    assert made.attrs["tir.is_scheduled"]
    assert "tir.noalias" not in made.attrs
    assert isinstance(made.body, IfThenElse)
    assert_structural_equal(from_source(made.script()), made)
    first, second = (made.body.condition.a, made.body.condition.b)
    assert str(first) == 'T.reinterpret("int64", A) + 768 <= T.reinterpret("int64", C)'
    assert str(second) == 'T.reinterpret("int64", C) + 768 <= T.reinterpret("int64", A)'


def test_elements_that_are_stored_where_they_were_need_no_question():
    made = arranged(function(HEAD, "for i, j in T.grid(12, 16):\n    C[i, j] = T.exp(C[i, j])"))
    assert made.attrs["relaxscript.schedule"] == "elementwise"
    assert not isinstance(made.body, IfThenElse)


@pytest.mark.parametrize(
    "head",
    [
        'A: T.Buffer((12, 16), "float32", strides=(16, 1)), C: T.Buffer((12, 16), "float32")',
        'C: T.Buffer((12, 16), "float32")',
        ", ".join(f'{name}: T.Buffer((12, 16), "float32")' for name in MANY),
    ],
)  # fmt: skip
def test_where_no_memory_is_known_or_too_much_all_is_as_it_was(head):
    body = TWICE if "A:" in head else TWICE.replace("A[i, k]", "T.float32(1)")
    func = function(head, body)
    assert promising(func) is None
    assert not isinstance(arranged(func).body, IfThenElse)


def test_who_promises_it_is_not_asked():
    func = function(HEAD, "T.func_attr({'tir.noalias': True})\n" + TWICE)
    assert promising(func) is None
    assert not isinstance(arranged(func).body, IfThenElse)
