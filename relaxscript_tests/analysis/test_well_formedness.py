"""The criteria of well-formedness: for each a program that breaks it, and one that does not."""

from __future__ import annotations

import inspect

import pytest

from relaxscript import analysis, op, transform
from relaxscript.analysis import ill_formed, well_formed
from relaxscript.errors import explain, render
from relaxscript.ir.distributed import DeviceMesh, Placement
from relaxscript.ir.module import IRModule, VDevice
from relaxscript.ir.prim import IntImm, Var as PrimVar
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Tuple,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
    default_derive,
)
from relaxscript.testing.programs import random_function, random_module
from relaxscript.transform import Pass
from relaxscript_tests import examples

Tensor, Shape, Prim = TensorStructInfo, ShapeStructInfo, PrimStructInfo
F4 = Tensor((4,))
BOOL = Tensor((), "bool")
OBJECT = ObjectStructInfo()


def size(name="n"):
    return PrimVar(name, "int64")


def var(name, info=F4):
    return Var(name, info)


def lv(name, info=F4):
    return DataflowVar(name, info)


def twice(x):
    return op.add(x, x)


def bind(v, value):
    return VarBinding(v, value)


def function(params, *blocks, result=None, ret=None, pure=True, attrs=None):
    """A function of blocks: lists are ordinary blocks, tuples dataflow blocks."""
    made = [DataflowBlock(b) if isinstance(b, tuple) else BindingBlock(b) for b in blocks]
    body = SeqExpr(made, params[0] if result is None else result)
    return Function(params, body, ret, pure, attrs)


def module(attrs=None, infos=None, **functions):
    known = {}
    for name, func in functions.items():
        symbol = {"global_symbol": name} if attrs is None else attrs
        known[name] = func.with_attrs(symbol) if symbol else func
    return IRModule(known, global_infos=infos)


# -- 1 to 3: variables -----------------------------------------------------------------------------


def dataflow_var_in_ordinary_block(kind):
    x, y = var("x"), kind("y", F4)
    return function([x], [bind(y, twice(x))])


def dataflow_var_used_outside(kind):
    x, y = var("x"), kind("y", F4)
    return function([x], (bind(y, twice(x)),), result=y)


def bound_twice(other):
    x, y = var("x"), var("y")
    again = var("z") if other else y
    return function([x], [bind(y, twice(x)), bind(again, twice(x))], result=y)


def bound_by_nothing(other):
    x = var("x")
    return function([x], result=x if other else var("y"))


def on_its_own_right(other):
    x, y = var("x"), var("y")
    return function([x], [bind(y, twice(x if other else y))])


def calls_itself():
    x, a, g = var("x"), var("a"), var("g", FuncStructInfo([F4], F4))
    inner = function([a], [bind(b := var("b"), Call(g, [a]))], result=b, ret=F4)
    return function([x], [bind(g, inner)])


def of_two_functions(other):
    x = var("x")
    return module(f=function([x]), g=function([var("x") if other else x]))


def used_too_early(other):
    x, y, z = var("x"), var("y"), var("z")
    bindings = [bind(z, twice(y)), bind(y, twice(x))]
    return function([x], bindings[::-1] if other else bindings)


def used_behind_its_branch(other):
    x, c, y, z = var("x"), var("c", BOOL), var("y"), var("z")
    branch = SeqExpr([BindingBlock([bind(y, twice(x))])], y)
    chosen = bind(z, If(c, branch, SeqExpr([], x)))
    return function([x, c], [chosen], result=z if other else y)


def no_such_function(other):
    x, y = var("x"), var("y")
    call = Call(GlobalVar("main" if other else "nobody"), [x])
    return module(main=function([x], [bind(y, call)], ret=F4))


# -- 4 to 6: shape variables -----------------------------------------------------------------------


def result_of_unknown_size(other):
    n, m = size(), size("m")
    x = var("x", Tensor((n,)))
    return function([x], ret=Tensor((n if other else m,)))


def cast_to_twice_a_size(other):
    n, x = size(), var("x", Tensor(ndim=1))
    info = Tensor((n if other else n * 2,))
    return function([x], [MatchCast(var("y", Tensor(ndim=1)), x, info)])


