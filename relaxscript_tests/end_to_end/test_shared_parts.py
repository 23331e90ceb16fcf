"""Programs that share their parts cost what their graph costs, not what they are written out.

A tuple of forty tuples, each twice the one before, has 2**40 leaves: whatever looked at them one by
one would not end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.analysis import well_formed
from relaxscript.arith import NO, YES, prove_equal, simplify
from relaxscript.errors import DiagnosticError
from relaxscript.ir import IRModule, prim, structural_equal, structural_hash
from relaxscript.ir.prim import Var
from relaxscript.ir.relax import Function
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.script import from_source
from relaxscript.sinfo import (
    erase_struct_info,
    erase_to_well_defined,
    is_subtype,
    unify_struct_info,
)
from relaxscript.sinfo.static_type import struct_info_of_type
from relaxscript_tests.growth import growth

DEEP = 40


def tuples(count: int, result: str = "t{last}") -> str:
    lines = [f"    t{i} = (t{i - 1}, t{i - 1})" for i in range(1, count + 1)]
    return "\n".join([
        "@R.function",
        'def main(x: R.Tensor(("n",), "float32")):',
        "    t0 = (x, x)",
        *lines,
        f"    return {result.format(last=count)}",
        "",
    ])  # fmt: skip


def doubled(info: StructInfo, times: int = DEEP) -> StructInfo:
    for _ in range(times):
        info = TupleStructInfo([info, info])
    return info


def test_a_tuple_of_shared_tuples_is_parsed_printed_and_read_back():
    main = from_source(tuples(DEEP))
    assert isinstance(main, Function)
    text = main.script()
    again = from_source(text)
    assert structural_equal(again, main)
    assert structural_hash(again) == structural_hash(main)
    assert again.script() == text
    assert len(text) < 100_000


def test_what_it_says_of_its_tuples_is_left_out_only_where_nobody_could_read_it():
    text = from_source(tuples(12)).script()
    assert "t1: R.Tuple(" in text
    assert "t12 = (t11, t11)" in text


@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_a_tuple_of_shared_tuples_runs(target: str):
    main = from_source(tuples(DEEP, "t{last}[0]" + "[1]" * (DEEP - 1)))
    module = IRModule({"main": main})
    assert well_formed(module)
    x = np.arange(3, dtype="float32")
    pair = rx.VirtualMachine(rx.build(module, target=target))["main"](x)
    assert np.array_equal(pair[0], x)


def test_a_tuple_of_shared_tuples_is_returned():
    module = IRModule({"main": from_source(tuples(DEEP))})
    found = rx.VirtualMachine(rx.build(module))["main"](np.ones(2, "float32"))
    for _ in range(DEEP + 1):
        found = found[1]
    assert np.array_equal(found, np.ones(2, "float32"))


def test_parsing_and_printing_are_linear_in_the_tuples():
    assert growth(lambda count: lambda: from_source(tuples(count)).script(), 10, 4) < 6


def test_every_question_about_shared_struct_infos_is_answered():
    n, m = Var("n", "int64"), Var("m", "int64")
    for leaf, other in [
        (TensorStructInfo([n]), TensorStructInfo([m])),
        (PrimStructInfo(value=n), PrimStructInfo("int64")),
        (FuncStructInfo([TensorStructInfo([n])], TensorStructInfo([n])), ObjectStructInfo()),
    ]:
        a, b = doubled(leaf), doubled(leaf)
        assert structural_equal(a, b)
        assert structural_hash(a) == structural_hash(b)
        assert is_subtype(a, b) is YES
        assert unify_struct_info(a, b) is a
        assert structural_equal(
            unify_struct_info(a, doubled(other)), doubled(unify_struct_info(leaf, other))
        )
        assert structural_equal(erase_to_well_defined(a, None, None), a)
        forgotten = doubled(erase_to_well_defined(leaf))
        assert structural_equal(erase_to_well_defined(a), forgotten)
        static = erase_struct_info(a)
        assert structural_equal(erase_struct_info(struct_info_of_type(static)), static)


def test_equal_struct_infos_have_one_hash_however_much_they_share():
    n = Var("n", "int64")
    leaf = TensorStructInfo([n, n + 1])
    function = FuncStructInfo([leaf], TensorStructInfo([n * 2]))
    for info, again in [
        (leaf, TensorStructInfo([n, n + 1])),
        (function, FuncStructInfo([TensorStructInfo([n, n + 1])], TensorStructInfo([n * 2]))),
    ]:
        shared = TupleStructInfo([info, TupleStructInfo([info, info])])
        apart = TupleStructInfo([info, TupleStructInfo([again, info])])
        assert structural_equal(shared, apart)
        assert structural_hash(shared) == structural_hash(apart)


def of_one_variable(depth: int) -> StructInfo:
    info: StructInfo = TensorStructInfo([Var("n", "int64")])
    for _ in range(depth):
        info = FuncStructInfo([info, info], info)
    return info


def of_their_own_variables(depth: int) -> StructInfo:
    info: StructInfo = ObjectStructInfo()
    for _ in range(depth):
        n = Var("n", "int64")
        result = TupleStructInfo([info, TensorStructInfo([n])])
        info = FuncStructInfo([TensorStructInfo([n]), info], result)
    return info


def of_an_outer_variable(depth: int) -> StructInfo:
    n = Var("n", "int64")
    leaf = info = TensorStructInfo([n])
    for i in range(depth):
        m = Var("m", "int64")
        info = FuncStructInfo([TensorStructInfo([m, n + i]), info], TupleStructInfo([info, info]))
    return FuncStructInfo([leaf, info], info)


@pytest.mark.parametrize("made", [of_one_variable, of_their_own_variables, of_an_outer_variable])
def test_types_of_functions_of_functions_are_hashed_and_compared_once_each(
    made: Callable[[int], StructInfo],
):
    assert structural_hash(made(DEEP)) == structural_hash(made(DEEP)) != structural_hash(made(9))

    def hashing(depth: int) -> Callable[[], object]:
        info = made(depth)
        return lambda: structural_hash(info)

    def comparing(depth: int) -> Callable[[], object]:
        a, b = made(depth), made(depth)
        return lambda: structural_equal(a, b)

    assert growth(hashing, 5) < 10
    assert growth(comparing, 5) < 10


def test_a_function_type_that_is_met_again_where_its_variable_is_known_hashes_as_a_copy_does():
    n = Var("n", "int64")

    def function() -> StructInfo:
        return FuncStructInfo([TensorStructInfo([n])], TensorStructInfo([n]))

    leaf, once = TensorStructInfo([n]), function()
    shared = FuncStructInfo([once, leaf, once], leaf)
    apart = FuncStructInfo([function(), leaf, function()], leaf)
    assert structural_equal(shared, apart)
    assert structural_hash(shared) == structural_hash(apart)


def test_scalars_that_share_their_operands_are_compared_hashed_and_simplified():
    def made(n: Var) -> prim.PrimExpr:
        e: prim.PrimExpr = n
        for i in range(DEEP):
            e = prim.Max(e, e + i) * e
        return e

    n = Var("n", "int64")
    assert structural_equal(made(n), made(n))
    assert structural_hash(made(n)) == structural_hash(made(n))
    assert simplify(made(n)).dtype == "int64"
    assert prove_equal(made(n), made(n)) is not NO


@pytest.mark.long
def test_a_script_of_more_than_a_million_parts_is_refused():
    n = Var("n", "int64")
    with pytest.raises(DiagnosticError, match="it would have more than 1,000,000 parts"):
        doubled(TensorStructInfo([n])).script()
    e: prim.PrimExpr = n
    for _ in range(DEEP):
        e = prim.Max(e, e)
    with pytest.raises(DiagnosticError, match="it would have more than 1,000,000 parts"):
        TensorStructInfo([e]).script()
