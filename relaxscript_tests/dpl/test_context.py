"""Contexts: several patterns at once in a dataflow block, who uses whom, and what costs what."""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.builder import BlockBuilder
from relaxscript.dpl import (
    PatternContext,
    PatternSeq,
    is_const,
    is_op,
    is_var,
    wildcard,
)
from relaxscript.ir.relax import DataflowBlock, Function, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.relax import op
from relaxscript.script import relax as R
from relaxscript_tests.growth import growth

from . import block, mistake_of, projections, variables


def test_calls_are_found_with_all_that_they_use():
    func = block()
    var = variables(func)
    with PatternContext() as ctx:
        x, y = wildcard(), wildcard()
        add = is_op("relax.add")(x, y)
        relu = is_op("relax.nn.relu")(add)
    found = ctx.match_dfb(func.body.blocks[0])
    assert found is not None
    assert [found[p] for p in (relu, add, x, y)] == [var[n] for n in ("b", "a", "x", "y")]


def test_what_does_not_match_together_gives_nothing():
    with PatternContext() as ctx:
        is_op("relax.exp")(is_op("relax.add")(wildcard(), wildcard()))
    assert ctx.match_dfb(block().body.blocks[0]) is None


def test_uses_connect_patterns_that_do_not_contain_each_other():
    func = block()
    var = variables(func)
    with PatternContext() as ctx:
        add = is_op("relax.add")(wildcard(), wildcard())
        relu = is_op("relax.nn.relu")(varg_default_wildcard=True)
        times = is_op("relax.multiply")(varg_default_wildcard=True)
        add >> relu ^ times
    found = ctx.match_dfb(func.body.blocks[0])
    assert found is not None
    assert [found[p] for p in (add, relu, times)] == [var[n] for n in "abc"]
    with PatternContext() as ctx:
        is_op("relax.add")(varg_default_wildcard=True) ^ is_op("relax.multiply")(
            varg_default_wildcard=True
        )
    assert ctx.match_dfb(func.body.blocks[0]) is None  # `b` is between them


def test_an_index_says_which_operand_it_is():
    block_of = block().body.blocks[0]
    for index, expected in ((0, True), (1, False), (-1, True)):
        with PatternContext() as ctx:
            relu = is_op("relax.nn.relu")(wildcard())
            relu.used_by(is_op("relax.multiply")(varg_default_wildcard=True), index)
        assert (ctx.match_dfb(block_of) is not None) is expected


def diamond() -> Function:
    """A value with two users, and one that also leaves the block."""

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.nn.relu(a)
            c = R.tanh(a)
            d = R.add(b, c)
            e = R.sigmoid(d)
            R.output(d, e)
        return d, e

    return main


def test_only_used_by_means_that_nobody_else_uses_it():
    dfb = diamond().body.blocks[0]
    for only, expected in ((False, True), (True, False)):
        with PatternContext() as ctx:
            exp = is_op("relax.exp")(wildcard())
            relu = is_op("relax.nn.relu")(varg_default_wildcard=True)
            exp.only_used_by(relu) if only else exp.used_by(relu)
        assert (ctx.match_dfb(dfb) is not None) is expected


def test_what_leaves_the_block_is_used_by_others():
    with PatternContext() as ctx:
        add = is_op("relax.add")(wildcard(), wildcard())
        add >> is_op("relax.sigmoid")(varg_default_wildcard=True)
    assert ctx.match_dfb(diamond().body.blocks[0]) is None


def test_a_pattern_forks_to_several():
    func = diamond()
    var = variables(func)
    with PatternContext() as ctx:
        exp = is_op("relax.exp")(wildcard())
        relu = is_op("relax.nn.relu")(varg_default_wildcard=True)
        tanh = is_op("relax.tanh")(varg_default_wildcard=True)
        exp.fork_to(relu, tanh)
        add = is_op("relax.add")(relu, tanh)
    found = ctx.match_dfb(func.body.blocks[0])
    assert found is not None
    assert [found[p] for p in (exp, relu, tanh, add)] == [var[n] for n in "abcd"]


def test_several_outputs_of_one_input_are_different_bindings():
    func = projections()
    var = variables(func)
    with PatternContext() as ctx:
        x, weights = wildcard(), [wildcard() for _ in range(3)]
        products = [is_op("relax.matmul")(x, w) for w in weights]
    found = ctx.match_dfb(func.body.blocks[0])
    assert found is not None
    assert [found[p] for p in products] == [var[n] for n in "abc"]
    assert [found[p] for p in (x, *weights)] == [var[n] for n in "xqkv"]
    with PatternContext() as ctx:
        x = wildcard()
        four = [is_op("relax.matmul")(x, wildcard()) for _ in range(4)]
    assert ctx.match_dfb(func.body.blocks[0]) is None
    assert four


def test_a_call_that_is_narrowed_is_one_binding():
    func = block()
    var = variables(func)
    with PatternContext() as ctx:
        add = is_op("relax.add")(wildcard(), wildcard())
        narrowed = add.has_dtype("float32").has_shape((2, 3))
        relu = is_op("relax.nn.relu")(narrowed | is_op("relax.exp")(wildcard()))
    found = ctx.match_dfb(func.body.blocks[0])
    assert found is not None
    assert [found[p] for p in (add, narrowed, relu)] == [var[n] for n in "aab"]


