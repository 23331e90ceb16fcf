"""Forms of Relax scripts that people write naturally, and what names mean where."""

from __future__ import annotations

import textwrap

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import structural_equal
from relaxscript.ir.relax import (
    Constant,
    DataflowBlock,
    DataflowVar,
    Function,
    MatchCast,
    PrimValue,
    ShapeExpr,
    Tuple,
)
from relaxscript.ir.struct_info import TupleStructInfo
from relaxscript.script import from_source


def parse(text: str):
    """The IR of a text, checked to survive printing."""
    result = from_source(textwrap.dedent(text))
    script = result.script(show_meta=True)
    assert structural_equal(from_source(script), result), script
    return result


def function(body: str, params: str = 'x: R.Tensor(("n", 4), "float32")') -> Function:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return parse(f"@R.function\ndef main({params}):\n{lines}\n")


def bound(f: Function) -> dict[str, object]:
    return {b.var.name_hint: b for block in f.body.blocks for b in block.bindings}


TRIPLE = "t: R.Tuple(R.Object, R.Prim('int64'), R.Shape(ndim=1))"


@pytest.mark.parametrize(
    ("targets", "name", "indices"),
    [
        ("a, *rest", "rest", (1, 2)),
        ("*rest, a", "rest", (0, 1)),
        ("a, *rest, b", "rest", (1,)),
        ("a, b, c, *rest", "rest", ()),
        ("*rest,", "rest", (0, 1, 2)),
    ],
)
def test_a_starred_name_takes_the_fields_that_the_others_leave(targets, name, indices):
    f = function(f"{targets} = t\nreturn {name}", TRIPLE)
    fields = f.params[0].struct_info.fields
    assert structural_equal(f.ret_struct_info, TupleStructInfo([fields[i] for i in indices]))


def test_a_match_cast_may_stand_where_a_value_does():
    f = function(
        """
        y = R.add(R.match_cast(x, R.Tensor((2, 4), "float32")), R.const(1.0))
        return (R.match_cast(y, R.Tensor("float32")), -R.match_cast(x, struct_info=R.Tensor))
        """
    )
    casts = [b for b in f.body.blocks[0].bindings if isinstance(b, MatchCast)]
    assert len(casts) == 3


def test_dimensions_of_shapes_may_be_in_quotes():
    f = function('y = R.reshape(x, (4, "n"))\nz = R.reshape(x, shape=["n", 4])\nreturn (y, z)')
    n = f.params[0].struct_info.dims[0]
    y, z = f.ret_struct_info.fields
    assert (y.dims[1], z.dims[0]) == (n, n)


def test_declared_python_values_are_what_they_are_declared_to_be():
    f = function(
        """
        n = T.int64()
        k: R.Prim("int32") = 3
        b: R.Prim("bool") = True
        s: R.Shape = (n, 4)
        c: R.Tensor((), "float16") = 2
        return (k, b, s, c)
        """
    )
    values = [binding.value for binding in bound(f).values()]
    assert [type(v) for v in values] == [PrimValue, PrimValue, ShapeExpr, Constant]
    assert (values[0].value.dtype, values[1].value.dtype) == ("int32", "bool")
    assert values[3].dtype == "float16"


def test_a_list_comprehension_is_written_out():
    f = function(
        """
        parts = [R.multiply(x, R.const(i * 1.5)) for i in range(4) if i != 1]
        pairs = [a * b for a, b in ((1, 2), (3, 4)) for _ in (0, 0)]
        i = R.concat(parts, axis=0)
        return R.reshape(i, (pairs[0], -1))
        """
    )
    assert [b.value.op.name for b in f.body.blocks[0].bindings] == [
        "relax.multiply", "relax.multiply", "relax.multiply", "relax.concat", "relax.reshape"
    ]  # fmt: skip


def test_an_underscore_is_an_unknown_shape_in_the_older_spelling():
    f = function("return x", 'x: R.Tensor[_, "float32"]')
    assert (f.params[0].struct_info.ndim, f.params[0].struct_info.dtype) == (-1, "float32")


def test_none_is_unit_as_a_result():
    f = parse("@R.function\ndef f() -> None:\n    return None\n")
    assert isinstance(f.body.body, Tuple)
    assert structural_equal(f.ret_struct_info, TupleStructInfo(()))


def test_dicts_are_unpacked_into_arguments():
    f = function('y = R.sum(x, **{**{"axis": [0]}, "keepdims": True})\nreturn y')
    assert f.ret_struct_info.ndim == 2


def test_an_operator_is_no_mention_of_a_function_of_its_name():
    module = parse(
        """
        @I.ir_module
        class Module:
            @R.function
            def add(x: R.Tensor((2,), "float32")):
                return R.add(x, x)

            @R.function
            def exp(x: R.Tensor((2,), "float32")):
                me = Module
                other = me
                with R.dataflow():
                    y = R.exp(x)
                    z = other.add(y)
                    R.output(z)
                return z
        """
    )
    assert module["exp"].ret_struct_info.dims[0].value == 2


def test_mutual_recursion_with_declared_results_is_fine():
    module = parse(
        """
        @I.ir_module
        class Module:
            @R.function
            def even(x: R.Object) -> R.Object:
                return Module.odd(x)

            @R.function
            def odd(x: R.Object) -> R.Object:
                return Module.even(x)
        """
    )
    assert len(module.functions) == 2


