"""Functions with bodies in the place of calls: what stands where, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.analysis import all_global_vars, ill_formed
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import BindingBlock, Call, DataflowBlock, DataflowVar, If, MatchCast
from relaxscript.script import from_source
from relaxscript_tests.growth import growth


def module(**functions: str) -> IRModule:
    """A module of functions, each its parameters (and result), a colon, and lines."""
    text = ["@I.ir_module", "class M:"]
    for name, given in functions.items():
        head, *lines = given.strip().split("\n")
        decorator = "@R.function(pure=False)" if name.startswith("impure") else "@R.function"
        text += [f"    {decorator}", f"    def {name}{head}:", *(f"    {line}" for line in lines)]
    return from_source("\n".join(text))


F = '(x: R.Tensor((4,), "float32"))'
ANY = '(x: R.Tensor(("n",), "float32"))'
TWICE = f"{F}\n    y = R.add(x, x)\n    return y"


def inlined(mod: IRModule, *names: str, into: str = "main"):
    made = mod[into].inline_functions({name: mod[name] for name in names})
    after = mod.clone()
    after[into] = made
    assert ill_formed(after) == ()
    return made


def bindings(func) -> list:
    return [binding for block in func.body.blocks for binding in block.bindings]


def test_the_body_of_a_function_takes_the_place_of_its_call():
    mod = module(g=TWICE, main=f"{F}\n    a = M.g(x)\n    b = R.exp(a)\n    return b")
    made = inlined(mod, "g")
    total, alias, last = bindings(made)
    assert total.value.args == (made.params[0], made.params[0])
    assert alias.value is total.var
    assert last.value.args == (alias.var,)
    x = np.ones(4, "float32")
    np.testing.assert_allclose(made(x), np.exp(x + x), rtol=1e-6)


def test_a_name_and_a_global_var_are_keys():
    mod = module(g=TWICE, main=f"{F}\n    a = M.g(x)\n    return a")
    for key in ("g", mod.get_global_var("g")):
        made = mod["main"].inline_functions({key: mod["g"]})
        assert all_global_vars(made) == []


def test_what_is_not_called_changes_nothing():
    mod = module(g=TWICE, main=f"{F}\n    a = M.g(x)\n    return a")
    main = mod["main"]
    assert main.inline_functions({}) is main
    assert main.inline_functions({"other": mod["g"]}) is main


def test_a_name_that_is_nearly_that_of_a_called_function_is_warned_of():
    mod = module(helper=TWICE, main=f"{F}\n    a = M.helper(x)\n    return a")
    main = mod["main"]
    with pytest.warns(RelaxWarning) as caught:
        assert main.inline_functions({"helperr": mod["helper"]}) is main
    (found,) = [warning.message.diagnostic for warning in caught]
    assert found.message == "`inline_functions` is given `helperr`, which is not called"
    assert (found.code, found.help) == ("RX0103", "did you mean `helper`?")
    assert found.span is not None
    both = {"helperr": mod["helper"], "helper": mod["helper"]}
    assert all_global_vars(main.inline_functions(both)) == []


def test_a_function_of_the_module_that_is_not_called_may_be_given():
    calls = f"{F}\n    a = M.helper_1(x)\n    return a"
    mod = module(helper_1=TWICE, helper_2=TWICE, helpers_1=TWICE, main=calls)
    assert inlined(mod, "helper_2", "helpers_1") is mod["main"]


def test_each_call_has_variables_of_its_own():
    mod = module(g=TWICE, main=f"{F}\n    a = M.g(x)\n    b = M.g(a)\n    return b")
    made = inlined(mod, "g")
    variables = [binding.var for binding in bindings(made)]
    assert len(set(variables)) == len(variables) == 4


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_bodies_have_shape_variables_of_their_own_where_the_arguments_do_not_say_them():
    mod = module(
        g=f"{ANY}\n    n = T.int64()\n    y = R.exp(x)\n    z = R.reshape(y, (n, 1))\n    return z",
        main='(x: R.Tensor(ndim=1, dtype="float32"), y: R.Tensor(ndim=1, dtype="float32"))\n'
        "    a = M.g(x)\n    b = M.g(y)\n    return (a, b)",
    )
    made = inlined(mod, "g")
    casts = [b.struct_info.dims[0] for b in bindings(made) if isinstance(b, MatchCast)]
    assert len(set(casts)) == len(casts) == 2
    assert mod["g"].params[0].struct_info.dims[0] not in casts
    three, five = np.ones(3, "float32"), np.ones(5, "float32")
    assert [given.shape for given in made(three, five)] == [(3, 1), (5, 1)]


def test_what_a_function_shares_with_its_caller_is_no_variable_of_the_body():
    mod = module(g=TWICE, h=TWICE, main=f"{F}\n    a = M.g(x)\n    b = M.h(a)\n    return b")
    before = {name: mod[name].script() for name in ("g", "h", "main")}
    made = inlined(mod, "g", "h")
    names = [b.var for f in (mod["g"], mod["h"]) for b in bindings(f)]
    assert not set(names) & {b.var for b in bindings(made)}
    assert {name: mod[name].script() for name in before} == before


def test_calls_inside_of_what_is_inlined_are_inlined_too():
    mod = module(
        h=TWICE, g=f"{F}\n    y = M.h(x)\n    return y", main=f"{F}\n    a = M.g(x)\n    return a"
    )
    assert all_global_vars(inlined(mod, "g", "h")) == []
    assert [v.name_hint for v in all_global_vars(inlined(mod, "g"))] == ["h"]


def test_the_sizes_of_the_arguments_are_those_of_the_body():
    mod = module(
        g=f"{ANY}\n    n = T.int64()\n    y = R.reshape(x, (n, 1))\n    return y",
        main=f"{F}\n    a = M.g(x)\n    return a",
    )
    made = inlined(mod, "g")
    assert repr(bindings(made)[0].var.struct_info) == 'R.Tensor((4, 1), "float32")'
    assert repr(made.ret_struct_info) == 'R.Tensor((4, 1), "float32")'


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_a_check_of_the_call_stays_a_check():
    mod = module(g=TWICE, main='(x: R.Tensor("float32", ndim=1))\n    a = M.g(x)\n    return a')
    made = inlined(mod, "g")
    assert isinstance(bindings(made)[0], MatchCast)
    assert made(np.ones(4, "float32")).shape == (4,)
    with pytest.raises(RuntimeError, match="RX0605"):
        made(np.ones(3, "float32"))


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_a_check_of_the_result_stays_a_check():
    mod = module(
        g='(x: R.Tensor("float32", ndim=1)) -> R.Tensor((4,), "float32")\n    return x',
        main='(x: R.Tensor("float32", ndim=1))\n    a = M.g(x)\n    return a',
    )
    made = inlined(mod, "g")
    assert isinstance(bindings(made)[0], MatchCast)
    with pytest.raises(RuntimeError, match="RX0605"):
        made(np.ones(3, "float32"))


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_a_body_that_fails_for_its_arguments_still_fails_when_it_runs():
    mod = module(
        g='(x: R.Tensor("float32", ndim=1))\n'
        '    y = R.add(x, R.const([1.0, 2.0, 3.0], "float32"))\n    return y',
        main='(x: R.Tensor((4,), "float32"))\n    a = M.g(x)\n    return a',
    )
    made = inlined(mod, "g")
    with pytest.raises(RuntimeError, match=r"`R\.add` cannot take these operands"):
        made(np.ones(4, "float32"))


def test_a_call_in_a_dataflow_block_is_replaced_by_bindings_of_the_block():
    block = "    with R.dataflow():\n        {}\n        R.output(a)\n    return a"
    mod = module(
        g=TWICE,
        h=f"{F}\n" + block.format("a = R.exp(x)"),
        main=f"{F}\n" + block.format("b = M.g(x)\n        a = M.h(b)"),
    )
    made = inlined(mod, "g", "h")
    (only,) = made.body.blocks
    assert isinstance(only, DataflowBlock)
    *inner, last = only.bindings
    assert all(isinstance(binding.var, DataflowVar) for binding in inner)
    assert not isinstance(last.var, DataflowVar)


def test_a_block_into_which_control_flow_comes_is_an_ordinary_one():
    choice = '(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32"))'
    mod = module(
        g=f"{choice}\n    if c:\n        y = R.exp(x)\n    else:\n        y = x\n    return y",
        main=f"{choice}\n    with R.dataflow():\n        e = R.exp(x)\n        a = M.g(c, e)\n"
        "        R.output(a)\n    return a",
    )
    made = inlined(mod, "g")
    assert [type(block) for block in made.body.blocks] == [BindingBlock]
    assert any(isinstance(binding.value, If) for binding in bindings(made))
    assert not any(isinstance(binding.var, DataflowVar) for binding in bindings(made))


def test_a_local_function_is_inlined_and_still_calls_itself():
    mod = module(
        g=f"{F}\n    @R.function\n    def loop(y: R.Tensor) -> R.Tensor:\n"
        "        z = loop(y)\n        return z\n    a = loop(x)\n    return a",
        main=f"{F}\n    with R.dataflow():\n        a = M.g(x)\n        R.output(a)\n    return a",
    )
    made = inlined(mod, "g")
    local = bindings(made)[0]
    assert bindings(local.value)[0].value.op is local.var


def test_a_constant_that_the_body_may_write_into_is_bound_once():
    mod = module(
        impure_g=f'{F}\n    R.call_packed("testing.bump", x, sinfo_args=R.Tuple)\n    return x',
        impure_main=f'{F}\n    a = M.impure_g(R.const([1.0, 2.0, 3.0, 4.0], "float32"))\n'
        "    return (a, x)",
    )
    made = inlined(mod, "impure_g", into="impure_main")
    first, call = bindings(made)[:2]
    assert call.value.args == (first.var,)


def test_a_function_that_is_pure_by_its_word_alone_stays_called_by_a_pure_one():
    trusted = (
        f'{F}\n    R.func_attr({{"relax.force_pure": True}})\n'
        '    y = R.call_packed("testing.first", x, x, sinfo_args=R.Tensor((4,), "float32"))\n'
        "    return y"
    )
    call = f"{F}\n    with R.dataflow():\n        a = M.g(x)\n        R.output(a)\n    return a"
    mod = module(g=trusted, main=call, impure_main=call)
    assert inlined(mod, "g") is mod["main"]
    made = inlined(mod, "g", into="impure_main")
    assert all_global_vars(made) == []
    assert [type(block) for block in made.body.blocks] == [BindingBlock]


def refusal(action) -> tuple[str, str, str | None]:
    with pytest.raises(DiagnosticError) as raised:
        action()
    (mistake,) = raised.value.diagnostics
    assert mistake.span is not None
    return mistake.code, mistake.message, mistake.help


def test_functions_that_call_themselves_are_refused():
    again = f'{F} -> R.Tensor((4,), "float32")\n    a = M.{{}}(x)\n    return a'
    mod = module(
        g=again.format("g"), h=again.format("k"), k=again.format("h"), main=again.format("g"),
        other=again.format("h"),
    )  # fmt: skip
    assert refusal(lambda: inlined(mod, "g")) == (
        "RX0103", "`g` calls itself, so the body never ends when it is inlined",
        "leave `g` out of the functions to inline",
    )  # fmt: skip
    assert refusal(lambda: inlined(mod, "h", "k", into="other")) == (
        "RX0103", "`h` and `k` call each other, so the body never ends when it is inlined",
        "leave `h` and `k` out of the functions to inline",
    )  # fmt: skip
    # Recursion that is not reached does no harm.
    assert inlined(mod, "h", "k") is mod["main"]


def test_what_is_no_mapping_of_names_to_functions_is_refused():
    mod = module(g=TWICE, main=f"{F}\n    a = M.g(x)\n    return a")
    main, g = mod["main"], mod["g"]
    assert refusal(lambda: main.inline_functions([]))[:2] == (
        "RX0201", "`inline_functions` takes a mapping of names to functions, not list ([])"
    )  # fmt: skip
    assert refusal(lambda: main.inline_functions({3: g}))[:2] == (
        "RX0201", "the keys of `inline_functions` are names or `GlobalVar`s, not int (3)"
    )  # fmt: skip
    assert refusal(lambda: main.inline_functions({"g": 3}))[:2] == (
        "RX0201", "only a Relax function can be inlined; `g` is int (3)"
    )  # fmt: skip
    assert refusal(lambda: main.inline_functions({"g": g, mod.get_global_var("g"): main})) == (
        "RX0103", "two functions are given for `g`",
        "give it by its name or by its variable, not by both",
    )  # fmt: skip


def test_bodies_that_grow_beyond_all_bounds_are_refused():
    twice = f"{F}\n    a = M.{{0}}(x)\n    b = M.{{0}}(a)\n    return b"
    names = [f"f{number}" for number in range(24)]
    mod = module(f0=TWICE, **{name: twice.format(names[i]) for i, name in enumerate(names[1:])},
                 main=twice.format(names[-1]))  # fmt: skip
    code, message, help = refusal(lambda: inlined(mod, *names))
    assert (code, help) == ("RX0104", "inline fewer functions at a time")
    assert message.startswith("with the bodies of its callees the function would have")


def test_inlining_costs_what_the_function_is_long():
    def prepare(size):
        lines = ["    a = M.g(x)", *["    a = M.g(a)"] * size, "    return a"]
        mod = module(g=TWICE, main="\n".join([F, *lines]))
        return lambda: mod["main"].inline_functions({"g": mod["g"]})

    assert growth(prepare, 20) < 10


def test_a_call_of_a_chain_of_functions_is_inlined_without_recursion():
    chain = {f"f{i}": f"{F}\n    a = M.f{i + 1}(x)\n    return a" for i in range(1, 150)}
    mod = module(f150=TWICE, **chain, main=f"{F}\n    a = M.f1(x)\n    return a")
    made = mod["main"].inline_functions(mod.relax_functions())
    calls = [b for b in bindings(made) if isinstance(b.value, Call)]
    assert len(calls) == 1
