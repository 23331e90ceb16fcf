"""Making a failing program small."""

from __future__ import annotations

import pytest

from relaxscript.analysis import well_formed
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var as ShapeVar
from relaxscript.ir.relax import Call, Function, Op, SeqExpr, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.walk import walk
from relaxscript.script import from_source
from relaxscript.testing import reduce
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples

LARGE = from_source("""
@I.ir_module
class M:
    @R.function
    def other(x: R.Tensor((64, 7), "float32")):
        return R.exp(x)

    @R.function
    def main(x: R.Tensor((64, 32), "float32"), w: R.Tensor((32, 64), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.nn.relu(a)
            c = R.tanh(b)
            d = R.sin(c)
            e = R.matmul(d, w)
            R.output(d, e)
        f = R.negative(d)
        return (e, f)
""")


def calls(name):
    def has(mod):
        nodes = (node for f in mod.functions.values() for node in walk(f))
        return any(isinstance(n, Call) and n.op.name == name for n in nodes)

    return has


def test_what_the_failure_does_not_need_goes():
    small = reduce(LARGE, calls("relax.tanh"))
    expected = from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((1, 1), "float32")):
        c = R.tanh(x)
        return c
""")
    assert_structural_equal(small, expected)


def test_what_the_failure_needs_stays():
    small = reduce(LARGE, lambda mod: calls("relax.sin")(mod) and calls("relax.matmul")(mod))
    assert calls("relax.sin")(small)
    assert calls("relax.matmul")(small)
    assert sum(len(block.bindings) for block in small["main"].body.blocks) == 2


def test_a_failure_that_is_another_does_not_count():
    def picky(mod):
        if "other" not in mod:
            raise KeyError
        return calls("relax.tanh")(mod)

    assert "other" in reduce(LARGE, picky)


def test_a_module_that_does_not_fail_is_refused():
    with pytest.raises(ValueError, match="`still_fails` is not true for the module itself"):
        reduce(LARGE, lambda mod: False)


def reduced(text, *names):
    small = reduce(from_source(HEAD + text), lambda mod: all(calls(name)(mod) for name in names))
    return small.script().partition("class M:\n")[2] + "\n"


HEAD = """
@I.ir_module
class M:
"""


def test_a_branch_takes_the_place_of_an_if():
    text = """
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            if c:
                y = R.exp(x)
            else:
                y = R.tanh(x)
            z = R.sin(y)
        else:
            z = R.cos(x)
        return z
