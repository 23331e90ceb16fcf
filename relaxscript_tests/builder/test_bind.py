"""Functions with parameters or shape variables bound: what becomes static, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.analysis import ill_formed
from relaxscript.builder import bind_params, bind_symbolic_vars
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import (
    Call,
    Constant,
    Function,
    MatchCast,
    Op,
    SeqExpr,
    Tuple,
    Var,
)
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.script import from_source
from relaxscript_tests.growth import growth
from relaxscript_tests.test_visitor import long_function

LAYER = 'x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, "m"), "float32")'
DENSE = ("h = R.matmul(x, w)", "y = R.nn.relu(h)", "return y")
WEIGHTS = np.arange(20, dtype="float32").reshape(4, 5)


def function(*lines: str, params: str = LAYER, decorator: str = "@R.function") -> Function:
    return from_source("\n".join([decorator, f"def main({params}):", *map("    {}".format, lines)]))


def bindings(func: Function) -> list:
    return [binding for block in func.body.blocks for binding in block.bindings]


def refusal(action) -> tuple[str, str, str | None]:
    with pytest.raises(DiagnosticError) as raised:
        action()
    (mistake,) = raised.value.diagnostics
    assert mistake.span is not None
    return mistake.code, mistake.message, mistake.help


def test_a_bound_parameter_is_a_constant_and_its_sizes_are_known_everywhere():
    for key in ("w", function(*DENSE).params[1]):
        func = function(*DENSE)
        made = func.bind_params({func.params[1] if isinstance(key, Var) else key: WEIGHTS})
        assert [p.name_hint for p in made.params] == ["x"]
        product, relu = bindings(made)
        assert isinstance(product.value.args[1], Constant)
        assert repr(relu.var.struct_info) == 'R.Tensor((n, 5), "float32")'
        assert repr(made.ret_struct_info) == 'R.Tensor((n, 5), "float32")'
        assert ill_formed(IRModule({"main": made})) == ()


def test_a_bound_function_computes_what_it_does_of_the_argument():
    func = function(*DENSE)
    x = np.ones((2, 4), "float32")
    np.testing.assert_array_equal(func.bind_params({"w": WEIGHTS})(x), func(x, WEIGHTS))


def test_the_function_itself_stays_as_it_is():
    func = function(*DENSE)
    before = func.script(show_meta=True)
    func.bind_params({"w": WEIGHTS})
    func.bind_symbolic_vars({"n": 3})
    assert func.script(show_meta=True) == before


def test_nothing_to_bind_gives_the_function_itself():
    func = function(*DENSE)
    n = func.params[0].struct_info.dims[0]
    assert func.bind_params({}) is func
    assert func.bind_symbolic_vars({}) is func
    assert func.bind_symbolic_vars({"n": n}) is func


def test_a_parameter_can_take_the_place_of_another():
    params = 'a: R.Tensor(("n",), "float32"), b: R.Tensor(("m",), "float32")'
    func = function("y = R.concat((a, b))", "return y", params=params)
    made = func.bind_params({"b": func.params[0]})
    (binding,) = bindings(made)
    assert binding.value.args[0].fields == (func.params[0], func.params[0])
    assert repr(made.ret_struct_info) == 'R.Tensor((n * 2,), "float32")'


def test_numbers_tuples_and_text_are_values_of_parameters():
    func = function(
        "a = t[1]", "return (a, k, x)",
        params='t: R.Tuple(R.Prim("int64"), R.Object), k: R.Prim("int64"), x: R.Tensor((2,))',
    )  # fmt: skip
    made = func.bind_params({"t": (2, "text"), "k": 3})
    assert made(np.ones(2, "float32"))[:2] == ("text", 3)


def test_what_is_known_of_a_value_is_told_on_where_more_was_not_known():
    func = function("y = R.exp(x)", "return y", params="x: R.Tensor")
    made = func.bind_params({"x": WEIGHTS})
    assert repr(made.ret_struct_info) == 'R.Tensor((4, 5), "float32")'


def test_a_size_that_may_not_fit_is_checked_when_the_function_runs():
    params = 'x: R.Tensor(("n",), "float32"), w: R.Tensor(("n * 2",), "float32")'
    func = function("return w", params=params)
    made = func.bind_params({"w": np.ones(6, "float32")})
    assert isinstance(bindings(made)[0], MatchCast)
    assert made(np.ones(3, "float32")).shape == (6,)
    with pytest.raises(RuntimeError, match="RX0605"):
        made(np.ones(4, "float32"))


def test_a_constant_that_may_be_written_into_is_bound_once():
    func = function(
        'R.call_packed("testing.bump", w, sinfo_args=R.Tuple)', "return w",
        params='w: R.Tensor((2,), "float32")', decorator="@R.function(pure=False)",
    )  # fmt: skip
    made = func.bind_params({"w": np.ones(2, "float32")})
    first, call = bindings(made)
    assert isinstance(first.value, Constant)
    assert first.var in call.value.args
    assert made.body.body is first.var


def test_sizes_are_bound_by_name_or_variable_and_what_follows_is_computed():
    func = function(
        "y = R.reshape(x, (n * 4,))", "return y", params='x: R.Tensor(("n", 4), "float32")'
    )
    for key in ("n", func.params[0].struct_info.dims[0]):
        made = func.bind_symbolic_vars({key: 3})
        assert repr(made.params[0].struct_info) == 'R.Tensor((3, 4), "float32")'
        assert repr(made.ret_struct_info) == 'R.Tensor((12,), "float32")'
    k = PrimVar("k", "int64")
    assert (
        repr(func.bind_symbolic_vars({"n": k}).ret_struct_info) == 'R.Tensor((k * 4,), "float32")'
    )
    assert func.bind_symbolic_vars({"n": np.int64(2)}).params[0].struct_info.dims[0].value == 2


def test_annotations_of_match_casts_and_local_functions_are_bound_too():
    func = function(
        'c = R.match_cast(y, R.Tensor((n,), "float32"))',
        "@R.function",
        'def g(a: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):',
        "    b = g(a)",
        "    return b",
        "d = g(c)",
        "return d",
        params='x: R.Tensor(("n",), "float32"), y: R.Tensor("float32", ndim=1)',
    )
    made = func.bind_symbolic_vars({"n": 3})
    assert '"n"' not in made.script()
    assert "(n," not in made.script()
    assert ill_formed(IRModule({"main": made})) == ()


def test_functions_that_are_called_and_not_known_keep_what_they_were_declared_with():
    mod = from_source(
        "@I.ir_module\nclass M:\n"
        "    @R.function\n    def g(x: R.Tensor(('n',), 'float32')):\n"
        "        y = R.exp(x)\n        return y\n"
        "    @R.function\n"
        "    def main(x: R.Tensor(('n',), 'float32'), w: R.Tensor(('n',), 'float32')):\n"
        "        y = M.g(x)\n        z = R.add(y, w)\n        return z\n"
    )
    func = next(f for gvar, f in mod.functions.items() if gvar.name_hint == "main")
    made = func.bind_params({"w": np.ones(3, "float32")})
    assert repr(made.ret_struct_info) == 'R.Tensor((3,), "float32")'
    assert repr(bindings(made)[0].var.struct_info) == 'R.Tensor((3,), "float32")'
    assert bind_params(func, {"w": np.ones(3, "float32")}, mod).params
    assert bind_symbolic_vars(func, {"n": 3}, mod).params


def test_a_program_of_nested_calls_is_brought_into_normal_form_first():
    x, y = (Var(name, TensorStructInfo((2,), "float32")) for name in "xy")
    total = Call(Op.get("relax.add"), [Call(Op.get("relax.exp"), [x]), y])
    made = Function([x, y], SeqExpr([], total)).bind_params({"x": np.zeros(2, "float32")})
    np.testing.assert_array_equal(made(np.ones(2, "float32")), np.full(2, 2, "float32"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"weights": 1}, ("RX0101", "the function has no parameter `weights`",
                          "its parameters are `x`, `w`")),
        ({Var("q", TensorStructInfo(())): 1},
         ("RX0101", "`q` is no parameter of the function", "its parameters are `x`, `w`")),
        ({3: 1}, ("RX0201", "the keys of `bind_params` are names or variables, not int (3)", None)),
        (7, ("RX0201", "`bind_params` takes a mapping of parameters to values, not int (7)", None)),
        ({"w": object},
         ("RX0201", "type (<class 'object'>) cannot be the value of the parameter `w`",
          "give an array or an expression")),
        ({"w": np.ones((3, 5), "float32")},
         ("RX0206", "this value does not fit the parameter `w`",
          'the parameter is `R.Tensor((4, m), "float32")`, '
          'the value `R.Tensor((3, 5), "float32")`')),
    ],
)  # fmt: skip
def test_what_is_no_parameter_or_does_not_fit_is_refused(given, expected):
    assert refusal(lambda: function(*DENSE).bind_params(given)) == expected


def test_a_name_that_is_near_is_offered():
    func = function("return weight", params='weight: R.Tensor((4,), "float32")')
    found = refusal(lambda: func.bind_params({"wieght": WEIGHTS}))
    assert found == ("RX0101", "the function has no parameter `wieght`", "did you mean `weight`?")


def test_a_parameter_that_is_given_twice_or_named_like_another_is_refused():
    func = function(*DENSE)
    twice = {"w": WEIGHTS, func.params[1]: WEIGHTS}
    assert refusal(lambda: func.bind_params(twice)) == (
        "RX0103", "the parameter `w` is given twice",
        "give it by its name or by its variable, not by both",
    )  # fmt: skip
    a, b = (Var("a", TensorStructInfo((2,), "float32")) for _ in range(2))
    alike = Function([a, b], SeqExpr([], Tuple([a, b])))
    assert refusal(lambda: alike.bind_params({"a": WEIGHTS})) == (
        "RX0101", "2 parameters of the function are called `a`",
        "give the variable itself as the key",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"k": 1}, ("RX0101", "the function has no shape variable `k`",
                    "its shape variables are `n`, `m`")),
        ({"n": 2.5}, ("RX0201", "float (2.5) cannot be the value of the shape variable `n`",
                      "give an integer or a scalar expression")),
        ({"n": PrimVar("k", "int32")}, ("RX0202", "`n` is int64, and the value for it int32",
                                        'convert it: `T.cast(value, "int64")`')),
        ({"n": -1}, ("RX0203", "`n` is a dimension, so it cannot be -1",
                     "a dimension is at least zero")),
        ({"n": PrimVar("k", "int64") + 1},
         ("RX0109", "nothing defines `k` in the function that `bind_symbolic_vars` makes",
          "bind `k` as well, or give a value that does not mention it")),
    ],
)  # fmt: skip
def test_what_is_no_shape_variable_or_no_size_is_refused(given, expected):
    assert refusal(lambda: function(*DENSE).bind_symbolic_vars(given)) == expected


def test_sizes_for_which_a_line_is_wrong_are_refused_at_that_line():
    params = 'x: R.Tensor(("n", "k"), "float32"), w: R.Tensor((4, "m"), "float32")'
    with pytest.warns(RelaxWarning, match="4 rows"):
        func = function("y = R.matmul(x, w)", "return y", params=params)
    with pytest.raises(DiagnosticError) as raised:
        func.bind_symbolic_vars({"k": 5})
    (mistake,) = raised.value.diagnostics
    assert mistake.code == "RX0203"
    assert mistake.span.line == 3


def test_binding_costs_what_the_function_is_long():
    def prepare(size):
        func = long_function(size)
        given = {func.params[0]: np.zeros([d.value for d in func.params[0].struct_info.dims],
                                          func.params[0].struct_info.dtype)}  # fmt: skip
        return lambda: func.bind_params(given)

    assert growth(prepare, 100) < 10
