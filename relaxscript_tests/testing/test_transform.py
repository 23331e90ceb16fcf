"""Lifetimes, aliases and candidates in dataflow blocks, as TVM's tests ask for them."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir.relax import DataflowBlock, Op
from relaxscript.script import from_source
from relaxscript.testing.compare import check_executors_agree
from relaxscript.testing.transform import (
    ApplyEmptyCppMutator,
    InplaceOpportunity,
    dataflow_alias_analysis,
    dataflow_inplace_analysis,
    dataflow_liveness_analysis,
    dataflow_single_inplace_call,
)

MODULE = """
@I.ir_module
class M:
    @R.function(private=True)
    def other(x: R.Object) -> R.Object:
        return x

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((1, 3), "float32")):
        cls = M
        with R.dataflow():
{lines}
            R.output({outputs})
        return {result}
"""


def parts(lines: str, outputs: str):
    """The module, the dataflow block and the parameters of a program."""
    body = "".join(f"            {line.strip()}\n" for line in lines.strip().splitlines())
    result = outputs.split(",")[0]
    mod = from_source(MODULE.format(lines=body, outputs=outputs, result=result))
    blocks = mod["main"].body.blocks
    return mod, next(b for b in blocks if isinstance(b, DataflowBlock)), mod["main"].params


def named(found):
    return {var.name_hint: value for var, value in found.items()}


def test_a_variable_lives_from_its_binding_to_its_last_use():
    _, block, _ = parts(
        """
        k = R.const(1, "float32")
        z = R.add(x, k)
        q = R.multiply(z, k)
        p = R.add(z, q)
        n = R.multiply(p, p)
        u = R.exp(x)
        """,
        "n, p",
    )
    assert named(dataflow_liveness_analysis(block)) == {
        "x": (-1, 6), "k": (0, 2), "z": (1, 3), "q": (2, 3), "p": (3, 6), "n": (4, 6), "u": (5, 5),
    }  # fmt: skip


def test_another_name_is_the_same_value_and_an_operator_gives_a_new_one():
    _, block, params = parts("a = x\nz = R.add(a, a)\nn = z", "n")
    values, fields = dataflow_alias_analysis(block, params)
    assert named(values) == {"x": {0}, "y": {1}, "a": {0}, "z": {2}, "n": {2}}
    assert fields == {}


def test_fields_of_tuples_are_followed():
    _, block, params = parts(
        """
        t = (x, y)
        a = t[0]
        b = t[1]
        d = (y, t)
        e = d[1]
        f = e[0]
        """,
        "f",
    )
    values, fields = dataflow_alias_analysis(block, params)
    assert named(values) == {
        "x": {0}, "y": {1}, "t": {2}, "a": {0}, "b": {1}, "d": {3}, "e": {2}, "f": {0},
    }  # fmt: skip
    assert fields == {2: [{0}, {1}], 3: [{1}, {2}]}


def test_an_operator_with_several_results_gives_a_tuple_of_new_values():
    _, block, params = parts("t = R.split(x, 2)\na = t[0]\nb = t[1]\nz = R.add(a, b)", "z")
    values, fields = dataflow_alias_analysis(block, params)
    assert named(values) == {"x": {0}, "y": {1}, "t": {2}, "a": {3}, "b": {4}, "z": {5}}
    assert fields == {2: [{3}, {4}]}


def test_a_function_may_give_any_of_its_arguments_or_something_new():
    _, block, params = parts(
        """
        t = (x, y)
        a = R.call_pure_packed("test.chaos", t, sinfo_args=R.Tensor((2, 3), "float32"))
        b = cls.other(a)
        d = R.reshape(y, R.shape([3]))
        """,
        "b, d",
    )
    values, _ = dataflow_alias_analysis(block, params)
    assert named(values) == {
        "x": {0}, "y": {1}, "t": {2}, "a": {0, 1, 2, 3}, "b": {0, 1, 2, 3, 4}, "d": {1, 5},
    }  # fmt: skip


def test_what_is_not_among_the_inputs_is_unknown():
    _, block, params = parts("a = x\nb = R.exp(a)", "b")
    values, _ = dataflow_alias_analysis(block, params[1:])
    assert named(values) == {"y": {0}, "a": {-1}, "b": {1}}


def test_a_call_in_place_gives_what_it_wrote():
    mod = from_source(
        """