"""
    assert (
        reduced(text, "relax.tanh")
        == """    @R.function
    def main(x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        y: R.Tensor((1,), "float32") = R.tanh(x)
        return y
"""
    )


def test_an_if_that_the_failure_needs_stays():
    text = """
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            a = R.sin(x)
            y = R.exp(a)
        else:
            b = R.cos(x)
            y = R.tanh(b)
        return y
"""
    assert (
        reduced(text, "relax.tanh", "relax.exp")
        == """    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        if c:
            y: R.Tensor((1,), "float32") = R.exp(x)
        else:
            y: R.Tensor((1,), "float32") = R.tanh(x)
        return y
"""
    )


def test_the_body_of_a_private_function_takes_the_place_of_its_call():
    text = """
    @R.function(private=True)
    def inner(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        z = R.add(x, y)
        a = R.tanh(z)
        return a

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        b = M.inner(a, x)
        return b
"""
    assert (
        reduced(text, "relax.tanh", "relax.exp")
        == """    @R.function
    def main(x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        a: R.Tensor((1,), "float32") = R.exp(x)
        a_1: R.Tensor((1,), "float32") = R.tanh(a)
        return a_1
"""
    )


def test_parameters_that_nothing_needs_go_where_functions_are_called_too():
    text = """
    @R.function
    def inner(x: R.Tensor((4,)), k: R.Tensor((7,), "int8"), y: R.Tensor((4,), "float32")):
        z = R.tanh(y)
        return z

    @R.function
    def main(x: R.Tensor((4,), "float32"), k: R.Tensor((7,), "int8")):
        a = M.inner(x, k, x)
        b = R.exp(a)
        return b
"""
    assert (
        reduced(text, "relax.tanh", "relax.exp")
        == """    @R.function
    def inner(y: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        z: R.Tensor((1,), "float32") = R.tanh(y)
        return z

    @R.function
    def main(x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        b: R.Tensor((1,), "float32") = R.exp(x)
        return b
"""
    )


def test_symbolic_sizes_become_numbers_and_so_their_parameters_can_go():
    text = """
    @R.function
    def main(s: R.Shape(["n", "m"]), x: R.Tensor(("n", "m", "n * m"), "float32")):
        y = R.tanh(x)
        return y
"""
    assert (
        reduced(text, "relax.tanh")
        == """    @R.function
    def main(x: R.Tensor((1, 1, 1), "float32")) -> R.Tensor((1, 1, 1), "float32"):
        y: R.Tensor((1, 1, 1), "float32") = R.tanh(x)
        return y
"""
    )


def symbolic(mod):
    dims = mod["main"].params[0].struct_info.dims
    return [size for size in dims if isinstance(size, ShapeVar)]


def test_symbolic_sizes_that_the_failure_needs_become_one():
    mod = from_source(
        HEAD
        + """
    @R.function
    def main(x: R.Tensor(("n", "m", "k"), "float32")):
        n, m, k = T.int64(), T.int64(), T.int64()
        a = R.reshape(x, (n * m, k))
        y = R.tanh(x)
        return y
"""
    )
    small = reduce(mod, lambda made: len(symbolic(made)) > 1)
    assert len(symbolic(small)) == 2
    assert len(set(symbolic(small))) == 1


def test_attributes_go():
    text = """
    I.module_attrs({"version": 3})
    I.module_global_infos({"vdevice": [I.vdevice("llvm")]})

    @R.function
    def main(x: R.Tensor((1,), "float32")):
        R.func_attr({"relax.force_pure": True, "kind": "test"})
        y = R.tanh(x)
        return y
"""
    small = reduced(text, "relax.tanh")
    assert "attr" not in small
    assert "vdevice" not in small


def test_a_function_that_is_impure_for_nothing_is_pure():
    text = """
    @R.function(pure=False)
    def main(x: R.Tensor((1,), "float32")):
        _ = R.print(x)
        y = R.tanh(x)
        return y
"""
    assert "pure" not in reduced(text, "relax.tanh")
    assert "pure=False" in reduced(text, "relax.print")


def test_a_private_function_that_is_all_that_fails_is_left_alone():
    text = """
    @R.function(private=True)
    def inner(x: R.Tensor((1,), "float32")):
        y = R.tanh(x)
        return y

    @R.function
    def main(x: R.Tensor((1,), "float32")):
        y = M.inner(x)
        return y
"""
    small = reduced(text, "relax.tanh")
    assert small.count("def inner") == 1
    assert "private" not in small
    assert "main" not in small


def test_a_result_that_the_failure_does_not_need_is_another():
    text = """
    @R.function
    def main(a: R.Tensor((7,), "int8"), x: R.Tensor((1,), "float32")):
        y = R.tanh(x)
        return a
"""
    assert "int8" not in reduced(text, "relax.tanh")


def test_a_function_ends_where_the_failure_is():
    text = """
    @R.function
    def main(x: R.Tensor((3, 4), "float32")):
        with R.dataflow():
            a = R.tanh(x)
            b = R.sum(a, axis=[1])
            c = R.reshape(b, (1, 3))
            R.output(c)
        return c
"""
    assert "return a" in reduced(text, "relax.tanh")


def test_what_is_not_well_formed_is_refused_and_what_is_not_in_normal_form_is_brought_into_it():
    x, y = (Var(name, TensorStructInfo((2,), "float32")) for name in "xy")
    nested = Call(Op.get("relax.tanh"), [Call(Op.get("relax.exp"), [x])])
    mod = IRModule.from_expr(Function([x], nested, None))
    assert well_formed(reduce(mod, calls("relax.tanh")))
    with pytest.raises(DiagnosticError, match="nothing binds `y`"):
        reduce(IRModule.from_expr(Function([x], SeqExpr([], y), None)), lambda mod: True)

    def is_nested(mod):
        return not well_formed(mod)

    with pytest.raises(ValueError, match="not true for the module in normal form"):
        reduce(mod, is_nested)


# ---------------------------------------------------------------- laws


def operators(mod):
    """The names of the operators that the module calls, sorted."""
    nodes = (n for f in mod.relax_functions().values() for n in walk(f))
    return sorted({n.op.name for n in nodes if isinstance(n, Call) and isinstance(n.op, Op)})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_random_programs_stay_well_formed_and_failing_and_settle_as_they_are():
    for seed in range(examples(100)):
        mod = random_module(seed)
        before = mod.script(show_meta=True)
        names = operators(mod)
        if not names:
            continue
        name = names[seed % len(names)]

        def has(made, name=name):
            assert well_formed(made)
            return name in operators(made)

        small = reduce(mod, has)
        assert has(small)
        assert well_formed(small)
        assert len(small.script().split()) <= len(mod.script().split())
        assert mod.script(show_meta=True) == before
        assert reduce(small, has) is small
        assert reduce(mod, has).script(show_meta=True) == small.script(show_meta=True)


def test_modules_that_are_asked_of_are_as_many_as_what_can_go():
    def asked(count):
        lines = "".join(f"        x{i + 1} = R.exp(x{i})\n" for i in range(count))
        mod = from_source(f"""
@I.ir_module
class M:
    @R.function
    def main(x0: R.Tensor((2,), "float32")):
{lines}        y = R.tanh(x{count})
        return y
""")
        seen = []
        reduce(mod, lambda made: (seen.append(made), script_has(made, count))[1])
        return len(seen)

    def script_has(made, count):  # nothing can go
        return made.script().count("R.exp") == count

    assert asked(40) < 5 * asked(10)
