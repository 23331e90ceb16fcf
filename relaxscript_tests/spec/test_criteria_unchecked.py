"""`check_well_formed=False`: what nodes can break passes, and `ill_formed` says it later."""

from __future__ import annotations

import pytest

import relaxscript as relax
from relaxscript.analysis import ill_formed, well_formed
from relaxscript.script import from_source

from .rules import rejects

HEAD = "@R.function(check_well_formed=False)\ndef f("
FUNCTIONS = {
    4: """x: R.Tensor(ndim=1, dtype="float32")) -> R.Tensor(("m",), "float32"):
    m = T.int64()
    return R.match_cast(x, R.Tensor((m,), "float32"))
""",
    5: """x: R.Tensor(ndim=1, dtype="float32")):
    n = T.int64()
    return R.match_cast(x, R.Tensor((2 * n,), "float32"))
""",
    6: """x: R.Tensor(("n * m", "n"), "float32")) -> R.Object:
    return x
""",
    11: """x: R.Tensor((4,), "float32")):
    with R.dataflow():
        y = R.add(x, x)
        @R.function
        def g(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return R.add(a, y)
        z = g(x)
        R.output(z)
    return z
""",
    14: """x: R.Tensor((4,), "float32")):
    m = T.int64()
    return R.call_pure_packed("p", x, sinfo_args=R.Tensor((m,), "float32"))
""",
    15: """x: R.Tensor((4,), "float32")):
    m = T.int64()
    return R.call_pure_packed("p", x, sinfo_args=R.Shape([m]))
""",
    16: """x: R.Tensor((4,), "float32")):
    m = T.int64()
    return R.call_pure_packed("p", x, sinfo_args=R.Prim(value=m))
""",
    7: """c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
    with R.dataflow():
        if c:
            y = R.add(x, x)
        else:
            y = x
        R.output(y)
    return y
""",
}


@rejects("criterion 4", "criterion 5", "criterion 6", "criterion 7.3", "criterion 11",
         "criterion 14", "criterion 15", "criterion 16")  # fmt: skip
@pytest.mark.parametrize("number", FUNCTIONS)
def test_a_function_that_is_not_checked_may_break_a_criterion(number):
    text = HEAD + FUNCTIONS[number]
    code = f"RX03{number:02}"
    made = from_source(text)
    assert {d.code for d in ill_formed(made)} == {code}
    checked = text.replace("(check_well_formed=False)", "")
    assert from_source(checked, check_well_formed=False).params
    with pytest.raises(relax.DiagnosticError) as raised:
        from_source(checked)
    assert {d.code for d in raised.value.diagnostics if d.severity == "error"} == {code}


@rejects("criterion 21")
def test_a_function_that_is_not_checked_may_force_what_it_does_not_claim():
    made = from_source(
        "@R.function(pure=False, check_well_formed=False)\n"
        "def f(x: R.Object):\n"
        '    R.func_attr({"relax.force_pure": True})\n'
        "    return x"
    )
    assert [d.code for d in ill_formed(made)] == ["RX0321"]


MODULE = """
@I.ir_module(check_well_formed=False)
class Module:
    @R.function{options}
    def f(x: {annotation}){result}:
        cls = Module
{body}
        return y
"""
PLAIN = {
    "options": "", "annotation": 'R.Tensor((4,), "float32")',
    "result": ' -> R.Tensor((4,), "float32")', "body": "        y = x",
}  # fmt: skip
IN_DATAFLOW = "        with R.dataflow():\n            y = cls.f(x)\n            R.output(y)"
MODULES = {
    "RX0307": {"body": IN_DATAFLOW},
    "RX0312": {"options": "(private=True)"},
    "RX0313": {"body": '        R.func_attr({"global_symbol": "g"})\n        y = x'},
    "RX0324": {"annotation": 'R.Tensor((4,), "float32", "llvm:1")'},
}


@rejects("criterion 7.1", "criterion 12", "criterion 13", "criterion 24")
@pytest.mark.parametrize("code", MODULES)
def test_a_module_that_is_not_checked_may_break_a_criterion(code):
    text = MODULE.format(**{**PLAIN, **MODULES[code]})
    assert [d.code for d in ill_formed(from_source(text))] == [code]
    checked = text.replace("(check_well_formed=False)", "")
    assert well_formed(from_source(MODULE.format(**PLAIN).replace("(check_well_formed=False)", "")))
    with pytest.raises(relax.DiagnosticError) as raised:
        from_source(checked)
    assert [d.code for d in raised.value.diagnostics] == [code]


@rejects("criterion 8")
def test_recursion_that_is_not_checked_gives_an_object():
    made = from_source(MODULE.format(**{**PLAIN, "result": "", "body": "        y = cls.f(x)"}))
    assert repr(made["f"].ret_struct_info) == "R.Object"


def test_what_is_no_matter_of_nodes_is_refused_all_the_same():
    text = HEAD + 'x: R.Tensor((4,), "int24")):\n    return y'
    with pytest.raises(relax.DiagnosticError) as raised:
        from_source(text)
    assert [d.code for d in raised.value.diagnostics] == ["RX0320", "RX0101"]


def test_one_function_of_a_module_may_be_left_unchecked():
    body = """
@I.ir_module
class Module:
    @R.function(check_well_formed=False)
    def f(x: R.Tensor(("2 * n",), "float32")) -> R.Object:
        return x

    @R.function
    def g(x: R.Tensor(("2 * n",), "float32")) -> R.Object:
        return x
"""
    with pytest.raises(relax.DiagnosticError) as raised:
        from_source(body)
    assert [(d.code, d.span.line) for d in raised.value.diagnostics] == [("RX0306", 9)]
