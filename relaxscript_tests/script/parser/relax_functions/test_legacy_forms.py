"""Older and newer spellings: the RFC's calls, later TVM's words, type parameters as dimensions."""

from __future__ import annotations

import ast
import inspect
from typing import TypeVar

import pytest

from relaxscript.errors import DiagnosticError, Source
from relaxscript.ir import assert_structural_equal
from relaxscript.script import from_source, relax as R, tir
from relaxscript.script.names import relax_forms
from relaxscript.script.parser.environment import Environment
from relaxscript.script.parser.module import relax_function
from relaxscript.script.parser.python_language import python_context
from relaxscript.script.parser.reporter import Reporter

n = TypeVar("n")

PRIM_FUNC = """
    @T.prim_func
    def copy(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            B[i] = A[i]
"""


def same(first: str, second: str) -> None:
    """Two texts mean the same."""
    assert_structural_equal(
        from_source(inspect.cleandoc(first)), from_source(inspect.cleandoc(second))
    )


def in_module(call: str) -> str:
    return (
        "@I.ir_module\nclass M:" + PRIM_FUNC + "\n    @R.function\n"
        '    def main(x: R.Tensor(("n",), "float32")):\n        n = T.int64()\n'
        f"        cls = M\n        y = {call}\n        return y\n"
    )


TODAY = in_module('R.call_tir(cls.copy, (x,), out_sinfo=R.Tensor((n,), "float32"))')


@pytest.mark.parametrize(
    "call",
    [
        'R.call_tir(copy, [x], (n,), dtype="float32")',
        'R.call_tir("copy", (x,), (n,), dtype="float32")',
        'R.call_tir(cls.copy, x, (n,), dtype="float32")',
        'R.call_tir(cls.copy, (x,), shape=(n,), dtype="float32")',
        'R.call_tir(cls.copy, (x,), out_ty=R.Tensor((n,), "float32"))',
        "R.call_tir(cls.copy, (x,), x.shape, dtype=x.dtype)",
    ],
)
def test_a_call_of_a_prim_func_in_other_words_means_the_same(call):
    same(in_module(call), TODAY)


@pytest.mark.parametrize(
    ("older", "today"),
    [
        (
            'R.call_dps_packed("f", (x,), (n,), dtype="float32")',
            'R.call_dps_packed("f", (x,), R.Tensor((n,), "float32"))',
        ),
        (
            'R.call_dps_packed("f", x, output_shape=(n, 2), output_dtype="int8")',
            'R.call_dps_packed("f", (x,), R.Tensor((n, 2), "int8"))',
        ),
        (
            'R.call_dps_packed("f", (x,), [(n,), (2,)], dtype=["int8", "bool"])',
            'R.call_dps_packed("f", (x,), [R.Tensor((n,), "int8"), R.Tensor((2,), "bool")])',
        ),
        (
            'R.call_pure_packed("f", x, ty_args=R.Object)',
            'R.call_pure_packed("f", x, sinfo_args=R.Object)',
        ),
        ("R.dot(x, x)", "R.matmul(x, x)"),
    ],
)
def test_an_older_call_means_the_call_of_today(older, today):
    same(in_module(older), in_module(today))


def test_a_later_word_for_results_is_no_attribute_of_a_packed_function():
    text = """
    @R.function(pure=False)
    def f(x: R.Object):
        y = R.call_packed("g", x, {}=R.Tensor((2,), "int8"), level=1)
        return y
    """
    same(text.format("ty_args"), text.format("sinfo_args"))


def test_any_is_what_an_object_is_called_later():
    same(
        "@R.function\ndef f(x: R.Any) -> R.Any:\n    return x",
        "@R.function\ndef f(x: R.Object) -> R.Object:\n    return x",
    )