def test_a_recursive_call_through_an_alias_is_found_in_a_dataflow_block():
    text = """
        @I.ir_module
        class Module:
            @R.function
            def f(x: R.Object) -> R.Object:
                me = Module
                with R.dataflow():
                    y = me.f(x)
                    R.output(y)
                return y
        """
    with pytest.raises(DiagnosticError, match=r"`me\.f` is recursive"):
        from_source(textwrap.dedent(text))


def test_the_shadowing_example_of_the_specification():
    f = parse(
        """
        @R.function
        def func(x: R.Tensor) -> R.Tensor:
            if True:
                y = x
            x = R.add(x, x)
            @R.function
            def inner(x: R.Tensor) -> R.Tensor:
                x = R.add(x, x)
                return x
            y = inner(x)
            return R.add(x, y)
        """
    )
    outer, inner = bound(f)["x"].var, bound(f)["inner"].value
    assert inner.params[0] is not outer
    assert inner.body.body is not inner.params[0]
    assert bound(f)["y"].value.args[0] is outer


def test_a_name_rebound_in_a_dataflow_block_means_what_it_meant_after_it():
    f = function(
        """
        with R.dataflow():
            x = R.exp(x)
            y = R.add(x, x)
            R.output(y)
        return R.add(x, y)
        """
    )
    assert f.body.blocks[-1].bindings[-1].value.args[0] is f.params[0]


def test_the_last_binding_of_an_output_leaves_the_block():
    f = function(
        """
        with R.dataflow():
            y, z = R.exp(x), x
            y, z = R.add(y, z), y
            R.output(y)
        return y
        """
    )
    block = f.body.blocks[0]
    assert isinstance(block, DataflowBlock)
    kinds = [isinstance(b.var, DataflowVar) for b in block.bindings if b.var.name_hint == "y"]
    assert kinds == [True, False]


def test_a_function_may_be_defined_in_a_dataflow_block_and_leave_it():
    f = function(
        """
        with R.dataflow():
            y = R.exp(x)
            @R.function
            def inner(z: R.Tensor((n, 4), "float32")):
                y = R.add(z, x)
                return y
            def other(z: R.Tensor((n, 4), "float32")):
                return z
            w = inner(other(y))
            R.output(w, other)
        return other(w)
        """.replace("with R", "n = T.int64()\n        with R", 1)
    )
    kinds = {name: isinstance(b.var, DataflowVar) for name, b in bound(f).items()}
    assert (kinds["inner"], kinds["other"], kinds["w"]) == (True, False, False)


def test_parameters_and_functions_may_be_named_like_pythons_own():
    f = parse(
        """
        @R.function
        def print(len: R.Tensor(("list", "dict"), "float32"), str: R.Tensor(("max",), "float32")):
            abs = R.add(len, len)
            return abs
        """
    )
    assert [p.name_hint for p in f.params] == ["len", "str"]


def test_both_branches_may_bind_a_dimension_of_one_name():
    f = function(
        """
        if c:
            m = T.int64()
            y = R.match_cast(x, R.Tensor((m, 4), "float32"))
        else:
            m = T.int64()
            y = R.match_cast(x, R.Tensor((4, m), "float32"))
        return y
        """,
        'c: R.Prim("bool"), x: R.Tensor("float32", ndim=2)',
    )
    assert f.ret_struct_info.dims is None


def test_branches_may_give_arithmetic_of_dimensions():
    f = function(
        """
        n = T.int64()
        if c:
            k = n * 2
        else:
            k = n
        return k
        """,
        'c: R.Prim("bool"), x: R.Tensor(("n",), "float32")',
    )
    assert f.ret_struct_info.dtype == "int64"


def test_sixty_nested_branches_and_functions_are_parsed():
    branches = "".join(f"{'    ' * (i + 1)}if c:\n" for i in range(60))
    ends = "".join(
        f"{'    ' * (i + 1)}else:\n{'    ' * (i + 2)}y = x\n" for i in reversed(range(60))
    )
    text = f"{branches}{'    ' * 61}y = R.add(x, x)\n{ends}    return y\n"
    f = from_source(f'@R.function\ndef f(c: R.Prim("bool"), x: R.Tensor((2,), "float32")):\n{text}')
    assert f.ret_struct_info.dims[0].value == 2


def test_a_long_chain_of_branches_is_an_error_and_no_failure():
    chain = "    elif c:\n        y = R.add(x, x)\n" * 1200
    text = '@R.function\ndef f(c: R.Prim("bool"), x: R.Tensor((2,), "float32")):\n    if c:\n'
    with pytest.raises(DiagnosticError, match="nested too deeply"):
        from_source(f"{text}        y = x\n{chain}    else:\n        y = x\n    return y\n")


def test_a_name_that_is_bound_is_no_namespace_any_more():
    function = from_source(
        "@R.function\n"
        'def main(x: R.Tensor((2,), "float32")):\n'
        "    a = R.nn.relu(R.abs(x))\n"
        "    R = R.nn.relu(R.abs(a))\n"
        "    b = R.abs()\n"
        "    return b\n"
    )
    *_, bound, last = function.body.blocks[0].bindings
    assert last.value.op.name == "relax.abs"
    assert last.value.args == (bound.var,)
