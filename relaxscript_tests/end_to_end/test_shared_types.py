"""What is asked of function types that share parts is answered as for those that share none.

What is remembered of a shared part holds only where its variables mean the same, so these random
types bind few variables again and again, at every depth. A copy without sharing is the oracle:
there, nothing that was remembered is ever used.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from relaxscript.ir import prim, structural_equal, structural_hash
from relaxscript.ir.relax import Function, SeqExpr, ShapeExpr, Var
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.walk import free_vars
from relaxscript.sinfo import (
    definable_shape_vars,
    erase_to_well_defined,
    free_shape_vars,
    is_subtype,
    substitute_shape_vars,
    unify_struct_info,
)
from relaxscript_tests import examples
from relaxscript_tests.growth import growth

N, M, K = (prim.Var(name, "int64") for name in "nmk")


def drawn(random: Random, variables: tuple[prim.Var, ...], size: int) -> list[StructInfo]:
    """StructInfos, each made of those before it."""
    made: list[StructInfo] = [ObjectStructInfo()]
    for _ in range(size):
        pick, chance = (lambda: random.choice(made[-5:])), random.random()
        if chance < 0.3:
            dims = [random.choice(variables) for _ in range(random.randint(1, 2))]
            made.append(ShapeStructInfo(dims))
        elif chance < 0.4:
            x = prim.Var("x", "int64")
            dim = prim.Let(x, random.choice(variables), x * random.choice((*variables, x)))
            made.append(TensorStructInfo((dim, random.choice(variables)), "int8"))
        elif chance < 0.55:
            made.append(TupleStructInfo([pick(), pick()]))
        else:
            made.append(FuncStructInfo([pick() for _ in range(random.randint(0, 2))], pick()))
    return made


def apart(info: StructInfo) -> StructInfo:
    """The same, each part an object of its own; the variables stay."""
    match info:
        case FuncStructInfo(params, ret, purity):
            return FuncStructInfo([apart(p) for p in params or ()], apart(ret), purity)
        case TupleStructInfo(fields):
            return TupleStructInfo([apart(field) for field in fields])
        case ShapeStructInfo(values=values):
            return ShapeStructInfo(values)
        case TensorStructInfo(shape=ShapeExpr(values), dtype=dtype):
            return TensorStructInfo(values, dtype)
    return ObjectStructInfo()


def small(random: Random, variables: tuple[prim.Var, ...] = (N, M, K)) -> StructInfo:
    return drawn(random, variables, random.randint(3, 9))[-1]


def near(random: Random, info: StructInfo) -> StructInfo:
    """The same, where some function types inside have other variables in place of some."""
    done: dict[int, StructInfo] = {}

    def changed(part: StructInfo) -> StructInfo:
        if id(part) not in done or random.random() < 0.2:
            done[id(part)] = anew(part)
        return done[id(part)]

    def anew(part: StructInfo) -> StructInfo:
        match part:
            case FuncStructInfo(params, ret, purity):
                params = tuple(changed(p) for p in params or ())
                part = FuncStructInfo(params, changed(ret), purity)
            case TupleStructInfo(fields):
                return TupleStructInfo([changed(field) for field in fields])
        if random.random() > 0.3:
            return part
        others = random.choice([(M, N, K), (K, N, M), (prim.Var("a", "int64"), M, K), (N, N, K)])
        return substitute_shape_vars(part, dict(zip((N, M, K), others)), (N, M, K))

    return changed(info)


@pytest.fixture
def random(rng: np.random.Generator) -> Random:
    return Random(int(rng.integers(1 << 62)))


@pytest.mark.slow
def test_shared_types_are_equal_and_hash_as_their_copies_do(random: Random):
    for _ in range(examples(8_000)):
        one = small(random)
        other = near(random, one)
        copies = apart(one), apart(other)
        assert structural_equal(one, copies[0])
        assert structural_hash(one) == structural_hash(copies[0])
        for map_free_vars in (False, True):
            equal = structural_equal(*copies, map_free_vars)
            assert structural_equal(one, other, map_free_vars) == equal
            assert structural_equal(one, copies[1], map_free_vars) == equal
        if structural_equal(one, other):
            assert structural_hash(one) == structural_hash(other)


def among(kind: str, infos: list[StructInfo], result: int) -> object:
    """Types in each other's company: what one of them binds may be known around the next."""
    if kind == "tuple":
        return TupleStructInfo(infos)
    if kind == "function type":
        return FuncStructInfo(infos, infos[result])
    params = [Var(f"x{number}", info) for number, info in enumerate(infos)]
    return Function(params, SeqExpr([], params[result]), ObjectStructInfo())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tuple", "function type", "function"])