def test_the_search_goes_back_where_the_first_choice_does_not_fit():
    """The first sum of two products is not the one whose result is used by another."""

    @R.function
    def main(x: R.Tensor((2, 2), "float32"), y: R.Tensor((2, 2), "float32")):
        with R.dataflow():
            a = R.matmul(x, x)
            b = R.matmul(x, y)
            c = R.exp(a)
            d = R.nn.relu(b)
            gv = (c, d)
            R.output(gv)
        return gv

    with PatternContext() as ctx:
        product = is_op("relax.matmul")(varg_default_wildcard=True)
        user = wildcard()
        product ^ user
        user ^ wildcard()
        is_op("relax.nn.relu")(product)
    found = ctx.match_dfb(main.body.blocks[0])
    assert found is not None
    assert found[product] is variables(main)["b"]


def test_shapes_that_are_to_be_the_same_are_proved_to_be():
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", 4), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.exp(y)
            c = R.nn.relu(x)
            gv = (a, b, c)
            R.output(gv)
        return gv

    with PatternContext() as ctx:
        exp = is_op("relax.exp")(wildcard())
        relu = is_op("relax.nn.relu")(wildcard())
        exp.same_shape_as(relu)
    found = ctx.match_dfb(main.body.blocks[0])
    assert found is not None
    assert found[exp] is variables(main)["a"]
    with PatternContext() as ctx:
        first, second = (is_op("relax.exp")(wildcard()) for _ in range(2))
        first.same_shape_as(second)
    assert ctx.match_dfb(main.body.blocks[0]) is None


def test_operands_that_are_no_variables_are_there_as_they_stand():
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            gv = R.add(x, R.const(1, "float32"))
            R.output(gv)
        return gv

    with PatternContext() as ctx:
        one = is_const()
        is_op("relax.add")(wildcard(), one)
    found = ctx.match_dfb(main.body.blocks[0])
    assert found is not None
    assert found[one].data == 1


def test_an_incremental_context_begins_with_the_one_around_it():
    func = block()
    with PatternContext() as outer:
        relu = is_op("relax.nn.relu")(wildcard())
        with PatternContext(incremental=True) as inner:
            assert PatternContext.current() is inner
            relu ^ is_op("relax.exp")(varg_default_wildcard=True)
        assert PatternContext.current() is outer
    assert PatternContext.current() is None
    assert outer.match_dfb(func.body.blocks[0])
    assert not inner.match_dfb(func.body.blocks[0])


def test_a_sequence_is_duplicated_with_its_links():
    func = projections()
    with PatternContext() as ctx:
        product = is_op("relax.matmul")(varg_default_wildcard=True)
        total = is_op("relax.add")(varg_default_wildcard=True)
        seq = PatternSeq([product]).used_by(total, 0)
        other = seq.dup()
    assert len(other) == 2
    assert other[0] is not seq[0]
    assert len(ctx.constraints.links) == 2
    assert ctx.match_dfb(func.body.blocks[0]) is None  # only one product is a first operand


# ---------------------------------------------------------------- mistakes


def test_uses_stand_in_a_context():
    mistake = mistake_of(lambda: wildcard() ^ wildcard())
    assert mistake.message == (
        "`used_by` is outside of a pattern context, so nothing would hold it"
    )
    assert mistake.help is not None
    assert mistake.help.startswith("write `with PatternContext()")
    assert "`only_used_by`" in mistake_of(lambda: wildcard() >> wildcard()).message
    assert "`same_shape_as`" in mistake_of(lambda: wildcard().same_shape_as(is_var())).message


def test_a_use_that_no_consumer_can_have_is_refused():
    with PatternContext():
        message = mistake_of(lambda: wildcard() ^ is_const()).message
        assert message == "`is_const()` uses nothing: it is a constant"
        relu = is_op("relax.nn.relu")(wildcard())
        message = mistake_of(lambda: wildcard().used_by(relu, 1)).message
        assert message.endswith("has 1 argument, so nothing is used as its argument 1")
        message = mistake_of(lambda: wildcard().used_by(relu, -2)).message
        assert message == "an argument at index -2 is none; -1 means any of them"
        assert "is no pattern: `3`" in mistake_of(lambda: wildcard() ^ 3).message


def test_a_context_without_patterns_and_what_is_no_block_are_refused():
    with PatternContext() as ctx:
        pass
    mistake = mistake_of(lambda: ctx.match_dfb(block().body.blocks[0]))
    assert mistake.message == "the context has no patterns that could match a binding"
    assert "not a Function" in mistake_of(lambda: ctx.match_dfb(block())).message
    mistake = mistake_of(lambda: PatternContext(incremental=True))
    assert mistake.message.startswith("an incremental context continues the one around it")
    assert mistake_of(lambda: PatternSeq([])).message == "a sequence has at least one pattern"


# ---------------------------------------------------------------- cost


def long_block(length: int) -> DataflowBlock:
    """A block of layers, `relu(x @ w + b)`, whose last binding alone is followed by `exp`."""
    bb = BlockBuilder()
    info = TensorStructInfo((4, 4), "float32")
    x, w, b = (Var(name, info) for name in "xwb")
    with bb.function("main", [x, w, b]):
        with bb.dataflow():
            last = x
            for _ in range(length // 3):
                last = bb.emit(op.nn.relu(bb.emit(op.add(bb.emit(op.matmul(last, w)), b))))
            out = bb.emit_output(op.exp(last))
        bb.emit_func_output(out)
    (found,) = bb.finalize()["main"].body.blocks
    return found


def test_the_search_is_linear_in_the_block():
    with PatternContext() as ctx:
        product = is_op("relax.matmul")(wildcard(), wildcard())
        layer = is_op("relax.nn.relu")(is_op("relax.add")(product, wildcard()))
        layer ^ is_op("relax.exp")(varg_default_wildcard=True)

    def prepare(size: int) -> Callable[[], object]:
        dfb = long_block(3 * size)
        return lambda: ctx.match_dfb(dfb)

    assert prepare(20)() is not None
    assert growth(prepare, 20) < 10
