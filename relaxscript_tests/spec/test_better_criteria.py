"""Well-formedness and purity: what the specification says where TVM does otherwise.

Source: spec "Well-Formedness Criteria", "Purity and Dataflow Blocks", "Evaluating Expressions" 10.
"""

from __future__ import annotations

import pytest

import relaxscript as relax
from relaxscript import analysis, tir
from relaxscript.ir import IRModule, Op
from relaxscript.ir.relax import BindingBlock, DataflowBlock, Function
from relaxscript.ir.walk import rewrite

from .told import accepted, in_short, told


def found_in(program: object) -> list[str]:
    """What keeps a program that was made by hand from being well-formed."""
    return [in_short(d) for d in analysis.ill_formed(program)]


def function_of(info: relax.StructInfo, *before: relax.Var) -> relax.Function:
    """A function that returns its last parameter, which is described by `info`."""
    x = relax.Var("x", info)
    return relax.Function([*before, x], relax.SeqExpr([], x), relax.ObjectStructInfo())


# ---------------------------------------------------------------- 7: dataflow blocks


DATAFLOW_CALLS = {
    "itself": """
        @I.ir_module
        class M:
            @R.function
            def f(x: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):
                with R.dataflow():
                    y = M.f(x)
                    R.output(y)
                return y
        """,
    "another that calls it": """
        @I.ir_module
        class M:
            @R.function
            def f(x: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):
                with R.dataflow():
                    y = M.g(x)
                    R.output(y)
                return y

            @R.function
            def g(x: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):
                y = M.h(x)
                return y

            @R.function
            def h(x: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):
                y = M.f(x)
                return y
        """,
    "itself, being local": """
        @R.function
        def main(x: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):
            @R.function
            def f(z: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):
                with R.dataflow():
                    y = f(z)
                    R.output(y)
                return y

            return f(x)
        """,
    "the function around it": """
        @R.function
        def main(x: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):
            @R.function
            def f(z: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):
                @R.function
                def g(w: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):
                    with R.dataflow():
                        y = f(w)
                        R.output(y)
                    return y

                return g(z)

            return f(x)
        """,
    "itself by another name": """
        @I.ir_module
        class M:
            @R.function
            def f(x: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):
                g = M.f
                with R.dataflow():
                    y = g(x)
                    R.output(y)
                return y
        """,
}


@pytest.mark.parametrize("program", DATAFLOW_CALLS.values(), ids=DATAFLOW_CALLS)
def test_a_function_does_not_call_itself_in_a_dataflow_block(program):
    (found,) = told(program)
    assert found.startswith("error RX0307 ")
    outside = program.replace("with R.dataflow():", "if True:").replace("R.output(y)", "z = y")
    taken = accepted(outside.replace("return y", "return x"))
    if isinstance(taken, IRModule):
        by_hand: object = taken.clone()
        for var, function in taken.relax_functions().items():
            by_hand[var] = rewrite(function, calls_in_dataflow_blocks)
    else:
        by_hand = rewrite(taken, calls_in_dataflow_blocks)
    assert {found[:12] for found in found_in(by_hand)} == {"error RX0307"}


def calls_in_dataflow_blocks(node: object) -> DataflowBlock | None:
    if isinstance(node, BindingBlock) and not isinstance(node.bindings[0].value, Function):
        return DataflowBlock(node.bindings)
    return None


def test_a_function_that_recurses_may_be_called_in_the_dataflow_block_of_another():
    accepted(
        """
        @I.ir_module
        class M:
            @R.function
            def main(x: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
                with R.dataflow():
                    y = M.down(x)
                    R.output(y)
                return y

            @R.function
            def down(x: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
                if R.greater(x, R.const(0, "int64")):
                    y = M.down(R.subtract(x, R.const(1, "int64")))
                else:
                    y = x
                return y
        """
    )


# ---------------------------------------------------------------- hand-built programs


def test_an_operator_is_no_value():
    x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
    function = relax.Function([x], relax.Tuple([Op("relax.add")]), relax.ObjectStructInfo())
    assert found_in(function) == ["error RX0309 R.add"]


def test_the_variable_that_holds_a_shape_is_in_scope():
    s = relax.Var("s", relax.ShapeStructInfo(ndim=2))
    info = relax.TensorStructInfo(s, "float32")
    x = relax.Var("x", info)
    assert found_in(function_of(info)) == ['error RX0314 R.Tensor(s, "float32")']
    assert found_in(function_of(info, s)) == []


def test_a_function_type_has_parameters_or_a_rule_that_derives_its_result():
    thing = relax.ObjectStructInfo()
    both = relax.FuncStructInfo([thing], thing, derive_func="default_derive")
    assert [found[:12] for found in found_in(function_of(both))] == ["error RX0317"]
    assert found_in(function_of(relax.FuncStructInfo.opaque_func())) == []
    program = """
        @R.function
        def f(x: R.Callable((R.Tensor,), R.Tensor, True, "infer")):
            return x
        """
    assert told(program) == ['error RX0317 "infer"']


