"""LambdaLift: functions that are passed around, and what of functions is kept."""

from __future__ import annotations

import numpy as np

from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import Call, Function, Tuple, Var
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo
from relaxscript.ir.walk import post_order, variables
from relaxscript.runtime import Closure
from relaxscript.testing.compare import assert_same
from relaxscript.transform import LambdaLift
from relaxscript_tests.end_to_end.executors import every_executor, failure
from relaxscript_tests.transform.lifting import YES, X, Y, check, lifted, module, same_meaning

# ---------------------------------------------------------------- functions as values


def test_lifted_functions_stand_in_tuples_and_are_chosen():
    before = """
    @R.function
    def main(x: R.Tensor((3,), "float32"), flag: R.Tensor((), "bool")):
        @R.function
        def plus(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            return R.add(x, y)
        @R.function
        def minus(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            return R.negative(y)
        t = (plus, minus)
        if flag:
            f = minus
        else:
            f = plus
        g = t[0]
        return (f(x), g(x))
    """
    after = """
    @R.function(private=True)
    def main_plus(
        y: R.Tensor((3,), "float32"), x: R.Tensor((3,), "float32")
    ) -> R.Tensor((3,), "float32"):
        return R.add(x, y)

    @R.function(private=True)
    def main_minus(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return R.negative(y)

    @R.function
    def main(x: R.Tensor((3,), "float32"), flag: R.Tensor((), "bool")):
        plus = R.make_closure(M.main_plus, (x,))
        t = (plus, M.main_minus)
        if flag:
            f = M.main_minus
        else:
            f = plus
        g = t[0]
        return (f(x), g(x))
    """
    found = check(before, after, X, YES)
    np.testing.assert_array_equal(found, [-X, 2 * X])
    np.testing.assert_array_equal(check(before, after, X, ~YES), [2 * X, 2 * X])


def test_a_function_in_a_branch_is_lifted_out_of_it():
    before = """
    @R.function
    def main(x: R.Tensor((3,), "float32"), flag: R.Tensor((), "bool")):
        if flag:
            @R.function
            def double(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
                return R.add(y, y)
            r = double(x)
        else:
            r = x
        return r
    """
    after = """
    @R.function(private=True)
    def main_double(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return R.add(y, y)

    @R.function
    def main(x: R.Tensor((3,), "float32"), flag: R.Tensor((), "bool")):
        if flag:
            r = M.main_double(x)
        else:
            r = x
        return r
    """
    np.testing.assert_array_equal(check(before, after, X, YES), 2 * X)


def test_functions_in_dataflow_blocks_and_their_outputs_are_lifted():
    before = """
    @R.function
    def main(x: R.Tensor((3,), "float32"), k: R.Prim(value="i")):
        i = T.int64()
        with R.dataflow():
            a = R.add(x, x)
            R.output(a)
        @R.function
        def double(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            return R.add(y, y)
        with R.dataflow():
            @R.function
            def minus(y: R.Tensor((3,), "float32")) -> R.Tuple(
                R.Tensor((3,), "float32"), R.Prim("int64")
            ):
                return (R.subtract(y, x), R.prim_value(i))
            b = minus(double(a))
            R.output(b, minus)
        return (b, minus)
    """
    after = """
    @R.function(private=True)
    def main_double(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return R.add(y, y)

    @R.function(private=True)
    def main_minus(
        y: R.Tensor((3,), "float32"), x: R.Tensor((3,), "float32"), i: R.Prim(value="i")
    ) -> R.Tuple(R.Tensor((3,), "float32"), R.Prim("int64")):
        i = T.int64()
        return (R.subtract(y, x), R.prim_value(i))

    @R.function
    def main(x: R.Tensor((3,), "float32"), k: R.Prim(value="i")):
        i = T.int64()
        with R.dataflow():
            a = R.add(x, x)
            value = R.prim_value(i)
            minus = R.make_closure(M.main_minus, (x, value))
            b = R.invoke_pure_closure(
                minus,
                (M.main_double(a),),
                sinfo_args=R.Tuple(R.Tensor((3,), "float32"), R.Prim("int64")),
            )
            R.output(a, b, minus)
        return (b, minus)
    """
    (value, scalar), _ = check(before, after, X, 2)
    np.testing.assert_array_equal(value, 3 * X)
    assert scalar == 2


def test_a_scalar_is_captured_behind_a_branch_with_a_dataflow_block():
    mod = module("""
    @R.function
    def main(x: R.Tensor((3,), "float32"), k: R.Prim(value="i"), flag: R.Tensor((), "bool")):
        i = T.int64()
        if flag:
            with R.dataflow():
                r = R.add(x, x)
                R.output(r)
        else:
            with R.dataflow():
                r = R.negative(x)
                R.output(r)
        @R.function
        def scalar() -> R.Prim("int64"):
            return R.prim_value(i)
        return (r, scalar())
    """)
    assert same_meaning(mod, lifted(mod), X, 4, YES)[1] == 4


