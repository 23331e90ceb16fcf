"""VerifyEach: which pass, which function and which binding broke a law."""

from __future__ import annotations

import pytest

from relaxscript.builder import BlockBuilder
from relaxscript.errors import DiagnosticError
from relaxscript.ir.prim import Add, IntImm
from relaxscript.ir.relax import Call, Function, SeqExpr, VarBinding
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.walk import rewrite
from relaxscript.relax.ir import instrument
from relaxscript.script import from_source, relax as R
from relaxscript.transform import (
    LegalizeOps,
    Normalize,
    PassContext,
    Sequential,
    ToNonDataflow,
    VerifyEach,
    default_build_pipeline,
    function_pass,
    module_pass,
)
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.long_programs import long_module

MODEL = """
@I.ir_module
class Model:
    @R.function
    def other(x: R.Tensor((3,), "float32")):
        y = R.abs(x)
        return y

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.exp(x)
        z = R.negative(y)
        return z
"""
Model = from_source(MODEL)


def verify(*passes, mod=Model):
    with PassContext(instruments=[VerifyEach()]):
        return Sequential([*passes])(mod)


def broken(*passes, mod=Model):
    with pytest.raises(DiagnosticError, match="RX0706") as caught:
        verify(*passes, mod=mod)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic, str(caught.value)


@function_pass(opt_level=0)
def swaps(func, mod, ctx):
    """The function with its first two bindings in the other order, where there are two."""
    (block,) = func.body.blocks
    turned = (*block.bindings[:2][::-1], *block.bindings[2:])
    return func.replace(body=SeqExpr([block.replace(bindings=turned)], func.body.body))


def test_passes_that_keep_the_laws_are_left_alone():
    made = verify(Normalize(), LegalizeOps(), default_build_pipeline())
    assert made["main"] is not Model["main"]


def test_the_first_pass_that_breaks_a_module_is_named_with_function_and_binding():
    diagnostic, _ = broken(ToNonDataflow(), swaps, LegalizeOps())
    assert diagnostic.message == (
        "the pass `swaps` breaks `main`, at `z`: it is not well-formed: "
        "`y` is used before it is bound"
    )


def test_both_scripts_are_shown_where_they_differ():
    _, text = broken(swaps)
    assert "<after swaps>:" in text
    assert '         z: R.Tensor((4,), "float32") = R.negative(y)' in text
    assert "^ after the pass" in text
    assert "::: <before swaps>:" in text
    assert "--- before the pass" in text


def test_struct_info_that_is_not_what_is_derived_is_found():
    @function_pass(opt_level=0)
    def relu_of_another_size(func, mod, ctx):
        def step(node):
            if isinstance(node, VarBinding) and node.var.name_hint == "z":
                return node.replace(value=R.zeros((5,), "float32"))
            return None

        return rewrite(func, step)

    diagnostic, _ = broken(relu_of_another_size)
    assert diagnostic.message.startswith(
        "the pass `relu_of_another_size` breaks `main`, at `z`: it is not well-formed: "
    )


def test_a_module_whose_script_is_refused_is_found():
    @function_pass(opt_level=0)
    def with_half_a_call(func, mod, ctx):
        return func.with_attr("half", Call(R.exp(func.params[0]).op, []))

    diagnostic, _ = broken(with_half_a_call)
    assert diagnostic.message == (
        "the pass `with_half_a_call` breaks `other`: its script is refused: `R.exp` needs `x`"
    )


def test_a_module_that_reads_back_as_another_is_found():
    @function_pass(opt_level=0)
    def with_a_sum(func, mod, ctx):
        return func.with_attr("sum", Add(IntImm("int64", 1), IntImm("int64", 2)))

    diagnostic, _ = broken(with_a_sum)
    assert diagnostic.message.startswith("the pass `with_a_sum` breaks `other`")
    assert "its script reads as another: " in diagnostic.message


def test_a_pass_that_changes_what_it_is_given_is_named_with_the_function():
    @module_pass(opt_level=0)
    def in_place(mod, ctx):
        mod["main"] = mod["main"].with_attr("seen", True)
        return mod

    mod = Model.clone()
    diagnostic, text = broken(in_place, mod=mod)
    assert diagnostic.message == (
        "the pass `in_place` changes the module that it is given, in `main`"
    )
    assert diagnostic.help == "make a copy with `mod.clone()`, and change that"
    assert "<in_place was given>" in text


