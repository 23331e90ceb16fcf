"""Blame for IR without a source: the printed text with the culprit underlined."""

from __future__ import annotations

from relaxscript.ir import hooks, relax
from relaxscript.ir.same import StructuralMismatch, assert_structural_equal
from relaxscript.script.printer.blame import blamed

from .programs import add, function, tensor, text

x, y = relax.Var("x", tensor(2)), relax.Var("y", tensor(2))
value = add(x, x)
f = function([x], (y, value), result=y, ret=tensor(2))


def test_a_node_is_underlined_in_the_printed_text():
    assert blamed(f, value, "reads `x` twice", "<after fuse_ops>") == text("""
         --> <after fuse_ops>:6:36
          |
        6 |     y: R.Tensor((2,), "float32") = R.add(x, x)
          |                                    ^^^^^^^^^^^ reads `x` twice
    """)
    assert hooks.blame(f, value, "here") == blamed(f, value, "here")


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
