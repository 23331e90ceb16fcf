"""Scripts: what users of TVMScript stumble over, and what we do instead.

Source: spec "Top-level Program Organization", "Variable Scoping"; TVMScript's own behaviour.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source, ir as I, relax as R
from relaxscript_tests.end_to_end.executors import every_executor

from .told import accepted, complete, told

# ---------------------------------------------------------------- errors have words and places


@pytest.mark.slow
def test_a_mistake_in_a_plain_script_is_shown_with_its_place_and_words(tmp_path):
    script = tmp_path / "model.py"
    script.write_text(
        complete(
            """
            @R.function
            def f(x: R.Tensor((2,), "float32")):
                return R.add(x, z)
            """
        )
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f'File "{script}", line 5' in done.stderr
    assert "return R.add(x, z)" in done.stderr
    assert "`z` is not defined" in done.stderr


def test_every_mistake_is_told_in_one_run_with_its_reason():
    program = """
        @I.ir_module
        class M:
            @R.function
            def f(x: R.Tensor((2,), "float32")) -> R.Shape:
                y: R.Tensor((3,), "float32") = x
                return x

            @R.function(private=True)
            def g(x: R.Tensor((2,), "flaot32"), y: R.Object):
                R.print(y)
                return z
        """
    assert told(program) == [
        "error RX0205 x", "error RX0205 x", 'error RX0108 "flaot32"',
        "error RX0401 R.print", "error RX0101 z",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("y: R.Tensor((2,))", "`y` is annotated but not given a value"),
        ("y = t[5]", "the tuple has no field 5"),
        ("y = t[-3]", "the tuple has no field -3"),
    ],
)
def test_what_tvm_refuses_without_words_has_words(line, words):
    program = f"""
        @R.function
        def f(x: R.Tensor((), "float32"), t: R.Tuple(R.Object, R.Object)):
            {line}
            return x
        """
    with pytest.raises(DiagnosticError) as caught:
        from_source(complete(program))
    assert [d.message for d in caught.value.diagnostics] == [words]


def test_an_index_may_count_from_the_end():
    accepted("@R.function\ndef f(t: R.Tuple(R.Object, R.Shape)):\n    return t[-1]")


# ---------------------------------------------------------------- python's operators


@I.ir_module
class Operators:
    @R.function
    def main(
        x: R.Tensor((2,), "float32"),
        y: R.Tensor((2,), "float32"),
        p: R.Tensor((2,), "bool"),
        q: R.Tensor((2,), "bool"),
    ):
        same, other = x == y, x != y
        between = x < y <= 2.0
        both, either, neither = p and q, p or q, not (p or q)
        chained = p and q and x < y
        return ((same, other, between), (both, either, neither, chained))


@every_executor
def test_comparisons_and_logic_are_operators_element_by_element(load):
    x, y = np.array([0, 1], "float32"), np.array([1, 1], "float32")
    p, q = np.array([True, False]), np.array([True, True])
    (same, other, between), logic = load(Operators).main(x, y, p, q)
    assert (same == (x == y)).all()
    assert (other == (x != y)).all()
    assert (between == ((x < y) & (y <= 2))).all()
    expected = (p & q, p | q, ~(p | q), p & q & (x < y))
    assert all((found == wanted).all() for found, wanted in zip(logic, expected))


DECIDED = True


@R.function
def known_now(x: R.Tensor((2,), "float32")):
    if DECIDED:
        y = R.exp(x)
    else:
        y = R.log(x)
    return y


def test_a_condition_that_python_knows_leaves_no_choice_in_the_program():
    text = known_now.script()
    assert "R.exp" in text
    assert "R.log" not in text
    assert "if " not in text


@pytest.mark.parametrize("parameter", ["x: R.Object = None", "*x", "**x", "*, x: R.Object"])
def test_what_calls_cannot_give_is_no_parameter(parameter):
    (found,) = told(f"@R.function\ndef f(y: R.Object, {parameter}):\n    return y")
    assert found.startswith("error RX0104 ")


# ---------------------------------------------------------------- printing loses nothing


def test_what_is_printed_is_read_back_as_the_same():
    module = accepted(
        """
        @I.ir_module
        class M:
            @R.function(pure=False)
            def f(
                x: R.Callable(derive_func="default_derive"), y: R.Callable,
                z: R.Callable(ret=R.Tensor), n: R.Shape(["n"]), empty: R.Shape([]), any: R.Shape,
            ):
                n = T.int64()
                a = R.prim_value(T.int32(3))
                b = R.prim_value(T.float32(2.5))
                c = R.prim_value(n * 2)
                d = R.const(float("inf"), "float32")
                e = R.const(float("nan"), "float16")
                g = R.const([1.5, float("-inf")], "float64")
                h = R.const(True)
                i = R.call_packed("f", sinfo_args=R.Shape([]))
                return ((a, b, c), (d, e, g, h), (x, y, z), (empty, any), i)
        """
    )
    text = module.script()
    assert from_source(text).script() == text
    infos = [repr(param.struct_info) for param in module["f"].params]
    assert infos[-2:] == ["R.Shape([])", "R.Shape"]


def test_line_numbers_stand_beside_the_script_and_change_nothing_in_it():
    text = known_now.script(print_line_numbers=True)
    numbered = [line.partition(" ")[2] for line in text.splitlines()]
    plain = known_now.script().splitlines()
    assert [line.strip() for line in numbered] == [line.strip() for line in plain]


def test_the_older_and_the_newer_word_for_results_mean_the_same():
    program = """
        @R.function(pure=False)
        def f(x: R.Object):
            a = R.call_packed("f", x, {word}=R.Tensor((2,), "float32"))
            return a
        """
    for word in ("sinfo_args", "ty_args"):
        function = accepted(program.format(word=word))
        assert repr(function.ret_struct_info) == 'R.Tensor((2,), "float32")'
