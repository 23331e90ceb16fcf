"""Keys of groups: which groups have the same, and that these have the same function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

import pytest

from relaxscript.dpl import is_op, wildcard
from relaxscript.ir.instrument import WellFormedInstrument
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Binding,
    Call,
    DataflowBlock,
    Expr,
    Function,
    PrimValue,
    ShapeExpr,
    VarBinding,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import compounds
from relaxscript.script import from_source
from relaxscript.testing.programs import random_module
from relaxscript.transform import FuseOpsByPattern, PassContext
from relaxscript.transform.fuse.group_function import group_function
from relaxscript.transform.fuse.group_key import DescribedInfos, GroupKey
from relaxscript_tests import examples
from relaxscript_tests.transform.fuse.fusable_programs import fusable_module


def key_of(group: Sequence[Binding], args: Sequence[Expr]) -> Hashable:
    return GroupKey(group, args, {"Composite": "a"}).key


def groups_of(mod: IRModule) -> Iterator[Sequence[Binding]]:
    """One to three bindings in a row, of the dataflow blocks of a module."""
    for func in mod.relax_functions().values():
        for block in compounds(func):
            if isinstance(block, DataflowBlock):
                for start in range(len(block.bindings)):
                    for end in range(start + 1, min(start + 4, len(block.bindings) + 1)):
                        group = block.bindings[start:end]
                        if all(type(binding) is VarBinding for binding in group):
                            yield group


@pytest.mark.slow
@pytest.mark.parametrize("lifts_constants", [False, True])
@pytest.mark.parametrize("program", [random_module, fusable_module])
def test_groups_with_one_key_have_functions_that_are_structurally_equal(program, lifts_constants):
    functions: dict[Hashable, list[Function]] = defaultdict(list)
    for seed in range(examples(100)):
        for group in groups_of(program(seed)):
            made = group_function(group, [group[-1].var], {"Composite": "a"}, lifts_constants)
            if made is not None:
                function, args = made
                # Sizes that no other argument tells are none of those that the key is made for.
                given = [arg for arg in args if not isinstance(arg, ShapeExpr)]
                functions[key_of(group, given)].append(function)
    for first, *others in functions.values():
        assert all(structural_equal(first, other) for other in others)
    assert any(len(same) > 1 for same in functions.values())


def keys(first: str, second: str) -> list[Hashable]:
    mod = from_source(f"""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", 4), "float32"),
             z: R.Tensor((4, 4), "float32"), i: R.Tensor(("n", 4), "int32")):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            a = {first}
            b = {second}
            R.output(a, b)
        return (a, b)
""")
    body = mod["main"].body
    found = []
    for binding in body.blocks[0].bindings:
        assert isinstance(binding.value, Call)
        args = [arg for arg in binding.value.args if arg in mod["main"].params]
        found.append(key_of([binding], list(dict.fromkeys(args))))
    return found


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("R.add(x, x)", "R.add(y, y)"),
        ("R.sum(x, axis=1)", "R.sum(y, axis=1)"),
        ("R.zeros((n, 2), 'float32')", "R.zeros((m, 2), 'float32')"),
    ],
)
def test_groups_that_differ_in_names_only_have_one_key(first: str, second: str):
    one, other = keys(first, second)
    assert one == other


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("R.add(x, x)", "R.add(z, z)"),
        ("R.add(x, x)", "R.add(i, i)"),
        ("R.add(x, x)", "R.multiply(x, x)"),
        ("R.matmul(z, z)", "R.matmul(x, z)"),
        ("R.sum(x, axis=1)", "R.sum(x, axis=0)"),
        ("R.sum(x, keepdims=True)", "R.sum(x)"),
        ("R.zeros((n, 2), 'float32')", "R.zeros((n, 3), 'float32')"),
        ("R.zeros((n + 1, 2), 'float32')", "R.zeros((n * 1 + 2, 2), 'float32')"),
        ("R.zeros((n, 2), 'float32')", "R.zeros((n, 2), 'int32')"),
        ("R.zeros((n, m), 'float32')", "R.zeros((n, n), 'float32')"),
        ("R.add(x, R.const(1.0, 'float32'))", "R.add(x, R.const(2.0, 'float32'))"),
    ],
)
def test_groups_that_compute_something_else_have_keys_of_their_own(first: str, second: str):
    one, other = keys(first, second)
    assert one != other


def test_a_group_like_one_before_is_given_its_own_sizes():
    mod = from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            a = R.zeros((n, 2), "float32")
            b = R.zeros((m, 2), "float32")
            R.output(a, b)
        return (a, b)
""")
    with PassContext(instruments=[WellFormedInstrument()]):
        fused = FuseOpsByPattern([("mine.zeros", is_op("relax.zeros")(wildcard()))])(mod)
    assert len(fused) == 2
    text = fused["main"].script()
    assert "(R.shape([n]))" in text
    assert "(R.shape([m]))" in text


@pytest.mark.parametrize("kind", [PrimValue, lambda size: ShapeExpr([size])])
def test_what_is_known_of_a_parameter_is_not_taken_for_that_of_one_before(kind):
    key = GroupKey([], [kind(size) for size in range(50)], {}).key
    assert len(set(key[2:])) == 50


def test_groups_whose_sizes_are_rare_become_functions_that_are_passed_their_variables():
    mod = from_source("""
@I.ir_module
class Chosen:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("k",), "float32")):
        n = T.int64()
        k = T.int64()
        with R.dataflow():
            a = R.zeros((T.if_then_else(n > 4, n, k),), "float32")
            b = R.zeros((T.if_then_else(n > 4, n, k),), "float32")
            R.output(a, b)
        return (a, b)
""")
    zeros = is_op("relax.zeros")(varg_default_wildcard=True)
    made = FuseOpsByPattern([("a.zeros", zeros)])(mod)
    calls = [b.value for b in made["main"].body.blocks[0].bindings]
    assert [call.op.name_hint for call in calls] == ["fused_relax_zeros"] * 2
    assert [v.name for v in calls[0].args[0].values] == ["n", "k"]


def test_what_is_known_of_a_struct_info_goes_for_all_groups_of_a_module():
    described: DescribedInfos = {}
    groups = [group for seed in range(examples(20)) for group in groups_of(random_module(seed))]
    attrs = {"Composite": "a"}
    keys = [(key_of(g, ()), GroupKey(g, (), attrs, described).key) for g in groups]
    for alone, shared in keys:
        same = [alone == other for other, _ in keys]
        assert same == [shared == other for _, other in keys]