def shape_of_unknown_size(other):
    n, m = size(), size("m")
    x, s = var("x", Tensor((n,))), var("s", Shape(ndim=1))
    return function([x], [bind(s, ShapeExpr([n if other else m]))])


def cast_in_a_branch(other):
    """Both branches may bind one variable; behind them it is unknown."""
    m, x, c = size("m"), var("x", Tensor(ndim=1)), var("c", BOOL)
    z = var("z", Tensor(ndim=1))

    def branch():
        y, shape = var("y", Tensor((m,))), var("t", Shape([m]))
        inside = [MatchCast(y, x, Tensor((m,))), bind(shape, ShapeExpr([m]))]
        return SeqExpr([BindingBlock(inside)], y)

    outside = [] if other else [bind(var("s", Shape(ndim=1)), ShapeExpr([m]))]
    return function([x, c], [bind(z, If(c, branch(), branch())), *outside])


def parameter_of_unknown_size(other):
    n, m = size(), size("m")
    params = [var("x", Tensor((n * m,))), var("y", Tensor((n, m) if other else (n,)))]
    return function(params)


def captured_size():
    n, x, s = size(), var("x", Tensor((size("k"),))), var("s", Shape(ndim=1))
    n = x.struct_info.dims[0]
    y, g = var("y", Tensor((n * 2,))), var("g", OBJECT)
    inner = function([y], [bind(s, ShapeExpr([n + 1]))], result=s, ret=Shape([n + 1]))
    return function([x], [bind(g, inner)])


# -- 7, 8: recursion and control flow --------------------------------------------------------------


def recursive(name, other, ret=F4):
    x, y = var("x"), var("y")
    block = [bind(y, Call(GlobalVar(name), [x]))]
    return function([x], block if other else tuple(block), result=y, ret=ret)


def recursion_in_dataflow(other):
    return module(f=recursive("f", other))


def mutual_recursion_in_dataflow(other):
    return module(f=recursive("g", other), g=recursive("f", True))


def local_recursion_in_dataflow(other):
    x, a, b, g = var("x"), var("a"), var("b"), var("g", FuncStructInfo([F4], F4))
    block = [bind(b, Call(g, [a]))]
    inner = function([a], block if other else tuple(block), result=b, ret=F4)
    return function([x], [bind(g, inner)])


def if_in_dataflow(other):
    x, c, y = var("x"), var("c", BOOL), var("y")
    block = [bind(y, If(c, SeqExpr([], x), SeqExpr([], x)))]
    return function([x, c], block if other else tuple(block))


def undeclared_recursion(other):
    return module(f=recursive("g", True), g=recursive("f", True, F4 if other else None))


def undeclared_local_recursion(other):
    x, a, b, g = var("x"), var("a"), var("b"), var("g", FuncStructInfo([F4], F4))
    ret = F4 if other else None
    inner = function([a], [bind(b, Call(g, [a])), bind(var("c"), Call(g, [b]))], ret=ret)
    return function([x], [bind(g, inner)])


# -- 9 to 13 ---------------------------------------------------------------------------------------


def operator_as_value(other):
    x = var("x")
    return function([x], result=x if other else Tuple.make((Op("relax.add"),)))


def rank_beside_dimensions(other):
    info = Tensor.make(ShapeExpr([2, 3]), F4.dtype, None, 2 if other else 3)
    return function([var("x", info)])


def rank_of_a_shape(other):
    return function([var("s", Shape.make((IntImm("int64", 2),), 1 if other else 2))])


def rank_of_a_shape_in_a_variable(other):
    s = var("s", Shape(ndim=2))
    return function([var("x", Tensor.make(s, F4.dtype, None, 2 if other else 1)), s])


def captured_from_dataflow(other):
    x, a, y = var("x"), var("a"), (Var if other else DataflowVar)("y", F4)
    g = lv("g", FuncStructInfo([F4], F4))
    inner = function([a], [bind(b := var("b"), op.add(a, y))], result=b, ret=F4)
    return function([x], (bind(y, twice(x)), bind(g, inner)))


