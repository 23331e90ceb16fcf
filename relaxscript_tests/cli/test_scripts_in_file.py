"""Scripts are found in ordinary Python files, and nothing of the file is run."""

from __future__ import annotations

import ast

import pytest

from relaxscript.cli.scripts_in_file import definitions
from relaxscript.errors import DiagnosticError, Source
from relaxscript.ir import IRModule, structural_equal
from relaxscript.ir.relax import Function
from relaxscript.script import from_source
from relaxscript_tests.cli.programs import GOOD, IMPORTS, MODULE


def found_in(text):
    return definitions(Source("file.py", text))


def only_script(text):
    [script], others = found_in(text)
    assert others == []
    return script


def said(diagnostics):
    return [(d.severity, d.code, d.span.text, d.span.line) for d in diagnostics]


def shape_of_x(script):
    [x] = script.value.params
    return [getattr(dim, "value", dim) for dim in x.struct_info.shape.values]


def test_a_module_among_other_python_is_found_whole():
    script = only_script(f"import os\nprint(os.getcwd())\n{MODULE}\nassert False\n")
    assert isinstance(script.value, IRModule)
    assert structural_equal(script.value, from_source(MODULE))
    assert (script.name, script.line, script.diagnostics) == ("Pair", 5, ())


def test_nothing_of_the_file_is_run(tmp_path):
    witness = tmp_path / "witness"
    text = f"""
{GOOD}
open({str(witness)!r}, "w").close()

@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((open({str(witness)!r}, "w").fileno(), 3), "float32")):
        return x
"""
    scripts, _ = found_in(text)
    assert [script.name for script in scripts] == ["twice", "M"]
    assert not witness.exists()


def test_all_definitions_are_found_in_the_order_of_the_file():
    text = f"""
{IMPORTS}
def test_one():
    @R.function
    def inner(x: R.Object):
        return x

class TestTwo:
    @R.function
    def member(x: R.Object):
        return x

    def test(self):
        if self:
            @R.function
            def deep(x: R.Object):
                return x

@R.function
def last(x: R.Object):
    return x
"""
    scripts, others = found_in(text)
    names = ["test_one.inner", "TestTwo.member", "TestTwo.test.deep", "last"]
    assert [script.name for script in scripts] == names
    assert all(isinstance(script.value, Function) for script in scripts)
    assert others == []


def test_mistakes_of_each_definition_are_reported_at_their_places():
    text = f"""
{IMPORTS}
@R.function
def f(x: R.Tensor((2, 3), "float32")):
    return R.add(x, y)

@R.function
def g(x: R.Tensor((2, 3), "float32")):
    return R.sofmax(x)
"""
    scripts, others = found_in(text)
    assert [said(script.diagnostics) for script in scripts] == [
        [("error", "RX0101", "y", 6)],
        [("error", "RX0102", "R.sofmax", 10)],
    ]
    assert [script.value for script in scripts] == [None, None]
    assert others == []


def test_a_file_that_is_not_python_is_a_mistake_of_the_file():
    scripts, [mistake] = found_in("def f(:\n")
    assert scripts == []
    assert (mistake.code, mistake.span.line) == ("RX0113", 1)


# ---- names


@pytest.mark.parametrize(
    ("imports", "module", "function"),
    [
        ("import relaxscript as rx", "rx.I.ir_module", "rx.R.function"),
        ("import relaxscript", "relaxscript.ir_module", "relaxscript.script.relax.function"),
        ("from relaxscript import ir_module, R as Q", "ir_module", "Q.function"),
        ("from relaxscript import script as s", "s.ir_module", "s.relax.function"),
        ("import relaxscript.script.relax as Q", "I.ir_module", "Q.function"),
        ("import relaxscript.script.relax", "I.ir_module", "relaxscript.script.relax.function"),
        ("from relaxscript.script.relax import function", "I.ir_module", "function"),
        ("from tvm.script import ir as J, relax as Q", "J.ir_module", "Q.function"),
        ("from tvm.script.parser import ir as J, relax as Q", "J.ir_module", "Q.function"),
        ("import tvm", "tvm.script.ir_module", "tvm.script.relax.function"),
        ("from relaxscript.script.relax import *", "I.ir_module", "function"),
        (
            "try:\n    from tvm.script import relax as Q\nexcept ImportError:\n    Q = None",
            "I.ir_module", "Q.function",
        ),
    ],
)  # fmt: skip
def test_the_script_languages_are_known_under_any_name(imports, module, function):
    text = f"""
{IMPORTS}
{imports}

@{module}
class M:
    @{function}
    def main(x: R.Object):
        return x

@{function}
def alone(x: R.Object):
    return x
"""
    scripts, others = found_in(text)
    assert others == []
    assert [(s.name, s.value is not None) for s in scripts] == [("M", True), ("alone", True)]


