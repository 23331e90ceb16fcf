"""What notebooks show of each sort of object: the content of its text, and nothing but text."""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import nd, te
from relaxscript.errors import Diagnostic, RelaxWarning, Source, render
from relaxscript.errors.markup import legible
from relaxscript.graph import FunctionGraph
from relaxscript.ir.display import Displayable
from relaxscript.ir.relax import GlobalVar, StringImm, Var
from relaxscript.runtime.debug.explanation import Amount, Explanation, KernelRow
from relaxscript.runtime.debug.report import Report, Row, SourceLine, SourcePlace
from relaxscript.script.difference import ScriptDiff
from relaxscript_tests.markup import HOSTILE, Markup

SCRIPT = """
@I.ir_module
class M:
    @T.prim_func
    def twice(a: T.Buffer((2, 3), "float32"), b: T.Buffer((2, 3), "float32")):
        for i, j in T.grid(2, 3):
            b[i, j] = a[i, j] + a[i, j]

    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((2, 3), "float32")):
        cls = M
        with R.dataflow():
            y = R.call_tir(cls.twice, (w,), out_sinfo=R.Tensor((2, 3), "float32"))
            z = R.nn.relu(x)
            R.output(y, z)
        return (y, z)
"""


def module() -> rx.IRModule:
    return rx.from_source(SCRIPT)


def wrong() -> rx.DiagnosticError:
    with pytest.raises(rx.DiagnosticError) as caught:
        rx.from_source("@R.function\ndef f(x: R.Tensor((2,), 'float32')):\n    return R.add(x, yy)")
    return caught.value


def failure() -> rx.VMError:
    error = rx.VMError("it failed", code="RX0604", notes=["a note"])
    return error.locate(Source("m.py", "y = f(x)").whole)


def profile() -> Report:
    x, w = np.ones((4, 3), "float32"), np.ones((2, 3), "float32")
    return rx.VirtualMachine(rx.build(module())).profile("main", x, w)


# An example of each sort of object with a rich form.
EXAMPLES = {
    "module": module,
    "function": lambda: module()["main"],
    "PrimFunc": lambda: module()["twice"],
    "binding": lambda: module()["main"].body.blocks[0].bindings[0],
    "StructInfo": lambda: module()["main"].struct_info,
    "executable": lambda: rx.build(module()),
    "diagnostic": lambda: wrong().diagnostics[0],
    "error": wrong,
    "warning": lambda: RelaxWarning(wrong().diagnostics[0]),
    "failing run": failure,
    "diff": lambda: rx.diff(module(), rx.transform.LegalizeOps()(module())),
    "no diff": lambda: rx.diff(module(), module()),
    "explain": lambda: rx.build(module()).explain(n=4),
    "page of a code": lambda: rx.explain("RX0203"),
    "profile": profile,
    "tensor": lambda: nd.array(np.arange(6, dtype="int8").reshape(2, 3)),
    "tensor of another device": lambda: nd.array([[1.5, 2.5]], rx.cpu(1)),
    "machine": lambda: rx.jit(module()),
    "closure": lambda: rx.jit(module())["main"].__self__,
    "tensor of tensor expressions": lambda: expression("B"),
}


def expression(name: str) -> te.Tensor:
    given = te.placeholder((2, 3), name=name)
    return te.compute((2, 3), lambda i, j: given[i, j] + given[i, j], name=name)


def text_of(value: Any) -> str:
    """What says the same as text: what `print` shows, or for some the form that says more."""
    if isinstance(value, rx.Executable):
        return value.as_text()
    if isinstance(value, (RelaxWarning, rx.VMError)):
        return render(value.diagnostic)
    if isinstance(value, (rx.VirtualMachine, rx.runtime.values.Closure)):
        return repr(value).strip("<>").replace("<Executable of ", "")
    if isinstance(value, te.Tensor):
        return f"{value.name} {value.dtype}"
    if isinstance(value, nd.NDArray):
        return repr(value)
    if isinstance(value, rx.runtime.values.DeviceTensor):
        return f"{value.data} {value.device} {value.dtype}"
    return str(value)


@pytest.mark.slow
@pytest.mark.parametrize("make", EXAMPLES.values(), ids=EXAMPLES)
def test_the_rich_form_has_the_words_of_the_text(make):
    value = make()
    said = set(text_of(value).split())
    # The total of a profile is in the caption of its table.
    assert said - {"total"} <= set(Markup(value._repr_html_()).text.split())


@pytest.mark.slow
@pytest.mark.parametrize("make", EXAMPLES.values(), ids=EXAMPLES)
def test_the_rich_form_has_the_style_sheet_once_and_is_always_the_same(make):
    value = make()
    html = value._repr_html_()
    assert Markup(html).styles == 1
    assert html == value._repr_html_()
    assert not re.search(r"0x[0-9a-f]{6,}|\bid=|<script|https?:(?!//www\.w3)|url\(", html)


