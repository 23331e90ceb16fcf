"""What users see of exceptions and warnings, in plain Python and in their own code."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap
import traceback
import warnings
from pathlib import Path

import pytest

import relaxscript.errors as errors
from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    InternalError,
    OperandError,
    RelaxWarning,
    Source,
    VMError,
    render,
    warn,
)
from relaxscript.errors.exceptions import NoSuchNameError
from relaxscript_tests.errors.places import DIGITS, place

X = place(DIGITS, "x", 21)
W = place(DIGITS, "w)", 21).source.between(DIGITS.offset(21, 29), DIGITS.offset(21, 30))
FIRST = Diagnostic(
    "RX0203", "cannot multiply", W, [(W, "has 63 rows"), (X, "has 64 columns")], help="mend it"
)
SECOND = Diagnostic("RX0102", "`R.nn` has no `sofmax`", place(DIGITS, "sofmax"))
CAUTION = Diagnostic("RX0209", "no annotation", place(DIGITS, "h", 21), severity="warning")

PROGRAM = """
    from relaxscript.errors import Diagnostic, DiagnosticError, Source

    source = Source("model.py", "    é = R.add(x, zz)\\n")
    zz = source.between(17, 19)
    x = source.between(14, 15)
    raise DiagnosticError([
        Diagnostic("RX0101", "`zz` is not defined", zz, [(x, "this is")], help="define `zz`"),
        Diagnostic("RX0102", "another mistake", x),
    ])
