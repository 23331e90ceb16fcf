"""What may be typed at the mark."""

from __future__ import annotations

import pytest

from relaxscript.cli.lsp.completion import completions, documented, open_call_at
from relaxscript.errors import Source
from relaxscript.op import REGISTRY
from relaxscript_tests.cli.lsp.test_words import at
from relaxscript_tests.cli.lsp.texts import DIGITS, IMPORTS, MARK, analysed, marked


def offered(text, known=None):
    """What is offered, by its name; `known` is the text as it was before."""
    text, place = marked(text)
    analysis = analysed(text if known is None else known)
    return {item.label: item for item in completions(analysis, Source("model.py", text), place)}


def typed(line, at="z = R.nn.softmax(R.add(a, x) @ w)"):
    """What is offered while a line of the example is written anew."""
    return offered(DIGITS.replace(at, line), DIGITS)


def test_behind_r_are_all_operators_with_their_signatures():
    found = typed("z = R.‸")
    missing = [
        name for name in REGISTRY
        if "." not in (short := name.removeprefix("relax.")) and short not in found
    ]  # fmt: skip
    assert missing == []
    assert found["matmul"].detail == "R.matmul(x1, x2, out_dtype=None)"
    assert found["matmul"].documentation.value.startswith("The matrix product of the last two")
    assert found["Tensor"].detail.startswith("R.Tensor(shape=None, ")
    assert found["dataflow"].detail == "R.dataflow()"
    assert "nn" in found


@pytest.mark.parametrize(
    ("line", "name", "detail"),
    [
        ("z = R.nn.re‸", "relu", "R.nn.relu(data)"),
        ("z = T.‸", "grid", "T.grid(*extents)"),
        ("z = T.axis.‸", "spatial", "T.axis.spatial(dom, binding, dtype="),
        ("z = I.‸", "ir_module", "I.ir_module(mod=None"),
        ("z = cls.‸", "relu", 'R.Callable((R.Tensor(("n", 64), "float32"), '),
        ("z = Digits.‸", "main", "R.Callable("),
        ("z = a.‸", "shape", "its dimensions"),
        ("z = a.‸", "astype", "R.astype(x, dtype)"),
    ],
)
def test_behind_a_dot_are_members(line, name, detail):
    assert typed(line)[name].detail.startswith(detail)


def test_what_is_offered_is_called_as_the_file_calls_it():
    head = "from relaxscript.script import relax as rl\n@rl.function\ndef f(x: rl.Tensor):\n    "
    found = offered(f"{head}y = rl.‸", f"{head}return x")
    assert found["add"].detail == "rl.add(x1, x2)"
    assert found["add"].data == {"name": "R.add"}


def test_nothing_is_offered_behind_what_is_not_ours():
    assert typed("z = np.‸") == {}
    assert typed("z = nothing.at.all.‸") == {}


def test_a_new_file_has_our_namespaces():
    assert "Tensor" in offered(f"{IMPORTS}x = R.‸", IMPORTS)
    assert "R" in offered(f"{IMPORTS}x = ‸", IMPORTS)


def test_names_in_scope_come_with_what_they_are():
    found = typed("z = ‸")
    assert found["a"].detail == 'R.Tensor((n, 64), "float32")'
    assert found["w"].detail == 'R.Tensor((64, 10), "float32")'
    assert {"x", "n", "cls", "Digits", "WIDTH", "R", "T"} <= set(found)
    assert not {"vi", "y", "z"} & set(found)  # of another function, or bound further below


def test_a_name_whose_statement_is_wrong_is_offered():
    known = DIGITS.replace("(x,), out", "(nowhere,), out")
    text = known.replace("z = R.nn.softmax(R.add(a, x) @ w)", "z = ‸")
    assert offered(text, known)["a"].detail is None


@pytest.mark.parametrize("line", ['z = R.reshape(a, ("‸', 'z: R.Tensor(("‸n", 3)) = a'])
def test_in_a_string_dimensions_are_offered(line):
    assert {name: item.detail for name, item in typed(line).items()} == {"n": "a dimension"}


def test_in_a_call_its_further_parameters_are_offered():
    found = typed("z = R.sum(a, ‸")
    assert list(found)[:2] == ["axis=", "keepdims="]
    assert "axis=" not in typed("z = R.sum(a, axis=‸")


def test_in_a_comment_nothing_is_offered():
    assert typed("z = a  # R.‸") == {}


def test_the_page_comes_when_it_is_asked_for():
    assert "The matrix product" in documented("R.matmul")
    assert documented("R.nothing") is documented("os.path") is None


@pytest.mark.parametrize(
    ("line", "label", "active"),
    [
        ("z = R.matmul(a, ‸", "R.matmul(x1, x2, out_dtype=None)", 1),
        ("z = R.sum(a, keepdims=‸", "R.sum(x, axis=None, keepdims=False)", 2),
        ("for i in T.grid(‸", "T.grid(*extents)", 0),
    ],
)
def test_a_call_shows_its_signature(line, label, active):
    text, place = marked(DIGITS.replace("z = R.nn.softmax(R.add(a, x) @ w)", line))
    found = open_call_at(analysed(DIGITS), Source("model.py", text), place)
    assert (found.label, found.active) == (label, active)


def test_other_calls_show_none():
    text, place = marked(at(DIGITS, f"R.output({MARK}z)").replace("R.output", "len"))
    assert open_call_at(analysed(DIGITS), Source("model.py", text), place) is None
