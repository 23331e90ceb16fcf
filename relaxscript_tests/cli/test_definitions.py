"""Scripts are found in ordinary Python files, and nothing of the file is run."""

from __future__ import annotations

import ast

import pytest

from relaxscript.cli.definitions import definitions
from relaxscript.errors import Source
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
        "import numpy as N",
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
def test_what_only_a_run_can_tell_is_a_warning_at_its_first_use(constants):
    script = shape_written_as(constants, "(N, 3)")
    assert [(d.severity, d.code, d.span.text) for d in script.diagnostics] == [
        ("warning", "RX0112", "N")
    ]
    [warning] = script.diagnostics
    assert (
        warning.message == "`N` is known only when the file runs; what depends on it is not checked"
    )
    assert script.value is None


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
    assert [d.message.split()[0] for d in script.diagnostics] == ["`sizes`"]


def test_a_name_that_nothing_binds_is_an_error():
    script = shape_written_as("M = 1", "(N, 3)")
    assert [d.severity for d in script.diagnostics] == ["error"]


def test_other_mistakes_are_reported_beside_what_is_unknown():
    text = f"""
{IMPORTS}
import numpy as np
W = np.ones((3, 3), "float32")

@R.function
def f(x: R.Tensor((2, 3), "float32")):
    y = R.matmul(x, R.const(W))
    z = R.add(x, xx)
    return R.add(y, z)
"""
    assert said(only_script(text).diagnostics) == [
        ("warning", "RX0112", "W", 9),
        ("error", "RX0101", "xx", 10),
    ]


def test_python_functions_that_are_not_harmless_are_not_called():
    script = only_script(
        f"{IMPORTS}\n@R.function\ndef f(x: R.Tensor((2, 3), 'float32')):\n"
        "    return R.sum(x, axis=sorted([1]))\n"
    )
    assert said(script.diagnostics) == [("warning", "RX0112", "sorted", 5)]


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
    assert [d.message.split()[0] for d in g.diagnostics] == ["`K`"]


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
    return R.multiply(x, R.const(np.float32(2)))

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
    assert [(s, c, t) for s, c, t, _ in found["f"]] == [
        ("warning", "RX0112", "scaled(x)"), ("error", "RX0101", "offset"),
    ]  # fmt: skip


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
