"""Where values are given back: each script shows the kills, and is without them before the pass."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

from relaxscript.ir import relax
from relaxscript.ir.walk import variables, walk
from relaxscript.runtime import PackedFunc, register_func, remove_global_func
from relaxscript.script import from_source
from relaxscript.testing.compare import (
    EXECUTORS,
    assert_same,
    check_executors_agree,
    check_outcomes,
)
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript.transform import CallTIRRewrite, KillAfterLastUse, LowerAllocTensor, Sequential
from relaxscript_tests import examples

MODULE = """
@I.ir_module
class M:
    @T.prim_func
    def inc(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + T.float32(1)

    @R.function(private=True, pure=False)
    def same(x: R.Object) -> R.Object:
        return x

    @R.function(pure=False)
    def main(p: {F4}, c: R.Tensor((), "bool"), o: R.Object):
        cls = M
"""
F4 = 'R.Tensor((4,), "float32")'
ALLOC = 'R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))'
STORE = 'R.memory.alloc_storage(R.shape([32]), R.prim_value(0), "global", R.dtype("uint8"))'
ARGS = (np.arange(4, dtype="float32"), np.array(True), "an object")


def killing(script, *, runs=True):
    """Check that the pass adds the lines with kills, no others, and changes nothing else."""
    lines = script.replace("ALLOC", ALLOC).replace("STORE", STORE).replace("F4", F4).split("\n")
    lines = [line for line in lines if line.strip()]
    indent = len(lines[0]) - len(lines[0].lstrip())
    body = [" " * 8 + line[indent:] for line in lines]
    before, after = (
        from_source("\n".join([MODULE.replace("{F4}", F4), *kept]) + "\n")
        for kept in ([line for line in body if "kill_" not in line], body)
    )
    made = KillAfterLastUse()(before)
    assert_same(made, after)
    assert KillAfterLastUse()(made) is made
    if runs:
        expected = check_executors_agree(before, ARGS)
        check_outcomes("after the pass", check_executors_agree(made, ARGS), "before", expected)


# -- kinds -----------------------------------------------------------------------------------------


def test_tensors_storages_and_other_values_are_killed_each_in_its_way():
    killing("""
        s = STORE
        x = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        cls.inc(p, x)
        y = ALLOC
        cls.inc(x, y)
        R.memory.kill_tensor(x)
        R.memory.kill_storage(s)
        z = R.add(y, p)
        R.memory.kill_tensor(y)
        w = R.add(z, p)
        R.vm.kill_object(z)
        return w
    """)


def test_storage_in_the_words_of_the_virtual_machine_is_killed_as_well():
    killing("""
        s = R.vm.alloc_storage(R.shape([4]), R.prim_value(0), R.dtype("float32"))
        x = R.vm.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        y = R.add(x, p)
        R.memory.kill_tensor(x)
        R.memory.kill_storage(s)
        return y
    """)


def test_what_nobody_uses_is_killed_at_once():
    killing("""
        x = R.exp(p)
        R.vm.kill_object(x)
        return p
    """)


def test_parameters_constants_results_numbers_and_shapes_are_not_killed():
    killing("""
        k = R.const([1, 2, 3, 4], "float32")
        q = p
        s = R.shape_of(p)
        n = R.prim_value(3)
        r = R.add(q, k)
        g = cls.same
        return (r, s, n)
    """)


# -- other names of a value ------------------------------------------------------------------------


def test_another_variable_of_a_value_lets_it_live_longer():
    killing("""
        x = ALLOC
        cls.inc(p, x)
        y = x
        u = R.add(x, p)
        w = R.add(y, u)
        R.vm.kill_object(u)
        R.vm.kill_object(y)
        R.memory.kill_tensor(x)
        return w
    """)


def test_a_tuple_and_its_fields_let_what_is_inside_live_longer():
    killing("""
        x = ALLOC
        y = ALLOC
        t = (x, y)
        cls.inc(x, y)
        f = t[1]
        w = R.add(f, p)
        R.vm.kill_object(f)
        R.vm.kill_object(t)
        R.memory.kill_tensor(y)
        R.memory.kill_tensor(x)
        return w
    """)


def test_what_is_in_a_returned_tuple_is_not_killed():
    killing("""
        x = ALLOC
        t = (x, p)
        cls.inc(p, x)
        return t
    """)


def test_a_match_cast_is_the_same_value():
    killing("""
        x = R.exp(p)
        y = R.match_cast(x, F4)
        w = R.add(y, p)
        R.vm.kill_object(y)
        R.vm.kill_object(x)
        return w
    """)


@pytest.mark.parametrize(
    "view",
    [
        "R.reshape(x, R.shape([2, 2]))",
        "R.expand_dims(x, 0)",
        'R.call_inplace_packed("test.same", x, inplace_indices=[0], sinfo_args=F4)',
        'R.call_packed("test.same", x, sinfo_args=F4)',
        "cls.same(x)",
        "R.invoke_closure(cls.same, (x,), sinfo_args=R.Object)",
    ],
)
def test_what_may_be_the_value_itself_lets_it_live_longer(view, functions):
    killing(f"""
        x = ALLOC
        cls.inc(p, x)
        v = {view}
        _ = R.call_packed("test.look", v, sinfo_args=R.Tuple)
        R.vm.kill_object(v)
        R.memory.kill_tensor(x)
        return p
    """)


def test_an_argument_that_a_kernel_writes_is_the_result_as_well():
    killing("""
        x = ALLOC
        y = R.call_tir_inplace(cls.inc, (p, x), inplace_indices=[1], out_sinfo=F4)
        w = R.add(y, p)
        R.vm.kill_object(y)
        R.memory.kill_tensor(x)
        return w
    """)


def test_the_arguments_of_a_destination_passing_call_do_not_live_on_in_its_result():
    killing("""
        x = R.exp(p)
        y = R.call_tir(cls.inc, (x,), out_sinfo=F4)
        R.vm.kill_object(x)
        w = R.add(y, p)
        R.vm.kill_object(y)
        return w
    """)


def test_what_is_put_into_an_object_lives_as_long_as_that(functions):
    killing(
        """
        l = R.call_packed("test.list", sinfo_args=R.Object)
        x = R.exp(p)
        _ = R.call_packed("test.append", l, x, sinfo_args=R.Tuple)
        w = R.add(p, p)
        _ = R.call_packed("test.look", l, sinfo_args=R.Tuple)
        R.vm.kill_object(x)
        R.vm.kill_object(l)
        return w
    """
    )


def test_what_is_put_into_a_parameter_is_not_killed(functions):
    killing(
        """
        x = R.exp(p)
        _ = R.call_packed("test.look", o, x, sinfo_args=R.Tuple)
        return p
    """
    )


def test_a_storage_lives_as_long_as_the_tensors_cut_from_it():
    killing("""
        s = STORE
        x = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        y = R.memory.alloc_tensor(s, R.prim_value(16), R.shape([4]), R.dtype("float32"))
        cls.inc(p, x)
        cls.inc(x, y)
        R.memory.kill_tensor(x)
        w = R.add(y, p)
        R.memory.kill_tensor(y)
        R.memory.kill_storage(s)
        return w
    """)


def test_the_storage_of_a_returned_tensor_is_not_killed():
    killing("""
        s = STORE
        x = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        cls.inc(p, x)
        return x
    """)


# -- functions and branches ------------------------------------------------------------------------


@pytest.mark.slow
def test_a_closure_lets_what_it_captures_live_longer():
    killing("""
        x = R.exp(p)
        @R.function(pure=False)
        def f(a: F4) -> F4:
            i = R.add(a, x)
            r = R.add(i, a)
            R.vm.kill_object(i)
            return r
        u = R.exp(p)
        w = f(u)
        v = R.add(w, p)
        R.vm.kill_object(w)
        R.vm.kill_object(u)
        R.vm.kill_object(f)
        R.vm.kill_object(x)
        return v
    """)


def test_a_value_that_one_branch_uses_last_is_killed_behind_the_if():
    killing("""
        x = R.exp(p)
        if c:
            i = R.add(x, p)
            j = R.add(i, p)
            R.vm.kill_object(i)
            w = j
        else:
            w = R.log(p)
        R.vm.kill_object(x)
        v = R.add(w, p)
        R.vm.kill_object(w)
        return v
    """)


def test_what_an_if_yields_lives_as_long_as_its_variable():
    killing("""
        x = R.exp(p)
        y = R.log(p)
        if c:
            z = x
        else:
            z = R.add(y, y)
        R.vm.kill_object(y)
        w = R.add(z, p)
        R.vm.kill_object(z)
        R.vm.kill_object(x)
        return w
    """)


# -- kills that are there --------------------------------------------------------------------------


def test_what_the_program_kills_itself_is_left_to_it():
    mod = from_source(
        MODULE.replace("{F4}", F4)
        + "        x = R.exp(p)\n        y = x\n        z = R.add(y, p)\n"
        + "        R.vm.kill_object(x)\n        return z\n"
    )
    assert KillAfterLastUse()(mod) is mod


# -- running ---------------------------------------------------------------------------------------


@pytest.fixture
def functions():
    """Packed functions that keep, return or look at what they are given."""
    made = {
        "test.same": lambda x: x,
        "test.look": lambda *values: None,
        "test.list": list,
        "test.function": lambda: PackedFunc("same", lambda x: x),
        "test.append": lambda values, x: values.append(x),
    }
    for name, function in made.items():
        register_func(name, function)


class Thing:
    """An object that can be watched."""


@pytest.fixture
def watched():
    """`test.make` makes objects, `test.alive` counts those that somebody still holds."""
    made = []

    def make():
        thing = Thing()
        made.append(weakref.ref(thing))
        return thing

    register_func("test.make", make)
    register_func("test.alive", lambda: np.array(sum(ref() is not None for ref in made)))
    yield made
    remove_global_func("test.make")
    remove_global_func("test.alive")


MAKE = 'R.call_packed("test.make", sinfo_args=R.Object)'
ALIVE = 'R.call_packed("test.alive", sinfo_args=R.Tensor((), "int64"))'


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    "lines",
    [
        [f"a = {MAKE}"],
        [f"a = {MAKE}", "b = a", "t = ((a, b), b)", "d = t[0]", "e = d[1]"],
        [f"a = {MAKE}", '_ = R.call_packed("test.look", ((a,),), sinfo_args=R.Tuple)'],
        [f"a = {MAKE}", "b = cls.same(a)", "d = cls.same(b)"],
        [
            f"a = {MAKE}",
            'g = R.call_packed("test.function", sinfo_args=R.Object)',
            "b = R.invoke_closure(g, (a,), sinfo_args=R.Object)",
        ],
        [
            f"a = {MAKE}",
            'b = R.call_inplace_packed("test.same", a, inplace_indices=[0], sinfo_args=R.Object)',
        ],
        ["if c:", f"    a = {MAKE}", "    z = cls.same(a)", "else:", f"    z = {MAKE}"],
        ["if c:", f"    z = ({MAKE},)", "else:", f"    z = ({MAKE},)"],
        [
            f"a = {MAKE}",
            "@R.function(pure=False)",
            "def f() -> R.Object:",
            "    return a",
            "b = f()",
        ],
    ],
)
@pytest.mark.parametrize("condition", [True, False])
def test_killed_values_are_let_go_of(executor, lines, condition, watched, functions):
    body = [*lines, f"n = {ALIVE}", "return n"]
    text = MODULE.replace("{F4}", F4) + "".join(f"        {line}\n" for line in body)
    before = from_source(text)
    after = KillAfterLastUse()(before)
    alive = []
    for mod in (before, after):
        watched.clear()
        run = EXECUTORS[executor](mod)
        alive.append(int(run("main", ARGS[0], np.array(condition), "an object")))
    assert alive == [1, 0]


# -- all of lowering -------------------------------------------------------------------------------

LOWERING = [CallTIRRewrite(), LowerAllocTensor(), KillAfterLastUse()]


def test_calls_are_lowered_down_to_storages_that_are_given_back():
    text = MODULE.replace("{F4}", F4)
    before = from_source(
        text
        + f"        x = R.call_tir(cls.inc, (p,), out_sinfo={F4})\n"
        + f"        y = R.call_tir(cls.inc, (x,), out_sinfo={F4})\n"
        + "        return y\n"
    )
    store, cut = STORE.replace("32", "16"), "R.memory.alloc_tensor"
    shape = 'R.prim_value(0), R.shape([4]), R.dtype("float32")'
    after = from_source(
        text
        + "".join(
            f"        {line}\n"
            for line in [
                f"s = {store}",
                f"a = {cut}(s, {shape})",
                "cls.inc(p, a)",
                f"x: {F4} = a",
                f"t = {store}",
                f"b = {cut}(t, {shape})",
                "cls.inc(x, b)",
                "R.vm.kill_object(x)",
                "R.memory.kill_tensor(a)",
                "R.memory.kill_storage(s)",
                f"y: {F4} = b",
                "return y",
            ]
        )
    )
    made = Sequential(LOWERING)(before)
    assert_same(made, after)
    np.testing.assert_array_equal(check_executors_agree(made, ARGS), [2, 3, 4, 5])


@pytest.mark.slow
def test_random_programs_mean_the_same_when_they_are_lowered():
    for seed in range(examples(200)):
        mod = random_module(seed)
        made = Sequential(LOWERING)(mod)
        check_nothing_is_used_after_its_kill(made)
        inputs = inputs_for(mod["main"], seed)
        expected = check_executors_agree(mod, inputs, executors=["interpreter"])
        check_outcomes("lowered", check_executors_agree(made, inputs), "before", expected)


def check_nothing_is_used_after_its_kill(mod):
    for node in (n for f in mod.relax_functions().values() for n in walk(f)):
        if isinstance(node, relax.SeqExpr):
            killed = set()
            for value in [*(b.value for block in node.blocks for b in block.bindings), node.body]:
                assert not killed & set(variables(value))
                match value:
                    case relax.Call(op=relax.Op(name), args=(var,)) if "kill_" in name:
                        killed.add(var)
