"""Data mode reads texts of strangers: it evaluates nothing, and nothing can use up the machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import IRModule
from relaxscript.script import from_source
from relaxscript_tests.architecture import ROOT
from relaxscript_tests.script.parser.text.hostile_texts import FUNCTION, GOOD, HOSTILE

LIMIT = 120  # seconds for all texts, many times what they take

# Reads every text under an audit hook, which hears of whatever Python does outside of itself.
READER = """
import ast, os, sys, warnings
from relaxscript import from_source
from relaxscript.errors import DiagnosticError
from relaxscript_tests.script.parser.text.hostile_texts import GOOD, HOSTILE

warnings.simplefilter("ignore")
# What is imported and read by the first text and the first mistake is not of the text.
for text in (GOOD, "@T.prim_func\\ndef f(a: T.handle): T.evaluate(1)", "x", HOSTILE[-1]):
    try:
        from_source(text).script()
    except DiagnosticError as error:
        str(error)
ast.unparse(ast.Constant(1))  # which Python imports when it is first used, from 3.14 on

heard = []
HARMLESS = {"compile", "object.__getattr__", "sys._getframe", "builtins.id", "gc.disable"}

def is_ours(event, arguments):
    # Constructors of nodes are made when they are first used; and Python looks for the line of a
    # syntax error in the file that has the name of the text.
    made = sys._getframe(2).f_code.co_filename.endswith(("node.py", "inner_nodes.py"))
    return (event == "exec" and made) or (event == "open" and arguments[:2] == ("<text>", "rb"))

def hear(event, arguments):
    if watching and event not in HARMLESS and not is_ours(event, arguments):
        heard.append(f"{event} {arguments!r:.200}")
    if watching and event == "compile" and arguments[0] is None:
        heard.append("a tree is compiled")

watching = False
sys.addaudithook(hear)
for number, text in enumerate(HOSTILE):
    print(number, ascii(text[:60]), flush=True)
    del heard[:]
    watching = True
    try:
        found = from_source(text)
        said = []
    except DiagnosticError as error:
        said = [d.message for d in error.diagnostics]
        assert said
    watching = False
    assert not heard, heard
    for message in said:
        assert "internal" not in message, message
        assert len(message) < 1000 + len(text), len(message)
assert not os.path.exists("reached")
print("done")
"""


@pytest.mark.slow
def test_no_hostile_text_is_evaluated_or_escapes_as_an_exception(tmp_path):
    assert len(HOSTILE) > 200
    done = subprocess.run(
        [sys.executable, "-c", READER], cwd=tmp_path, capture_output=True, text=True,
        env={"PYTHONPATH": str(ROOT)}, timeout=LIMIT, check=False,
    )  # fmt: skip
    assert done.stdout.endswith("done\n"), done.stdout[-300:] + done.stderr[-3000:]
    assert list(tmp_path.iterdir()) == []


def dims(function) -> list[int]:
    return [d.value for d in function.params[0].struct_info.dims]


def mistakes(text: str) -> list[tuple[str, str]]:
    """The codes of the mistakes in a text, each with what it is about."""
    with pytest.raises(DiagnosticError) as caught:
        from_source(text)
    return [(d.code, d.span.text) for d in caught.value.diagnostics]


def test_plain_values_around_the_definitions_are_known():
    function = from_source(
        """
N = 4
SHAPE = (N, N * 2)
M, K = SHAPE
DTYPE: str = "float16"
NAMES = ["a", *["b"]]
FORM = f"{N}"

@R.function
def f(x: R.Tensor((N, M, K, len(NAMES), int(FORM)), DTYPE)):
    return x
"""
    )
    assert dims(function) == [4, 4, 8, 2, 4]
    assert str(function.params[0].struct_info.dtype) == "float16"


def test_shape_variables_and_annotations_around_the_definitions_are_known():
    function = from_source(
        """
from relaxscript.script import relax as R, tir as T
n = T.int64()
Image = R.Tensor[R.f32, n, 3]

@R.function
def f(x: Image, y: R.Tensor((n,), "float32")):
    return x
"""
    )
    first, second = (p.struct_info.dims[0] for p in function.params)
    assert first is second
    assert first.name == "n"


def test_definitions_see_those_above_them():
    module = from_source(
        """
@R.function
def twice(x: R.Tensor((2, 3), "float32")):
    return R.add(x, x)

@I.ir_module
class M:
    double = twice

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        return M.double(x)
"""
    )
    assert isinstance(module, IRModule)
    assert [gv.name for gv, _ in module.functions_items()] == ["double", "main"]


@pytest.mark.parametrize(
    "header",
    [
        "import relaxscript as rx\nR = rx.R\n",
        "import relaxscript.script.relax as R",
        "from relaxscript import R",
        "from relaxscript import *",
        "from relaxscript.script.relax import function, Tensor, exp\nfrom relaxscript import R",
        "from tvm.script import ir as I, relax as R, tir as T",
        "from tvm.script import tirx as T, relax as R",
        "from tvm.script.parser import relax as R",
        "import tvm\nR = tvm.script.relax",
        "from __future__ import annotations",
        "import numpy as np\nfrom torch import nn",
        'if __name__ == "__main__":\n    import os\n    os.abort()',
        '"""A text."""\npass',
        "",
    ],
)
def test_what_stands_above_scripts_is_understood(header):
    assert dims(from_source(f"{header}\n{GOOD}")) == [2, 3]


def test_a_name_that_only_a_run_would_tell_is_a_mistake_where_it_is_made_and_once():
    text = "import numpy as np, os\n"
    text += FUNCTION.format("R.const(np.zeros(3))").replace("def f", "def g")
    text += FUNCTION.format("R.const(np.ones(3))")
    assert mistakes(text) == [("RX0104", "numpy as np")]


def test_what_a_refused_statement_binds_is_not_refused_again():
    text = "a = open('x')\nb = a + 1\nc = [b]\n" + FUNCTION.format("R.add(x, c)")
    assert mistakes(text) == [("RX0104", "open('x')")]


def test_several_refused_statements_are_reported_in_one_go():
    text = "a = open('x')\nprint(1)\nfor i in 1, 2:\n    pass\n" + GOOD
    assert [code for code, _ in mistakes(text)] == ["RX0104"] * 3


def test_a_statement_that_nests_beyond_bounds_is_a_mistake_in_its_place():
    text = "@a" + ".b" * 1500 + GOOD
    with pytest.raises(DiagnosticError, match="this is nested too deeply") as caught:
        from_source(text)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.span.line) == ("RX0104", 3)


def test_sequences_without_bounds_are_refused():
    assert mistakes(FUNCTION.format("[*range(10 ** 10)]")) == [("RX0104", "range(10 ** 10)")]