@I.ir_module
class M:
    @T.prim_func
    def two(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            x[i] = T.float32(1)
            y[i] = T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        with R.dataflow():
            a = R.exp(x)
            t = R.call_tir_inplace(cls.two, (a,), [0, -1], [F, F])
            b = t[0]
            c = t[1]
            d = R.add(b, c)
            R.output(d)
        return d
""".replace("F", 'R.Tensor((4,), "float32")')
    )
    block = mod["main"].body.blocks[0]
    values, fields = dataflow_alias_analysis(block, mod["main"].params)
    assert named(values) == {"x": {0}, "a": {1}, "t": {3}, "b": {1}, "c": {2}, "d": {4}}
    assert fields == {3: [{1}, {2}]}
    sized, same = dataflow_inplace_analysis(block, mod["main"].params, mod)
    assert sized == same == [(4, {0, 1})]


def test_candidates_are_operands_that_end_and_are_as_large_as_the_result():
    mod, block, params = parts(
        """
        z = R.add(x, y)
        p = R.add(z, z)
        r = p
        m = R.multiply(p, p)
        n = R.add(m, r)
        s = R.subtract(n, m)
        u = R.permute_dims(s)
        w = R.exp(u)
        q = R.matmul(R.permute_dims(y), y)
        """,
        "w, q",
    )
    sized, same = dataflow_inplace_analysis(block, params, mod)
    assert same == [(1, {0, 1}), (4, {1}), (5, {0, 1}), (7, {0})]
    assert sized == [(1, {0, 1}), (4, {1}), (5, {0, 1}), (6, {0}), (7, {0})]


def test_what_a_packed_function_has_seen_and_constants_are_no_candidates():
    mod, block, params = parts(
        """
        k = R.const([[1, 2, 3]], "float32")
        l = R.exp(k)
        z = R.add(x, y)
        p = R.call_pure_packed("test.chaos", z, sinfo_args=R.Tensor((2, 3), "float32"))
        q = R.exp(p)
        n = R.exp(z)
        """,
        "n, q, l",
    )
    assert dataflow_inplace_analysis(block, params, mod) == ([], [])


def test_a_single_call_is_written_as_one_in_place():
    mod, block, _ = parts('z = R.add(x, R.const(1, "float32"))\nq = R.nn.silu(z)', "q")
    binding = next(b for b in block.bindings if b.var.name_hint == "q")
    call, made = dataflow_single_inplace_call(mod, binding.value, [0])
    assert call.op == Op("relax.call_tir_inplace")
    assert call.args[0].name_hint == "silu_inplace"
    assert call.args[1].fields == binding.value.args
    assert list(call.attrs["inplace_indices"]) == [0]
    assert call.args[0] in made
    assert call.args[0] not in mod
    check_executors_agree(made, [np.ones((2, 3), "float32"), np.ones((1, 3), "float32")])


@pytest.mark.parametrize("indices", [[1], [2], [-1], [0, 1], []])
def test_an_operand_that_cannot_take_the_result_is_refused(indices):
    mod, block, _ = parts("z = R.add(x, y)", "z")
    with pytest.raises(DiagnosticError, match="the call is not proved to write its result into"):
        dataflow_single_inplace_call(mod, block.bindings[0].value, indices)


@pytest.mark.parametrize("ask", [dataflow_liveness_analysis, dataflow_alias_analysis])
def test_only_dataflow_blocks_are_asked_about(ask):
    mod, _, params = parts("z = R.add(x, y)", "z")
    rest = () if ask is dataflow_liveness_analysis else (params,)
    with pytest.raises(TypeError, match="block is a DataflowBlock, not SeqExpr"):
        ask(mod["main"].body, *rest)


def test_a_candidate_names_its_binding_and_its_operands():
    mod, block, inputs = parts("z = R.add(x, y)\nw = R.exp(z)", "w")
    [found] = dataflow_inplace_analysis(block, inputs, mod)[1]
    assert found == InplaceOpportunity(1, {0}) == (1, {0})
    assert (found.binding_idx, found.arg_idxs) == (1, {0})


def test_an_empty_mutator_leaves_every_function_what_it_is():
    mod, *_ = parts("z = R.add(x, y)\nw = R.exp(z)", "w")
    assert ApplyEmptyCppMutator()(mod) is mod
