"""Packed functions that PrimFuncs call: evaluated and compiled alike."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func, external
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.runtime import register_func
from relaxscript.script import from_source, tir as T
from relaxscript.semantics.write_sets import written_params
from relaxscript_tests.prim_funcs import both

# Programs are written as users write them, whatever a formatter would rather have.
# fmt: off

SEEN = []


@register_func("tests.packed.record", override=True)
def record(*args):
    SEEN.append(args)


@register_func("tests.packed.double", override=True)
def double(source, target):
    target[...] = source * 2
    return source.size


@register_func("tests.packed.bad", override=True)
def bad(what):
    if what == "raise":
        raise RuntimeError("out of paper")
    if what == "interrupt":
        raise KeyboardInterrupt
    return {"array": np.ones(2, "int32"), "text": "one", "large": 2**32 + 5, "float": 1.5}[what]


@T.prim_func
def doubled(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32"),
            size: T.Buffer((1,), "int32")):
    size[0] = T.call_packed("tests.packed.double", x, y)


def test_a_packed_function_reads_and_writes_the_memory_of_buffers():
    x = np.arange(12, dtype="float32").reshape(3, 4)
    _, y, size = both(doubled, [x, np.zeros_like(x), np.zeros(1, "int32")])
    assert np.array_equal(y, x * 2)
    assert size[0] == 12
    assert written_params(doubled) == {0, 1, 2}


def test_it_writes_through_an_array_of_another_layout():
    x, y = np.ones((3, 4), "float32"), np.zeros((3, 8), "float32")[:, ::2]
    compile_prim_func(doubled)(x, y, np.zeros(1, "int32"))
    assert (y == 2).all()


def test_scalars_are_numbers_of_python():
    @T.prim_func
    def f(k: T.int32, s: T.float32, b: T.bool):
        T.call_packed("tests.packed.record", k, s, b, "text", T.uint64(2**64 - 1), T.int8(-1))

    SEEN.clear()
    both(f, [7, 0.5, True])
    assert SEEN == [(7, 0.5, True, "text", 2**64 - 1, -1)] * 2
    assert [type(v) for v in SEEN[1]] == [int, float, bool, str, int, int]


def test_an_empty_array_has_its_shape():
    @T.prim_func
    def f(x: T.Buffer(("n", 4), "float32")):
        T.call_packed("tests.packed.record", x)

    SEEN.clear()
    both(f, [np.zeros((0, 4), "float32")])
    assert [args[0].shape for args in SEEN] == [(0, 4), (0, 4)]


def outcomes(word):
    """What happens in both executors."""
    func = from_source(
        f"""@T.prim_func
def f(k: T.Buffer((1,), "int32")):
    k[0] = T.call_packed("tests.packed.bad", "{word}")
