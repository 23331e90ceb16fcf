"""Structural equality and hashing, renaming and substitution: the laws that they obey."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies

from relaxscript.ir import prim, relax
from relaxscript.ir.structural_equality import structural_equal, structural_hash
from relaxscript.ir.tir import Buffer
from relaxscript.ir.walk import bound_vars, free_vars, rewrite, substitute, walk
from relaxscript.testing.prim_funcs import prim_funcs
from relaxscript.testing.programs import functions, random_module
from relaxscript_tests import examples

pytestmark = pytest.mark.slow

programs = strategies.one_of(functions(), prim_funcs())


def renamed(program: Any) -> Any:
    """The same program with other variables, all of them called alike."""
    scalars = [v for v in bound_vars(program) if isinstance(v, prim.Var)]
    program = substitute(program, {v: prim.Var("q", v.dtype, v.type_annotation) for v in scalars})
    others: dict[Any, Any] = {}
    for variable in bound_vars(program):
        match variable:
            case relax.Var():
                # A variable that was renamed before may hold the shape of this one.
                info = variable.struct_info
                known = None if info is None else substitute(info, others)
                others[variable] = type(variable)("q", known)
            case Buffer():
                others[variable] = variable.replace(name=variable.name + "q")
    return substitute(program, others)


@given(programs)
def test_a_program_equals_itself(program):
    assert structural_equal(program, program)
    assert structural_hash(program) == structural_hash(program)


@given(programs)
def test_names_do_not_matter(program):
    other = renamed(program)
    assert other is not program
    assert structural_equal(program, other)
    assert structural_equal(other, program)
    assert structural_hash(program) == structural_hash(other)


@given(programs, programs)
def test_the_hash_agrees_with_equality(first, second):
    if structural_equal(first, second):
        assert structural_hash(first) == structural_hash(second)
    assert structural_equal(first, second) == structural_equal(second, first)


def test_different_programs_hash_differently():
    mods = [random_module(seed) for seed in range(examples(1000))]
    hashes = {structural_hash(mod) for mod in mods}
    different = sum(
        not any(structural_equal(mod, other) for other in mods[:i]) for i, mod in enumerate(mods)
    )
    assert len(hashes) == different > 90


@given(programs)
def test_pickling_keeps_a_program(program):
    assert structural_equal(pickle.loads(pickle.dumps(program)), program)


@given(functions(), strategies.data())
def test_one_changed_number_is_seen(function, data):
    numbers = [n for n in walk(function) if isinstance(n, (prim.IntImm, relax.Constant))]
    numbers = [n for n in numbers if not isinstance(n, relax.Constant) or n.data.size]
    if not numbers:
        return
    chosen = data.draw(strategies.sampled_from(numbers))
    changed = rewrite(function, lambda node: other(node) if node is chosen else None)
    assert not structural_equal(function, changed)
    assert not structural_equal(changed, function)


def other(node: Any) -> Any:
    """An immediate or constant that differs in one number."""
    if isinstance(node, prim.IntImm):
        return prim.IntImm(node.dtype, 1 - node.value if node.dtype.is_bool else node.value ^ 1)
    data = np.array(node.data)
    data.flat[0] = 1 if data.flat[0] == 0 else 0
    return relax.Constant(data)


# ---------------------------------------------------------------- substitution


@given(programs)
def test_replacing_nothing_or_by_itself_gives_the_same_object(program):
    assert substitute(program, {}) is program
    assert substitute(program, {v: v for v in bound_vars(program)}) is program


@given(functions())
def test_replacing_a_free_variable_and_back_gives_the_program(function):
    body = function.body
    for param in function.params:
        fresh = relax.Var("fresh", param.struct_info)
        replaced = substitute(body, {param: fresh})
        free = free_vars(replaced)
        assert param not in free
        assert (fresh in free) == (param in free_vars(body))
        assert structural_equal(substitute(replaced, {fresh: param}), body)
        if param not in free_vars(body):
            assert replaced is body


@given(functions())
def test_replacements_are_made_at_once(function):
    """Exchanging two variables exchanges them, and twice is the identity."""
    body = function.body
    alike = [p for p in function.params if isinstance(p, relax.Var)]
    if len(alike) < 2:
        return
    first, second = alike[:2]
    swap = {first: second, second: first}
    swapped = substitute(body, swap)
    assert structural_equal(substitute(swapped, swap), body)
    before, after = free_vars(body), free_vars(swapped)
    assert (first in before, second in before) == (second in after, first in after)
