"""Finding the user's source: files, cells, nested scopes, and what to say when there is none."""

from __future__ import annotations

import linecache
import subprocess
import sys
import textwrap

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import IRModule
from relaxscript.ir.relax import Function
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.script.source.source_tree import parse_text


def test_a_decorated_function_is_parsed_from_its_own_file():
    @R.function
    def f(x: R.Tensor(("n", 4), "float32")):
        y = R.exp(x)
        return y

    assert isinstance(f, Function)
    span = f.body.blocks[0].bindings[0].value.span
    assert span.filename == __file__
    assert span.text == "R.exp(x)"


def test_a_decorated_class_is_parsed_as_a_whole():
    @I.ir_module
    class M:
        @T.prim_func
        def copy(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
            for i in range(4):
                b[i] = a[i]

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            y = R.call_tir(M.copy, (x,), out_sinfo=R.Tensor((4,), "float32"))
            return y

    assert isinstance(M, IRModule)
    assert [gv.name for gv, _ in M.functions_items()] == ["copy", "main"]


def test_decorators_may_be_called_and_stacked():
    def wrapped(f):
        return f

    @wrapped
    @R.function(private=True)
    def f(x: R.Object):
        return x

    assert f.is_private


def test_python_values_around_a_function_are_captured():
    width = 8
    dtype = "float16"

    @R.function
    def f(x: R.Tensor((width, width * 2), dtype)):
        y = R.reshape(x, (width * width * 2,))
        return y

    assert [d.value for d in f.params[0].struct_info.dims] == [8, 16]
    assert f.ret_struct_info.dims[0].value == 128


def test_values_of_enclosing_functions_are_captured():
    def outer(size):
        def inner():
            @R.function
            def f(x: R.Tensor((size,), "float32")):
                y = R.add(x, R.const([1.0] * size, "float32"))
                return y

            return f

        return inner()

    assert outer(3).params[0].struct_info.dims[0].value == 3


def test_equal_names_are_told_apart_by_their_lines():
    found = []
    for _ in range(1):

        @R.function
        def f(x: R.Object):
            return x

        found.append(f)

        @R.function
        def f(x: R.Shape):
            return x

        found.append(f)
    kinds = [type(f.params[0].struct_info).__name__ for f in found]
    assert kinds == ["ObjectStructInfo", "ShapeStructInfo"]


def test_captured_shape_variables_belong_to_each_function():
    n = T.int64()

    def make():
        @R.function
        def f(x: R.Tensor((n, 4), "float32")):
            return x

        return f

    first, second = make(), make()
    assert first.params[0].struct_info.dims[0] is not second.params[0].struct_info.dims[0]


def test_positions_are_characters_also_behind_other_alphabets():
    with pytest.raises(DiagnosticError) as caught:

        @R.function
        def f(größe: R.Tensor((2,), "float32")):
            é = R.add(größe, unbekannt)
            return é

    (diagnostic,) = caught.value.diagnostics
    line = diagnostic.span.source.line(diagnostic.span.line)
    assert line[diagnostic.span.column - 1 : diagnostic.span.end_column - 1] == "unbekannt"


def test_code_registered_in_linecache_is_found():
    text = textwrap.dedent(
        """
        from relaxscript.script import ir as I, relax as R

        @I.ir_module
        class M:
            @R.function
            def main(x: R.Object):
                return x
        """
    )
    name = "<cell 1>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {}
    exec(compile(text, name, "exec"), scope)
    assert isinstance(scope["M"], IRModule)
    assert scope["M"].span.filename == name


def test_without_a_source_the_way_out_is_named():
    header = "from relaxscript.script import relax as R\n"
    text = f"{header}@R.function\ndef f(x: R.Object):\n    return x\n"
    with pytest.raises(DiagnosticError, match=r"from_source\(text\)") as caught:
        exec(compile(text, "<string>", "exec"), {})
    assert caught.value.diagnostics[0].code == "RX0111"


@pytest.mark.slow
def test_annotations_under_the_future_import_are_read_from_the_text(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "from __future__ import annotations\n"
        "from relaxscript.script import relax as R, tir as T\n"
        "@R.function\n"
        "def f(x: R.Tensor((n, 4), 'float32')):\n"
        "    n = T.int64()\n"
        "    return x\n"
        "print(f.params[0].struct_info.dims[0].name)\n"
    )
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.stdout == "n\n", done.stderr


@pytest.mark.slow
def test_a_mistake_in_a_script_shows_message_line_and_caret_and_none_of_our_frames(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "from relaxscript.script import relax as R\n"
        "@R.function\n"
        "def f(x: R.Object):\n"
        "    return y\n"
    )
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "`y` is not defined" in done.stderr
    assert "return y" in done.stderr
    frames = [line for line in done.stderr.splitlines() if line.startswith("  File ")]
    assert len(frames) <= 4
    assert sum("relaxscript" in frame for frame in frames) <= 1


def test_a_text_that_is_not_python_is_a_diagnostic_in_its_place():
    with pytest.raises(DiagnosticError, match="this is not Python") as caught:
        from_source("@R.function\ndef f(:\n    return x\n")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.span.line) == ("RX0113", 2)


def test_a_text_without_definitions_says_so():
    with pytest.raises(DiagnosticError, match="defines no module and no function"):
        from_source("import os\n")


def test_a_text_is_parsed_once():
    text = "x = 1\n"
    assert parse_text("a.py", text)[1] is parse_text("a.py", text)[1]


@pytest.mark.parametrize("character", ["\0", "\ud800"])
def test_a_character_that_no_source_can_hold_is_a_mistake_of_the_text(character):
    with pytest.raises(DiagnosticError, match="this is not Python: ") as caught:
        from_source(f"x = '{character}'\n")
    assert [d.code for d in caught.value.diagnostics] == ["RX0113"]


def test_only_classes_and_functions_can_be_decorated():
    with pytest.raises(DiagnosticError, match=r"`I\.ir_module` decorates a class"):
        I.ir_module(3)
    with pytest.raises(DiagnosticError, match=r"`R\.function` decorates a function"):
        R.function(3)


def test_damaged_metadata_is_named():
    text = '@R.function\ndef f():\n    y = metadata["relax.expr.Constant"][0]\n    return y\n'
    with pytest.raises(DiagnosticError, match="the metadata is damaged"):
        from_source(text + 'metadata = {"relax.expr.Constant": [{"dtype": "float32"}]}\n')
    with pytest.raises(DiagnosticError, match="written out as a literal"):
        from_source(text + "metadata = open('x')\n")


def test_a_decorated_definition_can_be_parsed_again():
    class Plain:
        @R.function
        def main(x: R.Object):
            return x

    assert isinstance(from_source(Plain), IRModule)
