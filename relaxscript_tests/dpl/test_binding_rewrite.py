"""The bindings of a dataflow block, changed by hand."""

from __future__ import annotations

import pytest

from relaxscript import relax
from relaxscript.builder import BlockBuilder
from relaxscript.dpl.binding_rewrite import DataflowBlockRewrite
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function
from relaxscript.relax import op
from relaxscript.relax.analysis import well_formed
from relaxscript.script import relax as R

from . import block, mistake_of, variables
from .test_rewriter import operators_of


def opened(func: Function) -> DataflowBlockRewrite:
    return DataflowBlockRewrite(func.body.blocks[0], func)


def test_a_value_is_added_and_takes_the_place_of_another():
    func = block()
    var, before = variables(func), func.script()
    rewrite = opened(func)
    new = rewrite.add(op.maximum(var["x"], var["y"]), "m", is_dfvar=True)
    rewrite.replace_all_uses(var["a"], new)
    rewrite.remove_unused(var["a"])
    made = rewrite.mutated_root_fn()
    assert operators_of(made) == ["maximum", "nn.relu", "multiply", "divide"]
    assert made.body.blocks[0] is rewrite.mutated_dfb()
    assert well_formed(made)
    assert func.script() == before


def test_names_that_are_not_given_are_made():
    func = block()
    x = variables(func)["x"]
    rewrite = opened(func)
    names = [rewrite.add(op.exp(x)).name_hint for _ in range(3)]
    assert names == ["tmp0", "tmp1", "tmp2"]
    assert rewrite.add(op.exp(x), "a").name_hint == "a0"
    assert [type(b.var).__name__ for b in rewrite.mutated_dfb().bindings[-4:]] == ["Var"] * 4


def test_what_nothing_needs_goes_in_all_blocks():
    func = block()
    var = variables(func)
    rewrite = opened(func)
    rewrite.add(op.exp(var["x"]), is_dfvar=True)
    new = rewrite.add(op.add(var["x"], var["x"]), is_dfvar=True)
    rewrite.replace_all_uses(var["c"], new)
    rewrite.remove_all_unused()
    assert operators_of(rewrite.mutated_root_fn()) == ["add", "divide"]
    assert rewrite.mutated_dfb() is rewrite.mutated_root_fn().body.blocks[0]


def test_a_parameter_is_replaced_where_it_is_used_only():
    func = block()
    var = variables(func)
    rewrite = opened(func)
    rewrite.replace_all_uses(var["y"], var["x"])
    made = rewrite.mutated_root_fn()
    assert made.params == func.params
    assert "R.add(x, x)" in made.script()


def test_the_module_has_the_function_afterwards():
    mod = IRModule({"main": block(), "other": block()})
    func = mod["main"]
    rewrite = opened(func)
    rewrite.replace_all_uses(variables(func)["y"], variables(func)["x"])
    made = rewrite.mutate_irmodule(mod)
    assert "R.add(x, x)" in made["main"].script()
    assert "R.add(x, x)" not in made["other"].script()
    assert mod["main"] is func
    mistake = mistake_of(lambda: rewrite.mutate_irmodule(IRModule({"main": block()})))
    assert mistake.message == "the module does not have the function of the block"


def test_it_is_there_by_the_names_of_tvm():
    assert relax.DataflowBlockRewrite is relax.binding_rewrite.DataflowBlockRewrite
    assert relax.DataflowBlockRewrite is DataflowBlockRewrite


def test_what_does_not_fit_is_refused():
    func = block()
    var = variables(func)
    rewrite = opened(func)
    half = rewrite.add(op.astype(var["x"], "float16"), "half")
    mistake = mistake_of(lambda: rewrite.replace_all_uses(var["a"], half))
    assert mistake.message == (
        '`half` cannot stand for `a`: it is `R.Tensor((2, 3), "float16")`, not '
        '`R.Tensor((2, 3), "float32")`'
    )
    short = rewrite.add(op.exp(var["x"]), "short", is_dfvar=True)
    mistake = mistake_of(lambda: rewrite.replace_all_uses(var["gv"], short))
    assert mistake.message == "`gv` is used behind the block, where `short` ends"
    late = rewrite.add(op.exp(var["c"]), "late", is_dfvar=True)
    mistake = mistake_of(lambda: rewrite.replace_all_uses(var["b"], late))
    assert mistake.message.endswith("would use each other")
    mistake = mistake_of(lambda: rewrite.replace_all_uses(var["b"], 3))
    assert mistake.message == "`3` is no variable"


def test_only_what_is_unused_is_removed():
    func = block()
    var = variables(func)
    rewrite = opened(func)
    mistake = mistake_of(lambda: rewrite.remove_unused(var["a"]))
    assert mistake.message == "`a` cannot be removed: `b` uses it"
    assert (
        "it is used behind the block"
        in mistake_of(lambda: rewrite.remove_unused(var["gv"])).message
    )
    mistake = mistake_of(lambda: rewrite.remove_unused(var["x"]))
    assert mistake.message == "the block does not bind `x`"
    rewrite.remove_unused(var["x"], allow_undef=True)


def test_what_is_no_block_or_binding_is_refused():
    func, other = block(), block()
    mistake = mistake_of(lambda: DataflowBlockRewrite(func.body.blocks[0], other))
    assert mistake.message == "a dataflow block is rewritten within the function that has it"
    rewrite = opened(func)
    assert mistake_of(lambda: rewrite.add_binding(3)).message == "`3` is no binding"
    assert "is no expression" in mistake_of(lambda: rewrite.add(3)).message
    binding = rewrite.mutated_dfb().bindings[0]
    assert mistake_of(lambda: rewrite.add_binding(binding)).message == "`a` is bound already"


@pytest.mark.parametrize("outside", [False, True])
def test_uses_behind_the_block_are_replaced(outside: bool):
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.exp(x)
            gv = R.nn.relu(a)
            R.output(gv)
        out = R.negative(gv)
        return out

    rewrite = opened(main)
    new = rewrite.add(op.sqrt(main.params[0]), "s")
    rewrite.replace_all_uses(variables(main)["gv"], new)
    if outside:
        rewrite.remove_all_unused()
    assert "R.negative(s)" in rewrite.mutated_root_fn().script()
    assert isinstance(BlockBuilder().normalize(rewrite.mutated_root_fn()), Function)
