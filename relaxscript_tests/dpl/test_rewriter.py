"""Rewriting by patterns: values, several bindings at once, modules, and what no rewriter may do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relaxscript import relax
from relaxscript.builder import BlockBuilder
from relaxscript.dpl import (
    DFPattern,
    ExprPatternRewriter,
    OrRewriter,
    PatternContext,
    PatternMatchingRewriter,
    TupleRewriter,
    is_call_packed,
    is_const,
    is_op,
    is_tuple_get_item,
    rewrite_bindings,
    rewrite_call,
    wildcard,
)
from relaxscript.errors import VMError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call, Expr, Function, Op, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.structural_equality import assert_structural_equal, structural_equal
from relaxscript.relax import op
from relaxscript.relax.analysis import get_var2val, well_formed
from relaxscript.script import ir as I, relax as R
from relaxscript.testing.compare import EXECUTORS, OPTIMISED, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples
from relaxscript_tests.growth import growth

from . import block, mistake_of, projections, variables

A, B = wildcard(), wildcard()
SUM = is_op("relax.add")(A, B)
PRODUCT = is_op("relax.multiply")(A, B)


def operators_of(func: Function) -> list[str]:
    """The operators that a function calls, in their order."""
    values = get_var2val(func).values()
    return [v.op.name[6:] for v in values if isinstance(v, Call) and isinstance(v.op, Op)]


def as_difference(matched: Expr, found: dict[DFPattern, Expr]) -> Expr:
    return op.subtract(found[A], op.negative(found[B]))


# ---------------------------------------------------------------- values


def test_a_value_is_replaced_and_its_operands_are_bound():
    func = rewrite_call(SUM, as_difference, block())
    assert operators_of(func) == ["negative", "subtract", "nn.relu", "multiply", "divide"]
    assert well_formed(func)


def test_what_the_match_does_not_need_any_more_goes():
    relu = is_op("relax.nn.relu")(SUM)
    func = rewrite_call(relu, lambda _, found: op.maximum(found[A], found[B]), block())
    assert operators_of(func) == ["maximum", "multiply", "divide"]


def test_the_matched_expression_leaves_the_function_as_it_is():
    func = block()
    assert rewrite_call(SUM, lambda matched, _: matched, func) is func
    assert rewrite_call(SUM, lambda _, found: op.add(found[A], found[B]), func) is func
    assert rewrite_call(is_op("relax.exp")(A), lambda *_: 1 / 0, func) is func  # type: ignore[arg-type]


def test_a_replacement_is_rewritten_again():
    """`x * 8` is `x + x * 7`, and so on down to `x`."""

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            gv = R.multiply(x, R.const(8, "float32"))
            R.output(gv)
        return gv

    factor = is_const()

    def less(matched: Expr, found: dict[DFPattern, Expr]) -> Expr:
        times = float(found[factor].data)  # type: ignore[attr-defined]
        if times == 1:
            return found[A]
        return op.add(found[A], op.multiply(found[A], relax.const(times - 1, "float32")))

    func = rewrite_call(is_op("relax.multiply")(A, factor), less, main)
    assert operators_of(func) == ["add"] * 7


def test_what_earlier_bindings_have_become_is_matched():
    """Of a chain of `relu` one is left, in one go."""
    bb = BlockBuilder()
    x = Var("x", TensorStructInfo((2, 3), "float32"))
    with bb.function("main", [x]):
        with bb.dataflow():
            last: Expr = x
            for _ in range(50):
                last = bb.emit(op.nn.relu(last))
            out = bb.emit_output(op.exp(last))
        bb.emit_func_output(out)
    relu = is_op("relax.nn.relu")
    inner = relu(A)
    calls = []

    def once(matched: Expr, found: dict[DFPattern, Expr]) -> Expr:
        calls.append(matched)
        return op.nn.relu(found[A])

    func = rewrite_call(relu(inner), once, bb.finalize()["main"])
    assert operators_of(func) == ["nn.relu", "exp"]
    assert len(calls) == 49


def test_a_matched_value_in_the_replacement_is_the_variable_that_is_bound_to_it():
    exp = is_op("relax.exp")(A)

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.nn.relu(a)
            gv = R.add(a, b)
            R.output(gv)
        return gv

    func = rewrite_call(is_op("relax.nn.relu")(exp), lambda _, found: found[exp], main)
    assert operators_of(func) == ["exp", "add"]


def test_branches_and_local_functions_are_rewritten():
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2, 3), "float32")):
        @R.function
        def inner(y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            return R.add(y, y)

        if c:
            a = R.add(x, x)
        else:
            a = inner(x)
        return a

    func = rewrite_call(SUM, as_difference, main)
    assert "R.add" not in func.script()
    assert func.script().count("R.subtract") == 2
    assert well_formed(func)


def test_what_leaves_a_dataflow_block_is_not_seen_through_behind_it():
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            lv = R.exp(x)
            gv = R.nn.relu(lv)
            R.output(gv)
        out = R.negative(gv)
        return out

    pattern = is_op("relax.negative")(is_op("relax.nn.relu")(A))
    assert rewrite_call(pattern, lambda _, found: op.sqrt(found[A]), main) is main


def test_a_cast_is_not_seen_through():
    @R.function
    def main(x: R.Tensor((2, "n"), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.match_cast(a, R.Tensor((2, 3), "float32"))
            gv = R.nn.relu(b)
            R.output(gv)
        return gv

    pattern = is_op("relax.nn.relu")(is_op("relax.exp")(A))
    assert rewrite_call(pattern, lambda _, found: op.sqrt(found[A]), main) is main


def test_calls_outside_of_dataflow_blocks_stay():
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        a = R.add(x, y)
        b = R.nn.relu(a)
        return b

    relu = is_op("relax.nn.relu")(SUM)
    func = rewrite_call(relu, lambda _, found: op.maximum(found[A], found[B]), main)
    assert operators_of(func) == ["add", "maximum"]


# ---------------------------------------------------------------- several bindings


def test_bindings_that_match_together_are_replaced_together():
    with PatternContext() as ctx:
        x, weights = wildcard(), [wildcard() for _ in range(3)]
        products = [is_op("relax.matmul")(x, w) for w in weights]

    def together(found, bindings):
        assert found[products[0]] in bindings
        product = op.matmul(found[x], op.concat([found[w] for w in weights], axis=1))
        parts = op.split(product, 3, axis=1)
        return {found[p]: parts[i] for i, p in enumerate(products)}

    func = rewrite_bindings(ctx, together, projections())
    assert operators_of(func) == ["concat", "matmul", "split", "add", "add"]
    assert well_formed(func)
    inputs = inputs_for(func, 1)
    made, expected = (
        observe(EXECUTORS["interpreter"](IRModule({"main": f})), "main", inputs)
        for f in (func, projections())
    )
    check_outcomes("together", made, "one by one", expected)


def test_a_binding_goes_behind_what_its_new_value_uses():
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.nn.relu(a)
            c = R.sqrt(x)
            gv = R.add(b, c)
            R.output(gv)
        return gv

    with PatternContext() as ctx:
        exp = is_op("relax.exp")(A)
        sqrt = is_op("relax.sqrt")(A)
    func = rewrite_bindings(
        ctx, lambda found, _: {found[exp]: op.multiply(found[sqrt], found[sqrt])}, main
    )
    assert operators_of(func) == ["sqrt", "multiply", "nn.relu", "add"]
    assert well_formed(func)


def test_no_new_values_leave_the_function_as_it_is():
    func = block()
    with PatternContext() as ctx:
        is_op("relax.add")(A, B)
    assert rewrite_bindings(ctx, lambda found, bindings: {}, func) is func
    assert rewrite_bindings(ctx, lambda found, bindings: bindings, func) is func


def test_a_context_is_rewritten_wherever_it_matches():
    with PatternContext() as ctx:
        add = is_op("relax.add")(A, B)
    func = rewrite_bindings(
        ctx, lambda found, _: {found[add]: op.maximum(found[A], found[B])}, projections()
    )
    assert operators_of(func) == ["matmul"] * 3 + ["maximum"] * 2


def test_a_tuple_rewriter_replaces_one_binding_for_each_pattern():
    exp, sqrt = is_op("relax.exp")(A), is_op("relax.sqrt")(A)

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.sqrt(x)
            gv = R.add(a, b)
            R.output(gv)
        return gv

    def both(matched: Expr, found: dict[DFPattern, Expr]) -> Expr:
        root = op.nn.relu(found[A])
        return relax.Tuple([root, op.negative(root)])

    func = TupleRewriter([exp, sqrt], both)(main)
    assert operators_of(func) == ["nn.relu", "negative", "add"]
    assert TupleRewriter([exp, sqrt], lambda matched, _: matched)(main) is main


def test_a_tuple_whose_values_would_depend_on_themselves_is_left_alone():
    exp, sqrt = is_op("relax.exp")(A), is_op("relax.sqrt")(B)

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.nn.relu(a)
            gv = R.sqrt(b)
            R.output(gv)
        return gv

    swap = TupleRewriter(
        [exp, sqrt], lambda _, found: (op.negative(found[B]), op.negative(found[A]))
    )
    assert swap(main) is main


# ---------------------------------------------------------------- rewriters


def test_two_rewriters_are_one():
    first = PatternMatchingRewriter.from_pattern(SUM, as_difference)
    second = ExprPatternRewriter(is_op("relax.nn.relu")(A), lambda _, found: op.exp(found[A]))
    both = first | second
    assert isinstance(both, OrRewriter)
    assert operators_of(both(block())) == ["negative", "subtract", "exp", "multiply", "divide"]
    assert repr(both).startswith('ExprPatternRewriter(is_op("relax.add")(wildcard(), wildcard())')


def test_a_rewriter_takes_modules():
    @I.ir_module
    class Model:
        @R.function
        def main(x: R.Tensor((2, 3), "float32")):
            return R.add(x, x)

        @R.function
        def other(x: R.Tensor((2, 3), "float32")):
            return R.exp(x)

    before = Model.script()
    made = ExprPatternRewriter(SUM, as_difference)(Model)
    assert operators_of(made["main"]) == ["negative", "subtract"]
    assert made["other"] is Model["other"]
    assert Model.script() == before
    assert ExprPatternRewriter(PRODUCT, as_difference)(Model) is Model


# ---------------------------------------------------------------- mistakes


def test_what_is_no_expression_is_refused():
    mistake = mistake_of(lambda: rewrite_call(SUM, lambda *_: 3, block()))  # type: ignore[arg-type, return-value]
    assert (mistake.code, mistake.message) == (
        "RX0710",
        'the rewriter of `is_op("relax.add")(wildcard(), wildcard())` gives `3` for `a`, which is '
        "no expression",
    )
    assert mistake.labels[-1].text == "`a` is here"
    assert mistake.labels[-1].span.text == "a"


def test_another_struct_info_is_refused():
    mistake = mistake_of(
        lambda: rewrite_call(SUM, lambda _, found: op.astype(found[A], "float16"), block())
    )
    assert mistake.message == (
        'the rewriter of `is_op("relax.add")(wildcard(), wildcard())` changes what is known of `a`'
    )
    assert mistake.notes == (
        'it is `R.Tensor((2, 3), "float32")`',
        'the replacement is `R.Tensor((2, 3), "float16")`',
        "the dtype is float16, not float32",
    )
    with PatternContext() as ctx:
        add = is_op("relax.add")(A, B)
    mistake = mistake_of(
        lambda: rewrite_bindings(ctx, lambda found, _: {found[add]: op.sum(found[A])}, block())
    )
    assert mistake.message == "the rewriter of `the context` changes what is known of `a`"


def test_rules_without_an_end_are_stopped():
    mistake = mistake_of(
        lambda: rewrite_call(SUM, lambda _, found: op.add(found[B], found[A]), block())
    )
    assert mistake.message == (
        'rewriting `a` by `is_op("relax.add")(wildcard(), wildcard())` does not come to an end: '
        "after 1000 replacements it still matches"
    )
    with PatternContext() as ctx:
        add = is_op("relax.add")(A, B)
    mistake = mistake_of(
        lambda: rewrite_bindings(
            ctx, lambda found, _: {found[add]: op.add(found[B], found[A])}, block()
        )
    )
    assert mistake.message.endswith("after 100 rounds it still matches")
    grow = is_op("relax.nn.relu")(A)
    mistake = mistake_of(
        lambda: rewrite_call(
            grow, lambda _, found: op.negative(op.nn.relu(op.exp(found[A]))), block()
        )
    )
    assert mistake.message.endswith("after 100 rounds it still matches")


def test_side_effects_are_not_dropped():
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")):
        a = R.call_packed("f", x, sinfo_args=R.Tensor((2, 3), "float32"))
        return a

    pattern = is_call_packed("f", [A])
    mistake = mistake_of(lambda: rewrite_call(pattern, lambda _, found: op.exp(found[A]), main))
    assert mistake.message == (
        'the rewriter of `ExternFuncPattern("f")(wildcard())` drops the side effects of `a`'
    )

    def other(matched: Expr, found: dict[DFPattern, Expr]) -> Expr:
        return relax.Call(relax.ExternFunc("g"), [found[A]], None, matched.sinfo_args)  # type: ignore[attr-defined]

    assert '"g"' in rewrite_call(pattern, other, main).script()


def test_values_of_several_bindings_are_given_by_their_variables():
    func = block()
    with PatternContext() as ctx:
        add = is_op("relax.add")(A, B)
    start = "the rewriter of `the context` gives "
    for given, message in (
        ([], start + "`[]`, which is no mapping"),
        (
            {func.params[0]: A},
            start + "a value for `x`, which the block",
        ),
        (
            {3: A},
            start + "a value for `3`, which the block does not bind",
        ),
    ):
        mistake = mistake_of(lambda given=given: rewrite_bindings(ctx, lambda *_: given, func))
        assert mistake.message.startswith(message)
    mistake = mistake_of(lambda: rewrite_bindings(ctx, lambda found, _: {found[add]: 3}, func))
    assert mistake.message == start + "`3` for `a`, which is no expression"
    mistake = mistake_of(lambda: TupleRewriter([SUM], lambda *_: (A, B))(func))
    assert mistake.message.endswith("one value for each of 1 pattern is wanted")


def test_values_that_use_each_other_are_refused():
    func = block()
    var = variables(func)
    with PatternContext() as ctx:
        add = is_op("relax.add")(A, B)
    mistake = mistake_of(
        lambda: rewrite_bindings(ctx, lambda found, _: {found[add]: op.exp(var["c"])}, func)
    )
    assert mistake.message.startswith("the rewriter of `the context` makes `")
    assert mistake.message.endswith("use each other")


def test_what_is_no_rewriter_pattern_context_or_function_is_refused():
    func = block()
    assert (
        "takes a PatternContext"
        in mistake_of(lambda: rewrite_bindings(SUM, as_difference, func)).message
    )
    assert "is no pattern: `3`" in mistake_of(lambda: rewrite_call(3, as_difference, func)).message
    mistake = mistake_of(lambda: ExprPatternRewriter(SUM, as_difference) | 3)
    assert mistake.message == "`|` joins rewriters, and `3` is none"
    mistake = mistake_of(lambda: rewrite_call(SUM, as_difference, 3))
    assert mistake.message == "a Relax function or module is rewritten, not a int"


# ---------------------------------------------------------------- laws


ANYTHING = is_op("relax.add")(A, B) | PRODUCT | is_tuple_get_item(A) | is_op("relax.exp")(A)


def test_rewriting_by_the_identity_leaves_a_module_as_it_is():
    rewriter = ExprPatternRewriter(ANYTHING, lambda matched, _: matched)
    for seed in range(examples(100)):
        mod = random_module(seed)
        assert rewriter(mod) is mod


@pytest.mark.slow
def test_a_rule_that_keeps_the_meaning_keeps_that_of_programs():
    rewriter = ExprPatternRewriter(
        is_op("relax.less_equal")(A, B), lambda _, found: op.greater_equal(found[B], found[A])
    )
    changed = 0
    for seed in range(examples(200)):
        mod = random_module(seed)
        before = mod.script(show_meta=True)
        made = rewriter(mod)
        changed += made is not mod
        assert mod.script(show_meta=True) == before
        assert well_formed(made)
        assert_structural_equal(rewriter(made), made)
        inputs = inputs_for(mod["main"], seed)
        expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
        if isinstance(expected.value, VMError):
            continue
        for name, load in EXECUTORS.items():
            near, actual = OPTIMISED.get(name, 0.0), observe(load(made), "main", inputs)
            check_outcomes(name, actual, "before", expected, near, near)
    assert changed


# ---------------------------------------------------------------- cost


def layers(length: int) -> Function:
    bb = BlockBuilder()
    info = TensorStructInfo((4, 4), "float32")
    x, w, b = (Var(name, info) for name in "xwb")
    with bb.function("main", [x, w, b]):
        with bb.dataflow():
            last: Expr = x
            for _ in range(length):
                last = bb.emit(op.nn.relu(bb.emit(op.add(bb.emit(op.matmul(last, w)), b))))
            out = bb.emit_output(last)
        bb.emit_func_output(out)
    return bb.finalize()["main"]


def test_rewriting_is_linear_in_the_function():
    relu = is_op("relax.nn.relu")(is_op("relax.add")(is_op("relax.matmul")(A, B), wildcard()))

    def prepare(size: int) -> Callable[[], object]:
        func = layers(size)
        return lambda: rewrite_call(relu, lambda _, found: op.maximum(found[A], found[B]), func)

    assert operators_of(prepare(3)()) == ["maximum"] * 3  # type: ignore[arg-type]
    assert growth(prepare, 10) < 9


def test_rewriting_several_bindings_is_linear_in_the_block():
    with PatternContext() as ctx:
        product = is_op("relax.matmul")(A, B)
        total = is_op("relax.add")(product, wildcard())

    def prepare(size: int) -> Callable[[], object]:
        func = layers(size)
        return lambda: rewrite_bindings(
            ctx, lambda found, _: {found[total]: op.maximum(found[A], found[B])}, func
        )

    assert operators_of(prepare(2)()) == ["maximum", "nn.relu"] * 2  # type: ignore[arg-type]
    assert growth(prepare, 10) < 9


def test_long_chains_are_rewritten_without_recursion():
    func = layers(3000)
    made = rewrite_call(is_op("relax.nn.relu")(A), lambda _, found: op.exp(found[A]), func)
    assert not structural_equal(made, func)
    with PatternContext() as ctx:
        relu = is_op("relax.nn.relu")(A)
    again = rewrite_bindings(ctx, lambda found, _: {found[relu]: op.exp(found[A])}, func)
    assert_structural_equal(made, again)


def test_a_rewriter_that_raises_says_whose_it_is_and_of_what():
    func = block()
    before = func.script()
    first = func.body.blocks[0].bindings[0]
    call = is_op(first.value.op.name)(varg_default_wildcard=True)

    def picky(expr, found):
        raise KeyError("weights")

    with pytest.raises(KeyError, match="weights") as raised:
        rewrite_call(call, picky, func)
    said = f"the rewriter of `{call!r}` failed on `{first.var.name_hint}`"
    assert raised.value.__notes__ == [said]
    assert func.script() == before
    with PatternContext() as context:
        is_op(first.value.op.name)(varg_default_wildcard=True)
    with pytest.raises(KeyError, match="weights") as raised:
        rewrite_bindings(context, picky, func)
    assert raised.value.__notes__ == ["the rewriter of `the context` failed"]
