"""What Relax scripts mean: each accepted form, and that it prints back to itself."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir import IRModule, structural_equal
from relaxscript.ir.relax import (
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Function,
    If,
    MatchCast,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import ObjectStructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.script import from_source


def parse(text: str):
    """The IR of a text, checked to survive printing."""
    result = from_source(textwrap.dedent(text))
    script = result.script(show_meta=True)
    again = from_source(script)
    assert structural_equal(again, result), script
    assert again.script(show_meta=True) == script
    return result


def body(
    text: str, params: str = 'x: R.Tensor(("n", 4), "float32")', pure: bool = True
) -> Function:
    """The function with these statements."""
    lines = textwrap.indent(textwrap.dedent(text).strip(), "    ")
    decorator = "@R.function" if pure else "@R.function(pure=False)"
    return parse(f"{decorator}\ndef main({params}):\n{lines}\n")


def bindings(f: Function):
    return [b for block in f.body.blocks for b in block.bindings]


def names(f: Function):
    return [b.var.name_hint for b in bindings(f)]


def test_a_function_is_public_and_pure_by_default():
    f = body("return x")
    assert (f.is_pure, f.attrs.global_symbol, f.body.body) == (True, "main", f.params[0])


def test_the_decorator_says_otherwise():
    f = parse("@R.function(pure=False, private=True)\ndef f(x: R.Object):\n    return x\n")
    assert (f.is_pure, f.is_private) == (False, True)


def test_a_string_dimension_is_one_variable_everywhere():
    f = body("n = T.int64()\ny = R.reshape(x, (4, n))\nreturn y")
    n = f.params[0].struct_info.dims[0]
    assert f.ret_struct_info.dims[1] is n


def test_dimensions_may_be_expressions_of_later_parameters():
    f = body("return x", 'x: R.Tensor(("n * m",), "float32"), y: R.Tensor(("n", "m"), "float32")')
    product = f.params[0].struct_info.dims[0]
    assert (product.a, product.b) == f.params[1].struct_info.dims


def test_declared_variables_are_those_of_the_signature():
    f = parse(
        """
        @R.function
        def main(x: R.Tensor((n, 4), "float32")) -> R.Tensor((n, 4), "float32"):
            n = T.int64()
            return x
        """
    )
    assert f.ret_struct_info.dims[0] is f.params[0].struct_info.dims[0]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("R.Tensor", ("void", -1)),
        ("R.Tensor()", ("void", -1)),
        ('R.Tensor("int8")', ("int8", -1)),
        ("R.Tensor(ndim=3)", ("void", 3)),
        ('R.Tensor(dtype="float16", ndim=1)', ("float16", 1)),
        ('R.Tensor((), "bool")', ("bool", 0)),
        ('R.Tensor([1, 2], "float32")', ("float32", 2)),
        ('R.Tensor[(1, 2), "float32"]', ("float32", 2)),
    ],
)
def test_tensor_annotations(annotation, expected):
    info = body("return x", f"x: {annotation}").params[0].struct_info
    assert (info.dtype, info.ndim) == expected


@pytest.mark.parametrize(
    "annotation",
    [
        "R.Object", "R.Shape", "R.Shape(ndim=2)", 'R.Shape(["k", 4])', 'R.Prim("int64")',
        'R.Prim(value="k")', "R.Tuple(R.Object, R.Shape)", "R.Tuple()",
        'R.Callable((R.Tensor((2,), "float32"),), R.Tensor((2,), "float32"))',
        "R.Callable((R.Object,), R.Object, False)", "R.Callable",
    ],
)  # fmt: skip
def test_every_struct_info_can_be_written(annotation):
    body("return x", f"x: {annotation}")


def test_a_shape_of_no_dimensions_is_known():
    assert body("return x", "x: R.Shape([])").params[0].struct_info.ndim == 0


def test_calls_become_bindings_and_nested_ones_are_numbered():
    f = body("y = R.add(R.exp(x), R.nn.relu(x))\nreturn R.tanh(y)")
    assert names(f)[:3] == ["gv", "gv1", "y"]
    assert all(isinstance(b.value, Call) for b in bindings(f))


@pytest.mark.parametrize(
    ("expression", "operator"),
    [
        ("x + x", "add"), ("x - x", "subtract"), ("x * x", "multiply"), ("x / x", "divide"),
        ("x // x", "floor_divide"), ("x ** x", "power"), ("-x", "negative"), ("x < x", "less"),
        ("x <= x", "less_equal"), ("x > x", "greater"), ("x >= x", "greater_equal"),
        ("x == x", "equal"), ("x != x", "not_equal"), ("x + 1", "add"), ("2.0 * x", "multiply"),
        ('x.astype("int32")', "astype"),
    ],
)  # fmt: skip
def test_python_operators_are_operators(expression, operator):
    (binding,) = bindings(body(f"y = {expression}\nreturn y"))
    assert binding.value.op.name == f"relax.{operator}"


def test_matrix_product_is_an_operator_too():
    f = body("return x @ w", 'x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 2), "float32")')
    assert bindings(f)[0].value.op.name == "relax.matmul"


def test_a_chain_of_comparisons_compares_each_pair():
    f = body("y = x < x < x\nreturn y")
    assert [b.value.op.name for b in bindings(f)] == [
        "relax.less", "relax.less", "relax.logical_and",
    ]  # fmt: skip


def test_an_augmented_assignment_binds_a_new_variable():
    f = body("y = R.exp(x)\ny += x\nreturn y")
    assert names(f) == ["y", "y"]
    assert f.body.body is bindings(f)[1].var


def test_several_targets_are_bound_to_one_value():
    f = body("a = b = R.exp(x)\nreturn (a, b)")
    assert sum(isinstance(b.value, Call) for b in bindings(f)) == 1


def test_numbers_are_constants_and_tuples_hold_scalars():
    f = body("a = 1\nb = 2.5\nc = True\nreturn (a, b, c)")
    dtypes = [b.value.dtype for b in bindings(f) if isinstance(b.value, Constant)]
    assert dtypes == ["int32", "float32", "bool"]
    assert isinstance(body("return (1, x)").ret_struct_info, TupleStructInfo)


@pytest.mark.parametrize(
    "constant",
    [
        'R.const(1.5, "float32")', 'R.const(float("inf"), "float16")', 'R.const([1, 2], "int8")',
        'R.const([[True], [False]], "bool")', 'R.const(-3, "int64")', "R.const(7)",
        'R.const(0.1, "bfloat16")', 'R.const(float("nan"), "float64")', 'R.const([], "float32")',
    ],
)  # fmt: skip
def test_constants_of_every_kind_survive_printing(constant):
    body(f"y = {constant}\nreturn y")


def test_tuples_are_taken_apart():
    f = body("a, (b, c) = t\nreturn b", "t: R.Tuple(R.Object, R.Tuple(R.Shape, R.Object))")
    assert [type(b.value) for b in bindings(f)].count(TupleGetItem) >= 3
    assert names(body("a, b = (x, R.exp(x))\nreturn b")) == ["a", "b"]


def test_negative_indices_count_from_the_end():
    f = body("return t[-1]", "t: R.Tuple(R.Object, R.Shape)")
    assert bindings(f)[0].value.index == 1


def test_an_annotation_wins_over_what_is_known():
    f = body("y: R.Object = R.exp(x)\nreturn y")
    assert isinstance(bindings(f)[0].var.struct_info, ObjectStructInfo)


def test_a_declared_result_is_the_result():
    f = parse(
        '@R.function\ndef main(x: R.Tensor((2,), "float32")) -> R.Tensor("float32"):\n'
        "    return x\n"
    )
    assert isinstance(f.ret_struct_info, TensorStructInfo)
    assert f.ret_struct_info.ndim == -1


def test_a_dataflow_block_lets_out_what_it_says():
    f = body("with R.dataflow():\n    a = R.exp(x)\n    b = R.exp(a)\n    R.output(b)\nreturn b")
    (block,) = f.body.blocks
    assert isinstance(block, DataflowBlock)
    assert [type(b.var) for b in block.bindings] == [DataflowVar, Var]


def test_an_output_is_the_last_variable_of_its_name():
    f = body("with R.dataflow():\n    a = R.exp(x)\n    a = R.exp(a)\n    R.output(a)\nreturn a")
    assert [type(b.var) for b in bindings(f)] == [DataflowVar, Var]


def test_match_cast_binds_new_shape_variables():
    f = body('m = T.int64()\ny = R.match_cast(x, R.Tensor((m, 4), "float32"))\nreturn y')
    (cast,) = bindings(f)
    assert isinstance(cast, MatchCast)
    assert f.ret_struct_info.ndim == 2


CONDITION = 'c: R.Tensor((), "bool"), x: R.Tensor(("n", 4), "float32")'


def test_an_if_binds_the_last_name_of_its_branches():
    f = body("if c:\n    a = R.exp(x)\n    y = R.exp(a)\nelse:\n    y = x\nreturn y", CONDITION)
    (binding,) = bindings(f)
    assert isinstance(binding.value, If)
    assert binding.var.name_hint == "y"
    assert binding.value.false_branch.body is f.params[1]


def test_names_of_a_branch_mean_what_they_meant_before_afterwards():
    text = "if c:\n    x = R.exp(x)\n    y = x\nelse:\n    y = x\nz = R.add(x, y)\nreturn z"
    f = body(text, CONDITION)
    assert bindings(f)[-1].value.args[0] is f.params[1]


def test_elif_is_an_if_inside():
    text = "if c:\n    y = x\nelif d:\n    y = R.exp(x)\nelse:\n    y = R.tanh(x)\nreturn y"
    f = body(text, CONDITION + ', d: R.Tensor((), "bool")')
    inner = bindings(f)[0].value.false_branch
    assert isinstance(inner.blocks[0].bindings[-1].value, If)


def test_both_branches_may_bind_the_same_shape_variable():
    text = """
    m = T.int64()
    if c:
        a = R.match_cast(x, R.Tensor((m, 4), "float32"))
        y = R.exp(a)
    else:
        b = R.match_cast(x, R.Tensor((m, 4), "float32"))
        y = R.tanh(b)
    return y
    """
    assert body(text, CONDITION).ret_struct_info.ndim == 2


def test_a_python_condition_is_decided_while_parsing():
    f = from_source(
        "@R.function\ndef f(x: R.Object):\n"
        "    if FLAG:\n        y = x\n    else:\n        y = R.shape([1])\n    return y\n",
        mode="python",
        extra_vars={"FLAG": True},
    )
    assert not any(isinstance(b.value, If) for b in bindings(f))


def test_a_decorator_that_a_program_calls_blames_the_program():
    text = "@R.function\ndef f(x: R.Object):\n    y = R.function(5)\n    return x\n"
    with pytest.raises(DiagnosticError) as caught:
        from_source(text, mode="python")
    assert [str(d.span) for d in caught.value.diagnostics] == ["<text>:3:9"]


def test_calls_for_their_effect_stand_alone():
    f = body('R.print(x, format="{}")\nreturn x', pure=False)
    assert bindings(f)[0].value.op.name == "relax.print"


def test_docstrings_and_pass_mean_nothing():
    assert bindings(body('"""What it does."""\npass\nreturn x')) == []


def test_local_functions_see_the_names_around_them_and_themselves():
    text = """
    n = T.int64()
    @R.function
    def inner(y: R.Tensor((n, 4), "float32")) -> R.Tensor((n, 4), "float32"):
        z = R.add(x, y)
        r = inner(z)
        return r
    w = inner(x)
    return w
    """
    f = body(text)
    local = bindings(f)[0]
    assert isinstance(local.value, Function)
    assert local.value.body.blocks[0].bindings[1].value.op is local.var


def test_packed_functions_are_called_in_every_way():
    f = body(
        """
        n = T.int64()
        a = R.call_packed("f", x, sinfo_args=R.Tensor((n, 4), "float32"))
        b = R.call_pure_packed("g", a, sinfo_args=R.Tensor((n, 4), "float32"))
        c = R.call_dps_packed("h", (b,), out_sinfo=R.Tensor((n, 4), "float32"))
        g = R.ExternFunc("k")
        d = g(c)
        return d
        """,
        pure=False,
    )
    assert isinstance(f.ret_struct_info, ObjectStructInfo)


def test_scalars_shapes_texts_and_types_are_values():
    f = body('return (R.prim_value(3), R.shape([2, n]), R.str("s"), R.dtype("int8"), R.tuple())')
    assert isinstance(f.body.body, Tuple)


def test_function_attributes_are_kept():
    f = body('R.func_attr({"relax.force_pure": True, "k": 2})\nreturn x')
    assert f.attrs.k == 2
    assert f.attrs["relax.force_pure"] is True


MODULE = """
@I.ir_module
class M:
    I.module_attrs({"version": 1})

    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        cls = M
        y = cls.later(x)
        z = M.private(y)
        return z

    @R.function
    def later(x: R.Tensor(("m", 4), "float32")):
        y = R.exp(x)
        return y

    @R.function(private=True)
    def private(x: R.Tensor(("k", 4), "float32")) -> R.Tensor(("k", 4), "float32"):
        k = T.int64()
        return x
