"""Making a failing program small."""

from __future__ import annotations

import pytest

from relaxscript.analysis import well_formed
from relaxscript.ir.relax import Call
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.walk import walk
from relaxscript.script import from_source
from relaxscript.testing import reduce
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples

LARGE = from_source("""
@I.ir_module
class M:
    @R.function
    def other(x: R.Tensor((64, 7), "float32")):
        return R.exp(x)

    @R.function
    def main(x: R.Tensor((64, 32), "float32"), w: R.Tensor((32, 64), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.nn.relu(a)
            c = R.tanh(b)
            d = R.sin(c)
            e = R.matmul(d, w)
            R.output(d, e)
        f = R.negative(d)
        return (e, f)
""")


def calls(name):
    def has(mod):
        nodes = (node for f in mod.functions.values() for node in walk(f))
        return any(isinstance(n, Call) and n.op.name == name for n in nodes)

    return has


def test_what_the_failure_does_not_need_goes():
    small = reduce(LARGE, calls("relax.tanh"))
    expected = from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((1, 1), "float32"), w: R.Tensor((1, 1), "float32")):
        c = R.tanh(x)
        return c
""")
    assert_structural_equal(small, expected)


def test_what_the_failure_needs_stays():
    small = reduce(LARGE, lambda mod: calls("relax.sin")(mod) and calls("relax.matmul")(mod))
    assert calls("relax.sin")(small)
    assert calls("relax.matmul")(small)
    assert sum(len(block.bindings) for block in small["main"].body.blocks) == 2


def test_a_failure_that_is_another_does_not_count():
    def picky(mod):
        if "other" not in mod:
            raise KeyError
        return calls("relax.tanh")(mod)

    assert "other" in reduce(LARGE, picky)


def test_a_module_that_does_not_fail_is_refused():
    with pytest.raises(ValueError, match="`still_fails` is not true for the module itself"):
        reduce(LARGE, lambda mod: False)


def test_random_programs_stay_well_formed_and_failing():
    for seed in range(examples(30)):
        mod = random_module(seed)
        before = mod.script(show_meta=True)
        names = {
            n.op.name
            for f in mod.relax_functions().values()
            for n in walk(f)
            if isinstance(n, Call) and hasattr(n.op, "name")
        }
        if not names:
            continue
        name = sorted(names)[0]

        def has(made, name=name):
            assert well_formed(made)
            nodes = (n for f in made.relax_functions().values() for n in walk(f))
            return any(isinstance(n, Call) and getattr(n.op, "name", "") == name for n in nodes)

        small = reduce(mod, has)
        assert has(small)
        assert len(small.script()) <= len(mod.script())
        assert mod.script(show_meta=True) == before