def nothing_public(other):
    return module({"global_symbol": "f"} if other else {}, f=function([var("x")]))


def named_otherwise(other):
    return module({"global_symbol": "f" if other else "entry"}, f=function([var("x")]))


# -- 14 to 24: annotations -------------------------------------------------------------------------


def in_annotation(make):
    """An annotation that uses `n`, which only a cast brings in; of function types `n` is free."""

    def program(other):
        x, y = var("x", OBJECT), var("y", info := make(size()))
        return function([x], [MatchCast(y, x, info) if other else bind(y, x)])

    return program


def result_of_unknown_packed_size(other):
    n, x = size(), var("x", Tensor((size("k"),)))
    n = x.struct_info.dims[0] if other else n
    call = Call(ExternFunc("p"), [x], sinfo_args=[Tensor((n,))])
    return function([x], [bind(var("y", OBJECT), call)], pure=False)


def shape_in_an_unknown_variable(other):
    s = var("s", Shape(ndim=1))
    return function([var("x", Tensor(s, ndim=1)), *([s] if other else [])])


def shape_in_no_shape(other):
    s = var("s", Shape(ndim=1) if other else F4)
    return function([var("x", Tensor.make(s, F4.dtype, None, 1)), s])


def shape_that_is_a_call(other):
    x = var("x")
    shape = ShapeExpr([4]) if other else op.shape_of(x)
    return function([x, var("y", Tensor.make(shape, F4.dtype, None, 1))])


def params_and_derive_func(other):
    info = FuncStructInfo([F4], F4, True, None if other else default_derive)
    return function([var("f", info)])


def computed_prim_value(other):
    n, k = size(), var("k", Prim("int64"))
    x = var("x", Tensor((n,)))
    return function([x], [bind(k, PrimValue(3) if other else PrimValue(n + 1))])


def parameter(info):
    return lambda other: function([var("x", info(other))])


def forced_impure(other):
    return function([var("x")], pure=other, attrs={"relax.force_pure": True})


def not_normal(other):
    x, y = var("x"), var("y")
    xs = var("xs", TupleStructInfo([F4]))
    args = Tuple([x]) if other else xs
    call = Call(Op("relax.call_tir"), [GlobalVar("p"), args], sinfo_args=[F4])
    return function([x, xs], [bind(y, call)])


def unlisted_device(other):
    listed = {"vdevice": [VDevice("llvm", 0), VDevice("llvm", 1)]} if other else None
    return module(infos=listed, f=function([var("x", Tensor((4,), "float32", "cpu:1"))]))


def uneven_shards(other):
    mesh = DeviceMesh((2, 2), range(4))
    placement = Placement.from_text("R, R" if other else "R, S[0]")
    return function([var("x", DTensorStructInfo.make(Tensor((5,)), mesh, placement))])


