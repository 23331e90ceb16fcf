"""Places named by paths in a printed text: underlined, and with remarks."""

from __future__ import annotations

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import ObjectPath, get_first_structural_mismatch
from relaxscript.ir.module import IRModule
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples

ROOT = ObjectPath.root()


@I.ir_module
class Model:
    @T.prim_func(private=True)
    def fill(y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = T.float32(1) + T.float32(1)

    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Prim("bool")) -> R.Tensor((4,), "float32"):
        a = R.add(x, x)
        with R.dataflow():
            b = R.multiply(a, x)
            d = R.exp(b)
            R.output(d)
        return d


MAIN = ROOT.attr("functions").map_value(Model.get_global_var("main"))
BLOCKS = MAIN.attr("body").attr("blocks")
FIRST = BLOCKS.array_index(0).attr("bindings").array_index(0)
SECOND = BLOCKS.array_index(1).attr("bindings").array_index(0)


def marked(path: ObjectPath, root=Model) -> tuple[str, str]:
    """The line that is underlined, and the text above its carets."""
    lines = root.script(path_to_underline=[path]).split("\n")
    carets = next(line for line in lines if set(line.strip()) == {"^"})
    line = lines[lines.index(carets) - 1]
    start = len(carets) - len(carets.lstrip())
    return line.strip(), line[start : len(carets)]


@pytest.mark.parametrize(
    ("path", "line", "text"),
    [
        (MAIN.attr("params").array_index(0), "def main", 'x: R.Tensor((4,), "float32")'),
        (MAIN.attr("params").array_index(1).attr("name_hint"), "def main", 'c: R.Prim("bool")'),
        (MAIN.attr("ret_struct_info"), "def main", 'R.Tensor((4,), "float32")'),
        (FIRST.attr("value"), "a: ", "R.add(x, x)"),
        (FIRST.attr("value").attr("args").array_index(0), "a: ", "x"),
        (SECOND.attr("value").attr("args").array_index(1), "b: ", "x"),
        (SECOND.attr("value").attr("args").missing_array_element(2), "b: ", "R.multiply(a, x)"),
        (SECOND.attr("var").attr("struct_info").attr("dtype"), "b: ", 'R.Tensor((4,), "float32")'),
        (MAIN.attr("body").attr("body"), "return d", "d"),
        (
            ROOT.attr("functions").map_value("fill").attr("body").attr("body").attr("value"),
            "y[i] = ", "T.float32(1.0) + 1.0",
        ),
    ],
)  # fmt: skip
def test_what_a_path_leads_to_is_underlined(path: ObjectPath, line: str, text: str):
    found, above = marked(path)
    assert found.startswith(line)
    assert above == text


def test_of_the_same_operand_twice_the_one_that_is_meant_is_underlined():
    script = Model.script(path_to_underline=[FIRST.attr("value").attr("args").array_index(1)])
    (at,) = (i for i, line in enumerate(script.split("\n")) if set(line.strip()) == {"^"})
    line, carets = script.split("\n")[at - 1 : at + 1]
    assert line.endswith("R.add(x, x)")
    assert len(carets) == len(line) - 1


def test_a_remark_stands_behind_the_statement_of_the_path():
    script = Model.script(path_to_annotate={FIRST: "twice", BLOCKS.array_index(9).parent: ""})
    assert "R.add(x, x)  # twice" in script


def test_only_the_lines_around_a_path_are_shown():
    script = Model.script(path_to_underline=[FIRST.attr("value")], num_context_lines=0)
    shown = [line.strip() for line in script.split("\n") if "skipped" not in line]
    assert shown[0].startswith("a:")
    assert set(shown[1]) == {"^"}


def test_paths_and_nodes_are_underlined_together():
    nodes, path = [Model["main"].params[0]], [FIRST.attr("value")]
    script = Model.script(path_to_underline=path, obj_to_underline=nodes)
    assert sum(set(line.strip()) == {"^"} for line in script.split("\n")) == 2
    assert Model.script(path_to_underline=path[0]) == Model.script(path_to_underline=path)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (ROOT.attr("function"), "has no field `function`; did you mean `functions`?"),
        (ROOT.attr("functions").map_value("min"), "`<root>.functions` has no entry str ('min')"),
        (MAIN.attr("params").array_index(2), '<root>.functions[I.GlobalVar("main")].params` has 2'),
        (MAIN.attr("body").array_index(0), "is no tuple"),
        (MAIN.map_value("a"), "has no entry str ('a')"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(path: ObjectPath, reason: str):
    with pytest.raises(DiagnosticError, match="RX0103") as raised:
        Model.script(path_to_underline=[path])
    assert isinstance(raised.value, ValueError)
    message = raised.value.diagnostics[0].message
    assert message.startswith(f"the path `{path}` leads nowhere in this program: ")
    assert reason in message


def test_a_difference_can_be_underlined_in_both_programs():
    """What structural comparison gives is what printing takes."""
    for seed in range(examples(100)):
        a, b = random_module(seed), random_module(seed + 1)
        found = get_first_structural_mismatch(a, b)
        if found is None:
            continue
        for root, path in zip((a, b), found):
            assert isinstance(root, IRModule)
            root.script(path_to_underline=[path], path_to_annotate={path: "here"})
