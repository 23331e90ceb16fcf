"""Underlines, remarks and numbers in a printed text."""

from __future__ import annotations

from relaxscript.ir import prim, relax
from relaxscript.script.printer.module import script

from .programs import add, function, tensor

n = prim.Var("n", "int64")
x, y = relax.Var("x", tensor(2)), relax.Var("y", tensor(2))
value = add(x, x)
f = function([x], (y, value), result=y, ret=tensor(2))


def test_an_underlined_node_has_carets_below_it():
    assert script(f, obj_to_underline=[value, relax.Var("strange", None)]).split("\n")[-3:] == [
        '    y: R.Tensor((2,), "float32") = R.add(x, x)',
        "                                   ^^^^^^^^^^^",
        "    return y",
    ]


def test_a_node_of_several_lines_is_underlined_line_by_line():
    shown = script(f, obj_to_underline=[f.body.blocks[0].bindings[0]], line_width=30)
    assert shown.split("\n")[-7:-1] == [
        "    y: R.Tensor(",
        "    ^^^^^^^^^^^^",
        '        (2,), "float32"',
        "        ^^^^^^^^^^^^^^^",
        "    ) = R.add(x, x)",
        "    ^^^^^^^^^^^^^^^",
    ]


def test_a_remark_stands_behind_the_statement():
    shown = script(f, obj_to_annotate={value: "twice", relax.Var("strange", None): "never"})
    assert 'y: R.Tensor((2,), "float32") = R.add(x, x)  # twice' in shown
    assert "never" not in shown


def test_lines_can_be_numbered():
    lines = script(f, print_line_numbers=True).split("\n")
    assert lines[0] == "1 # from relaxscript.script import relax as R"
    assert lines[-1] == "7     return y"


def test_one_node_can_be_underlined_without_a_list():
    assert script(f, obj_to_underline=value) == script(f, obj_to_underline=[value])


def test_only_some_lines_around_what_is_underlined_can_be_shown():
    shown = script(f, obj_to_underline=[value], num_context_lines=1)
    assert shown.split("\n") == [
        "(... 4 lines skipped ...)",
        'def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):',
        '    y: R.Tensor((2,), "float32") = R.add(x, x)',
        "                                   ^^^^^^^^^^^",
        "    return y",
    ]
    assert script(f, obj_to_underline=[f.params[0]], num_context_lines=0).split("\n") == [
        "(... 4 lines skipped ...)",
        'def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):',
        "         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "(... 2 lines skipped ...)",
    ]
    assert script(f, num_context_lines=0) == script(f)


def test_remarks_of_one_line_stand_side_by_side_and_break_no_line():
    shown = script(f, obj_to_annotate={value: "twice\nas much", y: "the result"})
    assert "= R.add(x, x)  # twice as much; the result\n" in shown


def test_numbers_of_lines_leave_every_line_as_it_is():
    text = script(f)
    numbered = script(f, print_line_numbers=True).split("\n")
    assert "\n".join(line.split(" ", 1)[1] for line in numbered) == text
