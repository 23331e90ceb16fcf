"""Whether what `R.call_tir` gives fits the PrimFunc."""

from __future__ import annotations

from typing import Any

import pytest

import relaxscript.op as R
from relaxscript.errors import OperandError
from relaxscript.ir import prim, relax, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.op import PlainContext

from .inference import dim, prim_var, ranked, tensor


def prim_func(*shapes: Any, integers: tuple[str, ...] = (), dtype: str = "float32") -> tir.PrimFunc:
    """A PrimFunc with buffers of these shapes; scalar parameters come after the first buffer."""
    own: dict[str, prim.Var] = {}

    def dimension(d: Any) -> Any:
        return own.setdefault(d, prim.Var(d, "int64")) if isinstance(d, str) else d

    handles = [tir.handle_var(f"p{i}") for i in range(len(shapes))]
    buffers = [
        tir.Buffer(f"b{i}", [dimension(d) for d in shape], dtype) for i, shape in enumerate(shapes)
    ]
    scalars = [dimension(name) for name in integers]
    params = [*handles[:1], *scalars, *handles[1:]]
    return tir.PrimFunc(params, tir.Evaluate(0), buffer_map=dict(zip(handles, buffers)))


def call(function: Any, *args: Any, out: Any, tir_vars: Any = None) -> list[str]:
    """The deferred checks of a call of a PrimFunc."""
    module = IRModule({"f": function})
    context = PlainContext(module)
    infos = [info(o) for o in out]
    built = R.call_tir.build((module.get_global_var("f"), args, infos, tir_vars))
    R.call_tir.infer(built, context)
    return [o.text for o in context.deferred_checks]


def info(dims: Any) -> StructInfo:
    return (
        dims
        if isinstance(dims, StructInfo)
        else TensorStructInfo([dim(d) for d in dims], "float32")
    )


def refused(function: Any, *args: Any, out: Any, tir_vars: Any = None) -> OperandError:
    with pytest.raises(OperandError) as caught:
        call(function, *args, out=out, tir_vars=tir_vars)
    return caught.value


MATMUL = prim_func(("n", "k"), ("k", "m"), ("n", "m"))


def test_what_fits() -> None:
    assert call(MATMUL, tensor(2, "a"), tensor("a", 4), out=[(2, 4)]) == []
    assert call(prim_func((2,), (2,), (2,)), tensor(2), out=[(2,), (2,)]) == []
    assert call(prim_func(("n",), ("n",)), ranked(-1), out=[(7,)]) == []


def test_another_number_of_tensors() -> None:
    error = refused(MATMUL, tensor(2, 3), out=[(2, 4)])
    assert error.message == "`f` takes another number of tensors"
    assert error.facts == {
        "args": "gives 1 tensor",
        "out_sinfo": "describes 1 result",
        "gvar": "takes 3 buffers",
    }


def test_another_shape() -> None:
    error = refused(MATMUL, tensor(2, 3), tensor(5, 4), out=[(2, 4)])
    assert error.message == "`f` takes another shape there"
    assert error.facts == {"args[1]": "has shape (5, 4)", "gvar": "takes shape (3, 4) as `b1`"}


def test_another_shape_of_a_result() -> None:
    error = refused(MATMUL, tensor(2, 3), tensor(3, 4), out=[(2, 5)])
    assert error.operand == "out_sinfo"
    assert error.facts["out_sinfo"] == "has shape (2, 5)"
    error = refused(prim_func((2,), (2,), (2,)), tensor(2), out=[(2,), (3,)])
    assert error.operand == "out_sinfo[1]"


def test_a_shape_that_may_differ_is_a_deferred_check() -> None:
    (text,) = call(MATMUL, tensor(2, "a"), tensor("b", 4), out=[(2, 4)])
    assert "`args[1]` has shape (b, 4)" in text
    assert "takes shape (a, 4) as `b1`" in text


def test_dimensions_that_are_computed_from_others() -> None:
    double = prim_func(("n",), (prim.Var("n", "int64") * 2,))
    assert call(double, tensor(3), out=[(6,)]) == []  # `n` of the second is another variable
    n = prim.Var("n", "int64")
    x, y = tir.handle_var("x"), tir.handle_var("y")
    buffers = {x: tir.Buffer("x", (n,), "float32"), y: tir.Buffer("y", (n * 2,), "float32")}
    function = tir.PrimFunc([x, y], tir.Evaluate(0), buffer_map=buffers)
    assert call(function, tensor(3), out=[(6,)]) == []
    assert refused(function, tensor(3), out=[(7,)]).operand == "out_sinfo"


