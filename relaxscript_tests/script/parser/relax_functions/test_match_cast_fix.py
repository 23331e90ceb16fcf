"""The cast that settles what is not known, in the words of the script that needs it."""

from __future__ import annotations

import warnings

import pytest

from relaxscript.errors import DiagnosticError, RelaxWarning, apply_fixes
from relaxscript.script import from_source
from relaxscript.testing.rejected import diagnostics_of

MODULE = """{imports}
@I.ir_module
class Module:
    @R.function
    def g(a: R.Tensor(("k",)), b: R.Tensor(("k",))) -> R.Tensor(("k",)):
        return a

    @R.function
    def main({params}):
        cls = Module
{body}
"""
IMPORTS = "from relaxscript.script import ir as I, relax as R, tir as T"


def program(body, params='x: R.Tensor(("n",)), y: R.Tensor(("m",))', imports=IMPORTS):
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    return MODULE.format(imports=imports, params=params, body=lines)


def found(text):
    return diagnostics_of(lambda: from_source(text))


def mended(text):
    """The text with all fixes, after which nothing is left to say."""
    diagnostics = found(text)
    result = apply_fixes(diagnostics[0].span.source, diagnostics)
    assert not found(result)
    return result


@pytest.mark.parametrize(
    ("body", "settled"),
    [
        ("return cls.g(x, y)", 'cls.g(x, R.match_cast(y, R.Tensor(("n",))))'),
        ("z = R.exp(cls.g(x, R.exp(y)))\nreturn z",
         'cls.g(x, R.match_cast(R.exp(y), R.Tensor(("n",))))'),
        ('z: R.Tensor(("m",)) = x\nreturn z', '= R.match_cast(x, R.Tensor(("m",)))'),
        ('z: R.Tensor(("m",)) = cls.g(x, y)\nreturn z',
         '= R.match_cast(cls.g(x, R.match_cast(y, R.Tensor(("n",)))), R.Tensor(("m",)))'),
        ("t = (x, y)\nreturn cls.g(t[0], t[1])",
         'cls.g(t[0], R.match_cast(t[1], R.Tensor(("n",))))'),
        ('t: R.Tuple(R.Tensor(("m",)), R.Object) = x, y\nreturn t',
         '= R.match_cast((x, y), R.Tuple(R.Tensor(("m",)), R.Object))'),
        ('t: R.Tuple(R.Tensor(("m",)), R.Object) = (x), (y)\nreturn t',
         '= R.match_cast(((x), (y)), R.Tuple(R.Tensor(("m",)), R.Object))'),
        ("return cls.g(\n    x,\n    R.exp(\n        y\n    ),\n)",
         'R.match_cast(R.exp(\n                y\n            ), R.Tensor(("n",))),'),
    ],
)  # fmt: skip
def test_what_only_possibly_fits_is_cast(body, settled):
    assert settled in mended(program(body))


def test_the_names_are_those_of_the_script():
    text = program("return cls.g(x, y)", imports="").replace("R.", "relax.").replace("I.", "ir.")
    text = f"from relaxscript.script import ir, relax\n{text}"
    assert 'relax.match_cast(y, relax.Tensor(("n",)))' in mended(text)


def test_a_dimension_that_only_the_callee_knows_is_declared():
    text = mended(program("return cls.g(x, x)", "x: R.Tensor(ndim=1)"))
    cast = 'R.match_cast(x, R.Tensor(("k",)))'
    assert f"        k = T.int64()\n        return cls.g({cast}, {cast})\n" in text


@pytest.mark.parametrize(
    "text",
    [
        # No line of its own; no name for what declares; a shape of the callee's.
        program("z = x; return cls.g(x, x)", "x: R.Tensor(ndim=1)"),
        program("return cls.g(x, x)", "x: R.Tensor(ndim=1)", imports="").replace(
            "@I.", "from relaxscript.script import ir as I, relax as R\n@I."
        ),
    ],
)
def test_where_nothing_can_be_declared_there_is_no_fix(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        names = {"T": None} if "tir as T" not in text else None
        diagnostics = diagnostics_of(lambda: from_source(text, extra_vars=names))
    assert diagnostics
    assert not any(d.fix for d in diagnostics)


def test_an_argument_among_others_that_are_unpacked_has_no_fix():
    diagnostics = found(program("t = [y]\nreturn cls.g(*t, x)"))
    assert [(d.span.text, d.fix) for d in diagnostics] == [("cls.g(*t, x)", ())]


def test_the_shape_of_a_parameter_of_the_callee_cannot_be_cast_to():
    text = program("return cls.h(R.shape([3]), x)").replace(
        "    @R.function\n    def main",
        "    @R.function\n    def h(s: R.Shape(ndim=1), a: R.Tensor(s)) -> R.Tensor(s):\n"
        "        return a\n\n    @R.function\n    def main",
    )
    (warning,) = found(text)
    assert "not known to be `s`" in warning.message
    assert (warning.help, warning.fix) == (None, ())


def test_an_error_that_no_cast_can_mend_has_no_fix():
    with pytest.raises(DiagnosticError) as raised:
        from_source(program('z: R.Tensor(("n + 1",)) = x\nreturn z'))
    (wrong,) = raised.value.diagnostics
    assert (wrong.code, wrong.fix) == ("RX0205", ())
    assert wrong.help.startswith("it is `R.Tensor((n,))`")
