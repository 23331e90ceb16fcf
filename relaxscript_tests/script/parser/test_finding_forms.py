"""Definitions of every form are found: wrapped, nested, edited since, in any encoding."""

from __future__ import annotations

import ast
import functools
import importlib
import linecache
import os
import sys
import textwrap
from pathlib import Path

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import IRModule
from relaxscript.ir.relax import Function
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.script.source import source_tree as source_room


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder from which modules are imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


def imported(folder: Path, text: str | bytes, name: str):
    raw = text.encode() if isinstance(text, str) else text
    (folder / f"{name}.py").write_bytes(raw)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    finally:
        sys.modules.pop(name, None)


def called(function) -> str:
    """What stands at the first binding."""
    return function.body.blocks[0].bindings[0].value.span.text


def dims(function) -> list[object]:
    return [getattr(d, "value", d) for d in function.params[0].struct_info.dims]


HEADER = "from relaxscript.script import ir as I, relax as R, tir as T\n"
BODY = "@R.function\ndef f(x: R.Tensor((2, 3), 'float32')):\n    y = R.exp(x)\n    return y\n"


# ---------------------------------------------------------------- layout and encoding


@pytest.mark.parametrize(
    "text",
    [
        (HEADER + BODY).replace("    ", "\t").encode(),
        (HEADER + BODY).replace("\n", "\r\n").encode(),
        (HEADER + BODY).replace("\n", "\r").encode(),
        (HEADER + "\f\n" + BODY.replace("    return", "    \f\n    return")).encode(),
        b"\xef\xbb\xbf" + (HEADER + BODY).encode(),
        ("# -*- coding: latin-1 -*-\n# äöü\n" + HEADER + BODY).encode("latin-1"),
        ("# vim: fileencoding=cp1252\nname = '€'\n" + HEADER + BODY).encode("cp1252"),
        ("if True:\n" + textwrap.indent(HEADER + BODY, "  ")).encode(),
        (HEADER + BODY).rstrip("\n").encode(),
        (HEADER + "'''\n" + BODY + "'''\n" + BODY).encode(),
        (HEADER + "x = '\x1c\\\n\x0b\u2028'\n" + BODY).encode(),
        (HEADER + BODY.replace("function\n", "function( #\n\n  private=True\n)\n\n")).encode(),
        (HEADER + BODY.replace("R.exp(x)", "\\\n  R.exp(x)")).encode(),
    ],
    ids=["tabs", "crlf", "cr", "form feed", "bom", "latin-1", "cp1252", "in a block",
         "no end of line", "in a string too", "unicode line ends", "broken decorator",
         "continued line"],
)  # fmt: skip
def test_a_file_may_be_laid_out_and_encoded_in_any_way(text, folder, request):
    module = imported(folder, text, f"layout_{abs(hash(request.node.callspec.id))}")
    assert called(module.f) == "R.exp(x)"


def test_letters_of_any_alphabet_are_found_as_python_spells_them(folder):
    # Python reads the ligature as the two letters that it joins.
    body = BODY.replace("y", "größe").replace("def f", "def ﬁnd").replace("größe = ", "größe = ")
    module = imported(folder, HEADER + body, "letters")
    assert called(module.find) == "R.exp(x)"
    (binding,) = module.find.body.blocks[0].bindings
    assert binding.var.name_hint == "größe"


# ---------------------------------------------------------------- decorators


def test_a_decorator_that_calls_ours_is_followed():
    width = 3

    def doubled(f):
        width = 5  # is no name of the function that is decorated
        return R.function(f, private=True)

    @doubled
    def f(x: R.Tensor((2, width), "float32")):
        y = R.exp(x)
        return y

    assert dims(f) == [2, 3]
    assert f.is_private


def test_options_that_are_bound_beforehand_are_followed():
    impure = functools.partial(R.function, pure=False)

    @impure
    def f(x: R.Tensor((2, 3), "float32")):
        _ = R.print(x, format="{}")
        return x

    assert not f.is_pure


def test_a_decorator_of_classes_that_calls_ours_takes_the_module_as_a_whole():
    def model(cls):
        return I.ir_module(cls)

    strict_module = functools.partial(I.ir_module, strict=True)

    @model
    class First:
        @R.function
        def inner(x: R.Tensor((2,), "float32")):
            return x

        @R.function
        def main(x: R.Tensor((2,), "float32")):
            y = First.inner(x)
            return y

    @strict_module
    class Second:
        @R.function
        def inner(x: R.Tensor((2,), "float32")):
            return x

        @R.function
        def main(x: R.Tensor((2,), "float32")):
            y = Second.inner(x)
            return y

    assert [len(list(m.functions_items())) for m in (First, Second)] == [2, 2]


