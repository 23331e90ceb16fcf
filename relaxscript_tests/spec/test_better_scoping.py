"""Functions, scopes and modules: what the specification says where TVM does otherwise.

Source: spec "Values in Relax", "Variable Scoping", "Well-Formedness Criteria" 4, 8, 12, 13, 24,
"Program Entry Point".
"""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as relax
from relaxscript.runtime import Shape, register_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing import diagnostics_of
from relaxscript_tests.end_to_end.executors import every_executor, failure

from .told import accepted, told, warned

PAIR = np.ones(2, "float32")


@pytest.fixture(autouse=True)
def _packed_functions():
    register_func("spec.same", lambda value: value)


# ---------------------------------------------------------------- closures know what they are


@I.ir_module
class Closures:
    @R.function(pure=False)
    def cast_to_another_type() -> R.Object:
        @R.function
        def g(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return x

        o = R.call_packed("spec.same", g, sinfo_args=R.Object)
        other = R.Callable((R.Tensor((7,), "int8"), R.Tensor), R.Tuple(R.Object), True)
        h = R.match_cast(o, other)
        return h

    @R.function(pure=False)
    def cast_to_a_wider_type(x: R.Tensor((2,), "float32")) -> R.Tensor(ndim=1):
        @R.function
        def g(x: R.Tensor(dtype="float32")) -> R.Tensor((2,), "float32"):
            return R.ones(R.shape([2]), "float32")

        o = R.call_packed("spec.same", g, sinfo_args=R.Object)
        h = R.match_cast(o, R.Callable((R.Tensor((2,), "float32"),), R.Tensor(ndim=1), True))
        return h(x)

    @R.function(pure=False)
    def cast_of_what_has_effects() -> R.Object:
        @R.function(pure=False)
        def g(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            R.print(x, format="{}")
            return x

        o = R.call_packed("spec.same", g, sinfo_args=R.Object)
        h = R.match_cast(o, R.Callable((R.Tensor((2,), "float32"),), R.Object, True))
        return h

    @R.function(pure=False)
    def cast_of_a_packed_function() -> R.Object:
        o = R.call_packed("spec.same", R.ExternFunc("spec.same"), sinfo_args=R.Object)
        h = R.match_cast(o, R.Callable((R.Tensor((2,), "float32"),), R.Object, False))
        return h

    @R.function(pure=False)
    def cast_of_a_closure_to_packed() -> R.Object:
        cls = Closures
        o = R.call_packed("spec.same", cls.taken, sinfo_args=R.Object)
        h = R.match_cast(o, R.Callable)
        return h

    @R.function
    def taken(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return x


@every_executor
@pytest.mark.parametrize(
    "name",
    [
        "cast_to_another_type",
        "cast_of_what_has_effects",
        "cast_of_a_packed_function",
        "cast_of_a_closure_to_packed",
    ],
)
def test_a_cast_of_a_function_looks_at_its_parameters_result_purity_and_kind(load, name):
    error = failure(lambda: load(Closures)[name]())
    assert error.diagnostic.code == "RX0605"


@every_executor
def test_a_closure_may_be_cast_to_take_less_and_promise_less(load):
    assert load(Closures).cast_to_a_wider_type(PAIR).tolist() == [1, 1]


# ---------------------------------------------------------------- who may be called from where


@I.ir_module
class WithSecret:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = WithSecret
        return cls.secret(x)

    @R.function(private=True)
    def secret(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.add(x, x)


@every_executor
def test_a_private_function_is_called_from_inside_its_module_only(load):
    program = load(WithSecret)
    assert program.main(PAIR).tolist() == [2, 2]
    assert "`secret` is private" in str(failure(lambda: program["secret"](PAIR)))


def test_a_module_has_a_function_that_can_be_called_from_outside():
    private = """
        @I.ir_module{options}
        class Module:
            @R.function(private=True)
            def f(x: R.Object):
                return x
        """
    assert told(private.format(options="")) == ["error RX0312 Module"]
    assert told(private.format(options="(check_well_formed=False)")) == []


def test_a_module_of_prim_funcs_only_needs_no_function_for_outside():
    accepted(
        """
        @I.ir_module
        class Module:
            @T.prim_func(private=True)
            def clear(x: T.Buffer((2,), "float32")):
                for i in range(2):
                    x[i] = T.float32(0)
        """
    )


def test_a_global_symbol_is_the_name_of_the_function():
    other = """
        @I.ir_module
        class Module:
            @R.function
            def f(x: R.Object):
                R.func_attr({"global_symbol": "other"})
                return x
        """
    assert told(other) == ["error RX0313 f"]


# ---------------------------------------------------------------- recursion


@pytest.mark.parametrize(
    ("body", "blamed"),
    [
        ("def f(x: R.Object):\n            return M.f(x)", ["f"]),
        (
            "def even(x: R.Object):\n            return M.odd(x)\n"
            "        @R.function\n        def odd(x: R.Object):\n            return M.even(x)",
            ["even", "odd"],
        ),
        (
            "def main(x: R.Object):\n            @R.function\n            def g(y: R.Object):\n"
            "                return g(y)\n            return g(x)",
            ["g"],
        ),
        (
            "def by_another_name(x: R.Object):\n            f = M.by_another_name\n"
            "            return f(x)",
            ["by_another_name"],
        ),
    ],
    ids=["itself", "each-other", "local", "by another name"],
)
def test_what_calls_itself_declares_its_result(body, blamed):
    program = f"""
    @I.ir_module
    class M:
        @R.function
        {body}
    """
    assert told(program) == [f"error RX0308 {name}" for name in blamed]


@pytest.mark.parametrize("order", [("even", "odd"), ("odd", "even")])
def test_the_order_of_functions_that_call_each_other_changes_nothing(order):
    results = {"even": "R.Object", "odd": "R.Tensor(ndim=1)"}
    module = "@I.ir_module\nclass M:\n"
    for name in order:
        other = "odd" if name == "even" else "even"
        module += (
            f"    @R.function\n    def {name}(x: R.Tensor(ndim=1)) -> {results[name]}:\n"
            f"        y = M.{other}(x)\n        return {'y' if name == 'even' else 'x'}\n"
        )
    functions = accepted(module).relax_functions()
    known = {var.name_hint: repr(f.body.blocks[0].bindings[0].var.struct_info)
             for var, f in functions.items()}  # fmt: skip
    assert known == {"even": "R.Tensor(ndim=1)", "odd": "R.Object"}


# ---------------------------------------------------------------- names and dimensions


def test_a_result_is_declared_with_dimensions_of_the_parameters_only():
    program = """
        @R.function
        def f(x: R.Tensor(("n",), "int32")) -> R.Tensor(("m",), "int32"):
            m = T.int64()
            y = R.match_cast(x, R.Tensor((m,), "int32"))
            return y
        """
    assert told(program) == ['error RX0304 "m"']


def test_a_variable_may_have_the_name_of_a_dimension():
    function = accepted(
        """
        @R.function
        def f(x: R.Tensor(("n",), "int32")):
            n = R.add(x, x)
            return n
        """
    )
    assert repr(function.ret_struct_info) == 'R.Tensor((n,), "int32")'


@I.ir_module
class Captured:
    @R.function
    def once(x: R.Tensor(("n",), "float32")) -> R.Shape(ndim=1):
        n = T.int64()

        @R.function
        def g(y: R.Object) -> R.Shape(ndim=1):
            return R.shape([n + 1])

        return g(x)

    @R.function
    def of_a_cast(x: R.Object) -> R.Object:
        m = T.int64()
        s = R.match_cast(x, R.Shape([m, 2]))

        @R.function
        def outer(k: R.Prim("int64", "k")) -> R.Shape(ndim=2):
            k = T.int64()

            @R.function
            def inner(y: R.Tensor(("i",), "float32")) -> R.Shape(ndim=2):
                i = T.int64()
                return R.shape([m * k, i + m])

            return inner(R.ones(R.shape([k]), "float32"))

        return outer(R.prim_value(3))


IN_ITS_ANNOTATIONS = """
    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(ndim=1)) -> R.Object:
            n = T.int64()

            @R.function
            def g(z: R.Tensor((n,))) -> R.Tensor((n,)):
                return z

            return g(y)
    """


@every_executor
def test_a_local_function_captures_dimensions(load):
    program = load(Captured)
    assert program.once(PAIR) == Shape([3])
    assert program.of_a_cast(Shape([5, 2])) == Shape([15, 8])
    annotated = load(warned(IN_ITS_ANNOTATIONS))
    assert annotated.main(PAIR, PAIR) is PAIR
    error = failure(lambda: annotated.main(PAIR, np.ones(3, "float32")))
    assert "`z.shape[0]` is 3; must be `n = 2`" in str(error)


# ---------------------------------------------------------------- virtual devices are listed


def test_a_virtual_device_that_the_module_does_not_list_is_refused_wherever_it_stands():
    program = """
        @I.ir_module
        class M:
            I.module_global_infos({"vdevice": [I.vdevice("llvm")]})

            @R.function
            def f(
                v: R.Tensor((2,), "float32"),
                x: R.Tensor((2,), "float32", "cuda:0"),
                y: R.Tuple(R.Tensor((2,), "float32", I.vdevice("llvm", 1))),
                g: R.Callable((R.Object,), R.Tensor((2,), "float32", "llvm:2")),
            ):
                z = R.to_vdevice(v, "llvm:3")
                w = R.match_cast(v, R.Tensor((2,), "float32", "llvm:4"))
                return v
        """
    assert told(program) == [
        'error RX0324 "cuda:0"', 'error RX0324 I.vdevice("llvm", 1)', 'error RX0324 "llvm:2"',
        'error RX0324 "llvm:3"', 'error RX0324 "llvm:4"',
    ]  # fmt: skip


ON_DEVICES = """
    @I.ir_module
    class M:
        I.module_global_infos({{"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]}})

        @R.function
        def main(x: R.Tensor((2,), "float32")) -> R.Tuple({declared}, {declared}):
            y = M.g(x)
            return y

        @R.function
        def g(x: R.Tensor((2,), "float32")) -> R.Tuple(
            R.Tensor((2,), "float32"), R.Tensor((2,), "float32")
        ):
            return (x, R.add(x, x))
    """


def test_the_device_of_a_declared_tuple_reaches_through_calls_and_none_may_stay_unknown():
    declared = 'R.Tensor((2,), "float32", "llvm:1")'
    realize = relax.transform.RealizeVDevice()
    module = realize(accepted(ON_DEVICES.format(declared=declared)))
    for name in ("main", "g"):
        (param,) = module[name].params
        for info in (param.struct_info, *module[name].ret_struct_info.fields):
            assert info.vdevice.vdevice_id == 1
    unknown = accepted(ON_DEVICES.format(declared='R.Tensor((2,), "float32")'))
    found = diagnostics_of(lambda: realize(unknown))
    assert {d.severity for d in found} == {"error"}


# ---------------------------------------------------------------- what only may fit


CALLS_WITH_LESS = """
    @I.ir_module
    class M:
        @R.function
        def main(x: {given}):
            return M.g(x)

        @R.function
        def g(x: R.Tensor((2,), "float32")):
            return x
    """


def test_an_argument_of_which_too_little_is_known_is_warned_of_and_one_of_another_kind_refused():
    assert told(CALLS_WITH_LESS.format(given="R.Tensor((2,), 'float32')")) == []
    for given in ('R.Tensor("float32", ndim=1)', "R.Tensor((2,))", 'R.Tensor(("n",), "float32")'):
        assert told(CALLS_WITH_LESS.format(given=given)) == ["warning RX0207 x"]
        assert told(CALLS_WITH_LESS.format(given=given), strict=True) == ["error RX0207 x"]
    for given in ("R.Object", "R.Shape", 'R.Tensor((3,), "float32")', 'R.Tensor("int8")'):
        assert told(CALLS_WITH_LESS.format(given=given)) == ["error RX0206 x"]
