"""What nothing needs goes: bindings, and functions that no entry function reaches."""

from __future__ import annotations

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source
from relaxscript.transform import DeadCodeElimination
from relaxscript_tests.transform.before_after import check

COPY = """
    @T.prim_func(private=True)
    def {name}(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i]
"""
FUNCTIONS = f"""
@I.ir_module
class M:
{COPY.format(name="first")}
{COPY.format(name="second")}
    @R.function(private=True)
    def helper(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.call_tir(M.second, (x,), R.Tensor((4,), "float32"))
        return y

    @R.function
    def other(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x
"""


def test_dead_bindings_of_dataflow_blocks_go_and_what_only_they_called():
    check(
        DeadCodeElimination(),
        FUNCTIONS
        + """
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = M.helper(x)
            b = R.call_tir(M.first, (x,), R.Tensor((4,), "float32"))
            R.output(b)
        return b
""",
        f"""
@I.ir_module
class M:
{COPY.format(name="first")}
    @R.function
    def other(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            b = R.call_tir(M.first, (x,), R.Tensor((4,), "float32"))
            R.output(b)
        return b
""",
    )


def test_an_output_that_nothing_uses_goes_with_its_operands():
    check(
        DeadCodeElimination(),
        """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.log(a)
            c = R.exp(x)
            R.output(b, c)
        return c
""",
        """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            c = R.exp(x)
            R.output(c)
        return c
""",
    )


@pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")
def test_calls_checks_and_effects_outside_of_dataflow_blocks_stay():
    check(
        DeadCodeElimination(),
        """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor(ndim=1), o: R.Object) -> R.Tensor(ndim=1):
        n = T.int64()
        a = R.exp(x)
        b = R.match_cast(o, R.Tensor((n,), "float32"))
        c: R.Tensor((4,)) = x
        d = R.print(x, format="{}")
        e = M.main(x, o)
        return x
""",
    )


def test_names_and_tuples_outside_of_dataflow_blocks_go():
    check(
        DeadCodeElimination(),
        """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = x
        b = (a, x)
        c = b[0]
        return x
""",
        """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return x
""",
    )


def test_a_private_function_that_is_named_is_an_entry_function():
    made = DeadCodeElimination(["helper"])(from_source(FUNCTIONS))
    assert [var.name_hint for var in made] == ["second", "helper", "other"]


def test_private_functions_that_call_each_other_only_go():
    made = DeadCodeElimination()(
        from_source("""
@I.ir_module
class M:
    @R.function(private=True)
    def odd(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = M.even(x)
        return y

    @R.function(private=True)
    def even(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = M.odd(x)
        return y

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return x
""")
    )
    assert [var.name_hint for var in made] == ["main"]


def test_a_prim_func_that_another_calls_stays():
    mod = from_source("""
@I.ir_module
class M:
    @T.prim_func(private=True)
    def inner(a: T.Buffer((4,), "float32")):
        a[0] = T.float32(1)

    @T.prim_func
    def outer(a: T.Buffer((4,), "float32")):
        M.inner(a.data)
""")
    assert DeadCodeElimination()(mod) is mod


def test_an_entry_function_that_is_not_there_is_named_with_the_nearest_that_is():
    with pytest.raises(DiagnosticError) as raised:
        DeadCodeElimination(["helpre"])(from_source(FUNCTIONS))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == "RX0703"
    assert diagnostic.message == (
        "`DeadCodeElimination` is given `helpre`, but the module has no function of that name"
    )
    assert diagnostic.help == "did you mean `helper`?"


def test_entry_functions_are_a_list_of_names():
    with pytest.raises(TypeError, match="`entry_functions` of `DeadCodeElimination` is a list of"):
        DeadCodeElimination("main")


def test_calls_and_relax_functions_stay_where_failures_are_kept():
    text = (
        FUNCTIONS
        + """
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.match_cast(x, R.Tensor((4,), "float32"))
            t = (x, x)
            R.output()
        f = R.ExternFunc("test.missing")
        return x
"""
    )
    made = DeadCodeElimination(keep_failures=True)(from_source(text))
    shown = made["main"].script()
    assert all(part in shown for part in ("R.exp(", "R.match_cast(", "R.ExternFunc("))
    assert "t = " not in shown
    assert sorted(var.name_hint for var in made.functions) == ["helper", "main", "other", "second"]