def test_operators_are_known_under_the_name_of_the_import():
    text = """
import relaxscript as rx

@rx.R.function
def main(x: rx.R.Tensor((2, 3), "float32")):
    return rx.R.nn.softmax(x)
"""
    assert only_script(text).value is not None


def test_decorators_of_others_are_left_alone():
    text = "import mine\n@mine.function\ndef f(x): ...\n@mine\nclass C: ...\n"
    assert found_in(text) == ([], [])


def test_a_misspelt_decorator_of_ours_is_a_mistake_of_the_file():
    scripts, others = found_in(f"{IMPORTS}\n@R.functoin\ndef f(x: R.Object):\n    return x\n")
    assert scripts == []
    assert said(others) == [("error", "RX0102", "R.functoin", 3)]
    assert others[0].help == "did you mean `R.function`?"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@I.ir_module\ndef f(x): ...", "`I.ir_module` decorates a class"),
        ("@R.function\nclass f: ...", "`R.function` decorates a function"),
        ("@T.prim_func\nasync def f(): ...", "`T.prim_func` decorates a function"),
    ],
)
def test_a_decorator_on_the_wrong_kind_of_definition_is_a_mistake(text, message):
    [mistake] = only_script(IMPORTS + text).diagnostics
    assert (mistake.code, mistake.message, mistake.span.text) == ("RX0111", message, "f")


def shape_written_as(constants, shape):
    return only_script(
        f"{IMPORTS}\n{constants}\n\n@R.function\n"
        f"def f(x: R.Tensor({shape}, 'float32')):\n    return x\n"
    )


@pytest.mark.parametrize(
    ("constants", "shape", "expected"),
    [
        ("N = 64", "(N, 3)", [64, 3]),
        ("N: int = 64", "(N, 3)", [64, 3]),
        ("N = M = 2", "(N, M)", [2, 2]),
        ("N, M = 2, 3", "(N, M)", [2, 3]),
        ("N = 64\nSHAPE = (N, 2 * N - 1)", "SHAPE", [64, 127]),
        ("SIZES = {'hidden': 5}", "(SIZES['hidden'],)", [5]),
        ("N = 1\nN = 2", "(N,)", [2]),
        ("if input():\n    N = 2\nelse:\n    N = 2", "(N,)", [2]),
        ("with open('x') as f:\n    N = 2", "(N,)", [2]),
        ("try:\n    N = 2\nfinally:\n    M = 3", "(N, M)", [2, 3]),
    ],
)
def test_constants_written_as_literals_are_known(constants, shape, expected):
    script = shape_written_as(constants, shape)
    assert script.diagnostics == ()
    assert shape_of_x(script) == expected


def test_constants_under_except_star_are_known_where_python_has_it():
    text = "try:\n    N = 2\nexcept* OSError:\n    N = 2\n"
    scripts, mistakes = found_in(f"{IMPORTS}{text}{GOOD}".replace('("n", 3)', "(N, 3)"))
    if hasattr(ast, "TryStar"):
        assert [script.diagnostics for script in scripts] == [()]
    else:
        assert ["this is not Python" in mistake.message for mistake in mistakes] == [True]


@pytest.mark.parametrize(
    "constants",
    [
        "N = len(open('x').read())",
        "N = 2\nif input():\n    N = 3",
        "N = 2\nfor i in range(3):\n    N = N + 1",
        "N = 2\nN += 1",
        "for N in range(3):\n    pass",
        "from mine import N",
        "from mine import *",
        "import torch as N",
        "N = 9 ** 9 ** 9",
        "N = 'a' * 10 ** 10",
        "N = 1 << 10 ** 10",
        "N = '%10000000000d' % 1",
        "N = f'{1:10000000000}'",
        "N = 10 ** 10 * [0]",
        "N = list(range(10 ** 12))",
        "def N(): ...",
        "class N: ...",
        "with open('x') as N:\n    pass",
        "match input():\n    case '1':\n        N = 1\n    case _:\n        N = 2",
        "N, M = input()",
    ],
)
def test_what_only_a_run_can_tell_is_noted_and_no_mistake(constants):
    script = shape_written_as(constants, "(N, 3)")
    assert (script.diagnostics, script.unknown, script.value) == ((), ("N",), None)