@pytest.mark.slow
def test_every_class_with_a_rich_form_has_an_example_here():
    classes = set()
    for info in pkgutil.walk_packages(rx.__path__, "relaxscript."):
        if info.name.endswith("__main__"):
            continue
        found = importlib.import_module(info.name)
        classes |= {
            value
            for value in vars(found).values()
            if isinstance(value, type)
            and "_repr_html_" in vars(value)
            # Pictures of graphs are no text, and have laws of their own.
            and not value.__module__.startswith("relaxscript.graph")
        }
    classes.discard(FunctionGraph)  # a picture is no text, and has laws of its own
    values = [make() for make in EXAMPLES.values()]
    assert {c for c in classes if not any(isinstance(value, c) for value in values)} == set()


# ---- names and strings that are hostile


def executable(text: str) -> rx.Executable:
    builder = rx.ExecBuilder()
    with builder.function(text, 1):
        builder.emit_call(text, [builder.r(0)], builder.r(1))
        builder.emit_ret(builder.r(1))
    return builder.get()


def explanation(text: str) -> Explanation:
    amount = Amount(text, None)
    place = Source(text, text).whole
    row = KernelRow(
        text, text, text, 1, (text,), (place,), text, text, text, amount, amount, amount
    )  # fmt: skip
    return Explanation([row], text, {text: 3}, None, [text])


def report(text: str) -> Report:
    place = SourcePlace(text, 1)
    row = Row(text, 1, 1e-6, places=(place, SourcePlace("m.py", 2)))
    return Report([row], 2e-6, None, (), [SourceLine(place, text, 1e-6)])


def diagnostic(text: str) -> Diagnostic:
    source = Source(text, f"{text}\n{text}")
    place = source.between(0, 3)
    return Diagnostic(
        "RX0101", text, place, [(place, text), (source.whole, text)], (text,), text, [(place, text)]
    )


def function(text: str) -> rx.Function:
    x = Var(text, rx.TensorStructInfo((2, 3), "float32"))
    block = rx.BindingBlock([rx.VarBinding(Var(text), StringImm(text))])
    return rx.Function([x], rx.SeqExpr([block], x), x.struct_info, attrs={text: text})


HOLDING_A_TEXT = {
    "machine": lambda text: rx.VirtualMachine(executable(text)),
    "closure": lambda text: rx.VirtualMachine(executable(text))[text],
    "tensor of tensor expressions": lambda text: expression(text),
    "function": function,
    "module": lambda text: rx.IRModule({"main": function(text)}, {text: text}, name=text),
    "name of a function": lambda text: rx.IRModule({text: function(text)}),
    "string": StringImm,
    "global name": GlobalVar,
    "packed function": rx.ExternFunc,
    "executable": executable,
    "explanation": explanation,
    "profile": report,
    "diagnostic": diagnostic,
    "many errors": lambda text: rx.DiagnosticError([diagnostic(text)] * 20),
    "warning": lambda text: RelaxWarning(diagnostic(text)),
    "failing run": lambda text: rx.VMError(text, code="RX0604", notes=[text]),
    "diff": lambda text: rx.diff(function("x"), function(text)),
    "lines of a diff": lambda text: ScriptDiff((f"@@ {text}", f"+{text}", f"-{text}", f" {text}")),
}


@pytest.mark.parametrize("make", HOLDING_A_TEXT.values(), ids=HOLDING_A_TEXT)
def test_no_name_and_no_string_becomes_markup(make):
    for text in HOSTILE:
        try:
            value = make(text)
        except (TypeError, ValueError, rx.TVMError):
            continue  # what refuses such a name shows none
        html = value._repr_html_()
        if html is None:  # where there is no script, the text is shown
            assert isinstance(value, Displayable)
            continue
        Markup(html)  # which refuses what is not ours
        assert html.encode("utf-8")
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f]", html)
        assert legible(html) == html


# ---- how much it is


def test_a_small_output_is_small():
    assert len(rx.TensorStructInfo((2, 3), "float32")._repr_html_()) < 5_000


def test_a_long_module_is_hardly_longer_than_its_script():
    lines = "".join(f"    v{i + 1} = R.add(v{i}, v{i})\n" for i in range(1_000))
    text = f'@R.function\ndef f(v0: R.Tensor((2, 3), "float32")):\n{lines}    return v1000\n'
    mod = rx.from_source(text)
    html = mod._repr_html_()
    assert len(html) < 4 * len(mod.script())
    assert Markup(html).folds == [False]
