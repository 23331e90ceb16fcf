"""RunCodegen: what a code generator is given, and what becomes of what it makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from relaxscript import build, jit, save
from relaxscript.dpl import is_op, wildcard
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import BindingBlock, Call, Function, MatchCast, SeqExpr, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.relax import VirtualMachine
from relaxscript.runtime import register_func
from relaxscript.runtime.packed_func import remove_global_func
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, assert_same
from relaxscript.transform import (
    FuseOpsByPattern,
    MergeCompositeFunctions,
    PassContext,
    RunCodegen,
    VerifyEach,
)

X = np.array([[1.0, 2.0, 3.0]], "float32")
AFTER = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32")) -> R.Tensor(("n", 3), "float32"):
        n = T.int64()
        with R.dataflow():
            y = R.call_dps_packed(
                "fused_relax_add_mine", (x,), out_sinfo=R.Tensor((n, 3), "float32")
            )
            z: R.Tensor((n, 3), "float32") = R.exp(y)
            R.output(z)
        return z
"""


def partitioned(call: str = 'R.add(x, R.const([1.0, 1.0, 1.0], "float32"))') -> IRModule:
    mod = from_source(f"""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        with R.dataflow():
            y = {call}
            z = R.exp(y)
            R.output(z)
        return z
""")
    patterns = [
        ("mine.add", is_op("relax.add")(wildcard(), wildcard())),
        ("mine.unique", is_op("relax.nonzero")(wildcard())),
    ]
    return FuseOpsByPattern(patterns, annotate_codegen=True)(mod)


class Generator:
    """A code generator that adds two instead of one, and keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[tuple[Any, ...]] = []

    def __call__(self, functions: Any, options: Any, constants: Any) -> Any:
        self.given.append((functions, options, constants))

        def kernel(x: Any, out: Any) -> None:
            np.add(x, 2, out=out)

        return {function.attrs["global_symbol"]: kernel for function in functions}


@pytest.fixture
def generator() -> Iterator[Generator]:
    made = Generator()
    register_func("relax.ext.mine", made)
    yield made
    remove_global_func("relax.ext.mine")


def test_calls_become_calls_of_packed_functions(generator):
    mod = partitioned()
    with PassContext(instruments=[VerifyEach()]):
        made = RunCodegen()(mod)
    assert_same(made, from_source(AFTER))
    assert RunCodegen()(made) is made
    assert mod.external_mods == ()


def test_a_code_generator_is_given_functions_options_and_constants(generator):
    mod = partitioned()
    RunCodegen({"mine": {"speed": 3}})(mod)
    ((functions, options, constants),) = generator.given
    assert functions == [mod["fused_relax_add_mine"]]
    assert options == {"speed": 3}
    assert list(constants.values()) == ["mine_const_0"]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_a_code_generator_makes_runs_on_every_executor(generator, executor):
    made = RunCodegen()(partitioned())
    result = EXECUTORS[executor](made)("main", X)
    np.testing.assert_allclose(result, np.exp(X + 2), rtol=1e-6)


def test_two_modules_mean_their_own_functions_by_one_name(generator):
    first = jit(RunCodegen()(partitioned()))
    generator_of_three = lambda functions, *_: {  # noqa: E731
        function.attrs["global_symbol"]: lambda x, out: np.add(x, 3, out=out)
        for function in functions
    }
    register_func("relax.ext.mine", generator_of_three, override=True)
    second = VirtualMachine(build(RunCodegen()(partitioned())))
    np.testing.assert_allclose(first["main"](X), np.exp(X + 2), rtol=1e-6)
    np.testing.assert_allclose(second["main"](X), np.exp(X + 3), rtol=1e-6)


def test_copies_of_a_module_keep_what_was_made(generator):
    made = RunCodegen()(partitioned())
    for copy in (made.clone(), made.with_attr("a", 1), made.with_attr("a", 1).without_attr("a")):
        assert copy.external_mods == made.external_mods


def test_a_call_of_which_nobody_wrote_what_it_gives_has_what_its_function_gives(generator):
    x = Var("x", TensorStructInfo((4, 3), "float32"))
    mod = partitioned()
    call = Call(mod.get_global_var("fused_relax_add_mine"), [x])
    cast = MatchCast(Var("y", x.struct_info), call, x.struct_info)
    body = SeqExpr([BindingBlock([cast])], cast.var)
    mod["main"] = Function([x], body, x.struct_info, attrs={"global_symbol": "main"})
    made = RunCodegen()(mod)
    (binding,) = made["main"].body.blocks[0].bindings
    assert str(binding.value.sinfo_args[0]) == 'R.Tensor((4, 3), "float32")'


def test_only_the_calls_of_entry_functions_are_replaced(generator):
    mod = partitioned()
    mod["other"] = mod["main"].with_attr("global_symbol", "other")
    made = RunCodegen(entry_functions=["other"])(mod)
    assert made["main"] is mod["main"]
    assert made["other"] is not mod["other"]
    assert "fused_relax_add_mine" in made


def test_a_program_with_functions_of_code_generators_is_not_saved(generator, tmp_path):
    executable = build(RunCodegen()(partitioned()))
    with pytest.raises(DiagnosticError) as caught:
        save(executable, tmp_path / "model.rx")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "RX0704"
    assert diagnostic.message == (
        "functions of code generators are not saved, and the program has `fused_relax_add_mine`"
    )
    assert diagnostic.help


def mistake_of(mod: IRModule) -> Any:
    with pytest.raises(DiagnosticError) as caught:
        RunCodegen()(mod)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def test_a_code_generator_that_is_not_registered_is_named_at_what_it_is_for():
    diagnostic = mistake_of(partitioned("R.add(x, x)"))
    assert diagnostic.code == "RX0703"
    assert diagnostic.message == 'the code generator "mine" is not registered'
    assert diagnostic.help.endswith('register it: `@register_func("relax.ext.mine")`')
    assert text_at(diagnostic.span) == "R.add(x, x)"


def test_options_under_what_is_nearly_the_name_of_a_code_generator_are_refused(generator):
    with pytest.raises(DiagnosticError) as caught:
        RunCodegen({"mien": {"fast": True}})(partitioned())
    (diagnostic,) = caught.value.diagnostics
    assert (
        diagnostic.message == '`target_options` of `RunCodegen` are for "mien", and no function is'
    )
    assert diagnostic.help == 'did you mean "mine"?'
    RunCodegen({"cutlass": {}})(partitioned())  # of which another module may have functions


def test_a_code_generator_of_a_function_by_hand_is_named_at_the_function():
    mod = from_source("""
