"""StructInfo: what the specification says of subtyping, bounds and derivation where TVM differs.

Source: spec "Subtyping for StructInfo", "Auxiliary Procedures", "Derivation Rules".
"""

from __future__ import annotations

import pytest

import relaxscript as relax
from relaxscript import analysis, tir
from relaxscript.script import from_source

from .told import accepted, told, warned

FUNCTIONS = """
    @I.ir_module
    class M:
        @R.function(pure=False)
        def main(
            c: R.Tensor((), "bool"), x: R.Tensor((9,), "float32"),
            a: {a},
            b: {b},
        ):
            if c:
                h = a
            else:
                h = b
            return h
    """


def joined(a: str, b: str) -> str:
    """What is known of a value that is one of two functions."""
    return repr(accepted(FUNCTIONS.format(a=a, b=b))["main"].ret_struct_info)


# ---------------------------------------------------------------- functions


PASSED_ON = """
    @I.ir_module
    class M:
        @R.function(pure=False)
        def main(f: {given}):
            return M.g(f)

        @R.function(pure=False)
        def g(f: {taken}):
            return f
    """


@pytest.mark.parametrize(
    ("given", "taken", "said"),
    [
        ("R.Callable((R.Object,), R.Object)", "R.Callable((R.Tensor((2,)),), R.Object)", []),
        ("R.Callable((R.Tensor((2,)),), R.Object)", "R.Callable((R.Object,), R.Object)",
         ["error RX0206 f"]),
        ("R.Callable((R.Object,), R.Tensor)", "R.Callable((R.Object,), R.Object)", []),
        ("R.Callable((R.Object,), R.Object)", "R.Callable((R.Object,), R.Tensor)",
         ["error RX0206 f"]),
        ("R.Callable((R.Tensor(ndim=1),), R.Tensor((2,)))",
         "R.Callable((R.Tensor((2,)),), R.Tensor)", []),
        ("R.Callable((R.Tensor((2,)),), R.Object)", "R.Callable((R.Tensor(ndim=1),), R.Object)",
         ["warning RX0207 f"]),
        ("R.Callable((R.Object,), R.Object, True)", "R.Callable((R.Object,), R.Object, False)", []),
        ("R.Callable((R.Object,), R.Object, False)", "R.Callable((R.Object,), R.Object, True)",
         ["error RX0206 f"]),
        ("R.Callable((R.Callable((R.Tensor,), R.Object),), R.Object)",
         "R.Callable((R.Callable((R.Object,), R.Object),), R.Object)", []),
        ("R.Callable((R.Callable((R.Object,), R.Object),), R.Object)",
         "R.Callable((R.Callable((R.Tensor,), R.Object),), R.Object)", ["error RX0206 f"]),
        ('R.Callable((R.Tensor(("n",)),), R.Tensor(("n",)))',
         'R.Callable((R.Tensor(("m",)),), R.Tensor(("m",)))', []),
        ("R.Callable", "R.Callable((R.Object,), R.Object, False)", ["error RX0206 f"]),
        ("R.Callable((R.Object,), R.Object)", "R.Callable", ["error RX0206 f"]),
        ("R.Callable(derive_func='default_derive')", "R.Callable", []),
    ],
)  # fmt: skip
def test_a_function_stands_for_one_that_takes_less_and_promises_less(given, taken, said):
    assert told(PASSED_ON.format(given=given, taken=taken)) == said


@pytest.mark.parametrize(
    ("a", "b", "bound"),
    [
        ("R.Callable((R.Object,), R.Tensor((2,)), True)",
         "R.Callable((R.Object,), R.Tensor((3,)), False)",
         "R.Callable((R.Object,), R.Tensor(ndim=1), purity=False)"),
        ("R.Callable((R.Tensor((2,)),), R.Object)", "R.Callable((R.Tensor((3,)),), R.Object)",
         "R.Object"),
        ("R.Callable((R.Object,), R.Object)", "R.Callable((R.Object, R.Object), R.Object)",
         "R.Object"),
        ("R.Callable((R.Object,), R.Object, False)", "R.Callable", "R.Object"),
        ("R.Callable", "R.Callable(derive_func='default_derive')", "R.Callable"),
        ('R.Callable((R.Tensor(("n",)),), R.Tensor(("n",)))',
         'R.Callable((R.Tensor(("m",)),), R.Tensor(("m",)))',
         'R.Callable((R.Tensor(("n",)),), R.Tensor(("n",)))'),
    ],
)  # fmt: skip
def test_one_of_two_functions_takes_what_both_take_or_is_an_object(a, b, bound):
    for one, other in ((a, b), (b, a)):
        found = joined(one, other).replace('"m"', '"n"')
        assert found == bound


def test_one_of_two_functions_is_impure_when_either_is():
    program = """
        @R.function
        def f(c: R.Tensor((), "bool"), x: R.Object, p: R.Callable((R.Object,), R.Object),
              i: R.Callable((R.Object,), R.Object, False)):
            if c:
                h = {first}
            else:
                h = {second}
            return h(x)
        """
    for first, second in ("pi", "ip"):
        assert told(program.format(first=first, second=second)) == ["error RX0401 h"]


def test_one_of_two_functions_of_different_parameters_cannot_be_called():
    program = FUNCTIONS.format(
        a="R.Callable((R.Tensor((2,)),), R.Object)", b="R.Callable((R.Tensor((3,)),), R.Object)"
    ).replace("return h", "return h(x)")
    assert told(program) == ["error RX0201 h"]