def test_a_name_that_a_definition_does_not_use_may_be_unknown():
    script = only_script(f"""{IMPORTS}
size = len(open("x").read())

@R.function
def f(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n", 4), "float32"):
    return x
""")
    assert [d.code for d in script.diagnostics] == ["RX0207"]
    assert script.diagnostics[0].fix != ()


@pytest.mark.parametrize("block", ["with open('f') as f:", "for i in range(3):", "while True:"])
def test_what_a_definition_in_a_block_binds_is_its_own(block):
    text = f"""{IMPORTS}
{block}
    @I.ir_module
    class Double:
        @R.function
        def main(x: R.Tensor(("n", "m"), "float32")):
            n = T.int64(); m = T.int64()
            y: R.Tensor((n, m), "float32") = x
            return R.add(y, y)

SIZE = 4
{block}
    @I.ir_module
    class Constant:
        @R.function
        def main(x: R.Tensor((SIZE,), "float32")):
            SIZE = R.add(x, x)
            return SIZE
"""
    scripts, others = found_in(text)
    assert others == []
    assert [type(script.value) for script in scripts] == [IRModule, IRModule]
    assert [script.diagnostics for script in scripts] == [(), ()]


@pytest.mark.parametrize("change", ["sizes.append(3)", "sizes[0] = 3", "del sizes[0]", "f(sizes)"])
def test_a_list_that_may_have_changed_is_not_known(change):
    script = shape_written_as(f"sizes = [2]\n{change}", "(sizes[0],)")
    assert (script.diagnostics, script.unknown) == ((), ("sizes",))


def test_a_name_that_nothing_binds_is_an_error():
    script = shape_written_as("M = 1", "(N, 3)")
    assert [d.severity for d in script.diagnostics] == ["error"]


def test_other_mistakes_are_reported_beside_what_is_unknown():
    text = f"""
{IMPORTS}
import numpy as np
W = np.load("weights.npy")

@R.function
def f(x: R.Tensor((2, 3), "float32")):
    y = R.matmul(x, R.const(W))
    z = R.add(x, xx)
    return R.add(y, z)
"""
    script = only_script(text)
    assert said(script.diagnostics) == [("error", "RX0101", "xx", 10)]
    assert script.unknown == ("W",)


def in_function(body, before=""):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"""{IMPORTS}
import math
import numpy as np
from numpy import maximum, float16 as half
from os import path
{before}

@R.function
def f(x: R.Tensor(("n", 3), "float32")):
    n = T.int64()
{lines}"""