"""


def test_functions_of_a_module_call_each_other_in_any_order():
    mod = parse(MODULE)
    assert isinstance(mod, IRModule)
    assert mod.__name__ == "M"
    assert mod.get_attr("version") == 1
    assert mod["main"].ret_struct_info.dims[0] is mod["main"].params[0].struct_info.dims[0]


def test_recursion_with_a_declared_result():
    mod = parse(
        """
        @I.ir_module
        class M:
            @R.function
            def even(x: R.Tensor((), "int32")) -> R.Tensor((), "bool"):
                cls = M
                y = cls.odd(x)
                return y

            @R.function
            def odd(x: R.Tensor((), "int32")) -> R.Tensor((), "bool"):
                y = M.even(x)
                return y
        """
    )
    assert len(mod) == 2


def test_large_constants_come_back_with_metadata():
    data = np.arange(1000, dtype="float32")
    f = from_source(
        "@R.function\ndef f():\n    y = R.const(DATA)\n    return y\n", mode="python",
        extra_vars={"DATA": data},
    )  # fmt: skip
    again = from_source(f.script(show_meta=True))
    assert structural_equal(again, f)


def test_a_long_chain_of_operators_is_no_limit():
    f = body("y = " + " + ".join(["x"] * 400) + "\nreturn y")
    assert len(bindings(f)) == 399


def test_a_script_without_metadata_takes_it_from_the_module():
    mod = from_source(
        "@I.ir_module\nclass M:\n    @R.function\n    def f():\n        return R.const(DATA)\n",
        mode="python", extra_vars={"DATA": np.arange(1000, dtype="float32")},
    )  # fmt: skip
    assert structural_equal(from_source(mod.script(), metadata=mod.metadata), mod)
    assert structural_equal(from_source(mod["f"].script(), metadata=mod["f"].metadata), mod["f"])


UNDECIDED = """
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    z = R.add(x, y)
    return z
"""


def test_what_cannot_be_decided_is_a_warning():
    with pytest.warns(RelaxWarning, match="`n` and `m` must be equal") as caught:
        from_source(UNDECIDED)
    assert caught[0].filename == "<text>"
    assert caught[0].lineno == 4


def test_strictly_what_cannot_be_decided_is_an_error():
    with pytest.raises(DiagnosticError, match="`n` and `m` must be equal"):
        from_source(UNDECIDED, strict=True)