def test_a_module_that_was_wrong_before_is_not_the_fault_of_the_pass():
    wrong = swaps(Model)
    diagnostic, _ = broken(ToNonDataflow(), module_pass(lambda mod, ctx: mod.clone()), mod=wrong)
    assert diagnostic.message == (
        "the pass `<lambda>` is given a module with a mistake: `y` is used before it is bound"
    )


def test_a_module_need_not_be_in_normal_form_before_it_is_brought_there():
    nested = Model.clone()
    main = nested["main"]
    x = main.params[0]
    value = Call(R.exp(x).op, [R.exp(x)])
    nested["main"] = Function([x], value, None, attrs=main.attrs)
    again = module_pass(lambda mod, ctx: mod.clone(), name="again")
    assert verify(again, Normalize(), mod=nested)["main"] is not nested["main"]


def test_a_pass_that_fails_is_not_mistaken_for_the_one_around_it():
    @module_pass(opt_level=0)
    def fails(mod, ctx):
        raise KeyError

    @module_pass(opt_level=0)
    def catches(mod, ctx):
        with pytest.raises(KeyError):
            fails(mod)
        return mod

    assert verify(catches) is Model


def returning_half(func):
    """The function with its result as another dtype."""
    builder = BlockBuilder()
    with builder.function("f", func.params):
        builder.emit_func_output(builder.emit(R.astype(func.params[0], "float16")))
    return builder.get()["f"].replace(attrs=func.attrs)


def test_a_pass_after_which_a_public_function_gives_something_else_is_named():
    @function_pass(opt_level=0)
    def halves(func, mod, ctx):
        return returning_half(func)

    diagnostic, text = broken(halves)
    assert diagnostic.message == (
        "the pass `halves` breaks `other`: its signature is another: "
        'it is `R.Callable((R.Tensor((3,), "float32"),), R.Tensor((3,), "float16"))`, '
        'and was `R.Callable((R.Tensor((3,), "float32"),), R.Tensor((3,), "float32"))`'
    )
    assert diagnostic.help == (
        "where that is meant, declare it in the class of the pass: `changes_signatures = True`"
    )
    assert "<before halves>" in text
    assert "<after halves>" in text


def test_a_pass_that_declares_it_changes_signatures():
    @function_pass(opt_level=0)
    class Halves:
        changes_signatures = True

        def transform_function(self, func, mod, ctx):
            return returning_half(func)

    assert Halves().info.declares == ("changes_signatures",)
    row = Sequential([Halves()])
    assert row.info.declares == ("changes_signatures",)
    for mod in (verify(Halves()), verify(row)):
        assert mod["main"].ret_struct_info.dtype == "float16"


def test_a_private_function_may_change_with_those_that_call_it():
    private = Model.clone()
    private["other"] = Model["other"].without_attr("global_symbol")

    @module_pass(opt_level=0)
    def halves(mod, ctx):
        made = mod.clone()
        made["other"] = returning_half(mod["other"])
        return made

    assert verify(halves, mod=private)["other"].ret_struct_info.dtype == "float16"


def test_more_may_be_known_of_a_result_than_before():
    mod = Model.clone()
    less = mod["main"].replace(ret_struct_info=TensorStructInfo(ndim=1, dtype="float32"))
    mod["main"] = less

    @function_pass(opt_level=0)
    def knows(func, mod, ctx):
        return func.replace(ret_struct_info=func.params[0].struct_info)

    @module_pass(opt_level=0)
    def forgets(known, ctx):
        return mod

    known = verify(knows, mod=mod)
    assert known["main"] is not less
    diagnostic, _ = broken(forgets, mod=known)
    assert diagnostic.message.startswith("the pass `forgets` breaks `main`: its signature is ")


def test_a_pass_that_takes_a_public_function_away_is_named_unless_it_declares_it():
    def without_other(mod, ctx):
        made = mod.clone()
        del made["other"]
        return made

    diagnostic, _ = broken(module_pass(without_other, name="Drops"))
    assert diagnostic.message == (
        "the pass `Drops` breaks the module: a public function is gone: `other`"
    )
    assert diagnostic.help == (
        "where that is meant, declare it in the class of the pass: `removes_functions = True`"
    )

    @module_pass(opt_level=0)
    class Drops:
        removes_functions = True

        def transform_module(self, mod, ctx):
            return without_other(mod, ctx)

    assert "other" not in verify(Drops())


def test_it_is_there_beside_the_instruments_of_tvm():
    assert instrument.VerifyEach is VerifyEach


@pytest.mark.slow
def test_verifying_is_linear_in_the_bindings():
    def prepare(count):
        mod = long_module("operators", count)
        return lambda: verify(ToNonDataflow(), mod=mod)

    assert growth(prepare, 24) < 10