@pytest.mark.parametrize(
    "call",
    ["open('f', 'w')", "eval('1')", "exec('1')", "input()", "__import__('os')", "path.join('a')",
     "np.load('f')", "np.save('f', 1)", "np.random.seed(1)", "np.lib", "math.factorial(10**9)",
     "np.zeros((10**6, 10**6))", "np.zeros(3).tofile('f')", "np.float32.mro()", "np.ufunc",
     "list(map(open, ['f'], ['w']))", "list(map(print, [1]))", "sorted([1], key=print)"],
)  # fmt: skip
def test_what_does_more_than_compute_is_left_to_a_run(call, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for text in (in_function(f"return ({call}, x)"), in_function("return (W, x)", f"W = {call}")):
        script = only_script(text)
        assert script.diagnostics == ()
        assert len(script.unknown) == 1
    assert (list(tmp_path.iterdir()), capsys.readouterr().out) == ([], "")


SAME = [
    "np.maximum(x, 0)", "maximum(x, x)", "np.sqrt(x)", "math.sqrt(x)", "np.sum(x, axis=0)",
    "np.matmul(x, W)", "np.dot(x, x)", "np.array(x)", "np.concatenate([x, x])", "np.foo(x)",
    "np.nn.relu(x)", "np.maximum(n, 2)", "map(R.nn.relu, x)", "sorted(x)", "any(x)", "sum(x)",
    "reversed(x)", "list(filter(None, [x]))[0]", "R.add(x, R.const(np.maximum(3, 4)))",
    "R.matmul(x, R.const(np.ones((4, 3), 'float32')))", "R.astype(x, np.float33)",
    "R.astype(x, np.float16)", "R.astype(x, dtype=half)", "R.matmul(x, R.const(W))", "x @ W",
    "R.multiply(x, R.const(1 / np.sqrt(64), 'float32'))", "x * math.sqrt(D)", "np.pi * x",
    "R.const(np.zeros((3,), 'float32'))", "R.const(W.T.astype('float16'))", "abs(x)",
    "R.reshape(x, (n * W.shape[0],))", "R.const(np.arange(6).reshape(2, 3) * 2)",
    "R.const(W @ W)", "R.const(np.random.rand(2, 3))", "R.permute_dims(x, sorted([1, 0]))",
]  # fmt: skip
CONSTANTS = "W = np.ones((3, 3), 'float32')\nD = W.shape[0] + 61"


@pytest.mark.parametrize("value", [*SAME, "print"])
def test_numpy_and_python_in_a_function_are_seen_as_in_a_run(value):
    body = "print(x)\nreturn x" if value == "print" else f"return {value}"
    text = in_function(body, CONSTANTS)
    script = only_script(text)
    try:
        from_source(text, mode="python")
        expected = []
    except DiagnosticError as error:
        expected = [(d.code, d.message, d.span.text, d.help) for d in error.diagnostics]
    found = [(d.code, d.message, d.span.text, d.help) for d in script.diagnostics]
    assert (found, script.unknown) == (expected, ())


def test_functions_of_the_file_are_left_to_a_run():
    helper = "def double(x):\n    return R.add(x, x)\nW = np.load('w.npy')"
    script = only_script(in_function("y = double(x)\nreturn R.add(x, R.const(W))", helper))
    assert (script.diagnostics, script.unknown) == ((), ("double", "W"))


@pytest.mark.parametrize(
    ("text", "culprit", "help"),
    [
        ("@r.function\ndef f(x): ...", "r", "did you mean `R.function`?"),
        ("@T.prim_func\ndef f(x): ...", "T", "write `from relaxscript.script import tir as T`"),
        ("@I.irmodule\nclass M: ...", "I", "write `from relaxscript.script import ir as I`"),
        (
            "@R.function\ndef f(x: R.Tensor(('n',))):\n    n = T.int64()\n    return x\n",
            "T", "write `from relaxscript.script import tir as T`",
        ),
    ],
)  # fmt: skip
def test_a_language_that_is_not_imported_is_asked_for(text, culprit, help):
    scripts, others = found_in(f"from relaxscript.script import relax as R\n{text}\n")
    [mistake] = [*others, *(d for script in scripts for d in script.diagnostics)]
    root = mistake.span.text.partition(".")[0]
    assert (mistake.code, root, mistake.help) == ("RX0101", culprit, help)


@pytest.mark.parametrize(
    "text",
    ["@functools.wraps\ndef f(): ...", "def make(r):\n    @r.function\n    def f(): ...",
     "from mine import *\n@r.function\ndef f(): ...", "@property\ndef function(): ..."],
)  # fmt: skip
def test_a_decorator_that_may_be_somebody_elses_is_left_alone(text):
    assert found_in(f"from relaxscript.script import relax as R\n{text}\n") == ([], [])


def test_the_cells_of_a_notebook_are_one_file():
    cells = [
        f"%matplotlib inline\n{IMPORTS}\n!ls\nD = 3", "%%bash\nls (",
        "%%time\n@R.function\ndef f(x: R.Tensor((2, D), 'float32')):\n    return R.add(x, y)",
        "f?", "def (:", "files = !ls\nE = D", "odd = (3\n% 2)",
        "@R.function\ndef g(x: R.Tensor((2, E), 'float32')):\n    return x",
    ]  # fmt: skip
    sources = [Source("a.ipynb", text, number) for number, text in enumerate(cells, 1)]
    scripts, [broken] = definitions(sources)
    assert (broken.code, str(broken.span)) == ("RX0113", "a.ipynb: cell 5, line 1")
    assert [script.name for script in scripts] == ["f", "g"]
    [mistake] = scripts[0].diagnostics
    assert (mistake.span.text, str(mistake.span)) == ("y", "a.ipynb: cell 3, line 4")
    assert shape_of_x(scripts[1]) == [2, 3]


def test_a_function_sees_the_names_around_it_as_they_are_in_the_end():
    text = f"""
{IMPORTS}
def test(K):
    M = 5
    @R.function
    def f(x: R.Tensor((N, M), "float32")):
        return x

    @R.function
    def g(x: R.Tensor((K,), "float32")):
        return x
N = 7
"""
    (f, g), _ = found_in(text)
    assert shape_of_x(f) == [7, 5]
    assert (g.diagnostics, g.unknown) == ((), ("K",))


def test_a_function_may_use_one_that_was_defined_before():
    text = f"""
{IMPORTS}
@T.prim_func
def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * T.float32(2)

@I.ir_module
class M:
    twice = double

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        return R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((4,), "float32"))
"""
    scripts, _ = found_in(text)
    assert [script.diagnostics for script in scripts] == [(), ()]
    assert "twice" in scripts[1].value


def test_warnings_of_the_language_are_kept_and_the_definition_is_complete():
    script = only_script(f"{IMPORTS}\n@R.function\ndef f(x):\n    return x\n")
    assert [(d.severity, d.code) for d in script.diagnostics] == [("warning", "RX0209")]
    assert script.value is not None


def test_macros_are_expanded_and_are_no_scripts_of_their_own():
    text = f"""
{IMPORTS}
@R.macro
def twice(x):
    return R.add(x, x)

@T.macro
def cleared(A):
    A[0] = T.float32(0)

@R.function
def f(x: R.Tensor((2, 3), "float32")):
    return twice(x)

@T.prim_func
def g(A: T.Buffer((4,), "float32")):
    cleared(A)
"""
    scripts, others = found_in(text)
    assert others == []
    assert [(s.name, s.diagnostics) for s in scripts] == [("f", ()), ("g", ())]
    assert "R.add(x, x)" in scripts[0].value.script()
    assert "A[0] = T.float32(0.0)" in scripts[1].value.script()


def test_mistakes_of_macros_are_those_of_the_file_and_of_their_uses():
    text = f"""
{IMPORTS}
import numpy as np

@R.macro
def twice(x):
    y = R.add(x, x)

@R.macro
def scaled(x):
    return R.multiply(x, R.const(np.load("scale.npy")))

@R.macro
def shifted(x):
    return R.add(x, offset)

@R.function
def f(x: R.Tensor((2, 3), "float32")):
    y = scaled(x)
    return shifted(x)
"""
    scripts, _ = found_in(text)
    found = {script.name: said(script.diagnostics) for script in scripts}
    assert [(s, c, t) for s, c, t, _ in found["twice"]] == [("error", "RX0105", "twice")]
    assert [(s, c, t) for s, c, t, _ in found["f"]] == [("error", "RX0101", "offset")]
    assert next(script for script in scripts if script.name == "f").unknown == ("np.load",)


def test_the_options_of_decorators_are_read():
    text = f"""
{IMPORTS}
@R.function(pure=False)
def f(x: R.Tensor((2, 3), "float32")):
    R.print(x)
    return x

@T.prim_func(private=True)
def g(A: T.Buffer((4,), "float32")):
    A[0] = T.float32(0)

@I.ir_module(check_well_formed=False)
class M:
    @R.function(private=True)
    def h(x: R.Object):
        return x
"""
    scripts, others = found_in(text)
    assert others == []
    assert [(s.name, s.diagnostics) for s in scripts] == [("f", ()), ("g", ()), ("M", ())]
    assert "@T.prim_func(private=True)" in scripts[1].value.script()


UNDECIDED = """
@R.function{options}
def f(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    return R.add(x, y)
"""


@pytest.mark.parametrize(
    ("options", "strict", "severity"),
    [
        ("", False, "warning"),
        ("", True, "error"),
        ("(strict=True)", False, "error"),
        ("(strict=False)", True, "warning"),
    ],
)
def test_what_is_undecided_is_an_error_when_somebody_is_strict(options, strict, severity):
    source = Source("file.py", IMPORTS + UNDECIDED.replace("{options}", options))
    [script], _ = definitions(source, strict=strict)
    assert said(script.diagnostics) == [(severity, "RX0207", "R.add(x, y)", 5)]
    assert (script.value is None) is (severity == "error")


def test_the_strictness_of_a_module_is_that_of_its_functions():
    inner = UNDECIDED.replace("{options}", "").replace("\n", "\n    ")
    [script], _ = found_in(f"{IMPORTS}\n@I.ir_module(strict=True)\nclass M:{inner}\n")
    assert [(d.severity, d.code) for d in script.diagnostics] == [("error", "RX0207")]
