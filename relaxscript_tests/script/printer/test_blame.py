"""Blame for IR without a source: the printed text with the culprit underlined."""

from __future__ import annotations

from relaxscript.ir import IRModule, hooks, relax
from relaxscript.ir.structural_equality import StructuralMismatch, assert_structural_equal
from relaxscript.script.printer.blame import underline

from .programs import add, function, tensor, text

x, y = relax.Var("x", tensor(2)), relax.Var("y", tensor(2))
value = add(x, x)
f = function([x], (y, value), result=y, ret=tensor(2))


def test_a_node_is_underlined_in_the_printed_text():
    assert underline(f, value, "reads `x` twice", "<after fuse_ops>") == text("""
         --> <after fuse_ops>:6:36
          |
        6 |     y: R.Tensor((2,), "float32") = R.add(x, x)
          |                                    ^^^^^^^^^^^ reads `x` twice
    """)
    assert hooks.blame(f, value, "here") == underline(f, value, "here")


def test_a_node_that_is_not_in_the_text_is_blamed_on_the_whole():
    shown = hooks.blame(f, relax.Var("strange", None), "is somewhere")
    assert "<script>:1:1" in shown
    assert "is somewhere" in shown


def test_a_difference_of_two_programs_is_shown_in_both():
    other = function([x], (y, add(x, relax.PrimValue(1))), result=y, ret=tensor(2))
    try:
        assert_structural_equal(f, other)
    except StructuralMismatch as mismatch:
        message = str(mismatch)
    assert "^ differs here in the first" in message
    assert "differs here in the second" in message


def message_of(first, second):
    try:
        assert_structural_equal(first, second)
    except StructuralMismatch as mismatch:
        return str(mismatch)
    return ""


def test_a_variable_is_blamed_where_it_differs_and_not_where_it_is_defined():
    w = relax.Var("w", tensor(2))
    first, second = (
        function([x, w], (y, add(x, operand)), result=y, ret=tensor(2)) for operand in (x, w)
    )
    assert message_of(first, second) == text("""
        the programs differ: variable `x` here, variable `w` there \
(at <root>.body.blocks[0].bindings[0].value.args[1])

         --> <script>:6:45
          |
        6 |     y: R.Tensor((2,), "float32") = R.add(x, x)
          |                                             ^ differs here in the first

         --> <script>:6:45
          |
        6 |     y: R.Tensor((2,), "float32") = R.add(x, w)
          |                                             ^ differs here in the second
    """)


def test_attributes_are_blamed_on_the_call_that_has_them():
    def softmax(axis):
        made = relax.Call(relax.Op("relax.nn.softmax"), [x], {"axis": axis})
        return function([x], (y, made), result=y, ret=tensor(2))

    message = message_of(softmax(0), softmax(1))
    assert "the attribute `axis` is `0` here, `1` there" in message
    assert "R.nn.softmax(x, axis=0)\n" in message
    assert message.count("^^^^^^^^^^^^^^^^^^^^^^^") == 2


def test_the_first_binding_that_only_one_has_is_shown():
    z = relax.Var("z", tensor(2))
    longer = function([x], (y, value), (z, add(y, y)), result=y, ret=tensor(2))
    message = message_of(f, longer)
    assert "`bindings` has 1 items here, 2 there" in message
    assert "z: R.Tensor" in message


def test_a_function_is_blamed_on_its_heading():
    module = IRModule({"main": f, "other": f})
    message = message_of(module, IRModule({"main": f}))
    assert message.startswith("the programs differ: the second has no function `other`")
    assert message.count("def ") == 1
    assert len(message.splitlines()) < 8