CASES = [
    ("RX0301", dataflow_var_in_ordinary_block, "y"),
    ("RX0301", dataflow_var_used_outside, "y"),
    ("RX0302", bound_twice, "y"),
    ("RX0302", bound_by_nothing, "y"),
    ("RX0302", on_its_own_right, "y"),
    ("RX0302", of_two_functions, 'x: R.Tensor((4,), "float32")'),
    ("RX0302", no_such_function, "cls.nobody"),
    ("RX0303", used_too_early, "y"),
    ("RX0303", used_behind_its_branch, "z"),
    ("RX0304", result_of_unknown_size, 'R.Tensor(("m",), "float32")'),
    ("RX0305", cast_to_twice_a_size, 'R.Tensor((n * 2,), "float32")'),
    ("RX0305", shape_of_unknown_size, "R.shape([m])"),
    ("RX0305", cast_in_a_branch, "R.shape([m])"),
    ("RX0306", parameter_of_unknown_size, 'R.Tensor(("n * m",), "float32")'),
    ("RX0307", recursion_in_dataflow, "cls.f(x)"),
    ("RX0307", mutual_recursion_in_dataflow, "cls.g(x)"),
    ("RX0307", local_recursion_in_dataflow, "g(a)"),
    ("RX0307", if_in_dataflow, "if c:"),
    ("RX0308", undeclared_recursion, 'def g(x: R.Tensor((4,), "float32")):'),
    ("RX0308", undeclared_local_recursion, 'def g(a: R.Tensor((4,), "float32")):'),
    ("RX0309", operator_as_value, ""),
    ("RX0310", rank_beside_dimensions, ""),
    ("RX0310", rank_of_a_shape, ""),
    ("RX0310", rank_of_a_shape_in_a_variable, ""),
    ("RX0311", captured_from_dataflow, "y"),
    ("RX0312", nothing_public, ""),
    ("RX0313", named_otherwise, ""),
    ("RX0314", in_annotation(lambda n: Tensor((n,))), 'R.Tensor((n,), "float32")'),
    ("RX0314", result_of_unknown_packed_size, 'R.Tensor((n,), "float32")'),
    ("RX0314", shape_in_an_unknown_variable, ""),
    ("RX0314", shape_in_no_shape, ""),
    ("RX0314", shape_that_is_a_call, ""),
    ("RX0315", in_annotation(lambda n: Shape((n,))), "R.Shape([n])"),
    ("RX0316", in_annotation(lambda n: Prim(value=n)), "R.Prim(value=n)"),
    ("RX0317", params_and_derive_func, ""),
    ("RX0318", computed_prim_value, "R.prim_value(n + 1)"),
    ("RX0319", parameter(lambda ok: Prim("int64" if ok else "handle")), 'R.Prim("handle")'),
    ("RX0320", parameter(lambda ok: Tensor((4,), "int32" if ok else "int24")), ""),
    ("RX0320", parameter(lambda ok: Prim("int32" if ok else "int24")), 'R.Prim("int24")'),
    ("RX0321", forced_impure, ""),
    (
        "RX0322",
        parameter(lambda ok: Prim.make(Prim("int64" if ok else "int32").dtype, IntImm("int64", 3))),
        "",
    ),
    ("RX0323", not_normal, ""),
    ("RX0324", unlisted_device, 'R.Tensor((4,), "float32", vdevice="llvm:1")'),
    ("RX0326", uneven_shards, ""),
]


def offender(make):
    if make in (dataflow_var_in_ordinary_block, dataflow_var_used_outside):
        return make(DataflowVar), make(Var)
    return make(False), make(True)


def every_case(with_text=False):
    cases = [case if with_text else case[:2] for case in CASES if case[2] or not with_text]
    ids = [f"{case[0]}-{case[1].__name__}" for case in cases]
    names = ("code", "make", "text") if with_text else ("code", "make")
    return pytest.mark.parametrize(names, cases, ids=ids)


@every_case()
def test_an_offender_breaks_its_criterion_once_and_its_twin_breaks_none(code, make):
    wrong, right = offender(make)
    assert [d.code for d in ill_formed(wrong)] == [code]
    assert not well_formed(wrong)
    found = ill_formed(right, check_struct_info=False)
    assert not found, render(found)
    assert well_formed(right, check_struct_info=False)


@every_case(with_text=True)
def test_what_is_wrong_is_underlined_in_the_printed_text(code, make, text):
    (found,) = ill_formed(offender(make)[0])
    assert found.span is not None
    assert found.span.text == text


def test_what_is_bound_in_a_branch_and_used_behind_it_is_underlined_where_it_is_used():
    # Printed, the variable goes by the name of what the branch gives.
    (found,) = ill_formed(used_behind_its_branch(False))
    assert found.span.source.line(found.span.line) == "    return z"


def test_every_criterion_has_a_case():
    numbers = [*range(1, 25), 26]  # 25 is the normal form
    assert {code for code, *_ in CASES} == {f"RX03{number:02}" for number in numbers}
    assert all(explain(code) for code, *_ in CASES)


@pytest.mark.parametrize("make", [calls_itself, captured_size])
def test_local_functions_may_call_themselves_and_capture_sizes(make):
    assert ill_formed(make()) == ()


def test_a_shape_of_unknown_rank_may_be_of_any():
    s = var("s", Shape())
    assert well_formed(function([var("x", Tensor(s, ndim=2)), s]))