def test_a_prim_value_holds_a_number_and_what_is_computed_is_a_call():
    n = tir.Var("n", "int64")
    x = relax.Var("x", relax.TensorStructInfo((n,), "float32"))
    made_by_hand = relax.Function([x], relax.PrimValue(n * 2), relax.ObjectStructInfo())
    assert [found[:12] for found in found_in(made_by_hand)] == ["error RX0318"]
    function = accepted(
        """
        @R.function
        def f(x: R.Tensor(("n",), "float32")):
            n = T.int64()
            return R.prim_value(n * 2)
        """
    )
    (binding,) = function.body.blocks[0].bindings
    assert binding.value.op.name == "relax.compute_prim_value"
    assert "R.prim_value(n * 2)" in function.script()


def test_a_number_of_the_wrong_type_cannot_be_the_value_of_a_prim():
    n = tir.Var("n", "int64")
    x = relax.Var("x", relax.TensorStructInfo((n,), "float32"))
    y = relax.Var("y", relax.PrimStructInfo("int32", n))
    function = relax.Function([x, y], x, relax.ObjectStructInfo())
    assert [found[:12] for found in found_in(function)] == ["error RX0322"]


def test_a_dimension_is_not_negative():
    assert told("@R.function\ndef f(x: R.Tensor((-2,), 'int8')):\n    return x") == [
        "error RX0108 -2"
    ]


WRONG_DTYPES = ("int7", "int24", "int128", "uint4", "float128", "float32x4", "handle", "boolx2")


@pytest.mark.parametrize("dtype", WRONG_DTYPES)
def test_annotations_name_the_data_types_of_relax_only(dtype):
    for annotation in (f'R.Tensor((2,), "{dtype}")', f'R.Prim("{dtype}")'):
        program = f"@R.function\ndef f(x: {annotation}):\n    return x"
        (found,) = told(program)
        assert found in (f'error RX0319 "{dtype}"', f'error RX0320 "{dtype}"')
    for info in (relax.TensorStructInfo((2,), dtype), relax.PrimStructInfo(dtype)):
        (found,) = found_in(function_of(info))
        assert found[:12] in ("error RX0319", "error RX0320")


def test_a_scalar_is_a_number():
    for dtype in ("handle", "void"):
        program = f"@R.function\ndef f(x: R.Prim('{dtype}')):\n    return x"
        assert told(program) == [f"error RX0319 '{dtype}'"]


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_and_floats_have_the_widths_that_the_specification_lists(bits):
    dtypes = [f"int{bits}", f"uint{bits}", *([f"float{bits}"] if bits > 8 else [])]
    for dtype in (*dtypes, "bool", "int1", "uint1", "bfloat16", "float8_e4m3fn", "float8_e5m2"):
        accepted(f"@R.function\ndef f(x: R.Tensor((2,), '{dtype}')):\n    return x")


# ---------------------------------------------------------------- conditions and purity


CONDITION = """
    @R.function
    def f(c: {info}):
        if c:
            y = R.const(1)
        else:
            y = R.const(2)
        return y
    """


@pytest.mark.parametrize(
    "info",
    [
        'R.Tensor((), "float32")', 'R.Tensor((2,), "bool")', 'R.Tensor(("n",), "bool")',
        'R.Tensor("bool", ndim=2)', "R.Shape", "R.Tuple(R.Tensor((), 'bool'))", 'R.Prim("int64")',
        "R.Object", "R.Callable",
    ],
)  # fmt: skip
def test_a_condition_is_one_truth(info):
    assert told(CONDITION.format(info=info)) == ["error RX0201 c"]


@pytest.mark.parametrize("info", ['R.Tensor((), "bool")', 'R.Prim("bool")'])
def test_a_tensor_of_one_truth_and_a_scalar_decide(info):
    accepted(CONDITION.format(info=info))


IMPURE = """
    @R.function
    def f(x: R.Tensor((2,), "bool"), g: R.Callable((R.Object,), R.Object, False), h: R.Callable):
        {before}
        {call}
        {after}return x
    """


@pytest.mark.parametrize(
    ("call", "callee"),
    [
        ("R.print(x)", "R.print"),
        ('y = R.call_packed("spec.f", x)', "R.call_packed"),
        ("y = g(x)", "g"),
        ("y = h(x)", "h"),
        ('y = R.ExternFunc("spec.f")(x)', 'R.ExternFunc("spec.f")'),
    ],
)
def test_an_effect_where_none_may_be_names_the_call(call, callee):
    pure = IMPURE.format(before="", call=call, after="")
    assert told(pure) == [f"error RX0401 {callee}"]
    block = IMPURE.format(before="with R.dataflow():", call="    " + call, after="")
    block = block.replace("R.function", "R.function(pure=False)")
    assert told(block) == [f"error RX0402 {callee}"]
    accepted(pure.replace("R.function", "R.function(pure=False)"))
    trusted = 'R.func_attr({"relax.force_pure": True})'
    accepted(IMPURE.format(before=trusted, call=call, after=""))


def test_a_local_function_that_nobody_calls_is_pure_or_says_that_it_is_not():
    program = """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            @R.function
            def unused(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
                R.print(y)
                return y

            return x
        """
    assert told(program) == ["error RX0401 R.print"]
