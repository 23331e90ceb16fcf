"""Python mode: a text means what the file would mean."""

from __future__ import annotations

import builtins
import warnings

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import IRModule
from relaxscript.script import from_source

HEADER = "from relaxscript.script import ir as I, relax as R, tir as T\n"
FUNCTION = """
@R.function
def f(x: R.Tensor((N, 3), "float32")):
    y = R.exp(x)
    return y
"""


def read(text: str, **extra_vars):
    return from_source(text, mode="python", extra_vars=extra_vars)


def dims(function) -> list[object]:
    return [getattr(d, "value", d) for d in function.params[0].struct_info.dims]


@pytest.mark.parametrize(
    "before",
    [
        "N = 4",
        "N = len('four')",
        "import math\nN = math.isqrt(16)",
        "from math import isqrt as root\nN = root(16)",
        "def double(n):\n    return 2 * n\nN = double(2)",
        "class Config:\n    width = 4\nN = Config.width",
        "N = 1\nN += 3",
        "N = 0\nfor i in range(4):\n    N += 1",
        "N = sum(1 for _ in range(4))",
        "try:\n    N = int('four')\nexcept ValueError:\n    N = 4",
        "if 2 < 3:\n    N = 4\nelse:\n    N = 5",
        "with open(__import__('os').devnull) as file:\n    N = 4 + len(file.read())",
        "from __future__ import annotations\nN = 4",
        "N = 3\nif __name__ == '__main__':\n    raise SystemExit\nelse:\n    N = 4",
        "global N\nN = 4",
        "M = 4\ndef inner():\n    return M\nN = inner()",
    ],
)
def test_what_stands_before_a_definition_is_executed(before):
    assert dims(read(f"{before}\n{FUNCTION}")) == [4, 3]
    # The future import stands first, as in a file.
    header = HEADER if "__future__" not in before else ""
    assert dims(read(f"{header}{before}\n{FUNCTION}")) == [4, 3]


@pytest.mark.parametrize("mode", ["python", "data"])
def test_what_a_prompt_showed_last_is_no_name_of_a_program(mode, monkeypatch):
    monkeypatch.setattr(builtins, "_", 4, raising=False)
    with pytest.raises(DiagnosticError, match="the dimension `_` is not defined here"):
        from_source(HEADER + FUNCTION.replace("N", "_"), mode=mode)


def test_each_text_has_names_of_its_own():
    assert dims(read(f"N = 4\n{FUNCTION}")) == [4, 3]
    with pytest.raises(DiagnosticError, match="`N` is not defined"):
        read(FUNCTION)


def test_variables_that_are_given_are_known_and_left_as_they_are():
    given = {"N": 4}
    assert dims(from_source(FUNCTION, mode="python", extra_vars=given)) == [4, 3]
    assert dims(from_source(f"N = N + 1\n{FUNCTION}", mode="python", extra_vars=given)) == [5, 3]
    assert given == {"N": 4}


def test_decorators_are_ours_whatever_they_were_imported_from():
    for header in ("from tvm.script import relax as R", "import tvm\nR = tvm.script.relax", ""):
        assert dims(read(f"{header}\nN = 4\n{FUNCTION}")) == [4, 3]


def test_the_annotations_of_a_definition_are_not_evaluated_by_python():
    function = read(FUNCTION.replace("N", "n").replace("    y =", "    n = T.int64()\n    y ="))
    assert dims(function)[1:] == [3]


def test_definitions_see_those_above_them_and_python_sees_all():
    module = read(
        """
N = 4
"""
        + FUNCTION
        + """
seen = f.params[0].struct_info.ndim

@I.ir_module
class M:
    twice = f

    @R.function
    def main(x: R.Tensor((4, 3), "float32")):
        y = M.twice(x)
        z = R.add(y, R.const(seen, "float32"))
        return z
"""
    )
    assert isinstance(module, IRModule)
    assert "R.const(2.0" in module.script()


def test_a_function_of_the_text_may_make_the_module():
    text = f"""{HEADER}
def make(N):
    @R.function
    def f(x: R.Tensor((N, 3), "float32")):
        y = R.exp(x)
        return y

    return f

small, large = make(2), make(5)
"""
    found = read(text)
    assert dims(found) == [5, 3]
    assert found.body.blocks[0].bindings[0].value.span.text == "R.exp(x)"


def test_what_python_makes_last_is_what_a_text_means():
    text = f"N = 4\n{FUNCTION}\nfrom relaxscript import IRModule\nM = IRModule({{'f': f}})\n"
    assert isinstance(read(text), IRModule)


def test_decorators_above_ours_are_applied_in_their_order():
    text = f"""
N = 4
def counted(f):
    global N
    N += 1
    return f
def grown(f):
    global N
    N *= 10
    return f
@counted
@grown{FUNCTION}
{FUNCTION.replace("def f", "def g")}
"""
    assert dims(read(text)) == [41, 3]


def test_a_decorator_of_the_text_that_calls_ours_is_followed():
    text = f"""{HEADER}
def private(f):
    return R.function(f, private=True)

@private
def f(x: R.Tensor((4, 3), "float32")):
    y = R.exp(x)
    return y
"""
    assert read(text).is_private


def test_a_text_may_have_the_name_of_a_file(tmp_path):
    path = tmp_path / "model.py"
    path.write_text("# another text\n" * 20)
    text = f"{HEADER}def make():\n    N = 4\n" + FUNCTION.replace("\n", "\n    ")
    found = from_source(f"{text}\n    return f\nf = make()\n", filename=str(path), mode="python")
    assert dims(found) == [4, 3]


def test_a_text_that_defines_nothing_says_so():
    with pytest.raises(DiagnosticError, match="defines no module and no function"):
        read("N = 4\n")


def test_warnings_of_the_text_are_warnings():
    text = "import warnings\nN = 4\nwarnings.warn('careful')\n" + FUNCTION
    with pytest.warns(UserWarning, match="careful"):
        read(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DiagnosticError, match="raised UserWarning: careful"):
            read(text)


def test_keyboard_interrupts_are_not_taken_for_mistakes():
    with pytest.raises(KeyboardInterrupt):
        read("raise KeyboardInterrupt")


def test_a_mistake_found_while_a_text_runs_lies_in_that_text_and_not_in_the_file_of_its_name(
    tmp_path,
):
    path = tmp_path / "model.py"
    path.write_text("x = 1\n" * 3, "utf-8")
    text = HEADER + "\n\n\ndecorate = R.function\ndecorate(3)\n"
    with pytest.raises(DiagnosticError, match="decorates a function") as caught:
        from_source(text, mode="python", filename=str(path))
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.span.line, diagnostic.span.text) == (6, "decorate(3)")
