"""How definitions reach the parser: decorators in files, `from_source`, what each may take."""

from __future__ import annotations

import functools
import linecache
import textwrap

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import IRModule
from relaxscript.ir.relax import Function
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source, ir as I, relax as R

IMPORTS = "from relaxscript.script import ir as I, relax as R, tir as T\n"


def execute(text: str, name: str) -> dict[str, object]:
    """What a file with this text defines, when Python runs it."""
    filename = f"<{name}>"
    text = IMPORTS + textwrap.dedent(text)
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope: dict[str, object] = {"__name__": name}
    exec(compile(text, filename, "exec", dont_inherit=True), scope)
    return scope


def refused(text: str, name: str) -> list[tuple[str, str, int, int]]:
    with pytest.raises(DiagnosticError) as caught:
        execute(text, name)
    return [
        (d.code, d.message, d.span.line, d.span.column) if d.span else (d.code, d.message, 0, 0)
        for d in caught.value.diagnostics
    ]


def test_a_misspelt_annotation_does_not_stop_python_before_the_decorator(request):
    found = refused(
        """
        @R.function
        def f(x: R.Tensr((2,), "float32"), y: R.Tensor((2,), "float32")):
            return R.add(y, oops)
        """,
        request.node.name,
    )
    assert found == [
        ("RX0102", "`R` has no `Tensr`", 4, 10),
        ("RX0101", "`oops` is not defined", 5, 21),
    ]


@pytest.mark.parametrize(
    ("decorator", "message", "fix"),
    [
        ("R.funcion", "`R` has no `funcion`", "R.function"),
        ("T.prim_fun", "`T` has no `prim_fun`", "T.prim_func"),
    ],
)
def test_a_misspelt_decorator_is_a_diagnostic_at_its_place(decorator, message, fix, request):
    with pytest.raises(DiagnosticError, match=message) as caught:
        execute(f"@{decorator}\ndef f(x: R.Object):\n    return x\n", request.node.name)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.span.line) == ("RX0102", 2)
    assert all(edit.new_text == fix for edit in diagnostic.fix)


def test_a_misspelt_decorator_of_a_class_is_one_too(request):
    text = "@I.ir_modul\nclass M:\n    pass\n"
    with pytest.raises(DiagnosticError, match=r"`I` has no `ir_modul`"):
        execute(text, request.node.name)


def test_elsewhere_a_misspelt_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"`R` has no `sofmax`; did you mean `R\.nn\.softmax`"):
        _ = R.sofmax
    assert not hasattr(I, "ir_modul")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@R.function(privat=True)\ndef f(x: R.Object):\n    return x\n", "no option `privat`"),
        ("@R.function(True)\ndef f(x: R.Object):\n    return x\n", "takes its options by name"),
        ("@I.ir_module(check=1)\nclass M:\n    pass\n", "no option `check`"),
        (
            "@T.prim_func(privat=True)\ndef f(x: T.Buffer((1,))):\n    x[0] = T.float32(0)\n",
            "no option `privat`",
        ),
    ],
)
def test_options_are_checked_where_they_stand(text, message, request):
    ((code, found, line, _),) = refused(text, request.node.name)
    assert (code, line) == ("RX0103", 2)
    assert message in found


def test_options_of_a_plain_call_are_checked_too():
    def f(x: R.Object):
        return x

    with pytest.raises(DiagnosticError, match=r"`R\.function` has no option `privat`"):
        R.function(f, privat=True)
    with pytest.raises(DiagnosticError, match=r"`I\.ir_module` has no option `check`"):
        I.ir_module(Sample, check=True)


class Sample:
    @R.function
    def f(x: R.Object):
        return x


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, r"`R\.function` decorates a function"),
        (int, r"`R\.function` decorates a function"),
        (lambda x: x, r"`R\.function` decorates a function"),
        (functools.cache(lambda x: x), r"`R\.function` decorates a function"),
    ],
)
def test_only_functions_of_a_def_are_decorated(given, message):
    with pytest.raises(DiagnosticError, match=message) as caught:
        R.function(given)
    assert caught.value.diagnostics[0].span.filename == __file__


def test_a_function_that_was_decorated_is_not_decorated_again():
    @R.function
    def f(x: R.Object):
        return x

    with pytest.raises(DiagnosticError, match="decorated twice"):
        R.function(f)


def test_a_function_on_its_own_has_no_place_for_one_that_python_holds():
    @R.function
    def g(x: R.Object):
        return x

    with pytest.raises(DiagnosticError, match="`g` is a Relax function that is outside"):

        @R.function
        def f(x: R.Object):
            return g(x)


