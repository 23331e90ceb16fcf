"""MergeCompositeFunctions: which calls become one function, and what that looks like."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relaxscript.dpl import is_op, wildcard
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call, Function, Var
from relaxscript.script import from_source
from relaxscript.transform import FuseOpsByPattern, MergeCompositeFunctions, PassContext, VerifyEach
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.fuse.annotated import callees

# Which operator belongs to which code generator.
OWNERS = {"a": ("exp", "sin", "add"), "b": ("cos", "negative")}


def _arity(name: str) -> int:
    return 2 if name == "add" else 1


def partitioned(body: str) -> IRModule:
    lines = "\n".join(f"            {line}" for line in body.strip().split("\n"))
    result = lines.rpartition("R.output")[2]
    mod = from_source(f"""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32")):
        n = T.int64()
        with R.dataflow():
{lines}
        return {result}
""")
    patterns = [
        (f"{owner}.{name}", is_op(f"relax.{name}")(*([wildcard(), wildcard()][: _arity(name)])))
        for owner, names in OWNERS.items()
        for name in names
    ]
    with PassContext(instruments=[VerifyEach()]):
        return FuseOpsByPattern(patterns)(mod)


def merged(body: str) -> list[str]:
    with PassContext(instruments=[VerifyEach()]):
        made = MergeCompositeFunctions()(partitioned(body))
    assert MergeCompositeFunctions()(made) is made
    assert {name.name_hint for name in made.functions} == {"main", *callees(made)}
    return [name.replace("relax_", "") for name in callees(made)]


def test_neighbours_of_one_code_generator_become_one_function():
    assert merged("y = R.exp(x)\nz = R.sin(y)\nR.output(z)") == ["fused_exp_sin_a"]


def test_a_call_without_neighbours_becomes_a_function_of_its_own():
    assert merged("y = R.exp(x)\nz = R.cos(y)\nR.output(z)") == ["fused_exp1_a", "fused_cos1_b"]


def test_what_depends_on_a_function_does_not_become_part_of_what_the_function_needs():
    body = "y = R.exp(x)\nu = R.cos(y)\nv = R.add(y, u)\nR.output(v)"
    assert merged(body) == ["fused_exp1_a", "fused_cos1_b", "fused_add1_a"]


def test_a_call_joins_those_that_use_it_where_another_way_is_longer():
    body = "y = R.exp(x)\nu = R.cos(y)\nw = R.sin(x)\nv = R.add(w, u)\nR.output(v)"
    assert merged(body) == ["fused_exp1_a", "fused_cos1_b", "fused_sin_add_a"]


def test_a_diamond_of_one_code_generator_becomes_one_function():
    body = "y = R.exp(x)\nu = R.sin(y)\nw = R.exp(y)\nv = R.add(u, w)\nR.output(v)"
    assert merged(body) == ["fused_exp_sin_exp_add_a"]


def test_several_values_of_a_function_are_fields_of_its_result():
    body = "y = R.exp(x)\nu = R.tanh(y)\nw = R.sin(y)\nv = R.multiply(u, w)\nR.output(v)"
    mod = partitioned(body)
    made = MergeCompositeFunctions()(mod)
    (block,) = made["main"].body.blocks
    first, *fields = block.bindings[:3]
    assert [repr(f.value) for f in fields] == [f"{first.var.name_hint}[{i}]" for i in range(2)]
    assert merged(body) == ["fused_exp_sin_a"]


def test_what_uses_a_value_comes_behind_the_function_that_gives_it():
    body = """y = R.exp(x)
u = R.tanh(y)
w = R.sin(y)
v = R.multiply(u, R.cos(w))
R.output(v)"""
    assert merged(body) == ["fused_exp_sin_a", "fused_cos1_b"]


def test_a_local_function_that_calls_itself_is_no_neighbour():
    body = """@R.function
def f(v: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    w: R.Tensor((2,), "float32") = f(v)
    return w
y = R.exp(x)
R.output(y)"""
    assert merged(body) == ["fused_exp1_a"]


def test_a_module_without_such_functions_stays_as_it_is():
    mod = partitioned("y = R.tanh(x)\nR.output(y)")
    assert MergeCompositeFunctions()(mod) is mod


def test_a_name_without_a_code_generator_is_refused():
    mod = partitioned("y = R.exp(x)\nR.output(y)")
    named = mod["fused_relax_exp"].with_attr("Composite", "exp")
    mod["fused_relax_exp"] = named
    with pytest.raises(DiagnosticError, match='"exp" names no code generator'):
        MergeCompositeFunctions()(mod)


def test_merging_is_linear_in_the_bindings():
    def prepare(size: int) -> Callable[[], object]:
        operators = ["exp", "cos", "sin", "tanh"]
        lines = [f"v{i + 1} = R.{operators[i % 4]}(v{i})" for i in range(size)]
        mod = partitioned("\n".join(["v0 = R.exp(x)", *lines, f"R.output(v{size})"]))
        return lambda: MergeCompositeFunctions()(mod)

    assert growth(prepare, 40) < 10


def test_each_composite_function_stands_before_its_call():
    made = MergeCompositeFunctions()(partitioned("y = R.exp(x)\nz = R.sin(y)\nR.output(z)"))
    (block,) = made["fused_relax_exp_relax_sin_a"].body.blocks
    assert [type(binding.value) for binding in block.bindings] == [Function, Call] * 2
    assert {type(binding.var) for binding in block.bindings} == {Var}
