"""Code that loops without a bound ends where a signal wants it to end."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.script import from_source

FOR_EVER = """
@T.prim_func
def count(o: T.Buffer((1,), "int64")):
    while o[0] >= T.int64(0):
        o[0] = (o[0] + T.int64(1)) % T.int64(1000)
"""
IN_A_CALL = """
@I.ir_module
class Module:
    @T.prim_func
    def count(o: T.Buffer((1,), "int64")):
        while o[0] >= T.int64(0):
            o[0] = (o[0] + T.int64(1)) % T.int64(1000)

    @R.function(pure=False)
    def main(x: R.Tensor((1,), "int64")):
        y = R.call_tir_inplace(Module.count, (x,), [0], out_sinfo=R.Tensor((1,), "int64"))
        return y
"""
IN_A_FUNCTION = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def inner(o: T.Buffer((1,), "int64")):
        while o[0] >= T.int64(0):
            o[0] = (o[0] + T.int64(1)) % T.int64(1000)

    @T.prim_func
    def count(o: T.Buffer((1,), "int64")):
        Module.inner(o.data)
"""


class Enough(Exception):
    """What a handler of somebody's own raises."""


@pytest.fixture
def enough() -> Iterator[None]:
    def handler(*_: object) -> None:
        raise Enough

    before = signal.signal(signal.SIGTERM, handler)
    yield
    signal.signal(signal.SIGTERM, before)


def sending(number: int, counter: np.ndarray) -> threading.Thread:
    """A thread that sends this process a signal as soon as the code counts."""

    def send() -> None:
        while not counter[0]:
            pass
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


@pytest.mark.slow
def test_an_interrupt_ends_a_loop_without_a_bound():
    kernel, counter = compile_prim_func(from_source(FOR_EVER)), np.zeros(1, "int64")
    thread = sending(signal.SIGINT, counter)
    with pytest.raises(KeyboardInterrupt):
        kernel(counter)
    thread.join()
    assert counter[0] >= 0


@pytest.mark.slow
def test_what_the_handler_of_a_signal_raises_ends_it(enough):
    kernel = compile_prim_func(from_source(FOR_EVER))
    for _ in range(2):
        counter = np.zeros(1, "int64")
        thread = sending(signal.SIGTERM, counter)
        with pytest.raises(Enough):
            kernel(counter)
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("text", [IN_A_CALL, IN_A_FUNCTION])
def test_an_interrupt_ends_it_wherever_it_is_called(text):
    module, counter = from_source(text), np.zeros(1, "int64")
    model = rx.jit(module)
    thread = sending(signal.SIGINT, counter)
    with pytest.raises(KeyboardInterrupt):
        model["main" if "main" in text else "count"](counter)
    thread.join()


@pytest.mark.slow
def test_code_in_another_thread_goes_on_while_the_main_one_is_interrupted():
    text = FOR_EVER.replace(">= T.int64(0)", "< T.int64(2000000000)")
    text = text.replace("% T.int64(1000)", "^ T.int64(0)")
    kernel, counter = compile_prim_func(from_source(text)), np.zeros(1, "int64")
    thread = threading.Thread(target=kernel, args=(counter,))
    thread.start()
    while not counter[0]:
        pass
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    thread.join()
    assert counter[0] == 2000000000


def test_a_loop_of_few_rounds_runs_to_its_end():
    text = FOR_EVER.replace(">= T.int64(0)", "< T.int64(999)")
    counter = np.zeros(1, "int64")
    compile_prim_func(from_source(text))(counter)
    assert counter[0] == 999
