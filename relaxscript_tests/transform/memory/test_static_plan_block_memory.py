"""Which storage each tensor lies in: what is proved to fit is used again, nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.ir.relax import Call, Function, If, SeqExpr, Var
from relaxscript.ir.walk import variables, walk
from relaxscript.op import builtin, memory
from relaxscript.opdef import Tensor, op, remove_op
from relaxscript.runtime import register_func, remove_global_func
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript.transform import LegalizeOps, Sequential, StaticPlanBlockMemory
from relaxscript_tests import examples
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.memory.planning import ARGS, plan, program


def stays(lines: str) -> None:
    """Check that no tensor of a program that is named `a` is put in a storage."""
    made = StaticPlanBlockMemory()(from_source(program(lines)))
    calls = {
        node.var.name_hint: node.value
        for node in walk(made["main"])
        if hasattr(node, "var") and isinstance(getattr(node, "value", None), Call)
    }
    assert calls["a"].op == builtin.alloc_tensor.op


# -- reuse -----------------------------------------------------------------------------------------


def test_a_tensor_lies_where_another_has_had_its_last_use():
    plan(
        """
        a = new(4)
        cls.head(x, a)
        b = new(4)
        cls.exp(a, b)
        d = new(4)
        cls.exp(b, d)
        r = R.add(d, d)
        return r
        """,
        """
        s1 = store(16)
        a = new(4) in s1
        cls.head(x, a)
        s2 = store(16)
        b = new(4) in s2
        cls.exp(a, b)
        d = new(4) in s1
        cls.exp(b, d)
        r = R.add(d, d)
        return r
        """,
    )


def test_a_storage_of_known_size_grows_for_what_comes_later():
    plan(
        """
        a = new(2)
        cls.head(x, a)
        b = new(2)
        cls.exp(a, b)
        d = new(6)
        cls.head(b, d)
        r = R.add(d, d)
        return r
        """,
        """
        s1 = store(24)
        a = new(2) in s1
        cls.head(x, a)
        s2 = store(8)
        b = new(2) in s2
        cls.exp(a, b)
        d = new(6) in s1
        cls.head(b, d)
        r = R.add(d, d)
        return r
        """,
    )


def test_a_storage_is_not_wasted_on_what_is_much_smaller():
    plan(
        """
        a = new(100)
        cls.head(x, a)
        r = R.sum(a)
        b = new(2)
        cls.head(x, b)
        r2 = R.sum(b)
        return (r, r2)
        """,
        """
        s1 = store(400)
        a = new(100) in s1
        cls.head(x, a)
        r = R.sum(a)
        s2 = store(8)
        b = new(2) in s2
        cls.head(x, b)
        r2 = R.sum(b)
        return (r, r2)
        """,
    )


def test_symbolic_sizes_share_a_storage_where_one_is_proved_to_suffice():
    plan(
        """
        a = new(n * 2)
        cls.head(x, a)
        r = R.sum(a)
        b = new(n)
        cls.head(x, b)
        r2 = R.sum(b)
        d = new(n + n)
        cls.head(x, d)
        r3 = R.sum(d)
        return (r, r2, r3)
        """,
        """
        s1 = store(n * 8)
        a = new(n * 2) in s1
        cls.head(x, a)
        r = R.sum(a)
        b = new(n) in s1
        cls.head(x, b)
        r2 = R.sum(b)
        d = new(n + n) in s1
        cls.head(x, d)
        r3 = R.sum(d)
        return (r, r2, r3)
        """,
    )


def test_a_storage_of_symbolic_size_does_not_grow_and_is_not_used_where_nothing_is_proved():
    plan(
        """
        a = new(n)
        cls.head(x, a)
        r = R.sum(a)
        b = new(m)
        cls.exp(y, b)
        r2 = R.sum(b)
        d = new(n + m)
        cls.head(x, d)
        r3 = R.sum(d)
        return (r, r2, r3)
        """,
        """
        s1 = store(n * 4)
        a = new(n) in s1
        cls.head(x, a)
        r = R.sum(a)
        s2 = store(m * 4)
        b = new(m) in s2
        cls.exp(y, b)
        r2 = R.sum(b)
        s3 = store(n * 4 + m * 4)
        d = new(n + m) in s3
        cls.head(x, d)
        r3 = R.sum(d)
        return (r, r2, r3)
        """,
    )


# -- what is not planned ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        "return a",
        "return (x, a)",
        "b = a\nreturn b",
        '_ = R.call_packed("test.keep", a, sinfo_args=R.Object)\nreturn x',
        '_ = R.call_packed("test.keep", (x, a), sinfo_args=R.Object)\nreturn x',
        "b = R.reshape(a, R.shape([2, 2]))\n"
        '_ = R.call_packed("test.keep", b, sinfo_args=R.Object)\nreturn x',
        'b = R.call_inplace_packed("test.keep", a, inplace_indices=[0], '
        'sinfo_args=R.Tensor((4,), "float32"))\nr = R.add(b, b)\nreturn r',
        'b = R.call_dps_packed("test.keep", (a,), out_sinfo=R.Tensor((4,), "float32"))\nreturn x',
        "_ = cls.same(a)\nreturn x",
        "b = R.invoke_closure(cls.same, (a,), sinfo_args=R.Object)\nreturn x",
        "f = R.make_closure(cls.same, (a,))\nreturn x",
        "@R.function\ndef f(z: R.Object) -> R.Object:\n    w = R.add(a, a)\n    return w\nreturn x",
        "b = new(4)\ncls.tell(a, b)\nreturn b",
        "if c:\n    r = a\nelse:\n    r = R.exp(a)\nreturn r",
        "R.vm.kill_object(a)\nreturn x",
    ],
)
def test_what_others_may_have_stays_in_memory_of_its_own(use):
    stays(f"a = new(4)\ncls.head(x, a)\n{use}")


@pytest.mark.parametrize("traits", [{"as_is"}, {"impure"}])
def test_what_an_operator_may_keep_or_give_as_it_is_stays_in_memory_of_its_own(traits):
    @op("test.keeper", traits=traits)
    def keeper(x: Tensor) -> Tensor:
        return x

    keeper.infer_rule(lambda context, x: x)
    try:
        stays("a = new(4)\ncls.head(x, a)\nb = R.test.keeper(a)\nr = R.sum(b)\nreturn r")
    finally:
        remove_op("test.keeper")


def test_a_tensor_that_is_not_written_whole_at_first_is_zero():
    plan(
        """
        a = new(4)
        cls.head(x, a)
        r = R.sum(a)
        b = new(4)
        cls.add_to_first(x, b)
        r2 = R.sum(b)
        d = new(4)
        e = d
        r3 = R.sum(e)
        cls.head(x, d)
        return (r, r2, r3)
        """,
        """
        s1 = store(16)
        a = new(4) in s1
        cls.head(x, a)
        r = R.sum(a)
        s2 = store(16)
        b = new(4) in s2
        cls.add_to_first(x, b)
        r2 = R.sum(b)
        s3 = store(16)
        d = new(4) in s3
        e = d
        r3 = R.sum(e)
        cls.head(x, d)
        return (r, r2, r3)
        """,
    )


def test_other_names_of_a_tensor_let_it_live_longer():
    plan(
        """
        a = new(4)
        cls.head(x, a)
        t = (a, a)
        b = new(4)
        cls.head(x, b)
        r = R.add(t[0], b)
        d = new(4)
        cls.head(r, d)
        r2 = R.sum(d)
        return r2
        """,
        """
        s1 = store(16)
        a = new(4) in s1
        cls.head(x, a)
        t = (a, a)
        s2 = store(16)
        b = new(4) in s2
        cls.head(x, b)
        r = R.add(t[0], b)
        d = new(4) in s1
        cls.head(r, d)
        r2 = R.sum(d)
        return r2
        """,
    )


# -- branches --------------------------------------------------------------------------------------


def test_branches_use_what_is_free_around_them_and_share_nothing_of_their_own():
    plan(
        """
        a = new(4)
        cls.head(x, a)
        r = R.sum(a)
        if c:
            b = new(4)
            cls.head(x, b)
            d = new(4)
            cls.exp(b, d)
            z = R.sum(d)
        else:
            b = new(4)
            cls.head(x, b)
            z = R.sum(b)
        e = new(4)
        cls.head(x, e)
        f = new(4)
        cls.exp(e, f)
        r2 = R.sum(f)
        return (r, z, r2)
        """,
        """
        s1 = store(16)
        a = new(4) in s1
        cls.head(x, a)
        r = R.sum(a)
        if c:
            b = new(4) in s1
            cls.head(x, b)
            s2 = store(16)
            d = new(4) in s2
            cls.exp(b, d)
            z = R.sum(d)
        else:
            b = new(4) in s1
            cls.head(x, b)
            z = R.sum(b)
        e = new(4) in s1
        cls.head(x, e)
        s3 = store(16)
        f = new(4) in s3
        cls.exp(e, f)
        r2 = R.sum(f)
        return (r, z, r2)
        """,
    )


def test_what_a_branch_uses_last_is_kept_until_behind_the_if():
    plan(
        """
        a = new(4)
        cls.head(x, a)
        if c:
            b = new(4)
            cls.exp(a, b)
            z = R.sum(b)
        else:
            z = R.sum(x)
        e = new(4)
        cls.head(x, e)
        r = R.sum(e)
        return (z, r)
        """,
        """
        s1 = store(16)
        a = new(4) in s1
        cls.head(x, a)
        if c:
            s2 = store(16)
            b = new(4) in s2
            cls.exp(a, b)
            z = R.sum(b)
        else:
            z = R.sum(x)
        e = new(4) in s1
        cls.head(x, e)
        r = R.sum(e)
        return (z, r)
        """,
    )


# -- packed functions ------------------------------------------------------------------------------


@pytest.fixture
def kept():
    """What `test.keep` was given: nobody may write there later."""
    held: list[np.ndarray] = []
    register_func("test.keep", held.append)
    yield held
    remove_global_func("test.keep")


@pytest.mark.parametrize("executor", EXECUTORS)
def test_nobody_writes_into_what_a_packed_function_was_given(executor, kept):
    lines = """
        a = new(4)
        cls.head(x, a)
        _ = R.call_packed("test.keep", a, sinfo_args=R.Object)
        b = new(4)
        cls.head(y, b)
        _ = R.call_packed("test.keep", b, sinfo_args=R.Object)
        d = new(4)
        cls.exp(b, d)
        r = R.sum(d)
        return r
    """
    EXECUTORS[executor](StaticPlanBlockMemory()(from_source(program(lines))))("main", *ARGS)
    np.testing.assert_array_equal(kept[0], ARGS[0])
    np.testing.assert_array_equal(kept[1], [0, 1, 2, 0])


# -- any program -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_random_programs_of_loops_mean_the_same_and_share_storages():
    shared = 0
    for seed in range(examples(200)):
        mod = random_module(seed)
        made = Sequential([LegalizeOps(), StaticPlanBlockMemory()])(mod)
        for function in made.relax_functions().values():
            shared += tensors_in_shared_storages(function)
        inputs = inputs_for(mod["main"], seed)
        legal = LegalizeOps()(mod)
        for name, load in EXECUTORS.items():
            before, after = (observe(load(each), "main", inputs) for each in (legal, made))
            check_outcomes(f"{name} when planned", after, "before", before)
    assert shared


def tensors_in_shared_storages(function: Function) -> int:
    """Check that no storage is named by two tensors whose uses overlap; count what is shared."""
    shared = 0
    for seq in (n for n in walk(function) if isinstance(n, SeqExpr)):
        bindings = [b for block in seq.blocks for b in block.bindings]
        owner: dict[Var, Var] = {}
        names: dict[Var, Var] = {}
        for binding in bindings:
            value = binding.value
            if isinstance(value, Call) and value.op == memory.alloc_tensor.op:
                shared += value.args[0] in owner
                owner[value.args[0]] = binding.var
                names[binding.var] = value.args[0]
            elif not isinstance(value, (If, Function)):
                for var in variables(value):
                    assert var not in names or owner[names[var]] is var
    return shared


@pytest.mark.slow
def test_planning_is_linear_in_the_tensors():
    for line, size in (("a{i} = new(4)", 50), ("a{i} = new(n + {i})", 50)):

        def prepare(count: int, line: str = line):
            lines = []
            for i in range(1, count + 1):
                before = f"a{i - 1}" if i > 1 else "x"
                lines += [line.format(i=i), f"cls.head({before}, a{i})"]
            mod = from_source(program("\n".join([*lines, f"r = R.sum(a{count})", "return r"])))
            return lambda: StaticPlanBlockMemory()(mod)

        assert growth(prepare, size) < 10