def test_another_rank_or_data_type() -> None:
    error = refused(MATMUL, tensor(2), tensor(3, 4), out=[(2, 4)])
    assert error.facts == {"args[0]": "has shape (2,)", "gvar": "takes rank 2 as `b0`"}
    error = refused(prim_func((2,), (2,), dtype="int8"), tensor(2), out=[(2,)])
    assert error.facts == {"args[0]": "has dtype float32", "gvar": "takes int8 as `b0`"}
    assert error.code == "RX0202"


def test_integers_go_to_the_scalar_parameters() -> None:
    function = prim_func((2,), ("k",), integers=("k",))
    assert call(function, tensor(2), out=[(5,)], tir_vars=[5]) == []
    assert refused(function, tensor(2), out=[(5,)], tir_vars=[6]).operand == "out_sinfo"
    assert call(function, tensor(2), prim_var("int64"), out=[(5,)]) == []


def test_another_number_of_integers() -> None:
    function = prim_func((2,), ("k",), integers=("k",))
    error = refused(function, tensor(2), out=[(5,)])
    assert error.message == "`f` takes another number of integers"
    assert error.facts == {"args": "gives 0 integers", "gvar": "takes 1 integer"}
    error = refused(function, tensor(2), out=[(5,)], tir_vars=[1, 2])
    assert error.facts == {"tir_vars": "gives 2 integers", "gvar": "takes 1 integer"}


def test_a_relax_function_is_called_directly() -> None:
    function = relax.Function((), relax.Tuple(()))
    error = refused(function, tensor(2), out=[(2,)])
    assert error.fact == "is a Relax function, not a PrimFunc"
    assert error.help == "call it directly: `cls.f(...)`"
    assert error.code == "RX0201"


def test_a_function_that_the_module_does_not_have_yet_is_not_checked() -> None:
    context = Signatures({})
    built = R.call_tir.build(("g", (tensor(2),), info((3,))))
    R.call_tir.infer(built, context)
    assert context.deferred_checks == []


# ---------------------------------------------------------------- only the signature is known


class Signatures(PlainContext):
    """A module of which only the StructInfo of functions is known, as while it is read."""

    def __init__(self, known: dict[str, StructInfo]) -> None:
        super().__init__(IRModule({}))
        self.known = known

    def struct_info(self, expr: relax.Expr) -> StructInfo:
        if not isinstance(expr, relax.GlobalVar):
            return super().struct_info(expr)
        if expr.name_hint not in self.known:
            raise OperandError("callee", "is not a function of the module")
        return self.known[expr.name_hint]


UNIT = TupleStructInfo(())


def check_signature(known: StructInfo, *args: Any, out: Any, tir_vars: Any = None) -> list[str]:
    """The deferred checks of a call of what has a StructInfo only."""
    context = Signatures({"f": known})
    built = R.call_tir.build(("f", args, [info(o) for o in out], tir_vars))
    R.call_tir.infer(built, context)
    return [o.text for o in context.deferred_checks]


def test_the_signature_alone_is_checked_too() -> None:
    k = prim.Var("k", "int64")
    params = [TensorStructInfo((k, 2)), PrimStructInfo("int64", k), TensorStructInfo((2, k))]
    known = FuncStructInfo(params, UNIT, False)
    assert check_signature(known, tensor(5, 2), out=[(2, 5)], tir_vars=[5]) == []
    with pytest.raises(OperandError) as caught:
        check_signature(known, tensor(5, 2), out=[(2, 6)], tir_vars=[5])
    assert caught.value.facts == {
        "out_sinfo": "has shape (2, 6)",
        "gvar": "takes shape (2, 5) as its buffer 1",
    }


def test_the_signature_of_a_relax_function_is_no_prim_func() -> None:
    for known in (
        FuncStructInfo([TensorStructInfo((2,))], TensorStructInfo((2,))),
        FuncStructInfo([ObjectStructInfo()], UNIT),
    ):
        with pytest.raises(OperandError, match="is a Relax function, not a PrimFunc"):
            check_signature(known, tensor(2), out=[(2,)])


def test_a_callee_of_which_nothing_is_known_is_not_checked() -> None:
    assert check_signature(FuncStructInfo.opaque_func(), tensor(2), out=[(3,)]) == []


def test_a_packed_function_of_the_module_is_not_checked() -> None:
    assert call(relax.ExternFunc("external"), tensor(2), out=[(3,)]) == []
