"""What packed functions do wrong, or unusually, at every kind of call, on every executor.

A site is a call in a program, a fault is what the function `test.f` does there. The program calls
it twice, so that what the first call leaves behind meets the second. Whatever happens, the same
program runs right afterwards and holds on to nothing.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime import (
    PackedFunc,
    get_global_func,
    register_func,
    remove_global_func,
)
from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import EXECUTORS, every_executor

INFO = 'R.Tensor((n,), "float32")'
SITES = {
    "call_packed": f'R.call_packed("test.f", {{}}, sinfo_args={INFO})',
    "call_pure_packed": f'R.call_pure_packed("test.f", {{}}, sinfo_args={INFO})',
    "call_dps_packed": f'R.call_dps_packed("test.f", ({{}},), out_sinfo={INFO})',
    "call_inplace_packed": f'R.call_inplace_packed("test.f", {{}}, inplace_indices=[0], '
    f"sinfo_args={INFO})",
    "an ExternFunc": f'R.call_packed(R.ExternFunc("test.f"), {{}}, sinfo_args={INFO})',
    "invoke_closure": f"R.invoke_closure(f, ({{}},), sinfo_args={INFO})",
    "call_dps_packed of a value": f"R.call_dps_packed(f, ({{}},), out_sinfo={INFO})",
    "call_inplace_packed of a value": "R.call_inplace_packed(f, {}, inplace_indices=[0], "
    f"sinfo_args={INFO})",
    "T.call_packed": f"R.call_tir(cls.kernel, ({{}},), {INFO})",
}
BY_VALUE = {name for name, call in SITES.items() if "(f, " in call}
WRITING = {"call_dps_packed", "call_dps_packed of a value", "T.call_packed"}
IN_PLACE = {"call_inplace_packed", "call_inplace_packed of a value"}
IN_KERNEL = 'T.call_packed("test.f", a, b)'
PROGRAM = """
@I.ir_module
class Site:
    @T.prim_func
    def kernel(a: T.Buffer(("n",), "float32"), b: T.Buffer(("n",), "float32")):
        {in_kernel}

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), f: R.Object) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Site
        first = {first}
        second = {second}
        return second

    @R.function
    def other(x: R.Tensor(("n",), "float32")):
        y = R.add(x, x)
        return y
