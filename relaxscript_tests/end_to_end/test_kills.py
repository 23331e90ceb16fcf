"""Values that a program gives back: executors let go of them, and of nothing else."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

from relaxscript.runtime import register_func, remove_global_func
from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import every_executor


class Thing:
    """An object that can be watched."""


@pytest.fixture
def watched():
    """`test.make` makes an object, `test.alive` says how many somebody still holds."""
    made = []

    def make():
        thing = Thing()
        made.append(weakref.ref(thing))
        return thing

    register_func("test.make", make)
    register_func("test.alive", lambda: np.array(sum(ref() is not None for ref in made)))
    yield
    remove_global_func("test.make")
    remove_global_func("test.alive")


@every_executor
@pytest.mark.parametrize("other", ["x", "(x, (x,))"])
def test_a_value_is_gone_when_all_its_variables_are_killed(load, other, watched):
    mod = from_source(
        f"""
@I.ir_module
class M:
    @R.function(pure=False)
    def main():
        x = R.call_packed("test.make", sinfo_args=R.Object)
        y = {other}
        n = R.call_packed("test.alive", sinfo_args=R.Tensor((), "int64"))
        R.vm.kill_object(x)
        m = R.call_packed("test.alive", sinfo_args=R.Tensor((), "int64"))
        R.vm.kill_object(y)
        k = R.call_packed("test.alive", sinfo_args=R.Tensor((), "int64"))
        return (n, m, k)
"""
    )
    assert [int(n) for n in load(mod).main()] == [1, 1, 0]


@every_executor
def test_a_closure_and_what_it_captured_are_killed(load, watched):
    mod = from_source(
        """
@I.ir_module
class M:
    @R.function(pure=False)
    def main():
        x = R.call_packed("test.make", sinfo_args=R.Object)
        @R.function
        def f() -> R.Object:
            return x
        R.vm.kill_object(x)
        n = R.call_packed("test.alive", sinfo_args=R.Tensor((), "int64"))
        y = f()
        R.vm.kill_object(y)
        R.vm.kill_object(f)
        m = R.call_packed("test.alive", sinfo_args=R.Tensor((), "int64"))
        return (n, m)
"""
    )
    assert [int(n) for n in load(mod).main()] == [1, 0]


@every_executor
def test_a_shape_that_is_killed_can_be_made_again(load):
    mod = from_source(
        """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        s = R.shape([n, 1])
        R.vm.kill_object(s)
        y = R.reshape(x, R.shape([n, 1]))
        return y
"""
    )
    assert load(mod).main(np.ones(3, "float32")).shape == (3, 1)


@every_executor
def test_a_value_that_has_another_variable_survives_the_kill_of_one(load):
    mod = from_source(
        """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
        y = x
        R.vm.kill_object(x)
        z = R.add(y, y)
        if c:
            R.memory.kill_tensor(z)
            w = y
        else:
            u = R.add(z, z)
            R.memory.kill_tensor(z)
            w = u
        return w
"""
    )
    x = np.ones(2, "float32")
    run = load(mod).main
    np.testing.assert_array_equal(run(x, np.array(True)), [1, 1])
    np.testing.assert_array_equal(run(x, np.array(False)), [4, 4])


@every_executor
def test_what_is_killed_is_the_null_object_afterwards(load):
    mod = from_source(
        """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Object) -> R.Object:
        R.vm.kill_object(x)
        return x
"""
    )
    assert load(mod).main("text") is None


@every_executor
@pytest.mark.parametrize("condition", [True, False])
def test_each_branch_may_kill_a_value(load, condition, watched):
    mod = from_source(
        """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(c: R.Tensor((), "bool")):
        x = R.call_packed("test.make", sinfo_args=R.Object)
        y = x
        if c:
            R.vm.kill_object(x)
            n = R.call_packed("test.alive", sinfo_args=R.Tensor((), "int64"))
        else:
            R.vm.kill_object(x)
            n = R.call_packed("test.alive", sinfo_args=R.Tensor((), "int64"))
        z = R.call_packed("test.make", sinfo_args=R.Object)
        if c:
            R.vm.kill_object(z)
            m = R.call_packed("test.alive", sinfo_args=R.Tensor((), "int64"))
        else:
            R.vm.kill_object(z)
            m = R.call_packed("test.alive", sinfo_args=R.Tensor((), "int64"))
        return (y, n, m)
"""
    )
    thing, alive, later = load(mod).main(np.array(condition))
    assert isinstance(thing, Thing)
    assert alive == 1
    assert later == 1


@every_executor
def test_a_closure_still_has_what_it_captured_when_that_is_killed(load):
    mod = from_source(
        """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(p: R.Object):
        x = p
        @R.function
        def f() -> R.Object:
            return x
        R.vm.kill_object(x)
        R.vm.kill_object(p)
        y = f()
        return y
"""
    )
    assert load(mod).main("text") == "text"