# ---------------------------------------------------------------- calls


CALLED = """
    @I.ir_module
    class M:
        @R.function
        def main(y: {y}, z: {z}):
            return M.g(y, z)

        @R.function
        def g(a: R.Tensor(("n",)), b: R.Tensor(("n",))) -> R.Tensor(("n * 2",)):
            return R.concat((a, b))
    """


@pytest.mark.parametrize(
    ("y", "z", "said"),
    [
        ("R.Tensor((2,))", "R.Tensor((2,))", []),
        ("R.Tensor((2,))", "R.Tensor((3,))", ["error RX0206 z"]),
        ('R.Tensor(("k",))', 'R.Tensor(("k",))', []),
        ('R.Tensor(("k",))', 'R.Tensor(("k + 1",))', ["error RX0206 z"]),
        ('R.Tensor(("k",))', 'R.Tensor(("m",))', ["warning RX0207 z"]),
        ('R.Tensor(("k",))', "R.Tensor(ndim=1)", ["warning RX0207 z"]),
    ],
)
def test_dimensions_that_a_call_binds_twice_must_agree(y, z, said):
    assert told(CALLED.format(y=y, z=z)) == said


def test_the_result_of_a_call_is_told_in_the_callers_dimensions():
    module = accepted(CALLED.format(y='R.Tensor(("k", ))', z='R.Tensor(("k", ))'))
    assert repr(module["main"].ret_struct_info) == "R.Tensor((k * 2,))"


IN_A_FUNCTION = """
    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor(("n",)), y: {y}, g: R.Callable((R.Tensor(("n",)),), R.Tensor(("n",)))):
            n = T.int64()

            @R.function
            def same(z: R.Tensor((n,))) -> R.Tensor((n,)):
                return z

            return {call}

        @R.function
        def recursive(x: R.Tensor(("k",))) -> R.Tensor(ndim=1):
            @R.function
            def own(z: R.Tensor(("i",))) -> R.Tensor(ndim=1):
                return own(R.concat((z, z)))

            f = M.recursive
            return (own(x), f(R.concat((x, x))), M.recursive(R.concat((x, x))))[0]
    """


@pytest.mark.parametrize("callee", ["same", "g"])
def test_a_dimension_that_a_function_type_takes_from_around_it_is_no_variable_of_its_own(callee):
    def said(y: str) -> list[str]:
        return told(IN_A_FUNCTION.format(y=y, call=f"{callee}(y)"))

    assert said('R.Tensor(("n",))') == []
    assert said('R.Tensor(("m",))') == ["warning RX0207 y"]
    assert said('R.Tensor(("n + 1",))') == ["error RX0206 y"]
    program = warned(IN_A_FUNCTION.format(y='R.Tensor(("m",))', call=f"{callee}(y)"))
    assert repr(program["main"].ret_struct_info) == "R.Tensor((n,))"


def test_a_function_calls_itself_with_dimensions_of_their_own():
    module = accepted(IN_A_FUNCTION.format(y='R.Tensor(("m",))', call="same(x)"))
    assert from_source(module.script()).script() == module.script()


# ---------------------------------------------------------------- erasure and leaves


def test_a_function_type_loses_what_is_not_in_scope_in_its_result_and_keeps_its_own():
    n, m = tir.Var("n", "int64"), tir.Var("m", "int64")
    shapes = relax.ShapeStructInfo([n]), relax.ShapeStructInfo([m])
    info = relax.FuncStructInfo([shapes[0]], relax.TupleStructInfo(shapes))
    erased = analysis.erase_to_well_defined(info)
    assert repr(erased.ret) == "R.Tuple(R.Shape([n]), R.Shape(ndim=1))"
    assert erased.params == info.params
    prim = analysis.erase_to_well_defined(relax.PrimStructInfo(value=n))
    assert repr(prim) == 'R.Prim("int64")'


def test_the_value_of_a_number_is_known():
    function = accepted("@R.function\ndef f():\n    return (R.prim_value(1), R.prim_value(True))")
    assert repr(function.ret_struct_info) == "R.Tuple(R.Prim(value=1), R.Prim(value=True))"


def test_a_parameter_without_annotation_is_an_object():
    program = "@R.function\ndef f(x, y: R.Object):\n    return x"
    assert told(program) == ["warning RX0209 x"]
    assert repr(warned(program).ret_struct_info) == "R.Object"
    prim_func = "@T.prim_func\ndef f(x, y: T.Buffer((2,), 'int8')):\n    y[0] = T.int8(1)"
    assert told(prim_func) == ["error RX0108 x"]


DEVICES = """
    @I.ir_module
    class M:
        I.module_global_infos({{"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]}})

        @R.function
        def main(x: {given}):
            return M.g(x)

        @R.function
        def g(x: R.Tensor((2,), "float32", "llvm:1")):
            return x
    """


def test_an_unknown_device_may_be_the_one_that_is_expected_and_another_is_not():
    tensor = 'R.Tensor((2,), "float32"{})'
    assert told(DEVICES.format(given=tensor.format(', "llvm:1"'))) == []
    # Where it is, propagation finds out when the module is built.
    assert told(DEVICES.format(given=tensor.format(""))) == []
    assert told(DEVICES.format(given=tensor.format(', "llvm:0"'))) == ["error RX0206 x"]
