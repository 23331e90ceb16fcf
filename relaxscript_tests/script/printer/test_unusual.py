"""What is unusual is printed all the same, and read back as it was."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from relaxscript.dtypes import DataType
from relaxscript.ir import (
    IRModule,
    Target,
    VDevice,
    assert_structural_equal,
    prim,
    relax,
    structural_equal,
    structural_hash,
    tir,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    TensorStructInfo,
    TupleStructInfo,
    default_derive,
    empty_derive,
)
from relaxscript.script import from_source

X = relax.Var("x", TensorStructInfo((2, 3)))
A = tir.Buffer("A", (8,))
I, J, V = (prim.Var(name, "int32") for name in ("i", "j", "vi"))  # noqa: E741
C = prim.Var("c", "bool")
STORE = tir.BufferStore(A, 1.0, [I])
SYMBOL = {"global_symbol": "main"}


def int32(value):
    return prim.const(value, "int32")


def comes_back(program, **options):
    text = program.script(show_meta=True, **options)
    ast.parse(text)
    again = from_source(text)
    assert_structural_equal(program, again)
    assert again.script(show_meta=True, **options) == text
    return text


def function(attrs=None, params=(X,), body=X, ret=X.struct_info, blocks=()):
    return relax.Function(
        params, relax.SeqExpr(blocks, body), ret, True, {**SYMBOL, **(attrs or {})}
    )


def prim_func(*params, body):
    return tir.PrimFunc(params, body, attrs=SYMBOL)


def block(*values, axes=(), body=STORE, **more):
    return tir.BlockRealize(values, True, tir.Block(axes, [], [], "b", body, **more))


@pytest.mark.parametrize(
    "name", ["def", "R", "T", "cls", "a b", "é", "1x", "", "None", "float", "_"]
)
def test_variables_of_any_name(name):
    var, dim = relax.Var(name, TensorStructInfo((2, 3))), prim.Var(name, "int64")
    sized = relax.Var(name, TensorStructInfo((dim, 3)))
    copy = relax.Var(name, sized.struct_info)
    binding = relax.VarBinding(copy, relax.Call(relax.Op("relax.add"), [sized, sized]))
    comes_back(function(params=[var, sized], body=copy, ret=sized.struct_info,
                        blocks=[relax.BindingBlock([binding])]))  # fmt: skip
    buffer = tir.Buffer(name, (4,))
    scalar = prim.Var(name, "int32")
    comes_back(prim_func(buffer, scalar, body=tir.BufferStore(buffer, 1.0, [scalar])))


@pytest.mark.parametrize(
    "value",
    [
        None, True, -1, 2**70, 1e-7, float("inf"), float("nan"), "float32", (), (1, (2, 3)),
        {"b": {"c": 1.5}}, np.arange(3), prim.const(3, "int8"), TensorStructInfo((2,)),
        VDevice("llvm"), VDevice("cuda -arch=sm_80", 1, "local"), Target("llvm"),
        Target("cuda", {"n": 3, "flags": ["a b", True]}), relax.PrimValue(3),
    ],
    ids=repr,
)  # fmt: skip
def test_attributes_of_functions_and_calls(value):
    comes_back(function({"x": value}))
    call = relax.Call(relax.ExternFunc("f"), [X], {"x": value, "a b": 1, "def": 2}, [X.struct_info])
    y = relax.Var("y", X.struct_info)
    block = relax.BindingBlock([relax.VarBinding(y, call)])
    made = function(body=y, blocks=[block]).replace(is_pure=False)
    assert '**{"a b": 1, "def": 2}' in comes_back(made)


def test_an_attribute_that_no_script_can_say_is_refused():
    careless = relax.Attrs()
    careless._items["x"] = object()
    with pytest.raises(TypeError, match="an attribute that is a object has no script"):
        function().replace(attrs=careless).script()
    careless._items["x"] = Target("cuda", {"t": Target("llvm")})
    with pytest.raises(TypeError, match="an option of a target that is a Target has no script"):
        function().replace(attrs=careless).script()


def test_dimensions_of_two_data_types_are_one():
    infos = [TensorStructInfo((prim.const(3, dtype),)) for dtype in ("int64", "int32")]
    params = [relax.Var("p", info) for info in infos]
    text = comes_back(function(params=params, body=relax.Tuple(params), ret=TupleStructInfo(infos)))
    assert "T.int32(3)" not in text


def test_functions_whose_names_become_one_identifier_are_told_apart():
    module = IRModule({"a_b": function(), "a b": function(), "a-b": function()})
    text = module.script()
    assert [f"def {name}(" in text for name in ("a_b", "a_b_1", "a_b_2")] == [True] * 3
    assert ast.parse(text)


AXIS = tir.IterVar(tir.Range(int32(0), int32(8)), V)
BODIES = {
    "a loop around a block, without a root": tir.For(
        I, 0, 8, "serial", block(I, axes=[AXIS], body=tir.BufferStore(A, 1.0, [V]))
    ),
    "a block in a branch": tir.IfThenElse(C, block()),
    "two blocks": tir.SeqStmt([block(), block()]),
    "a block with axes by itself": block(int32(3), axes=[AXIS]),
    "a root block": tir.BlockRealize(
        [], True, tir.Block([], [], [], "root", tir.SeqStmt([STORE, STORE]))
    ),
    "statements in statements": tir.SeqStmt([STORE, tir.SeqStmt([STORE, STORE])]),
    "let in let": tir.LetStmt(I, 3, tir.LetStmt(J, I + 1, STORE)),
}  # fmt: skip


@pytest.mark.parametrize("which", BODIES)
def test_bodies_of_prim_funcs(which):
    text = comes_back(prim_func(A, C, *([] if which == "let in let" else [I]), body=BODIES[which]))
    rootless = which in list(BODIES)[:4]
    assert ("@T.prim_func(s_tir=False)" in text) == rootless


@pytest.mark.parametrize("dtype", ["int4", "uint1", "float8_e4m3fn", "bfloat16", "uint64"])
def test_literals_of_every_data_type(dtype):
    buffer = tir.Buffer("b", (4,), dtype)
    comes_back(prim_func(buffer, body=tir.BufferStore(buffer, 1, [int32(0)])))


DEEP = {
    "subtraction": lambda e: J - e,
    "minimum": lambda e: prim.Min(e, J),
    "cast": lambda e: prim.Cast("int32", e),
    "let": lambda e: prim.Let(prim.Var("v"), e, J),
    "select": lambda e: prim.Select(C, e, J),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", DEEP)
def test_scalars_of_any_depth_are_printed_and_moderate_ones_come_back(kind):
    def nested(depth):
        e = I
        for _ in range(depth):
            e = DEEP[kind](e)
        return prim_func(I, J, C, body=tir.Evaluate(e))

    comes_back(nested(40))
    assert "..." in nested(20_000).script()


def test_statements_deeper_than_python_reads_are_cut():
    body = STORE
    for _ in range(3_000):
        body = tir.IfThenElse(C, body)
    text = prim_func(A, C, I, body=body).script()
    assert text.endswith("...")
    body = STORE
    for _ in range(90):
        body = tir.IfThenElse(C, body)
    comes_back(prim_func(A, C, I, body=body))


def test_functions_keep_names_that_python_has_not():
    names = [
        "a.b",
        "a_b",
        "if",
        "R",
        "T",
        "main",
        "1",
        "__init__",
        "v1",
        "é.x",
        "cls",
        "Module",
        "",
    ]
    f = function()
    mod = IRModule({name: f.with_attr("global_symbol", name) for name in names})
    caller = relax.Call(mod.get_global_var("a.b"), [X])
    blocks = [relax.BindingBlock([relax.VarBinding(relax.Var("y", X.struct_info), caller)])]
    mod["main"] = function(blocks=blocks)
    text = comes_back(mod)
    assert '"a_b_1": "a.b"' in text
    assert {var.name_hint for var in from_source(text).functions} == set(names)


def test_a_module_called_as_a_namespace_has_another_name_in_the_text():
    mod = IRModule({"main": function()}, name="R")
    assert "class R_1:" in comes_back(mod)


ATTRIBUTES = {
    "info": TensorStructInfo((2, 3), "float32"),
    "unknown": ObjectStructInfo(),
    "inside": [TupleStructInfo([ObjectStructInfo()]), {"k": PrimStructInfo("int64")}],
    "dtype": DataType("float8_e4m3fn"),
    "text of a dtype": "float32",
    "node": relax.StringImm("a"),
    "small": relax.Constant(np.zeros(2, "float32")),
    "big": relax.Constant(np.arange(100.0, dtype="float32")),
    "scalar": prim.const(3, "uint8"),
    "huge": 10**30,
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_of_every_kind_come_back_wherever_they_stand(name):
    attrs = {name: ATTRIBUTES[name]}
    kernel = tir.PrimFunc([], tir.Evaluate(0), attrs={"global_symbol": "k", **attrs})
    comes_back(kernel)
    comes_back(function(attrs))
    mod = IRModule({"main": function(), "k": kernel}, attrs)
    comes_back(mod)
    again = from_source(mod.script(show_meta=True)).attrs[name]
    assert type(again) is type(mod.attrs[name])


@pytest.mark.parametrize("name", ["metadata", "float", "range"])
def test_a_function_named_as_a_word_of_scripts_is_written_otherwise(name):
    big = relax.Constant(np.full(100, np.nan, "float32"))
    y = relax.Var("y", TensorStructInfo((100,), "float32"))
    infinity = relax.PrimValue(float("inf"))
    z = relax.Var("z", infinity.struct_info)
    block = relax.BindingBlock([relax.VarBinding(y, big), relax.VarBinding(z, infinity)])
    symbol = {"global_symbol": name}
    f = relax.Function([], relax.SeqExpr([block], y), y.struct_info, True, symbol)
    text = comes_back(IRModule({name: f}))
    assert f'I.module_names({{"{name}_1": "{name}"}})' in text


def test_what_a_call_says_of_the_results_of_an_unknown_callable_is_kept():
    callee = relax.Var("f", FuncStructInfo.opaque_func(derive_func="any.derive"))
    y = relax.Var("y", ObjectStructInfo())
    for infos in ([X.struct_info], [X.struct_info, ObjectStructInfo()]):
        call = relax.Call(callee, [X], None, infos)
        block = relax.BindingBlock([relax.VarBinding(y, call)])
        body = relax.SeqExpr([block], y)
        f = relax.Function([X, callee], body, y.struct_info, False, SYMBOL)
        assert "= f(x, sinfo_args=" in comes_back(f)


@pytest.mark.parametrize("name", ["x", "R", "T", "cls", "max", "abs", "float", "main"])
def test_a_dimension_of_a_function_type_may_be_named_as_anything(name):
    n = prim.Var(name, "int64")
    params = [TensorStructInfo((n + 1, n), "float32"), TensorStructInfo((n,), "float32")]
    callee = relax.Var("f", FuncStructInfo(params, TensorStructInfo((n * 2,), "float32")))
    y = relax.Var("y", callee.struct_info)
    block = relax.BindingBlock([relax.VarBinding(y, callee)])
    comes_back(function(None, (X, callee), y, callee.struct_info, [block]))


def test_attributes_may_mention_the_dimensions_of_the_function():
    n = prim.Var("n", "int64")
    x = relax.Var("x", TensorStructInfo((n,), "float32"))
    attrs = {"info": TensorStructInfo((n, 4), "float32"), "size": n * 2}
    comes_back(function(attrs, (x,), x, x.struct_info))


def derive_like_the_argument(call, context):
    return call.args[0].struct_info


@pytest.mark.parametrize(
    "rule", [derive_like_the_argument, "a.b", "default_derive", default_derive, empty_derive, None]
)
def test_a_callable_keeps_the_rule_for_its_results(rule):
    f = relax.Var("f", FuncStructInfo.opaque_func(derive_func=rule, purity=True))
    comes_back(function(None, (f,), f, f.struct_info))


def test_callables_of_two_rules_are_two():
    one, other = (FuncStructInfo.opaque_func(derive_func=rule) for rule in ("a", "b"))
    assert not structural_equal(one, other)
    named = FuncStructInfo.opaque_func(derive_func="derive_like_the_argument")
    same = FuncStructInfo.opaque_func(derive_func=derive_like_the_argument)
    assert structural_equal(named, same)
    assert structural_hash(named) == structural_hash(same)


def test_a_loop_whose_end_is_no_number_of_its_type_comes_back():
    largest = 2**31 - 1
    loop = tir.For(I, int32(2), int32(largest), tir.ForKind.SERIAL, tir.Evaluate(I))
    f = tir.PrimFunc([], loop, attrs=SYMBOL)
    assert f"range(2, T.int32(2) + {largest})" in comes_back(f)


def test_what_stands_in_no_function_has_a_script():
    B = tir.Buffer("B", (4,))
    match = tir.MatchBufferRegion(B, tir.BufferRegion(A, [tir.Range(int32(0), int32(4))]))
    assert repr(match) == "T.match_buffer(A[0:4], (4,))"
    assert Target("llvm").script() == 'T.target("llvm")'
    assert VDevice("llvm", 1).script() == 'I.vdevice("llvm", 1)'
