"""`format_string`: a format writes values and reaches nothing else of them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from relaxscript import from_source
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.format_string import FormatError, check_format, fill
from relaxscript.runtime.builtins import BUILTINS
from relaxscript.runtime.values import format_values
from relaxscript_tests import examples


class Untouchable:
    """A value that must not be asked for anything but its text."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__", "__str__"):
            return object.__getattribute__(self, name)
        raise AssertionError(f"`{name}` was read")

    def __getitem__(self, key: object) -> Any:
        raise AssertionError(f"item {key!r} was read")

    def __format__(self, spec: str) -> str:
        raise AssertionError("the value was asked to format itself")

    def __repr__(self) -> str:
        raise AssertionError("the value was asked for its representation")

    def __str__(self) -> str:
        return "untouched"


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ("{0.__class__}", "`{0.__class__}` is no position of a value"),
        ("{.__init__.__globals__}", "is no position of a value"),
        ("{0[key]}", "`{0[key]}` is no position of a value"),
        ("{[0]}", "is no position of a value"),
        ("{0!r}", "`!r` converts a value"),
        ("{!s:>5}", "`!s` converts a value"),
        ("{:{}}", "`:{}` is not a plain format"),
        ("{0:{0.__class__}}", "is not a plain format"),
        ("{x}", "`{x}` is no position of a value"),
        ("{-1}", "`{-1}` is no position of a value"),
        ("{²}", "`{²}` is no position of a value"),
        ("{٠}", "is no position of a value"),
        ("{1}", "there is no value 1 for `{1}`"),
        ("{99999999999999999999}", "there is no value 99999999999999999999"),
        ("{}{0}", "`{0}` is mixed with fields without numbers"),
        ("{0}{}", "`{}` is mixed with fields with numbers"),
        ("{:.999999999f}", "a precision of 999999999 is more than 1000 characters"),
        ("{:1001}", "a width of 1001 is more than 1000 characters"),
        ("{:0" + "9" * 5000 + "d}", "is more than 1000 characters"),
        ("{:%H:%M}", "is not a plain format"),
        ("{", "Single '{'"),
        ("}", "Single '}'"),
        ("{0", "expected '}'"),
    ],
)
def test_what_reaches_beyond_the_values_is_no_format(form, why):
    with pytest.raises(FormatError, match=re.escape(why)):
        check_format(form, 1)
    with pytest.raises(FormatError, match=re.escape(why)):
        fill(form, 1, lambda position, spec: pytest.fail("a text was asked for"))


def test_a_value_is_asked_for_its_text_and_for_nothing_else():
    assert format_values("<{:>10}> {{}}", [Untouchable()]) == "< untouched> {}"
    with pytest.raises(VMError, match=r"`\{0\.secret\}` is no position of a value"):
        format_values("{0.secret}", [Untouchable()])


PIECES = [
    "{", "}", "{{", "}}", "{}", "{0}", "{1}", "{2}", "{:", "{0:", "!r", "!s", ".x", "[0]", "a", " ",
    ":", ">5", "<3", "^7", "*^6", "+", "-", "#", "08", ".2f", "d", "x", "b", "e", "%", "s", ",",
    "1000", ".1000", "9999999999", "c", "_",
]  # fmt: skip


def test_what_is_a_format_here_means_what_it_means_to_python(rng):
    values = [3, 2.5, True]
    agreed = 0
    for _ in range(examples(20_000)):
        form = "".join(rng.choice(PIECES) for _ in range(rng.integers(1, 6)))
        try:
            found = format_values(form, values)
        except VMError:
            continue
        if form:
            assert found == form.format(*values), form
            assert len(found) <= len(form) * 1100
            agreed += 1
    assert agreed > examples(20_000) // 10


PROGRAM = """
@R.function(pure=False)
def main(x: R.Tensor((), "float32")):
    u = {call}
    return x
"""


@pytest.mark.parametrize("call", ["R.print(x, format={!r})", "R.assert_op(False, [x], {!r})"])
@pytest.mark.parametrize("form", ["{0.T}", "{0[0]}", "{!r}", "{} {}", "{:.2000f}", "{"])
def test_a_format_that_goes_with_no_values_is_an_error_where_it_is_written(call, form):
    with pytest.raises(DiagnosticError, match="this is no format: ") as caught:
        from_source(PROGRAM.format(call=call.format(form)))
    (found,) = caught.value.diagnostics
    assert found.code == "RX0204"
    assert found.span.text.strip("'\"") == form


@pytest.mark.parametrize(
    ("name", "args"), [("print", ("{0.__class__}", 1)), ("assert_op", (False, "{0[x]}", 1))]
)
def test_a_format_that_comes_when_the_program_runs_reaches_nothing_either(name, args):
    with pytest.raises(VMError, match="is no position of a value"):
        BUILTINS[f"relax.run.{name}"](*args)