"""
    )
    for run in (lambda k: evaluate(func, [k]), lambda k: compile_prim_func(func)(k)):
        k = np.zeros(1, "int32")
        try:
            run(k)
        except (Exception, KeyboardInterrupt) as error:
            yield error
        else:
            yield k[0]


def test_what_it_raises_is_told_with_the_line_of_the_call():
    for error in outcomes("raise"):
        assert isinstance(error, VMError)
        assert error.code == "RX0604"
        assert error.diagnostic.message == "`tests.packed.bad` raised RuntimeError: out of paper"
        assert error.span.text == 'T.call_packed("tests.packed.bad", "raise")'
        assert isinstance(error.__cause__, RuntimeError)


def test_an_interrupt_comes_through_as_it_is():
    assert [type(error) for error in outcomes("interrupt")] == [KeyboardInterrupt] * 2


@T.prim_func
def interrupted():
    T.evaluate(T.call_extern("int32", "raise", 2))
    T.call_packed("tests.packed.record")


def test_an_interrupt_that_waited_for_code_to_call_python_is_not_lost(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    with pytest.raises(KeyboardInterrupt):
        compile_prim_func(interrupted)()


@T.prim_func
def recording():
    T.call_packed("tests.packed.record")


def test_without_room_for_python_it_is_the_stack_that_was_full(monkeypatch):
    callback = external.PackedCallback
    monkeypatch.setattr(callback, "run", lambda self, address: None)  # it never began
    monkeypatch.setattr(external, "_has_room", lambda count: False)
    with pytest.raises(VMError, match="nest deeper than Python allows") as caught:
        compile_prim_func(recording)()
    assert caught.value.code == "RX0609"
    assert caught.value.span.text == 'T.call_packed("tests.packed.record")'


@T.prim_func
def again():
    T.call_packed("tests.packed.again")


def test_a_stack_that_is_full_where_code_calls_python_is_no_success(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda told: None)
    kernel, depth = compile_prim_func(again), []

    @register_func("tests.packed.again", override=True)
    def deeper():
        depth.append(None)
        kernel()

    with pytest.raises(VMError, match="nest deeper than Python allows") as caught:
        kernel()
    assert caught.value.code == "RX0609"
    assert len(depth) > 20


@pytest.mark.parametrize(
    ("word", "kind"),
    [("text", "a string"), ("float", "a float"), ("array", "a tensor of shape (2,)")],
)
def test_what_it_returns_is_an_int32(word, kind):
    assert list(outcomes("large")) == [5, 5]
    for error in outcomes(word):
        assert isinstance(error, VMError)
        assert error.code == "RX0614"
        assert f"returned {kind}" in str(error)
        assert "but a PrimFunc gets an int32 or None" in str(error)
        assert error.span.text.startswith("T.call_packed")


KEPT = []


class Cycle:
    """Garbage that holds an array until it is collected."""

    def __init__(self, array):
        self.array, self.itself = array, self


@pytest.mark.slow
@pytest.mark.parametrize(
    "keep", [KEPT.append, lambda x: KEPT.append(x[:, 0]), lambda x: KEPT.append(memoryview(x))]
)
def test_an_array_over_memory_that_may_be_gone_soon_is_not_kept(keep):
    func = from_source(
        """@T.prim_func
def f(x: T.Buffer(("n", 4), "float32")):
    T.call_packed("tests.packed.keep", x)
"""
    )
    x = np.ones((3, 4), "float32")
    for run in (lambda: evaluate(func, [x]), lambda: compile_prim_func(func)(x)):
        register_func("tests.packed.keep", lambda x: keep(x) and None, override=True)
        with pytest.raises(VMError, match="keeps an array over the memory of the") as caught:
            run()
        KEPT.clear()
        assert caught.value.code == "RX0614"
        assert caught.value.span.text.startswith("T.call_packed(")
        assert "`array.copy()` may be kept" in str(caught.value)
        for harmless in (lambda x: KEPT.append(x.copy()), lambda x: Cycle(x) and None):
            register_func("tests.packed.keep", harmless, override=True)
            run()
        KEPT.clear()


def test_each_thread_gets_its_own_error():
    func = from_source(
        """@T.prim_func
def f(k: T.int32):
    T.call_packed("tests.packed.thread", k)
"""
    )
    kernel, found = compile_prim_func(func), {}

    @register_func("tests.packed.thread", override=True)
    def fail(k):
        raise ValueError(str(k))

    def run(k):
        try:
            kernel(k)
        except VMError as error:
            found[k] = str(error.__cause__)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: str(k) for k in range(8)}


def test_a_function_that_nobody_registered_is_missed():
    func = from_source('@T.prim_func\ndef f():\n    T.call_packed("tests.packed.duoble")\n')
    for run in (lambda: evaluate(func, []), compile_prim_func(func)):
        with pytest.raises(VMError, match=r"tests\.packed\.duoble"):
            run()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('T.call_packed("f", x[0:4])', "cannot take values of float32x4"),
        ('T.call_packed("f", x.data)', "cannot take values of handle"),
        ('y = T.decl_buffer((2,), data=x.data, strides=[2])\nT.call_packed("f", y)',
         "takes arrays that are compact"),
    ],
)  # fmt: skip
def test_what_no_packed_function_takes_is_refused(text, message):
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    func = from_source(f'@T.prim_func\ndef f(x: T.Buffer((4,), "float32")):\n{lines}')
    for run in (lambda: evaluate(func, [np.ones(4, "float32")]), lambda: compile_prim_func(func)):
        with pytest.raises(DiagnosticError, match=message):
            run()