def test_a_decorator_below_ours_that_keeps_what_it_wraps_is_seen_through():
    def logged(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return f(*args, **kwargs)

        return wrapper

    @R.function
    @logged
    @logged
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.exp(x)
        return y

    assert called(f) == "R.exp(x)"


def test_decorators_above_ours_are_given_the_function():
    seen = []

    def noted(value):
        seen.append(value)
        return value

    @noted
    @R.function
    def f(x: R.Object):
        return x

    assert seen == [f]
    assert isinstance(f, Function)


def test_a_function_may_be_renamed_before_it_is_decorated():
    def plain(x: R.Tensor((2, 3), "float32")):
        y = R.exp(x)
        return y

    plain.__name__ = "renamed"
    assert called(R.function(plain)) == "R.exp(x)"


def test_functions_that_were_not_written_with_def_are_refused():
    double = lambda x: R.add(x, x)  # noqa: E731
    for value, kind in [
        (double, "a lambda"), (functools.wraps(double)(double), "a lambda"),
        (functools.partial(called, None), "a partial"), (len, "a builtin_function_or_method"),
        ("text".upper, "a builtin_function_or_method"), (3, "a int"),
    ]:  # fmt: skip
        with pytest.raises(DiagnosticError, match=rf"decorates a function.*, this is {kind}"):
            R.function(value)
        with pytest.raises(DiagnosticError, match=rf"decorates a function.*, this is {kind}"):
            T.prim_func(value)
    with pytest.raises(DiagnosticError, match="this is a staticmethod"):

        @R.function
        @staticmethod
        def f(x: R.Object):
            return x


# ---------------------------------------------------------------- scopes


def test_definitions_nested_in_functions_and_classes_are_found():
    class Outer:
        class Inner:
            @R.function
            def f(x: R.Tensor((2, 3), "float32")):
                y = R.exp(x)
                return y

        def method(self):
            @I.ir_module
            class M:
                @R.function
                def main(x: R.Tensor((2, 3), "float32")):
                    y = R.exp(x)
                    return y

            return M

    assert called(Outer.Inner.f) == "R.exp(x)"
    assert called(Outer().method()["main"]) == "R.exp(x)"


def test_names_that_only_annotations_use_are_found_in_every_scope():
    outermost = 2

    def outer(middle):
        class Space:
            inner = 4

            @R.function
            def f(x: R.Tensor((outermost, middle, inner), "float32")) -> R.Tensor:
                return x

        return Space.f

    assert dims(outer(3)) == [2, 3, 4]


def test_a_name_of_an_inner_scope_hides_that_of_an_outer_one(folder):
    module = imported(
        folder,
        f"""from __future__ import annotations
{HEADER}
n = 1
def outer():
    n = 2
    def inner():
        n = 3
        @R.function
        def f(x: R.Tensor((n,), "float32")):
            return x
        return f
    return inner()
f = outer()
""",
        "hidden",
    )
    assert dims(module.f) == [3]


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_functions_with_type_parameters_are_found_with_their_names(folder, future):
    # Type parameters are a scope of their own, of Pythons that have them.
    generic = sys.version_info >= (3, 12)
    parameters, dimension = ("[m]", "m") if generic else ("", '"m"')
    module = imported(
        folder,
        f"""{future}{HEADER}
def outer(k):
    @R.function
    def f{parameters}(x: R.Tensor(({dimension}, k), "float32")):
        y = R.exp(x)
        return y

    @I.ir_module
    class M:
        @R.function
        def main{parameters}(x: R.Tensor(({dimension}, k), "float32")):
            y = R.exp(x)
            return y

    return f, M["main"]
first, second = outer(5)
""",
        f"generic{len(future)}",
    )
    assert [dims(f)[1] for f in (module.first, module.second)] == [5, 5]
    assert [dims(f)[0].name for f in (module.first, module.second)] == ["m", "m"]


def test_what_annotations_capture_by_themselves_is_found():
    # On Python 3.14 annotations are a function of their own, with what it has captured.
    def make(n):
        def annotate(format):
            return {"x": R.Tensor((n,), "float32")}

        def f(x):
            return x

        return annotate, f

    annotate, f = make(7)
    f.__annotate__ = annotate
    from relaxscript.script.parser.environment import Environment

    assert Environment.of_function(f, None).lookup("n") == 7


def test_equal_definitions_in_branches_are_told_apart():
    found = []
    for wanted in (True, False):
        if wanted:

            @R.function
            def f(x: R.Tensor((2,), "float32")):
                return x

        else:

            @R.function
            def f(x: R.Tensor((3,), "float32")):
                return x

        found.append(dims(f))
    assert found == [[2], [3]]


def test_a_class_whose_functions_come_from_elsewhere_is_found():
    @R.function
    def given(x: R.Object):
        return x

    @I.ir_module
    class M:
        main = given

    assert [gv.name for gv, _ in M.functions_items()] == ["main"]


# ---------------------------------------------------------------- files that change


def edit(path: Path, text: str) -> None:
    """Write a text, later than what was there."""
    before = path.stat().st_mtime
    path.write_text(text)
    os.utime(path, (before + 10, before + 10))


def test_a_file_that_was_edited_and_imported_again_is_read_again(folder):
    first = imported(folder, HEADER + BODY, "edited")
    edit(folder / "edited.py", HEADER + "\n\n" + BODY.replace("R.exp", "R.sqrt"))
    second = imported(folder, (folder / "edited.py").read_text(), "edited")
    os.utime(folder / "edited.py", (9e8, 9e8))
    third = imported(folder, HEADER + BODY.replace("R.exp", "R.tanh"), "edited")
    assert [called(m.f) for m in (first, second, third)] == ["R.exp(x)", "R.sqrt(x)", "R.tanh(x)"]


FACTORY = HEADER + "def make(n):\n" + textwrap.indent(BODY.replace("(2, 3)", "(n, 3)"), "    ")
FACTORY += "    return f\n"


def test_a_definition_that_moved_in_an_edited_file_is_found_where_it_is(folder):
    module = imported(folder, FACTORY, "moved")
    edit(folder / "moved.py", "# a new line\n" + FACTORY)
    f = module.make(2)
    assert called(f) == "R.exp(x)"
    assert f.body.blocks[0].bindings[0].value.span.line == 6


@pytest.mark.parametrize(
    "change",
    [
        ("R.exp", "R.sqrt"), ("def f(x:", "def f(z:"), ("def f", "def g"), ("y = ", "# "),
        ("(x)", "(x + x)"), ("(n, 3)", "(n, 4)"), ("R.exp(x)", "3"),
    ],
)  # fmt: skip
def test_an_edited_definition_is_not_taken_for_the_one_that_runs(folder, change):
    module = imported(folder, FACTORY, "other")
    edit(folder / "other.py", FACTORY.replace(*change))
    with pytest.raises(
        DiagnosticError, match=r"not the source any more from which Python made `f`"
    ):
        module.make(2)


def test_an_import_hook_may_have_changed_what_is_compiled(folder):
    path = folder / "hooked.py"
    path.write_text(HEADER + BODY)
    os.utime(path, (9e8, 9e8))
    tree = ast.parse(path.read_text())
    tree.body[-1].body.insert(1, ast.parse("x").body[0])
    scope = {}
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), scope)
    assert called(scope["f"]) == "R.exp(x)"


