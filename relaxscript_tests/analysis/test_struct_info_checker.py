"""StructInfos derived again: what contradicts them, and what is left to the run time."""

from __future__ import annotations

import pytest

from relaxscript import op
from relaxscript.analysis import ill_formed, well_formed
from relaxscript.errors import RelaxWarning
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    DataflowBlock,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.script import from_source

Tensor = TensorStructInfo
F4, F5 = Tensor((4,)), Tensor((5,))
OBJECT = ObjectStructInfo()
x, y, z = Var("x", F4), Var("y", F4), Var("z", F4)
five, boxed = Var("y", F5), Var("y", OBJECT)
PACKED = ExternFunc("p")


def function(*bindings, result=x, ret=None, block=BindingBlock, params=(x,), pure=True, attrs=None):
    return Function(
        params, SeqExpr([block(bindings)] if bindings else [], result), ret, pure, attrs
    )


def called(v, value, **options):
    return function(VarBinding(v, value), **options)


def impure(**options):
    return called(boxed, Call(PACKED, [x]), **options)


@pytest.mark.parametrize(
    ("func", "code", "text", "fact"),
    [
        (called(five, op.add(x, x)), "RX0205", "R.add(x, x)", "dimension 0 is `4`, not `5`"),
        (
            called(Var("t", TupleStructInfo([F5])), Tuple([x])), "RX0205", "(x,)",
            "in field 0, dimension 0 is `4`, not `5`",
        ),
        (called(five, x), "RX0205", "x", "dimension 0 is `4`, not `5`"),
        (function(MatchCast(five, x, F4)), "RX0205", "x", "dimension 0 is `4`, not `5`"),
        (
            function(MatchCast(five, x, F4.replace(shape=None))), "RX0205", "x",
            "the shape is unknown, and `(5,)` is needed",
        ),
        (function(ret=F5), "RX0205", "x", "dimension 0 is `4`, not `5`"),
        (called(Var("y", None), x), "RX0205", "y", "here"),
        (called(y, TupleGetItem(x, 0)), "RX0208", "x[0]", "`tuple` is a tensor"),
        (called(y, Call(x, [])), "RX0201", "x()", "`callee` is a tensor"),
        (
            called(y, If(x, SeqExpr([], x), SeqExpr([], x))), "RX0201", "x",
            f"is `{F4!r}`",
        ),
        (impure(), "RX0401", 'R.call_packed("p", x)', "here"),
        (impure(block=DataflowBlock, pure=False), "RX0402", 'R.call_packed("p", x)', "here"),
    ],
)  # fmt: skip
def test_what_contradicts_the_rules_is_found_once_and_placed(func, code, text, fact):
    (found,) = ill_formed(func)
    assert (found.code, found.span.text, found.labels[0].text) == (code, text, fact)
    assert well_formed(func, check_struct_info=False)


@pytest.mark.parametrize(
    "func",
    [
        called(boxed, op.add(x, x)),
        called(y, Call(PACKED, [x], sinfo_args=[Tensor(ndim=1)]), pure=False),
        called(five, Var("w", Tensor(ndim=1)), params=(x, Var("v", F4))).replace(
            params=(x, (w := Var("w", Tensor(ndim=1)))),
            body=SeqExpr([BindingBlock([VarBinding(five, w)])], x),
        ),
        impure(pure=False),
        impure(attrs={"relax.force_pure": True}),
        function(ret=OBJECT),
    ],
)
def test_what_is_true_or_only_possible_is_well_formed(func):
    assert ill_formed(func) == ()


def test_what_fails_is_told_once_and_not_of_what_it_is_bound_to():
    wrong = Call(Op("relax.add"), [x, Tuple([])])
    assert len(ill_formed(function(VarBinding(five, wrong), VarBinding(z, op.exp(x))))) == 1


def test_a_call_that_does_not_fit_its_operator_is_underlined_as_it_is():
    (found,) = ill_formed(called(y, Call(Op("relax.add"), [x])))
    assert (found.code, found.message) == ("RX0103", "`R.add` needs `x2`")
    assert found.span.text == "R.add(x)"
    (found,) = ill_formed(called(y, Call(Op("relax.ad"), [x])))
    assert found.message == "there is no operator `relax.ad`"


def test_a_call_is_compared_with_the_function_that_the_module_has():
    def calling(info):
        callee = Function([Var("a", info)], SeqExpr([], Var("a", info)), info)
        callee = callee.replace(body=SeqExpr([], callee.params[0]))
        v = Var("v", F4)
        w = Var("w", F4)
        call = VarBinding(w, Call(GlobalVar("g"), [v]))
        main = Function([v], SeqExpr([BindingBlock([call])], w))
        return IRModule({"g": callee.with_attr("global_symbol", "g"), "main": main})

    assert ill_formed(calling(F4)) == ()
    (found,) = ill_formed(calling(F5))
    assert found.message == "argument 1 does not fit the function's parameter"
    assert found.span.text.endswith(".g(v)")


def test_judging_a_program_leaves_what_it_remembers_as_it_is():
    call = op.add(x, x)
    func = called(y, call, result=y)
    before = call.struct_info
    assert well_formed(func)
    assert call.struct_info is before


def test_a_local_function_is_pure_or_not_by_itself():
    inner = Function([z], SeqExpr([BindingBlock([VarBinding(boxed, Call(PACKED, [z]))])], z),
                     F4, False)  # fmt: skip
    g = Var("g", FuncStructInfo([F4], F4, False))
    assert ill_formed(called(g, inner)) == ()
    pure = Var("g", FuncStructInfo([F4], F4, True))
    assert [d.code for d in ill_formed(called(pure, inner.replace(is_pure=True)))] == ["RX0401"]


def test_a_dimension_that_a_local_function_captures_is_no_variable_of_its_own():
    f = from_source("""
@R.function
def f(x: R.Tensor(("n",), "float32"), y: R.Tensor((3,), "float32"), o: R.Object):
    n, m = T.int64(), T.int64()

    @R.function
    def g(s: R.Shape([n]), a: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
        return a

    z = R.match_cast(o, R.Tensor((m,), "float32"))

    @R.function
    def h(s: R.Shape([m]), a: R.Tensor((m,), "float32")) -> R.Shape([m]):
        return s

    return (g(R.shape([n]), x), h(R.shape([m]), z))
""")
    assert ill_formed(f) == ()
    with pytest.warns(RelaxWarning):
        f = from_source(f.script().replace("g(R.shape([n]), x)", "g(R.shape([2]), y)"))
    assert ill_formed(f) == ()
