"""What an instrument does wrong is told as its own failure."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime import PackedFunc, VMInstrumentReturnKind
from relaxscript.runtime.debug.instrument import instrument_function


class Watch:
    """A callable without a name of its own."""

    def __call__(self, function, name, before, result, *args):
        raise ValueError("no paper")


def calls_of(instrument):
    """How often the function ran, and what the watched function gave."""
    ran = []
    call = instrument_function(instrument, "test.f", lambda x: ran.append(x) or x + 1)
    return call(1), len(ran)


@pytest.mark.parametrize("answer", [None, 0, False, np.int64(0), VMInstrumentReturnKind.NO_OP])
def test_a_call_goes_on_unless_the_instrument_leaves_it_out(answer):
    assert calls_of(lambda *told: answer) == (2, 1)


@pytest.mark.parametrize("answer", [1, True, np.array(1), VMInstrumentReturnKind.SKIP_RUN])
def test_a_call_that_is_left_out_gives_none(answer):
    assert calls_of(lambda *told: answer) == (None, 0)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("no", "a string"),
        (0.0, "a float"),
        (2, "an int"),
        (np.zeros(2, "int8"), "a tensor of shape"),
    ],
)
def test_an_answer_that_is_none_of_these_is_refused(answer, words):
    def ask(*told):
        return answer

    with pytest.raises(VMError, match=f"the instrument `ask` answered {words}") as caught:
        calls_of(ask)
    assert caught.value.code == "RX0605"
    assert "it answers NO_OP (0), SKIP_RUN (1) or None" in str(caught.value)


@pytest.mark.parametrize(
    ("instrument", "name"), [(Watch(), "Watch"), (PackedFunc("my.watch", Watch()), "my.watch")]
)
def test_what_an_instrument_raises_names_it_and_the_call(instrument, name):
    with pytest.raises(VMError, match=f"`{name}` raised ValueError: no paper") as caught:
        calls_of(instrument)
    assert caught.value.code == "RX0604"
    assert "it is the instrument, at a call of `test.f`" in str(caught.value)


def test_what_the_function_raises_is_not_the_instruments():
    with pytest.raises(ZeroDivisionError):
        instrument_function(lambda *told: None, "test.f", lambda: 1 // 0)()