def test_match_shape_binds_the_dimensions_of_a_tensor():
    same(
        """
        @R.function
        def f(x: R.Tensor[(n, 4), "float32"], w: R.Tensor[_, "int8"]):
            y = R.match_shape(w, (n, m))
            z: R.Tensor[(m, k), "float32"] = R.match_shape(x, (m, k))
            return y
        """,
        """
        @R.function
        def f(x: R.Tensor(("n", 4), "float32"), w: R.Tensor(dtype="int8")):
            n = T.int64()
            m = T.int64()
            k = T.int64()
            y = R.match_cast(w, R.Tensor((n, m), "int8"))
            z = R.match_cast(x, R.Tensor((m, k), "float32"))
            return y
        """,
    )


def test_match_shape_binds_the_dimensions_of_a_shape():
    same(
        "@R.function\ndef f(s: R.Shape):\n    t = R.match_shape(s, (n, 4))\n    return t",
        "@R.function\ndef f(s: R.Shape):\n    n = T.int64()\n"
        "    t = R.match_cast(s, R.Shape([n, 4]))\n    return t",
    )


def test_match_shape_outside_a_script_says_what_to_write():
    with pytest.raises(DiagnosticError, match="has a meaning in scripts only"):
        R.match_shape(R.const(1), (2,))


def test_a_blank_is_an_unknown_shape_whatever_was_called_so():
    function = from_source(
        "@R.function\ndef f(x: R.Tensor((2,), 'int8')):\n"
        "    _ = R.shape_of(x)\n    y: R.Tensor[_, 'int8'] = x\n    return y"
    )
    assert function.ret_struct_info.shape is None


# ---------------------------------------------------------------- type parameters


def test_a_captured_type_variable_is_a_dimension():
    @R.function
    def f(x: R.Tensor((n, 4), "float32"), y: R.Tensor(("n + 1",), "int8")) -> R.Tensor(
        (n,), "int8"
    ):
        z = R.match_cast(x, R.Tensor((n, 4), "float32"))
        return R.call_dps_packed("g", (z,), R.Tensor((n,), "int8"))

    assert f.params[0].struct_info.dims[0] is f.ret_struct_info.dims[0]


def parsed(text: str, parameters: str):
    """A function with type parameters, written as Python 3.12 has them, on any Python."""
    source = Source("<text>", inspect.cleandoc(text))
    (node,) = ast.parse(source.text).body
    made = []
    for word in parameters.split(", "):
        kind = {0: "TypeVar", 1: "TypeVarTuple"}[word.count("*")]
        made_of = getattr(ast, kind, None) or type(kind, (ast.expr,), {})
        parameter = made_of(name=word.strip("*"))
        made.append(ast.copy_location(parameter, node.args.args[0]))
    node.type_params = made
    reporter = Reporter()
    environment = Environment([{"R": R, "T": tir}], "data")
    return relax_function(python_context(source, environment, reporter), node), reporter


def test_a_type_parameter_is_a_dimension():
    text = """
    @R.function
    def f(x: R.Tensor((n, 4), "float32"), y: R.Tensor((n * m, m), "int8")) -> R.Tensor((m, n)):
        return R.call_dps_packed("g", (x,), R.Tensor((m, n), "int8"))
    """
    function, reporter = parsed(text, "n, m")
    assert not reporter.diagnostics
    today = text.replace("(n, 4)", '("n", 4)').replace("(n * m, m)", '("n * m", "m")')
    today = today.replace("-> R.Tensor((m, n))", '-> R.Tensor(("m", "n"))')
    assert_structural_equal(
        function,
        from_source(
            inspect.cleandoc(today).replace("return", "m, n = T.int64(), T.int64()\n    return")
        ),
    )


def test_a_type_parameter_of_another_kind_is_refused():
    function, reporter = parsed(
        """
    def f(x: R.Tensor((2,))):
        return x
    """,
        "*ns",
    )
    assert function is None
    (diagnostic,) = [d for d in reporter.diagnostics if d.severity == "error"]
    assert "is not a dimension" in diagnostic.message
    assert diagnostic.help == "name each dimension: `def main[n, m](...)`"


def test_forms_of_the_rfc_are_documented_where_they_are_looked_up():
    assert "older spelling" in (relax_forms.match_shape.__doc__ or "")