def test_a_closure_is_passed_to_a_function_that_asks_for_its_type():
    apply = """
    @R.function
    def apply(
        f: R.Callable((R.Tensor(("n",), "float32"),), R.Tensor(("n",), "float32")),
        x: R.Tensor(("n",), "float32"),
    ) -> R.Tensor(("n",), "float32"):
        return f(x)
    """
    before = """
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        @R.function
        def plus(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return R.add(y, x)
        return M.apply(plus, x)
    """
    after = """
    @R.function(private=True)
    def main_plus(
        y: R.Tensor(("n",), "float32"), x: R.Tensor(("n",), "float32")
    ) -> R.Tensor(("n",), "float32"):
        return R.add(y, x)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        plus = R.make_closure(M.main_plus, (x,))
        return M.apply(plus, x)
    """
    np.testing.assert_array_equal(check(apply + before, apply + after, X), 2 * X)


RETURNED = """
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Callable(
        (R.Tensor(("n",), "float32"),), R.Tensor(("n",), "float32")
    ):
        n = T.int64()
        @R.function
        def double(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            z = R.add(y, y)
            return z
        return double
"""


def test_a_closure_is_returned_where_its_type_is_declared():
    after = """
    @R.function(private=True)
    def main_double(
        y: R.Tensor(("n",), "float32"), shape: R.Shape(["n"])
    ) -> R.Tensor(("n",), "float32"):
        z = R.add(y, y)
        return z

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Callable(
        (R.Tensor(("n",), "float32"),), R.Tensor(("n",), "float32")
    ):
        n = T.int64()
        double = R.make_closure(M.main_double, (R.shape([n]),))
        return double
    """
    assert isinstance(check(RETURNED, after, X), Closure)


@every_executor
def test_a_returned_closure_takes_what_it_took_and_has_the_type_that_it_had(load):
    before, after = (load(mod).main(X) for mod in (module(RETURNED), lifted(module(RETURNED))))
    for closure in (before, after):
        np.testing.assert_array_equal(closure(Y), 2 * Y)
        assert failure(lambda closure=closure: closure(np.ones(2, "float32"))).code == "RX0601"
    assert repr(after.info) == repr(before.info)


# ---------------------------------------------------------------- what is kept


def test_impure_functions_and_attributes_stay_what_they_are():
    before = """
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32"), b: R.Tensor((), "bool")):
        @R.function(pure=False)
        def check(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            R.func_attr({"global_symbol": "named", "kept": 1})
            R.assert_op(b)
            return y
        return check(x)
    """
    after = """
    @R.function(private=True, pure=False)
    def main_check(
        y: R.Tensor((3,), "float32"), b: R.Tensor((), "bool")
    ) -> R.Tensor((3,), "float32"):
        R.func_attr({"kept": 1})
        R.assert_op(b)
        return y

    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32"), b: R.Tensor((), "bool")):
        check = R.make_closure(M.main_check, (b,))
        return R.invoke_closure(check, (x,), sinfo_args=R.Tensor((3,), "float32"))
    """
    np.testing.assert_array_equal(check(before, after, X, YES), X)
    assert check(before, after, X, ~YES).code == "RX0611"


def test_names_of_the_module_are_not_taken():
    made = lifted(
        module("""
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        @R.function
        def double(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            return R.add(y, y)
        return double(x)

    @R.function
    def main_double(x: R.Tensor((3,), "float32")):
        return x
    """)
    )
    names = [var.name_hint for var in made.functions]
    assert names == ["main", "main_double", "main_double_1"]
    assert made["main_double_1"].is_private


FAILING = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor((3,), "float32")):
        @R.function
        def cast(z: R.Tensor((3,), "float32")) -> R.Tensor((2,), "float32"):
            a = R.match_cast(x, R.Tensor((2,), "float32"))
            return a
        return cast(y)
"""


@every_executor
def test_a_failure_names_the_line_that_it_named(load):
    errors = [failure(lambda mod=mod: load(mod).main(X, Y)) for mod in
              (module(FAILING), lifted(module(FAILING)))]  # fmt: skip
    assert [error.code for error in errors] == ["RX0605"] * 2
    assert errors[0].span.line == errors[1].span.line == 9


def test_no_two_functions_share_a_variable_and_operands_stay_where_they_stood():
    mod = module("""
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        @R.function
        def add(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            z: R.Tensor((n,), "float32") = R.add(y, x)
            return z
        return add(x)
    """)
    made = lifted(mod)
    main, function = (set(variables(made[name])) for name in ("main", "main_add"))
    assert not main & function
    invoked = [n for n in post_order(made["main"]) if isinstance(n, Call)][-1]
    assert [span.line for span in (invoked.span, *invoked.args[1].field_spans)] == [12, 12]


def test_a_module_without_local_functions_is_left_alone():
    mod = module("""
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        return x
    """)
    assert LambdaLift()(mod) is mod


def test_a_function_that_no_variable_is_bound_to_is_lifted_too():
    n = PrimVar("n", "int64")
    x, s = Var("x", TensorStructInfo((n,), "float32")), Var("s", ShapeStructInfo((n,)))
    inner = Function((s,), Tuple((s, x)))
    mod = IRModule({"main": Function((x,), Tuple((inner, x)), attrs={"global_symbol": "main"})})
    made = LambdaLift()(mod)
    assert_same(
        made,
        module("""
    @R.function(private=True)
    def main_gv(s: R.Shape(["n"]), x: R.Tensor(("n",), "float32")):
        return (s, x)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        f = R.make_closure(M.main_gv, (x,))
        return (f, x)
    """),
    )