def test_an_async_function_is_named_as_that(request):
    text = "@R.function\nasync def f(x: R.Object):\n    return x\n"
    ((code, message, line, column),) = refused(text, request.node.name)
    assert (code, message) == ("RX0104", "only a plain function can be decorated")
    assert (line, column) == (3, 11)


def test_a_module_under_another_name_of_its_decorator_is_a_module():
    from relaxscript.script.ir import ir_module as model

    @model
    class Model:
        @R.function
        def f(x: R.Object):
            return Model.g(x)

        @R.function
        def g(x: R.Object):
            return x

    assert isinstance(Model, IRModule)


def test_from_source_parses_a_plain_function_again_in_its_own_language(request):
    text = """
    def plain(decorate):
        return lambda f: f

    @plain(T.prim_func)
    @T.prim_func
    def f(x: T.Buffer((1,), "float32")):
        x[0] = T.float32(0)
    """
    scope = execute(text.replace("    @T.prim_func\n", "    @plain(T.prim_func)\n"), "plain")
    filename = "<plain>"
    decorated = IMPORTS + textwrap.dedent(text)
    linecache.cache[filename] = (len(decorated), None, decorated.splitlines(True), filename)
    assert isinstance(from_source(scope["f"]), PrimFunc)


def test_from_source_parses_a_plain_function_as_relax_otherwise():
    def f(x: R.Object):
        return x

    assert isinstance(from_source(f), Function)


@pytest.mark.parametrize("given", [None, b"text", 3])
def test_from_source_takes_a_text_a_class_or_a_function(given):
    with pytest.raises(DiagnosticError, match="parses a string, a class or a function, not a"):
        from_source(given)


def test_from_source_has_two_modes():
    with pytest.raises(DiagnosticError, match='there is no mode "pyton"'):
        from_source("", mode="pyton")


USUAL = "from relaxscript.script import relax as R\n"


@pytest.mark.parametrize(
    ("imports", "decorator"),
    [
        ("import relaxscript as rx\n", "rx.script.relax.func"),
        ("from relaxscript.script.relax import function as fn\n", "fn"),
        ("from relaxscript.script import relax\n", "relax.function"),
    ],
)
def test_decorators_are_known_by_whatever_name_they_were_imported(imports, decorator):
    text = f"{imports}{USUAL}@{decorator}\ndef f(x: R.Object):\n    return x\n"
    assert isinstance(from_source(text), Function)


def test_what_nests_too_deeply_is_an_error_of_its_statement():
    text = f"""
@R.function
def f(x: R.Tensor((2,), "float32")):
    y = {"-" * 900}x
    z = R.add(x, oops)
    return z
"""
    with pytest.raises(DiagnosticError) as caught:
        from_source(text)
    found = [(d.code, d.message, d.span.line) for d in caught.value.diagnostics]
    assert found == [
        ("RX0104", "this is nested too deeply", 4),
        ("RX0101", "`oops` is not defined", 5),
    ]


def test_a_header_that_nests_too_deeply_is_an_error_of_its_function():
    shape = f'R.Tensor(({"-" * 900}4,), "float32")'
    for text in (
        f"@R.function\ndef f(x: {shape}):\n    return x\n",
        f"@I.ir_module\nclass M:\n    @R.function\n    def f(x: {shape}):\n        return x\n",
    ):
        with pytest.raises(DiagnosticError, match="`f` is nested too deeply"):
            from_source(text)


def test_a_quoted_dimension_that_nests_too_deeply_is_an_error():
    text = f'@R.function\ndef f(x: R.Tensor(("{"-" * 20000}n",))):\n    return x\n'
    with pytest.raises(DiagnosticError, match="nested too deeply"):
        from_source(text)


def test_a_text_that_nests_too_deeply_for_python_is_an_error():
    with pytest.raises(DiagnosticError, match="nested too deeply for Python to parse"):
        from_source(
            "@R.function\ndef f(x: R.Object):\n    y = " + "-" * 20000 + "x\n    return y\n"
        )


def test_places_are_characters_after_tabs_wide_letters_and_continued_lines():
    text = """@R.function
def f(ñ: R.Tensor((2,), "float32")):
\t日本 = R.add(ñ,\tñx)
\té = R.add(ñ, \\
\t  oops)
\x0c\treturn 日本
"""
    with pytest.raises(DiagnosticError) as caught:
        from_source(text)
    found = [(d.span.text, *d.span.start, *d.span.end) for d in caught.value.diagnostics]
    assert found == [("ñx", 3, 16, 3, 18), ("oops", 5, 4, 5, 8)]
