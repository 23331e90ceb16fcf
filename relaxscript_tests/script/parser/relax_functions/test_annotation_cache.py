"""An annotation that stood before means what it meant, and mistakes are blamed on its own place."""

from __future__ import annotations

import textwrap

import pytest

from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir.relax import Function
from relaxscript.script import from_source
from relaxscript.script.parser import annotation_cache as annotation_memo
from relaxscript.script.parser.relax_functions import binding as relax_binding


def parse(body: str, params: str = 'x: R.Tensor(("n", 4), "float32")') -> Function:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return from_source(f"@R.function\ndef main({params}):\n{lines}\n")


def labels(error: DiagnosticError) -> list[tuple[str, int, int, str]]:
    return [(span.text, span.line, span.column, text) for span, text in error.diagnostics[0].labels]


def test_a_dimension_of_a_repeated_annotation_is_blamed_where_that_stands():
    with pytest.raises(DiagnosticError) as caught:
        parse(
            """
            o: R.Tensor((4, 4), "float32") = R.add(x, x)
            a: R.Tensor((4, 4), "float32") = R.add(x, x)
            b: R.Tensor((4, 4), "float32") = R.add(a, a)
            c = R.matmul(w, b)
            return c
            """,
            'x: R.Tensor((4, 4), "float32"), w: R.Tensor((2, 3), "float32")',
        )
    assert ("4", 5, 18, "`b` has 4 rows here") in labels(caught.value)


def test_another_fact_of_a_repeated_annotation_is_blamed_on_the_whole_of_it():
    with pytest.raises(DiagnosticError) as caught:
        parse(
            """
            o: R.Tensor((4,), "float32") = R.add(x, x)
            a: R.Tensor((4,), "float32") = R.add(x, x)
            b: R.Tensor((4,), "float32") = R.add(a, a)
            c = R.add(b, y)
            return c
            """,
            'x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "int32")',
        )
    assert ('R.Tensor((4,), "float32")', 5, 8, "`b` has dtype float32 here") in labels(caught.value)


def test_a_repeated_annotation_that_does_not_fit_is_an_error():
    with pytest.raises(DiagnosticError) as caught:
        parse(
            """
            o: R.Tensor((4,), "float32") = R.add(x, x)
            a: R.Tensor((4,), "float32") = R.add(x, x)
            b: R.Tensor((4,), "float32") = R.add(y, y)
            return b
            """,
            'x: R.Tensor((4,), "float32"), y: R.Tensor((5,), "float32")',
        )
    (error,) = caught.value.diagnostics
    assert (error.code, error.span.line) == ("RX0205", 5)


def test_a_repeated_annotation_is_taken_where_less_is_known():
    with pytest.warns(RelaxWarning):
        f = parse(
            """
            o: R.Tensor((4,), "float32") = R.add(x, x)
            a: R.Tensor((4,), "float32") = R.add(x, x)
            b: R.Tensor((4,), "float32") = y
            return b
            """,
            'x: R.Tensor((4,), "float32"), y: R.Tensor(ndim=1, dtype="float32")',
        )
    b = f.body.blocks[0].bindings[2].var
    assert repr(b.struct_info) == 'R.Tensor((4,), "float32")'


def test_one_text_means_the_dimensions_of_its_own_branch():
    f = parse(
        """
        if c:
            m = T.int64()
            y = R.match_cast(x, R.Tensor((m,), "float32"))
            u: R.Tensor((m,), "float32") = R.add(y, y)
            z: R.Tensor((m,), "float32") = R.add(y, y)
            r = R.sum(z)
        else:
            m = T.int64()
            y = R.match_cast(x, R.Tensor((m,), "float32"))
            z: R.Tensor((m,), "float32") = R.multiply(y, y)
            r = R.sum(z)
        return r
        """,
        'x: R.Tensor(ndim=1, dtype="float32"), c: R.Tensor((), "bool")',
    )
    choice = f.body.blocks[0].bindings[0].value
    for branch in (choice.true_branch, choice.false_branch):
        cast, *others = branch.blocks[0].bindings[:-1]
        assert all(b.var.struct_info.dims[0] is cast.struct_info.dims[0] for b in others)


def test_a_dimension_that_a_branch_bound_is_not_known_after_it():
    with pytest.raises(DiagnosticError) as caught:
        parse(
            """
            m = T.int64()
            if c:
                y = R.match_cast(x, R.Tensor((m,), "float32"))
                u: R.Tensor((m,), "float32") = R.add(y, y)
                z: R.Tensor((m,), "float32") = R.add(y, y)
                r = R.sum(z)
            else:
                r = R.sum(x)
            s: R.Tensor((m,), "float32") = R.add(x, x)
            return r
            """,
            'x: R.Tensor(ndim=1, dtype="float32"), c: R.Tensor((), "bool")',
        )
    (error,) = caught.value.diagnostics
    assert (error.span.text, error.span.line) == ("m", 11)


def test_python_values_are_converted_to_a_repeated_annotation():
    f = parse(
        """
        o: R.Tensor((), "int64") = R.const(1, "int64")
        a: R.Tensor((), "int64") = R.const(1, "int64")
        b: R.Tensor((), "int64") = 2
        return b
        """
    )
    (binding,) = f.body.blocks[0].bindings[2:]
    assert binding.value.data.dtype == "int64"


def test_an_undecided_repeated_annotation_is_a_warning_at_its_own_place():
    with pytest.warns(RelaxWarning) as caught:
        parse(
            """
            o: R.Tensor((4,), "float32") = R.add(x, x)
            a: R.Tensor((4,), "float32") = R.add(x, x)
            b: R.Tensor((4,), "float32") = y
            return b
            """,
            'x: R.Tensor((4,), "float32"), y: R.Tensor(("k",), "float32")',
        )
    (warning,) = [w.message.diagnostic for w in caught]
    assert warning.span.line == 5


@pytest.mark.parametrize(
    ("annotation", "count"),
    [
        ('R.Tensor((n, 4), "float32")', 1),
        ('R.Tensor((n, 2 * 2), dtype="float32")', 1),
        ('R.Tensor(("n", 4), "float32")', 0),  # what stands in a string is not compared
        ('R.Tensor((n, k[0]), "float32")', 0),  # what Python evaluates may have another value
        ('R.Tensor((n, é4), "float32")', 0),
    ],
)
def test_only_what_its_text_decides_is_kept(annotation, count, monkeypatch):
    k = [4]
    kept = []

    def recalling(cx, node):
        found = annotation_memo.recall(cx, node)
        kept.append(found)
        return found

    monkeypatch.setattr(relax_binding, "recall", recalling)
    body = "".join(f"y{i}: {annotation} = R.add(x, x)\n    " for i in range(3)) + "return y2"
    text = f'@R.function\ndef main(x: R.Tensor(("n", 4), "float32")):\n    {body}\n'
    try:
        from_source(text, extra_vars={"k": k, "é4": 4}, mode="python")
    except DiagnosticError:
        assert '"n"' in annotation
    assert sum(found is not None for found in kept) == count


def test_the_same_text_means_something_else_where_a_name_in_it_does():
    with pytest.warns(RelaxWarning, match="which is not known to be"):
        parse(
            """
            n, m = T.int64(), T.int64()
            k = n
            a: R.Tensor((k, 4), "float32") = R.exp(x)
            b: R.Tensor((k, 4), "float32") = R.exp(a)
            k = m
            c: R.Tensor((k, 4), "float32") = R.exp(b)
            return c
            """,
            'x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", 4), "float32")',
        )