"""


# ---------------------------------------------------------------- DiagnosticError


def test_the_message_is_the_first_sentence_and_counts_further_errors():
    message = DiagnosticError([FIRST, SECOND, CAUTION]).msg
    assert message.split("\n")[0] == "cannot multiply (and 1 more)"
    assert DiagnosticError(SECOND).msg.split("\n")[0] == "`R.nn` has no `sofmax`"


@pytest.mark.parametrize(
    ("code", "nature", "kind"),
    [
        ("RX0201", None, TypeError),
        ("RX0202", None, TypeError),
        ("RX0203", None, ValueError),
        ("RX0203", "type", TypeError),
        ("RX0204", None, ValueError),
        ("RX0101", None, None),
        ("RX0101", "value", ValueError),
    ],
)
def test_an_error_is_a_type_or_value_error_as_well_where_its_diagnostic_is(code, nature, kind):
    diagnostic = Diagnostic(code, "no", None, nature=nature)
    error = DiagnosticError([CAUTION, diagnostic, FIRST])
    assert [k for k in (TypeError, ValueError) if isinstance(error, k)] == [k for k in [kind] if k]
    assert error.diagnostics[1] is diagnostic
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.diagnostics) == (str(error), error.diagnostics)


def test_a_subclass_of_a_users_own_is_what_it_is():
    class Mine(DiagnosticError):
        pass

    assert type(Mine(FIRST)) is Mine


def test_a_warning_before_the_error_does_not_take_its_place():
    error = DiagnosticError([CAUTION, FIRST])
    assert error.msg.split("\n")[0] == "cannot multiply"
    assert error.diagnostics == (CAUTION, FIRST)


def test_python_is_told_the_position_of_the_first_error():
    error = DiagnosticError([FIRST])
    assert (error.filename, error.lineno, error.offset) == ("digits.py", 21, 29)
    assert (error.end_lineno, error.end_offset) == (21, 30)
    assert error.text == "            h = R.matmul(x, w)"


def test_a_span_of_several_lines_ends_for_python_with_its_first():
    source = Source("f.py", "y = f(\n  x)")
    error = DiagnosticError(Diagnostic("RX0103", "no", source.between(4, 11)))
    assert (error.lineno, error.offset, error.end_lineno, error.end_offset) == (1, 5, 1, 7)


def test_an_error_without_place_has_no_position():
    error = DiagnosticError(Diagnostic("RX0701", "no file", None))
    assert (error.filename, error.lineno, error.text) == (None, None, None)
    assert "no file" in "".join(traceback.format_exception_only(error))


def test_every_mistake_has_its_picture_beside_the_message():
    told = "".join(traceback.format_exception_only(DiagnosticError([FIRST, SECOND])))
    first = render(FIRST)
    assert first.partition("\n")[2] in told
    assert "relaxscript explain RX0203" in told
    assert render(SECOND) in told


def test_the_text_of_the_error_is_the_whole_rendering():
    assert str(DiagnosticError([FIRST, SECOND])) == render([FIRST, SECOND])


def test_a_notebook_shows_the_error_as_html():
    assert DiagnosticError([FIRST])._repr_html_() == render([FIRST], style="html")


@pytest.mark.parametrize("twin", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_pickles_and_copies(twin):
    error = DiagnosticError([FIRST, SECOND])
    other = twin(error)
    assert other.diagnostics == error.diagnostics
    assert (other.msg, other.lineno, str(other)) == (error.msg, error.lineno, str(error))
    assert getattr(other, "__notes__", None) == getattr(error, "__notes__", None)


def test_an_error_needs_a_diagnostic():
    with pytest.raises(InternalError, match="without a diagnostic"):
        DiagnosticError([])


@pytest.mark.slow
def test_plain_python_shows_message_line_and_caret_once(tmp_path: Path):
    shown = run_python(tmp_path, PROGRAM)
    lines = shown.splitlines()
    assert shown.count("`zz` is not defined") == 1
    assert lines.count("    é = R.add(x, zz)") == 1
    source = lines.index("    é = R.add(x, zz)")
    assert lines[source - 1] == '  File "model.py", line 1'
    # Python before 3.13 draws a single caret for subclasses of SyntaxError.
    assert lines[source + 1] in ("                 ^", "                 ^^")
    assert lines[source + 2] == (
        "relaxscript.errors.DiagnosticError: `zz` is not defined (and 1 more)"
    )
    assert lines[source + 3] == " --> model.py:1:18"
    assert lines.count("  = help: define `zz`") == 1
    assert lines.count("error[RX0102]: another mistake") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "shown", ["raise error", "import traceback; traceback.print_exception(error)"]
)
def test_a_mistake_without_a_place_is_told_once(shown: str, tmp_path: Path):
    program = f"""
    from relaxscript.errors import Diagnostic, DiagnosticError
    error = DiagnosticError(Diagnostic("RX0703", "no such target", None, help="use another"))
    {shown}
    """
    told = run_python(tmp_path, program)
    assert (told.count("no such target"), told.count("help: use another")) == (1, 1)


@pytest.mark.slow
def test_the_traceback_module_shows_the_same_as_plain_python(tmp_path: Path):
    caught = textwrap.indent(textwrap.dedent(PROGRAM), "    ")
    shown = run_python(
        tmp_path,
        f"import traceback\ntry:\n{caught}\nexcept SyntaxError:\n    traceback.print_exc()",
    )
    assert shown.count("`zz` is not defined") == 1
    assert shown.count("    é = R.add(x, zz)\n                 ^^\n") == 1


def run_python(folder: Path, program: str) -> str:
    """What a Python of its own writes to stderr when it runs `program`."""
    file = folder / "program.py"
    file.write_text(textwrap.dedent(program), encoding="utf-8")
    root = Path(errors.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, str(file)],
        capture_output=True,
        encoding="utf-8",
        env={"PYTHONPATH": str(root), "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"},
        check=False,
    )
    return done.stderr


# ---------------------------------------------------------------- RelaxWarning


def test_a_warning_is_issued_at_the_line_of_the_user():
    with pytest.warns(RelaxWarning, match="no annotation") as caught:
        warn(CAUTION)
    assert (caught[0].filename, caught[0].lineno) == ("digits.py", 21)
    assert caught[0].message.diagnostic is CAUTION


def test_a_warning_without_place_is_issued_at_the_python_line_that_led_to_it():
    with pytest.warns(RelaxWarning) as caught:
        warn(Diagnostic("RX0207", "may fail", None, severity="warning"))
    assert caught[0].filename == __file__


def test_a_warning_obeys_the_filters_of_python():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        warn(CAUTION)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RelaxWarning)
        with pytest.raises(RelaxWarning, match="no annotation"):
            warn(CAUTION)


def test_a_warning_has_the_picture_of_an_error_and_its_code():
    first, *picture, last = str(RelaxWarning(FIRST)).split("\n")
    assert first == "cannot multiply"
    assert picture == render(FIRST).split("\n")[1:]
    assert last == "code: RX0203 (`relaxscript explain RX0203` says more)"


def test_a_name_that_there_is_not_is_shown_by_the_frames_of_the_user_alone():
    try:
        raise NoSuchNameError("there is no `y`")
    except AttributeError as error:
        shown = error._render_traceback_()
    assert shown[0] == "Traceback (most recent call last):"
    assert shown[-1] == "AttributeError: there is no `y`"


def test_a_warning_pickles_and_shows_itself_in_notebooks():
    warning = pickle.loads(pickle.dumps(RelaxWarning(CAUTION)))
    assert warning.diagnostic == CAUTION
    assert warning._repr_html_() == render(CAUTION, style="html")


# ---------------------------------------------------------------- VMError


def test_a_failed_run_names_the_relax_line():
    error = VMError("`x` has rank 2", code="RX0601", span=X, notes=["it was given a matrix"])
    assert str(error) == (
        "`x` has rank 2 [RX0601]\n"
        "  --> digits.py:21:26\n"
        "   |\n"
        "21 |             h = R.matmul(x, w)\n"
        "   |                          ^\n"
        "   = note: it was given a matrix"
    )
    assert (error.code, error.span) == ("RX0601", X)


def test_a_failed_run_without_place_is_one_line_until_it_is_located():
    error = VMError("no function `f`", code="RX0607")
    assert str(error) == "no function `f` [RX0607]"
    assert error.locate(X).span == X
    assert error.locate(W).span == X


def test_a_failed_run_keeps_its_cause():
    cause = ZeroDivisionError("1 / 0")
    with pytest.raises(VMError, match="failed") as caught:
        raise VMError("`rows` failed", code="RX0604") from cause
    assert caught.value.locate(X).__cause__ is cause


def test_a_failed_run_pickles_and_shows_itself_in_notebooks():
    error = VMError("`x` has rank 2", code="RX0601", span=X, notes=["why"])
    other = pickle.loads(pickle.dumps(error))
    assert other.diagnostic == error.diagnostic
    assert str(other) == str(error)
    assert other._repr_html_() == render(error.diagnostic, style="html")


# ---------------------------------------------------------------- InternalError, OperandError


def test_an_internal_error_says_that_it_is_ours():
    text = str(InternalError("register 3 is empty"))
    assert text.startswith("internal error of relaxscript: register 3 is empty.")
    assert "report" in text
    assert str(pickle.loads(pickle.dumps(InternalError("odd")))) == str(InternalError("odd"))


class Dimension:
    """A node of an annotation, as far as a rule is concerned: something with a span."""

    span = place(DIGITS, "63")


def test_an_operand_error_becomes_a_diagnostic_where_places_are_known():
    error = OperandError(
        "x2", "has 63 rows", also={"x1": "has 64 columns"}, help="mend it", dims={"x2": Dimension()}
    )
    found = error.diagnostic("R.matmul", place(DIGITS, "R.matmul(x, w)"), {"x1": X, "x2": W})
    assert found == Diagnostic(
        "RX0203",
        "`R.matmul` cannot take these operands",
        W,
        [(W, "has 63 rows"), (X, "has 64 columns"), (Dimension.span, "`x2` has 63 rows here")],
        help="mend it",
    )


def test_an_operand_without_place_is_told_in_a_note():
    call = place(DIGITS, "R.matmul(x, w)")
    error = OperandError("x2", "is float16", also={"x1": "is float32"}, code="RX0202", message="no")
    found = error.diagnostic("R.matmul", call, {})
    assert (found.code, found.message, found.span) == ("RX0202", "no", call)
    assert found.labels == ((call, "is float16"),)
    assert found.notes == ("`x1` is float32",)


def test_without_any_place_all_facts_are_notes():
    found = OperandError("a", "is odd", also={"b": "is even"}).diagnostic("R.add", None, {})
    assert found.span is None
    assert found.notes == ("`a` is odd", "`b` is even")


def test_a_fix_of_an_operand_wraps_what_stands_there():
    error = OperandError("x2", "is float16", fix={"x2": 'R.astype({}, "float32")'})
    found = error.diagnostic("R.matmul", None, {"x2": W})
    assert found.fix == ((W, 'R.astype(w, "float32")'),)


def test_the_place_of_a_dimension_may_be_given_itself():
    error = OperandError("x2", "has 63 rows", dims={"x2": Dimension.span, "x1": None})
    found = error.diagnostic("R.matmul", None, {"x2": W})
    assert found.labels[1:] == ((Dimension.span, "`x2` has 63 rows here"),)


def test_an_operand_error_reads_well_by_itself():
    error = OperandError("x2", "has 63 rows", also={"x1": "has 64 columns"}, message="no product")
    assert str(error) == "no product: `x2` has 63 rows; `x1` has 64 columns"