@I.ir_module
class M:
    @R.function
    def theirs(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        R.func_attr({"Codegen": "min", "global_symbol": "theirs"})
        return R.exp(x)

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        cls = M
        return cls.theirs(x)
""")
    register_func("relax.ext.mine", print)
    try:
        diagnostic = mistake_of(mod)
    finally:
        remove_global_func("relax.ext.mine")
    assert diagnostic.help == 'did you mean "mine"?'
    assert text_at(diagnostic.span).startswith("def theirs(x:")


def test_a_merged_function_is_found_where_its_last_value_is():
    mod = from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        with R.dataflow():
            y = R.exp(x)
            z = R.exp(y)
            R.output(z)
        return z
""")
    composites = FuseOpsByPattern([("mine.exp", is_op("relax.exp")(wildcard()))])(mod)
    diagnostic = mistake_of(MergeCompositeFunctions()(composites))
    assert text_at(diagnostic.span) == "R.exp(y)"


def text_at(span: Any) -> str:
    """What a place of a script says, up to the end of its first line."""
    line = span.source.text.split("\n")[span.line - 1]
    last = span.end_column - 1 if span.end_line == span.line else len(line)
    return line[span.column - 1 : last]


@pytest.mark.parametrize("given", [None, {}, {"fused_relax_add_mine": 3}])
def test_a_code_generator_that_leaves_out_a_function_is_named(given):
    register_func("relax.ext.mine", lambda *args: given)
    try:
        diagnostic = mistake_of(partitioned())
    finally:
        remove_global_func("relax.ext.mine")
    assert diagnostic.code == "RX0709"
    message = 'the code generator "mine" gives no callable for `fused_relax_add_mine`'
    assert diagnostic.message == message


def test_what_a_code_generator_raises_says_which_one_it_is():
    def broken(*given):
        raise KeyError("gpu")

    register_func("relax.ext.mine", broken)
    try:
        with pytest.raises(KeyError) as caught:
            RunCodegen()(partitioned())
    finally:
        remove_global_func("relax.ext.mine")
    assert 'the code generator "mine" failed' in caught.value.__notes__


def test_a_result_of_unknown_shape_is_refused(generator):
    mod = partitioned("R.astype(R.nonzero(x), 'float32')")
    diagnostic = mistake_of(mod)
    assert diagnostic.code == "RX0206"
    assert diagnostic.message == (
        "`fused_relax_nonzero_mine` is for a code generator, "
        "and the shape of its result is not known"
    )
    assert diagnostic.help