"""


def call_of(site: str, x: str) -> str:
    return SITES[site].format(x)


@cache
def model_of(site: str, executor: str) -> Any:
    text = PROGRAM.format(
        first=call_of(site, "x"), second=call_of(site, "first"), in_kernel=IN_KERNEL
    )
    return EXECUTORS[executor](from_source(text))


def put(out: Any, value: Any) -> Any:
    """The result where the function returns one, else written where it belongs."""
    if out is None:
        return value
    out[...] = value
    return None


def raising(error: type[BaseException]) -> Any:
    raise error("out of paper")


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


def removed(name: str) -> None:
    if get_global_func(name, allow_missing=True) is not None:
        remove_global_func(name)


def removing(out: Any, value: Any) -> Any:
    removed("test.f")
    return put(out, value)


class Fault(NamedTuple):
    """What the function does with its argument, its destination (or None) and the machine.

    `outcome` is what the program gives then, from its argument, or the code of the failure.
    """

    act: Callable[[Any, Any, Any], Any]
    outcome: Callable[[Any], Any] | str | type[BaseException]


FAULTS = {
    "an exception": Fault(lambda x, out, vm: raising(ValueError), "RX0604"),
    "an interrupt": Fault(lambda x, out, vm: raising(KeyboardInterrupt), KeyboardInterrupt),
    "a wrong dtype": Fault(lambda x, out, vm: (x + 1).astype("float64"), "RX0605"),
    "a wrong shape": Fault(lambda x, out, vm: np.append(x + 1, np.float32(0)), "RX0605"),
    "a wrong rank": Fault(lambda x, out, vm: (x + 1)[None], "RX0605"),
    "None": Fault(lambda x, out, vm: None, "RX0605"),
    "a strided array": Fault(
        lambda x, out, vm: put(out, np.repeat(x + 1, 2)[::2]), lambda x: x + 2
    ),
    "a read-only array": Fault(lambda x, out, vm: put(out, read_only(x + 1)), lambda x: x + 2),
    "foreign byte order": Fault(
        lambda x, out, vm: put(out, (x + 1).astype(">f4")), lambda x: x + 2
    ),
    "its argument": Fault(lambda x, out, vm: put(out, x), lambda x: x),
    "a call of the machine": Fault(lambda x, out, vm: put(out, vm.other(x)), lambda x: 4 * x),
    "its own removal": Fault(lambda x, out, vm: removing(out, x + 1), "RX0603"),
}


def outcome_of(site: str, fault: str) -> Callable[[Any], Any] | str | type[BaseException]:
    """What is particular about a site: a result that it has no use for, or no need of."""
    outcome = FAULTS[fault].outcome
    if fault == "None" and site in WRITING:
        return np.zeros_like
    if fault == "None" and site in IN_PLACE:
        return lambda x: x
    if fault == "its own removal" and site in BY_VALUE:
        return lambda x: x + 2
    if site == "T.call_packed" and outcome == "RX0605":
        return "RX0614"
    return outcome


class Watched:
    """`test.f`, which does `act`; it remembers weakly which arrays went through it."""

    __name__ = "test.f"

    def __init__(self, act: Callable[[Any, Any, Any], Any], writes: bool, vm: Any) -> None:
        self.act, self.writes, self.vm = act, writes, vm
        self.seen: list[weakref.ref[Any]] = []

    def __call__(self, *args: Any) -> Any:
        x, out = args if self.writes else (args[0], None)
        result = self.act(x, out, self.vm)
        passed = [*args, result]
        self.seen += [weakref.ref(array) for array in passed if isinstance(array, np.ndarray)]
        return result


def called(model: Any, function: Any) -> tuple[Any, list[weakref.ref[Any]]]:
    """What the program gives, and its argument weakly; `function` is registered and passed."""
    register_func("test.f", function, override=True)
    x = np.array([1, 2, 3], "float32")
    return model.main(x, PackedFunc("test.f", function)), [weakref.ref(x)]


def alive(held: list[weakref.ref[Any]]) -> list[weakref.ref[Any]]:
    """Those of which something still holds the array."""
    if any(ref() is not None for ref in held):
        gc.collect()
    return [ref for ref in held if ref() is not None]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_fault_at_a_site_is_named_or_harmless_and_leaves_nothing(executor, site, fault):
    model = model_of(site, executor)
    function = Watched(FAULTS[fault].act, site in WRITING, model)
    outcome = outcome_of(site, fault)
    held = function.seen
    if callable(outcome) and not isinstance(outcome, type):
        result, more = called(model, function)
        np.testing.assert_array_equal(result, outcome(np.array([1, 2, 3], "float32")))
        assert (result.dtype, result.dtype.isnative) == (np.float32, True)
        held += [*more, weakref.ref(result)]
        del result
    elif isinstance(outcome, str):
        with pytest.raises(VMError) as caught:
            called(model, function)
        error = caught.value
        assert error.code == outcome
        assert "`test.f`" in error.diagnostic.message or "of `f` is" in error.diagnostic.message
        place = call_of(site, "first" if outcome == "RX0603" else "x")
        assert error.span.text == (IN_KERNEL if site == "T.call_packed" else place)
        del error, caught
    else:
        with pytest.raises(outcome):
            called(model, function)
    assert alive(held) == []
    right = Watched(lambda x, out, vm: put(out, x + 1), site in WRITING, model)
    np.testing.assert_array_equal(called(model, right)[0], [3, 4, 5])


FAILING = [
    (site, fault) for site in SITES for fault in FAULTS if isinstance(outcome_of(site, fault), str)
]


@pytest.mark.parametrize(("site", "fault"), FAILING)
def test_all_executors_say_the_same_of_a_fault(site, fault):
    told = set()
    for executor in EXECUTORS:
        model = model_of(site, executor)
        with pytest.raises(VMError) as caught:
            called(model, Watched(FAULTS[fault].act, site in WRITING, model))
        told.add(str(caught.value))
    assert len(told) == 1


@every_executor
@pytest.mark.parametrize("site", ["call_dps_packed", "call_dps_packed of a value"])
def test_a_destination_that_is_made_another_array_is_refused(load, site):
    function = Watched(lambda x, out, vm: out.resize((2, 3), refcheck=False), True, None)
    model = load(from_source(PROGRAM.format(
        first=call_of(site, "x"), second=call_of(site, "first"), in_kernel=IN_KERNEL
    )))  # fmt: skip
    with pytest.raises(VMError, match="is 2; must be 1") as caught:
        called(model, function)
    assert caught.value.code == "RX0605"
    assert caught.value.diagnostic.message.startswith("`ndim` of the result of `")


# ---------------------------------------------------------------- instruments

WATCHING = [executor for executor in EXECUTORS if executor != "interpreter"]
INSTRUMENTS = {
    "an exception": Fault(lambda x, name, vm: raising(ValueError), "RX0604"),
    "an interrupt": Fault(lambda x, name, vm: raising(KeyboardInterrupt), KeyboardInterrupt),
    "a wrong dtype": Fault(lambda x, name, vm: 0.5, "RX0605"),
    "a wrong shape": Fault(lambda x, name, vm: np.ones(2, "int64"), "RX0605"),
    "a wrong rank": Fault(lambda x, name, vm: np.ones((1, 2), "int64"), "RX0605"),
    "another number": Fault(lambda x, name, vm: 7, "RX0605"),
    "None": Fault(lambda x, name, vm: None, lambda x: x + 2),
    "a number of numpy": Fault(lambda x, name, vm: np.int8(0), lambda x: x + 2),
    "a read-only array": Fault(
        lambda x, name, vm: read_only(np.zeros((), "int8")), lambda x: x + 2
    ),
    "a call of the machine": Fault(lambda x, name, vm: (vm.other(x), None)[1], lambda x: x + 2),
    "its removal": Fault(lambda x, name, vm: removed("test.f"), "RX0603"),
}


@pytest.mark.parametrize("fault", INSTRUMENTS)
@pytest.mark.parametrize("site", [site for site in SITES if site != "T.call_packed"])
@pytest.mark.parametrize("executor", WATCHING)
def test_a_fault_of_an_instrument_is_its_own_and_leaves_nothing(executor, site, fault):
    model, held = model_of(site, executor), list[weakref.ref[Any]]()
    act, outcome = INSTRUMENTS[fault]
    if fault == "its removal" and site in BY_VALUE:
        outcome = FAULTS["a strided array"].outcome  # the program holds the function itself

    def watch(function, name, before, result, *args):
        if name != "test.f" or not before:
            return None
        held.extend(weakref.ref(array) for array in args if isinstance(array, np.ndarray))
        return act(args[0], name, model)

    right = Watched(lambda x, out, vm: put(out, x + 1), site in WRITING, model)
    model.set_instrument(watch)
    try:
        if isinstance(outcome, str):
            with pytest.raises(VMError) as caught:
                called(model, right)
            error = caught.value
            assert error.code == outcome
            assert ("`test.f`" if outcome == "RX0603" else "`watch`") in error.diagnostic.message
            assert error.span.text == call_of(site, "x")
            del error, caught
        elif isinstance(outcome, type):
            with pytest.raises(outcome):
                called(model, right)
        else:
            np.testing.assert_array_equal(called(model, right)[0], [3, 4, 5])
    finally:
        model.set_instrument(None)
    assert alive([*held, *right.seen]) == []
    np.testing.assert_array_equal(called(model, right)[0], [3, 4, 5])


@pytest.mark.parametrize("executor", WATCHING)
def test_a_watched_function_that_returns_what_it_should_write_is_refused(executor):
    model = model_of("call_dps_packed", executor)
    model.set_instrument(lambda *told: None)
    try:
        with pytest.raises(VMError, match=r"`test\.f` returned its result") as caught:
            called(model, lambda x, out: x + 1)
    finally:
        model.set_instrument(None)
    assert caught.value.code == "RX0605"
