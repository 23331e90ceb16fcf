"""Lines of the script for items."""

from __future__ import annotations

from relaxscript.graph.places import print_program, say_lines
from relaxscript.graph.reader import read_function
from relaxscript.ir.relax import Call, Function, Op, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.script import ir as I, relax as R
from relaxscript_tests.graph.programs import module


def said(mod, name="main"):
    picture = read_function(mod[name], name)
    printer = print_program(mod)
    say_lines(picture, mod[name], printer)
    return picture, printer.source.lines


def test_each_item_knows_the_line_that_is_about_it():
    picture, lines = said(
        module(
            '    @R.function\n    def main(x: R.Tensor(("n", 4), "float32"), '
            'c: R.Tensor((), "bool")):\n'
            "        if c:\n            y = R.exp(x)\n        else:\n            y = R.sin(x)\n"
            "        with R.dataflow():\n            z = R.nn.softmax(y, axis=1)\n"
            "            R.output(z)\n        return z"
        )
    )
    begins = {
        item.title: lines[item.line - 1].strip() for item in picture.items.values() if item.line
    }
    assert begins["exp"].startswith("y: R.Tensor")
    assert begins["exp"].endswith("R.exp(x)")
    assert begins["if"] == "if c:"
    assert begins["nn.softmax"].startswith("z: R.Tensor")
    assert begins["return"] == "return z"
    assert begins["x"].startswith(("x: R.Tensor", "def main"))
    assert begins["dataflow"] == "with R.dataflow():"
    assert begins["main"].startswith(("@R.function", "def main"))


def test_what_a_branch_hands_through_is_at_the_line_that_says_so():
    picture, lines = said(
        module(
            "    @R.function\n"
            '    def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):\n'
            "        if c:\n            if c:\n                a = x\n            else:\n"
            "                a = R.exp(x)\n            y = R.sin(a)\n        else:\n"
            "            y = x\n        z = R.cos(x)\n        return (y, z)"
        )
    )
    passed = [node for node in picture.nodes() if node.kind == "name"]
    assert [lines[node.line - 1].strip().split(":")[0] for node in passed] == ["a = x", "y = x"]


def test_attributes_are_said_as_the_script_says_them_and_once():
    picture, _ = said(
        module(
            '    @R.function(pure=False)\n    def main(x: R.Tensor((2, 4), "float32")):\n'
            '        R.print(x, format="{}")\n        return R.sum(x, axis=[1], keepdims=True)'
        )
    )
    details = {node.title: node.detail for node in picture.nodes()}
    assert details["print"] == "format='{}'"
    assert details["sum"] == "axis=[1], keepdims=True"


def test_the_file_of_the_user_is_known():
    @I.ir_module
    class Model:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
            return R.exp(x)

    picture, _ = said(Model)
    (node,) = [node for node in picture.nodes() if node.title == "exp"]
    assert "test_places.py:" in node.source


def test_a_program_without_a_script_has_no_lines():
    x = Var("x", TensorStructInfo((2,), "float32"))
    value = x
    for _ in range(3_000):
        value = Call(Op.get("relax.exp"), (value,))
    assert print_program(Function((x,), value)) is None
