"""What the dispatch loop leaves behind: nothing."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime import Closure, register_func
from relaxscript_tests.runtime.programs import adder, calling, machine


@pytest.fixture
def no_collector():
    """The garbage collector does not help: what is left is held by nobody, at once."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.slow
def test_a_closure_is_gone_with_what_it_captures_when_nobody_holds_it(no_collector):
    vm = machine(adder)
    captured = np.ones(2)
    made = weakref.ref(captured)
    add = vm["make"](captured)
    assert add(np.ones(2)).tolist() == [2.0, 2.0]
    del captured
    assert made() is not None
    del add
    assert made() is None


@pytest.mark.slow
def test_a_machine_keeps_its_functions_and_they_do_not_keep_the_machine(no_collector):
    register_func("test.double", lambda x: x + x)
    vm = machine(calling("test.double"))
    main = vm.main
    assert vm.main is main is vm["main"]
    alive, executable = weakref.ref(vm), weakref.ref(vm.executable)
    del vm
    assert alive() is None
    assert main(np.ones(2)).tolist() == [2.0, 2.0]
    del main
    assert executable() is None


@pytest.mark.slow
def test_a_failing_call_holds_none_of_its_tensors(no_collector):
    def fail(x):
        raise ValueError("no")

    register_func("test.fail", fail)
    vm = machine(calling("test.fail"))
    x = np.ones(2)
    given = weakref.ref(x)
    with pytest.raises(VMError, match=r"`test\.fail` raised ValueError: no"):
        vm.main(x)
    del x
    assert given() is None


def test_a_closure_of_a_machine_is_called_like_any_closure():
    add = machine(adder)["make"](np.ones(2))
    match add:
        case Closure(call=call, name=name):
            assert name == "add"
            assert call(np.ones(2)).tolist() == [2.0, 2.0]
    twice = add.bind((np.full(2, 5.0),))
    assert twice().tolist() == [6.0, 6.0]