def test_a_local_function_of_a_dataflow_block_may_call_itself():
    x, a, b, g = var("x"), var("a"), var("b"), lv("g", FuncStructInfo([F4], F4))
    inner = function([a], [bind(b, Call(g, [a]))], result=b, ret=F4)
    assert well_formed(function([x], (bind(g, inner),)))


def test_all_that_is_wrong_is_found_and_said_with_its_place():
    x, y, z = var("x"), var("y"), var("z")
    mod = module(
        {}, f=function([x], [bind(y, twice(z)), bind(y, PrimValue(size() + 1))]),
        g=recursive("g", other=False, ret=None),
    )  # fmt: skip
    found = ill_formed(mod)
    assert sorted(d.code for d in found) == [
        "RX0302", "RX0302", "RX0307", "RX0308", "RX0312", "RX0318",
    ]  # fmt: skip
    assert all(d.span is not None for d in found)
    (nothing,) = [d for d in found if "nothing binds" in d.message]
    assert render(nothing) == (
        "error[RX0302]: nothing binds `z`\n"
        "  --> <script>:11:46\n"
        "   |\n"
        '11 |         y: R.Tensor((4,), "float32") = R.add(z, z)\n'
        "   |                                              ^ here"
    )


def test_a_program_that_cannot_be_printed_is_judged_all_the_same(monkeypatch):
    from relaxscript.errors import InternalError
    from relaxscript.ir import hooks

    def fails(*_):
        raise InternalError("there is no script for it")

    monkeypatch.setattr(hooks.places, "_function", fails)
    (found,) = ill_formed(bound_by_nothing(False))
    assert (found.message, found.span) == ("nothing binds `y`", None)


def test_what_is_no_program_is_refused():
    with pytest.raises(TypeError, match="an IRModule or a Function is well-formed or not, int"):
        well_formed(3)


def test_of_a_function_alone_is_not_asked_what_only_its_module_knows():
    func = recursive("nobody", other=True)
    assert well_formed(func)
    listed = function([var("x", Tensor((4,), "float32", "cpu:1"))])
    assert well_formed(listed)


def test_what_stands_inside_of_a_dataflow_block_stands_in_it_however_it_nests():
    x, y, z = var("x"), var("y"), var("z")
    inner = SeqExpr([BindingBlock([bind(y, Call(GlobalVar("f"), [x]))])], y)
    wrong = module(f=function([x], (bind(z, inner),), result=z, ret=F4))
    assert [d.code for d in ill_formed(wrong)] == ["RX0307"]


def test_long_programs_and_deep_ones_take_no_recursion():
    x = var("x")
    deep = x
    for _ in range(3000):
        deep = Call(Op("relax.exp"), [deep])
    assert [d.code for d in ill_formed(function([x], result=deep))] == ["RX0325"]
    c, y = var("c", BOOL), SeqExpr([], x)
    for _ in range(400):
        z = var("z")
        y = SeqExpr([BindingBlock([bind(z, If(c, SeqExpr([], x), y))])], z)
    assert well_formed(Function([x, c], y, F4))


# -- laws ------------------------------------------------------------------------------------------

PASSES = {
    name: found
    for name in transform.__all__
    if isinstance(found := getattr(transform, name), type)
    and issubclass(found, Pass)
    and not getattr(found, "__abstractmethods__", None)
    and not inspect.signature(found).parameters
}


def refuse_nothing(obj):
    found = ill_formed(obj)
    assert not found, render(found)


@pytest.mark.slow
def test_random_programs_are_well_formed():
    for seed in range(examples(300)):
        refuse_nothing(random_module(seed))
        refuse_nothing(random_function(seed))


@pytest.mark.slow
@pytest.mark.parametrize("make", [*PASSES.values(), transform.default_build_pipeline])
def test_passes_keep_random_programs_well_formed(make):
    for seed in range(examples(100)):
        refuse_nothing(make()(random_module(seed)))


def test_analyses_that_rewrite_keep_random_programs_well_formed():
    for seed in range(examples(100)):
        refuse_nothing(analysis.remove_all_unused(random_function(seed)))