def test_what_is_equal_hashes_alike_whatever_is_known_around_its_function_types(
    random: Random, kind: str
):
    met = 0
    for _ in range(examples(3_000)):
        infos = [small(random) for _ in range(random.randint(1, 3))]
        names = random.choice([(N, M, K), [prim.Var(name, "int64") for name in "xyz"]])
        renamed = dict(zip((N, M, K), names))
        others = [substitute_shape_vars(info, renamed, (N, M, K)) for info in infos]
        others = random.choice([others, [near(random, info) for info in infos]])
        result = random.randrange(len(infos))
        one, other = among(kind, infos, result), among(kind, others, result)
        for map_free_vars in (False, True):
            if structural_equal(one, other, map_free_vars):
                met += 1
                assert structural_hash(one, map_free_vars) == structural_hash(other, map_free_vars)
    assert met > 0


@pytest.mark.slow
def test_the_variables_of_shared_types_are_those_of_their_copies(random: Random):
    for _ in range(examples(8_000)):
        info = small(random)
        copy = apart(info)
        for ask in (free_vars, free_shape_vars, definable_shape_vars):
            assert ask(info) == ask(copy)
        for scope in ((), (N,), (N, M)):
            assert structural_equal(
                erase_to_well_defined(info, (), scope), erase_to_well_defined(copy, (), scope)
            )


def test_relations_of_shared_types_are_those_of_their_copies(random: Random):
    for _ in range(examples(4_000)):
        one = small(random)
        other = random.choice([near(random, one), small(random)])
        copies = apart(one), apart(other)
        assert is_subtype(one, other) is is_subtype(*copies)
        assert structural_equal(unify_struct_info(one, other), unify_struct_info(*copies))


def each_binds_its_own(count: int) -> StructInfo:
    """Each takes the one before and gives the one before that, as Fibonacci's numbers are made."""
    before = FuncStructInfo([], ObjectStructInfo())
    last = FuncStructInfo([before], before)
    for number in range(count):
        own = ShapeStructInfo((prim.Var(f"n{number}", "int64"),))
        before, last = last, FuncStructInfo([last, own], before)
    return last


def all_bind_the_same(count: int) -> StructInfo:
    size = ShapeStructInfo((prim.Var("n", "int64"),))
    before, last = FuncStructInfo([size], size), FuncStructInfo([size, size], size)
    for _ in range(count):
        before, last = last, FuncStructInfo([last, size], before)
    return last


def all_bind_names_in_turn(count: int) -> StructInfo:
    sizes = [ShapeStructInfo((prim.Var(name, "int64"),)) for name in "abcdefgh"]
    before = FuncStructInfo([], ObjectStructInfo())
    last = FuncStructInfo([before], before)
    for number in range(count):
        before, last = last, FuncStructInfo([last, sizes[number % 8]], before)
    return last


@pytest.mark.parametrize(
    "types",
    [each_binds_its_own, all_bind_the_same, all_bind_names_in_turn],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize(
    "ask",
    [structural_equal, lambda a, _: structural_hash(a), lambda a, _: free_vars(a)],
    ids=["equality", "hash", "free variables"],
)
def test_function_types_that_share_two_before_them_cost_their_graph(
    types: Callable[[int], StructInfo], ask: Callable[[StructInfo, StructInfo], object]
):
    def prepare(count: int) -> Callable[[], object]:
        one, other = types(count), types(count)
        return lambda: ask(one, other)

    assert growth(prepare, 12, 4) < 6
