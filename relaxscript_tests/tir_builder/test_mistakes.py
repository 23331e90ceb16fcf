"""What the builder of PrimFuncs refuses, by the part of the statement that is to blame."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from relaxscript import tir
from relaxscript.errors import Source
from relaxscript.tir_builder import TIRBuilder, TIRError, describe, iter_var, make_buffer

FLOAT = tir.const(1.5, "float32")


def program():
    """A builder with parameters: a buffer `a` of 4 elements, `m` of 2 x 2, `n` and `h`."""
    tb = TIRBuilder("f")
    return SimpleNamespace(
        tb=tb,
        a=tb.param_buffer("a", (4,)),
        m=tb.param_buffer("m", (2, 2)),
        n=tb.param("n", "int64"),
        h=tb.param("h", "handle"),
    )


def block(p):
    """An open block."""
    return p.tb.block("b").__enter__()


def choice(p):
    p.tb.if_(p.n > 0).__enter__()
    return p.tb


def filled(p):
    """An open block with a statement in it."""
    found = block(p)
    p.tb.evaluate(0)
    return found


def with_axis(p):
    """An open block with the axis `vi`."""
    found = block(p)
    p.vi = found.spatial(4, p.n, "vi")
    return found


def with_let(p):
    found = block(p)
    p.x = p.tb.let("x", p.n + 1)
    return found


def addressed(p):
    """A block that gives the address of `b` away."""
    data = tir.Var("b", tir.PointerType(tir.PrimType("float32")))
    buffer = p.tb.param_buffer("b", (4,), data=data)
    with p.tb.block("b"):
        p.tb.evaluate(tir.Call("int32", "tir.ret", (buffer.data,)))


def two_scopes(p):
    outer, inner = p.tb.scope(), p.tb.serial(4)
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)


def closed_twice(p):
    scope = p.tb.scope()
    with scope:
        pass
    scope.__exit__(None, None, None)


def stray(p):
    with p.tb.if_(p.n > 0):
        p.tb.evaluate(0)


def no_way(p):
    with p.tb.if_(p.n > 0):
        pass


def way_twice(p):
    tb = choice(p)
    with tb.then():
        pass
    tb.then()


def init_twice(p):
    with p.tb.block("b") as b:
        with b.init():
            p.tb.evaluate(0)
        b.init()


def ends_inside(p):
    p.tb.serial(4).__enter__()
    p.tb.finish()


def goes_on(p):
    p.tb.finish()
    p.tb.evaluate(0)


def finishes_twice(p):
    p.tb.finish()
    p.tb.finish()


def one_more_loop(p):
    p.tb.finish()
    with p.tb.serial(4):
        pass


MISTAKES = {
    # the builder itself
    "finished inside a scope": (ends_inside, "", "`T.serial` is still open"),
    "a statement after finish": (goes_on, "", "`f` is finished: a statement comes too late"),
    "a loop after finish": (one_more_loop, "", "`f` is finished: T.serial comes too late"),
    "finished twice": (finishes_twice, "", "`f` is finished: `finish` comes too late"),
    "scopes end innermost first": (two_scopes, "", "`T.serial` is still open"),
    "a scope that has ended": (closed_twice, "", "`scope` is not open"),
    # scalars
    "a whole buffer": (
        lambda p: p.tb.evaluate(p.m), "value",
        "`m` is a whole buffer, and a scalar is needed here",
    ),
    "no scalar": (
        lambda p: p.tb.evaluate([1]), "value", "a scalar is needed here, this is a Python list"
    ),
    "a number that no integer holds": (
        lambda p: p.tb.evaluate(1 << 70), "value",
        f"{1 << 70} does not fit in int64",
    ),
    "a number as a condition": (
        lambda p: p.tb.while_(p.n), "condition", "a condition is a bool, this is int64"
    ),
    "a value of another dtype": (
        lambda p: p.tb.store(p.a, 0, p.n), "value", "the value is int64, not float32"
    ),
    "a text as a value": (
        lambda p: p.tb.store(p.a, 0, "x"), "value", "the value is a string, not float32"
    ),
    "a vector of another length": (
        lambda p: p.tb.store(p.a, 0, tir.Broadcast(FLOAT, 4)), "value",
        "the value is a vector of 4 lanes, not of 1 lane",
    ),
    "a fraction where a whole number stands": (
        lambda p: p.tb.let("x", 1.5, "int32"), "value",
        "the value is a floating-point number, not int32",
    ),
    "a number as a bool": (
        lambda p: p.tb.let("x", 2, "bool"), "value", "the value is 2, not bool"
    ),
    "a number as an address": (
        lambda p: p.tb.let("x", 2, "handle"), "value", "the value is a number, not handle"
    ),
    "a number that does not fit": (
        lambda p: p.tb.let("x", 300, "int8"), "value", "300 does not fit in int8"
    ),
    # elements and regions
    "no buffer to store into": (
        lambda p: p.tb.store(p.n, 0, 1.0), "buffer",
        "this is a scalar of type int64, not a buffer",
    ),
    "too many indices": (
        lambda p: p.tb.store(p.a, (0, 1), 1.0), "indices", "`a` takes 1 index, not 2"
    ),
    "an index that is no integer": (
        lambda p: p.tb.store(p.a, FLOAT, 1.0), "indices[0]", "an index is an integer"
    ),
    "a vector before the last index": (
        lambda p: p.tb.store(p.m, (slice(0, 2), 0), 1.0), "indices[0]",
        "only the last index can be a vector",
    ),
    "a slice with a step back": (
        lambda p: p.tb.store(p.a, slice(0, 4, -1), 1.0), "indices[0]",
        "the step of a slice is a positive number",
    ),
    "a slice of unknown length": (
        lambda p: p.tb.store(p.a, slice(0, p.n), 1.0), "indices[0]",
        "the number of elements of this slice is not a constant",
    ),
    "a slice without elements": (
        lambda p: p.tb.store(p.a, slice(2, 2), 1.0), "indices[0]", "this slice has no elements"
    ),
    "a region of several vectors": (
        lambda p: p.tb.evaluate(p.m[0:2, 0:2]), "value", "only the last index can be a vector"
    ),
    "no region": (
        lambda p: block(p).reads(p.n), "regions[0]",
        "a region of a buffer is needed here, this is a scalar of type int64",
    ),
    # loops
    "a loop over fractions": (
        lambda p: p.tb.serial(FLOAT), "start", "a loop counts with integers"
    ),
    "extents in a tuple": (
        lambda p: p.tb.grid((4, 4)), "extents[0]", "`T.grid` takes its extents one by one"
    ),
    "a thread without a name": (
        lambda p: p.tb.thread_binding(4, thread=None), "",
        "`T.thread_binding` needs the name of a thread",
    ),
    "no name of a thread": (
        lambda p: p.tb.launch_thread(3, 4), "thread",
        "the name of a thread is a string, this is a Python int",
    ),
    "a variable that is no thread": (
        lambda p: p.tb.launch_thread(p.n, 4), "thread", "`n` is no thread"
    ),
    "a number of threads that is none": (
        lambda p: p.tb.launch_thread("threadIdx.x", FLOAT), "extent",
        "the number of threads is an integer",
    ),
    # choices
    "statements beside the ways": (stray, "", "`T.If` holds `T.Then` and `T.Else` only"),
    "a choice without ways": (no_way, "", "`T.If` needs `T.Then`"),
    "a way outside of a choice": (
        lambda p: p.tb.then(), "", "`T.Then` belongs directly in `T.If`"
    ),
    "a way twice": (way_twice, "", "`T.If` has two `T.Then`"),
    # blocks
    "a block without a text as its name": (
        lambda p: p.tb.block(3), "name", "the name of a block is a string"
    ),
    "an axis outside of blocks": (
        lambda p: p.tb.root.spatial(4, p.n), "", "`T.axis.spatial` belongs in a block"
    ),
    "an axis after statements": (
        lambda p: filled(p).spatial(4, p.n), "",
        "the axes of a block come before its statements",
    ),
    "an axis of fractions": (
        lambda p: block(p).spatial(4, FLOAT), "binding", "the value of an axis is an integer"
    ),
    "a domain of fractions": (
        lambda p: block(p).spatial(FLOAT, p.n), "dom",
        "the domain of an axis is given by integers",
    ),
    "two axes of one name": (
        lambda p: with_axis(p).spatial(4, p.n, "vi"), "", "this block has an axis `vi` already"
    ),
    "an axis of an axis": (
        lambda p: with_axis(p).spatial(4, p.vi), "binding",
        "`T.axis.spatial` is outside of the block, where its axis `vi` has no value",
    ),
    "kinds that are no text": (
        lambda p: block(p).remap(3, [p.n]), "kinds",
        'the kinds of axes are a string such as "SSR"',
    ),
    "loop variables that are no list": (
        lambda p: block(p).remap("S", p.n), "bindings", "the loop variables are given as a list"
    ),
    "no kind of axis": (
        lambda p: block(p).remap("Q", [p.n]), "kinds", "there is no kind of axis `Q`"
    ),
    "more kinds than loops": (
        lambda p: block(p).remap("SS", [p.n]), "kinds",
        "there are 2 kinds for 1 loop variable",
    ),
    "more names than loops": (
        lambda p: block(p).remap("S", [p.n], ["x", "y"]), "bindings",
        "there are 2 names for 1 loop variable",
    ),
    "no variable of a loop": (
        lambda p: block(p).remap("S", [p.n]), "bindings[0]",
        "`n` is not the variable of a loop around the block",
    ),
    "reads said twice": (
        lambda p: [b := block(p), b.reads(), b.reads()], "",
        "`T.reads` is said of this block already",
    ),
    "a region of what the block binds": (
        lambda p: with_let(p).reads(p.a[p.x]), "regions[0]",
        "`T.reads` is said of the whole block, and `x` is bound in it",
    ),
    "init twice": (init_twice, "", "this block has an `init` already"),
    "an address that is given away": (
        addressed, "",
        "what this block reads and writes cannot be told: it gives the address of `b` away",
    ),
    "attributes that are no dict": (
        lambda p: block(p).annotate(3), "attrs", "attributes are a dict with strings as keys"
    ),
    "a buffer as an attribute": (
        lambda p: p.tb.func_attr({"a": [p.a]}), "attrs",
        "an attribute cannot hold the buffer `a`",
    ),
    "no value of an attribute": (
        lambda p: p.tb.func_attr({"a": {1, 2}}), "attrs", None,
    ),
    "an attribute twice": (
        lambda p: [p.tb.func_attr({"a": 1}), p.tb.func_attr({"a": 2})], "attrs",
        "the function has the attribute `a` already",
    ),
    # buffers and memory
    "a buffer of nothing": (
        lambda p: make_buffer("x", (4,), "void"), "dtype",
        'the elements of the buffer `x` have no dtype: "void" has no values',
    ),
    "strides for other dimensions": (
        lambda p: make_buffer("x", (4,), strides=(1, 2)), "strides",
        "1 dimension needs 1 stride, not 2",
    ),
    "a dimension in memory": (
        lambda p: make_buffer("x", (tir.Cast("int64", p.a[0]),)), "shape",
        "a dimension cannot be read from a buffer",
    ),
    "a negative dimension": (
        lambda p: make_buffer("x", (-4,)), "shape[0]",
        "a dimension cannot be negative, this is -4",
    ),
    "a huge dimension": (
        lambda p: make_buffer("x", (1 << 63,)), "shape[0]",
        f"a dimension is an int64, this is {1 << 63}",
    ),
    "a dimension of fractions": (
        lambda p: make_buffer("x", (FLOAT,)), "shape[0]",
        "a dimension is a whole number, this is a scalar of type float32",
    ),
    "memory at a number": (
        lambda p: make_buffer("x", (4,), data=p.n), "data",
        "`data` is the address of memory, this is a scalar of type int64",
    ),
    "a scope that is no text": (
        lambda p: make_buffer("x", (4,), scope=3), "scope",
        "a string is needed here, this is a Python int",
    ),
    "an alignment that is no number": (
        lambda p: make_buffer("x", (4,), align="8"), "align",
        "a whole number is needed here, this is a Python str",
    ),
    "separators that are no numbers": (
        lambda p: make_buffer("x", (4,), axis_separators="8"), "axis_separators",
        "whole numbers are needed here, this is a Python str",
    ),
    "a buffer matched twice": (
        lambda p: [
            p.tb.match_buffer(p.h, make_buffer("x", (4,))),
            p.tb.match_buffer(p.h, make_buffer("y", (4,))),
        ], "param", "`h` is the buffer `x` already",
    ),
    "a scalar matched": (
        lambda p: p.tb.match_buffer(p.n, make_buffer("x", (4,))), "param",
        "`T.match_buffer` takes a parameter `a: T.handle`",
    ),
    "a region matched outside of blocks": (
        lambda p: p.tb.match_buffer(p.a[0:2], make_buffer("x", (2,))), "param",
        "`T.match_buffer` takes a parameter `a: T.handle`",
    ),
    "memory of a fraction": (
        lambda p: p.tb.allocate("x", [FLOAT], "int8"), "extents[0]",
        "an extent is a whole number, this is a scalar of type float32",
    ),
    "memory in no scope": (
        lambda p: p.tb.allocate("x", [4], "int8", scope=3), "scope",
        "the scope of memory is a string",
    ),
    "constants of no number": (
        lambda p: p.tb.allocate_const("x", [1], "handle", [1]), "dtype",
        "constants are numbers, not of handle",
    ),
    "constants that are no numbers": (
        lambda p: p.tb.allocate_const("x", ["a"], "int32", [1]), "data",
        "these are no numbers of int32: invalid literal for int() with base 10: 'a'",
    ),
    "too few constants": (
        lambda p: p.tb.allocate_const("x", [1], "int32", [2]), "data",
        "1 value cannot fill 2 elements",
    ),
    "a region that exists in no scope": (
        lambda p: p.tb.realize(p.a[0:2], 3), "storage_scope", "the scope of memory is a string"
    ),
    # other statements
    "a hint without a name": (
        lambda p: p.tb.attr(p.n, 3, 1), "attr_key", "the name of a hint is a string"
    ),
    "a hint about a list": (
        lambda p: p.tb.attr([1], "key", 1), "node", "a hint cannot be about a Python list"
    ),
    "a message that is no text": (
        lambda p: p.tb.assert_holds(p.n > 0, 3), "message",
        "the message of an assertion is a string, this is a Python int",
    ),
    "a prefetch of a scalar": (
        lambda p: p.tb.prefetch(p.n), "buffer", "this is a scalar of type int64, not a buffer"
    ),
    "a prefetch of one range": (
        lambda p: p.tb.prefetch(p.m, 3), "bounds",
        "the region is a list with a range for each axis",
    ),
    "a prefetch of too few ranges": (
        lambda p: p.tb.prefetch(p.m, [4]), "bounds", "`m` has 2 axes, not 1"
    ),
    "an axis without a variable": (
        lambda p: iter_var(3, 4, "CommReduce", ""), "axis",
        "the variable of an axis is needed, this is a Python int",
    ),
    "an axis of no kind": (
        lambda p: iter_var("k", 4, 3, ""), "axis",
        "the kind and the thread of an axis are strings",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_names_the_part_to_blame(name):
    make, part, message = MISTAKES[name]
    with pytest.raises(TIRError) as caught:
        make(program())
    assert caught.value.part == part
    assert message is None or caught.value.message == message
    assert caught.value.message in str(caught.value)


def test_whoever_knows_places_makes_a_diagnostic_of_a_mistake():
    with pytest.raises(TIRError) as caught:
        program().tb.while_(tir.Var("n", "int64"))
    source = Source("program.py", "while n:\n    pass\n")
    line, word = source.span(source_node(0, 8)), source.span(source_node(6, 7))
    found = caught.value.diagnostic("T.While", line, {"condition": word}, {"condition": "n"})
    assert (found.code, found.span, found.help) == ("RX0502", word, "compare it: `n != 0`")
    assert [(edit.span, edit.new_text) for edit in found.fix] == [(word, "n != 0")]
    bare = caught.value.diagnostic("T.While", line, {})
    assert (bare.span, bare.help, bare.fix) == (line, "compare it: `condition != 0`", ())


def source_node(start, end):
    return SimpleNamespace(lineno=1, col_offset=start, end_lineno=1, end_col_offset=end)


def test_it_warns_of_what_deserves_a_word():
    p = program()
    p.tb.store(p.a, 9, 1.0)
    p.tb.store(p.a, -1, 1.0)
    p.tb.launch_thread("threadIdx.q", 4)
    assert [(doubt.part, doubt.severity) for doubt in p.tb.doubts] == [
        ("indices[0]", "warning"), ("indices[0]", "warning"), ("thread", "warning"),
    ]  # fmt: skip


def test_values_are_described_in_a_few_words():
    p = program()
    described = [describe(v) for v in (p.a, p.a[0:2], p.h, p.n, p.a.dtype, tir, None, 3)]
    assert described == [
        "the buffer `a`", "a region of a buffer", "an address", "a scalar of type int64",
        "the dtype `float32`", "the module `tir`", "`None`", "a Python int",
    ]  # fmt: skip