def test_a_file_that_is_gone_is_named(folder):
    module = imported(folder, FACTORY, "gone")
    linecache.clearcache()
    (folder / "gone.py").unlink()
    with pytest.raises(DiagnosticError, match=r"the file `.*gone\.py` is not there any more"):
        module.make(2)


def test_a_file_of_which_only_the_compiled_form_is_there_is_named(folder):
    import py_compile

    (folder / "compiled.py").write_text(HEADER + BODY)
    py_compile.compile(
        str(folder / "compiled.py"), cfile=str(folder / "compiled.pyc"), dfile="compiled.pyc"
    )
    (folder / "compiled.py").unlink()
    importlib.invalidate_caches()
    with pytest.raises(DiagnosticError, match=r"only the compiled form `.*compiled\.pyc` is there"):
        importlib.import_module("compiled")


@pytest.mark.parametrize(
    ("filename", "situation"),
    [
        ("<timed exec>", "it was run by `%%time`, and is in no cell"),
        ("<magic-timeit>", "it was run by `%%timeit`, and is in no cell"),
        ("<console>", "it was typed at a prompt that does not keep"),
        ("<template>", "it was executed under the name `<template>`, of which no source is kept"),
        ("<string>", "it was executed from a string, which Python does not keep"),
    ],
)
def test_each_situation_without_a_source_is_named(filename, situation):
    with pytest.raises(DiagnosticError) as caught:
        exec(compile(HEADER + BODY, filename, "exec"), {})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "RX0111"
    assert situation in diagnostic.message
    assert "`relaxscript.from_source(text)`" in diagnostic.help


# ---------------------------------------------------------------- reading once


@pytest.mark.slow
def test_a_file_of_many_functions_is_read_and_parsed_once(folder, monkeypatch):
    count = 400
    text = HEADER + "".join(
        BODY.replace("def f", f"def f{i}").replace("(2, 3)", f"({i}, 3)") for i in range(count)
    )
    text += "@I.ir_module\nclass M:\n" + textwrap.indent(BODY, "    ")
    reads, parses = [], []
    read, parse = linecache.updatecache, source_room.parse_once
    monkeypatch.setattr(linecache, "updatecache", lambda *a: reads.append(a[0]) or read(*a))
    monkeypatch.setattr(source_room, "parse_once", lambda *a: parses.append(a[0]) or parse(*a))
    module = imported(folder, text, "many")
    path = str(folder / "many.py")
    assert [name for name in reads if name == path] == [path]
    assert [name for name in parses if name == path] == [path]
    assert dims(module.f399) == [399, 3]
    assert isinstance(module.M, IRModule)
    assert isinstance(from_source(text), IRModule)
