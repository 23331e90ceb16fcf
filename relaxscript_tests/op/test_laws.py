"""Laws that hold for every operator in the registry: a new operator is under test at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from relaxscript.arith import NO, evaluate, prove_equal
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim, relax
from relaxscript.ir.relax import Call
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import substitute
from relaxscript.op import REGISTRY, Operator, PlainContext, Trait
from relaxscript.runtime.values import Shape, prim_dtype
from relaxscript_tests import examples

from .sampling import DTYPES, FURTHER_DTYPES, Sample, samples

KINDS = {
    "operand",
    "optional",
    "tensors",
    "rest",
    "spread",
    "shape",
    "text",
    "dtype",
    "callee",
    "sinfo",
}

# All laws of an operator run before those of the next, on the same samples.
every_operator = pytest.mark.parametrize("operator", REGISTRY.values(), ids=repr, scope="module")


@pytest.fixture(autouse=True)
def _quiet(capsys: pytest.CaptureFixture[str]) -> None:
    """`R.print` prints."""


# ---------------------------------------------------------------- definitions


@every_operator
def test_operator_is_complete(operator: Operator) -> None:
    assert operator.name == f"relax.{operator.script_name}"
    assert operator.op.name == operator.name
    assert operator.__doc__
    assert operator.__doc__.split("\n")[0].endswith(".")
    assert operator.has_rule
    assert callable(operator.function)
    assert isinstance(operator.pure, bool)
    assert {p.kind for p in operator.parameters} <= KINDS | {"attribute"}


@every_operator
def test_operator_has_samples(operator: Operator) -> None:
    assert any(True for _ in samples(operator))


# ---------------------------------------------------------------- calls and arguments


@every_operator
def test_building_from_the_arguments_of_a_call_gives_the_call(operator: Operator) -> None:
    for sample in samples(operator):
        given = operator.arguments(sample.call)
        assert [p for p, _ in given] == list(operator.parameters)
        positional = [v for p, v in given if not p.keyword_only and p.kind != "rest"]
        rest = [item for p, v in given if p.kind == "rest" for item in v]
        keywords = {p.name: v for p, v in given if p.keyword_only}
        rebuilt = operator.build([*positional, *rest], keywords)
        assert structural_equal(rebuilt, sample.call), str(sample)


@every_operator
def test_every_argument_of_a_call_has_a_name(operator: Operator) -> None:
    for sample in samples(operator):
        names = operator.operand_names(sample.call)
        assert len(names) == len(set(names)) == len(sample.call.args)


@every_operator
def test_a_call_without_attributes_means_the_defaults(operator: Operator) -> None:
    for sample in samples(operator):
        attributes = operator.attributes(sample.call)
        defaults = {p.name: p.default for p in operator.parameters if p.kind == "attribute"}
        if defaults and all(attributes[name] is value for name, value in defaults.items()):
            bare = sample.call.replace(attrs=None)
            assert structural_equal(sample.infer(bare), sample.infer()), str(sample)


# ---------------------------------------------------------------- inference and meaning


def disagreement(info: StructInfo, value: Any) -> str | None:
    """Why a value is not what a StructInfo says; None if it is."""
    match info:
        case ObjectStructInfo():
            return None
        case TensorStructInfo():
            return _tensor_disagreement(info, value)
        case DTensorStructInfo(tensor_sinfo=tensor):
            return _tensor_disagreement(tensor, value)
        case TupleStructInfo(fields):
            if type(value) is not tuple or len(value) != len(fields):
                return f"{value!r} is not a tuple of {len(fields)}"
            return next((d for f, v in zip(fields, value) if (d := disagreement(f, v))), None)
        case ShapeStructInfo(values, ndim):
            if not isinstance(value, Shape) or ndim not in (-1, len(value)):
                return f"{value!r} is not a shape of rank {ndim}"
            wrong = values is not None and [evaluate(v) for v in values] != list(value)
            return f"{value!r} has other dimensions" if wrong else None
        case PrimStructInfo(dtype):
            return None if prim_dtype(value) is dtype else f"{value!r} is not of {dtype}"
    return f"{type(info).__name__} is not expected here"


def _tensor_disagreement(info: TensorStructInfo, value: Any) -> str | None:
    if not isinstance(value, np.ndarray):
        return f"{value!r} is no array"
    if not value.flags.c_contiguous or not value.flags.writeable:
        return "the array is not contiguous and writeable"
    if info.dtype != "void" and value.dtype != info.dtype.numpy:
        return f"the dtype is {value.dtype}, not {info.dtype}"
    if info.ndim not in (-1, value.ndim):
        return f"the rank is {value.ndim}, not {info.ndim}"
    if info.dims is not None and tuple(evaluate(d) for d in info.dims) != value.shape:
        return f"the shape is {value.shape}, not {[evaluate(d) for d in info.dims]}"
    return None


@every_operator
def test_inference_agrees_with_meaning(operator: Operator) -> None:
    for sample in samples(operator):
        assert disagreement(sample.infer(), sample.evaluate()) is None, str(sample)


@every_operator
def test_every_data_type_that_the_rule_accepts_is_computed(operator: Operator) -> None:
    for sample in samples(operator, FURTHER_DTYPES):
        assert disagreement(sample.infer(), sample.evaluate()) is None, str(sample)


# Operators whose results are their operands, or stand in what these hold. One that may become a
# view when it is lowered is none: its meaning gives a new array.
IN_OPERANDS = {Trait.WRITES_ARGS, Trait.IN_STORAGE}

leaving_operands = pytest.mark.parametrize(
    "operator",
    [o for o in REGISTRY.values() if not o.traits & IN_OPERANDS],
    ids=repr,
    scope="module",
)


@leaving_operands
def test_results_share_no_memory_with_operands(operator: Operator) -> None:
    for sample in samples(operator):
        result = sample.evaluate()
        arrays = [r for r in (result if type(result) is tuple else (result,)) if is_array(r)]
        operands = [value for value in sample.values.values() if is_array(value)]
        for array, operand in itertools.product(arrays, operands):
            assert not np.shares_memory(array, operand), str(sample)


def is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


@leaving_operands
def test_operands_are_left_as_they_are(operator: Operator) -> None:
    for sample in samples(operator):
        before = {v: np.copy(x) for v, x in sample.values.items() if is_array(x)}
        sample.evaluate()
        for var, copy in before.items():
            assert copy.tobytes() == sample.values[var].tobytes(), str(sample)


@every_operator
def test_calling_with_arrays_is_the_meaning(operator: Operator) -> None:
    for sample in samples(operator):
        given = operator.arguments(sample.call)
        if any(p.kind in ("callee", "rest", "spread", "shape", "sinfo") for p, _ in given):
            continue
        if not any(map(is_array, sample.values.values())):
            continue
        values = {p.name: _concrete(v, sample) for p, v in given}
        assert bytes_of(operator(**values)) == bytes_of(sample.evaluate()), str(sample)


def _concrete(value: Any, sample: Sample) -> Any:
    if isinstance(value, relax.Tuple):
        return [_concrete(item, sample) for item in value.fields]
    if isinstance(value, relax.Expr):
        return sample._value(value)
    return value


def bytes_of(value: Any) -> Any:
    if type(value) is tuple:
        return [bytes_of(item) for item in value]
    return (value.shape, value.dtype, value.tobytes()) if is_array(value) else value


# ---------------------------------------------------------------- symbolic dimensions


def named(sample: Sample, shared: bool) -> tuple[Call, dict[Any, prim.PrimExpr]]:
    """The call with variables for dimensions, and what they stand for.

    `shared` gives equal dimensions one variable; otherwise every dimension has its own.
    """
    known: dict[int, prim.Var] = {}
    sizes: dict[Any, prim.PrimExpr] = {}

    def variable(dim: prim.PrimExpr) -> prim.PrimExpr:
        size = int(dim)  # type: ignore[call-overload]
        var = known.get(size) if shared else None
        if var is None:
            var = known[size] = prim.Var(f"n{len(sizes)}", "int64")
            sizes[var] = dim
        return var

    changed: dict[Any, Any] = {}
    for var in sample.params:
        info = var.struct_info
        if isinstance(info, TensorStructInfo) and info.dims is not None:
            dims = tuple(variable(dim) for dim in info.dims)
            changed[var] = relax.Var(var.name_hint, TensorStructInfo(dims, info.dtype))
    return substitute(sample.call, changed), sizes


@every_operator
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "distinct"])
def test_symbolic_inference_agrees_with_concrete_inference(
    operator: Operator, shared: bool
) -> None:
    for sample in samples(operator):
        call, sizes = named(sample, shared)
        context = PlainContext()
        symbolic = operator.infer(call, context)
        assert is_more_general(substitute(symbolic, sizes), sample.infer()), str(sample)
        for deferred in context.deferred_checks:
            assert holds(deferred, sizes), f"{sample}: {deferred.text}"


@every_operator
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "distinct"])
def test_a_call_that_obliges_to_nothing_is_accepted_whatever_the_sizes(
    operator: Operator, shared: bool, rng: np.random.Generator
) -> None:
    if any(p.kind == "sinfo" for p in operator.parameters):
        return  # executors compare results with what describes them
    for sample in samples(operator):
        call, sizes = named(sample, shared)
        context = PlainContext()
        symbolic = operator.infer(call, context)
        for _ in range(0 if context.deferred_checks else examples(50)):
            other = {v: prim.const(int(rng.integers(0, 5)), "int64") for v in sizes}
            concrete = operator.infer(substitute(call, other), PlainContext())
            assert is_more_general(substitute(symbolic, other), concrete), str(sample)


def holds(deferred: Any, sizes: dict[Any, prim.PrimExpr]) -> bool:
    a, b = (evaluate(substitute(e, sizes)) for e in (deferred.a, deferred.b))
    if deferred.relation == "inside":
        return bool(a <= b)
    return a == b or (deferred.relation == "broadcast" and 1 in (a, b))


def is_more_general(general: StructInfo, special: StructInfo) -> bool:
    """Whether `general` is true of every value of which `special` is, dimensions evaluated."""
    match general, special:
        case ObjectStructInfo(), _:
            return True
        case TensorStructInfo(), TensorStructInfo():
            return (
                general.dtype in ("void", special.dtype)
                and general.ndim in (-1, special.ndim)
                and (general.dims is None or same_sizes(general.dims, special.dims))
            )
        case ShapeStructInfo(), ShapeStructInfo():
            return general.ndim in (-1, special.ndim) and (
                general.values is None or same_sizes(general.values, special.values)
            )
        case DTensorStructInfo(whole, mesh, placement), DTensorStructInfo(part):
            alike = (mesh, placement) == (special.device_mesh, special.placement)
            return alike and is_more_general(whole, part)
        case TupleStructInfo(a), TupleStructInfo(b):
            return len(a) == len(b) and all(is_more_general(x, y) for x, y in zip(a, b))
        case PrimStructInfo(), PrimStructInfo():
            return general.dtype is special.dtype
    return False


def same_sizes(a: Any, b: Any) -> bool:
    return b is None or [evaluate(d) for d in a] == [evaluate(d) for d in b]


# ---------------------------------------------------------------- what is not known


def forgotten(info: TensorStructInfo) -> Iterator[TensorStructInfo]:
    """The same tensor with less known of it."""
    held = relax.Var("s", ShapeStructInfo(None, info.ndim))
    yield TensorStructInfo(None, info.dtype, None, info.ndim)
    yield TensorStructInfo(None, info.dtype)
    yield TensorStructInfo(info.shape, "void")
    yield TensorStructInfo(None, "void")
    yield TensorStructInfo(held, info.dtype)
    yield TensorStructInfo(relax.Var("s", ShapeStructInfo(info.shape)), info.dtype)


@every_operator
def test_knowing_less_gives_a_more_general_result(operator: Operator) -> None:
    for sample in samples(operator):
        tensors = [v for v in sample.params if isinstance(v.struct_info, TensorStructInfo)]
        for var in tensors:
            for info in forgotten(var.struct_info):
                call = substitute(sample.call, {var: relax.Var("u", info)})
                assert is_more_general(sample.infer(call), sample.infer()), str(sample)


@every_operator
def test_an_object_where_a_tensor_is_needed_must_be_cast(operator: Operator) -> None:
    for sample in samples(operator):
        for parameter, value in operator.arguments(sample.call):
            if parameter.wants not in ("tensor", "scalar") or not isinstance(value, relax.Var):
                continue
            call = substitute(sample.call, {value: relax.Var("o", ObjectStructInfo())})
            with pytest.raises(OperandError, match="is an object of unknown kind") as caught:
                sample.infer(call)
            assert caught.value.code == "RX0201"
            assert caught.value.help is not None
            assert f"R.match_cast({parameter.name}, R.Tensor(...))" in caught.value.help
        break


@every_operator
def test_a_virtual_device_is_passed_on_and_two_are_an_error(operator: Operator) -> None:
    for sample in itertools.islice(samples(operator), 3):
        tensors = [v for v in sample.params if isinstance(v.struct_info, TensorStructInfo)]
        result = sample.infer()
        if operator.arguments(sample.call) and not isinstance(result, TensorStructInfo):
            continue
        if any(p.kind in ("sinfo", "callee") for p in operator.parameters) or not tensors:
            continue
        if any(p.annotation in ("VirtualDevice", "Device") for p in operator.parameters):
            continue
        device = vdevice(0)
        first = substitute(sample.call, {tensors[0]: placed(tensors[0], device)})
        assert sample.infer(first).vdevice is device
        if len(tensors) > 1 and operator.script_name != "full_like":
            both = {v: placed(v, vdevice(i)) for i, v in enumerate(tensors[:2])}
            with pytest.raises(OperandError, match="on different devices"):
                sample.infer(substitute(sample.call, both))


def vdevice(index: int) -> Any:
    from relaxscript.ir.module import VDevice

    return VDevice("llvm", index)


def placed(var: relax.Var, device: Any) -> relax.Var:
    return relax.Var(var.name_hint, var.struct_info.replace(vdevice=device))


def oddities() -> list[Any]:
    """Values that somebody may write where they do not belong."""
    n = prim.Var("n", "int64")
    infos = [
        TensorStructInfo((2, 3), "float32"),
        TensorStructInfo((), "int8"),
        TensorStructInfo(None, "void"),
        ObjectStructInfo(),
        PrimStructInfo("int64"),
        ShapeStructInfo((n, 3)),
        ShapeStructInfo(None, 0),
        TupleStructInfo([TensorStructInfo((2, n), "bool")]),
    ]
    odd = [
        None,
        True,
        -1,
        10**30,
        1.5,
        float("nan"),
        "float32",
        "",
        "x",
        (),
        [],
        [-1],
        [0, 0],
        [None],
    ]
    odd += [(n, 2), [[1]], {}, n, n * 2, object, infos[0], np.ones((2, 3), "float32")]
    odd += [np.array("a"), np.float64(2), relax.StringImm("a"), relax.PrimValue(1), relax.Tuple([])]
    odd += [relax.ShapeExpr([2, n]), relax.GlobalVar("f"), relax.ExternFunc("f"), DataType("int8")]
    return [*odd, *(relax.Var("v", info) for info in infos)]


@every_operator
def test_whatever_is_written_is_taken_or_refused_with_a_name(operator: Operator) -> None:
    sample = next(samples(operator))
    given = operator.arguments(sample.call)
    for index, (parameter, _) in enumerate(given):
        for odd in oddities():
            values = [value for p, value in given if p.kind != "rest"]
            words = {p.name: v for p, v in given if p.keyword_only}
            values = values[: len(values) - len(words)]
            if parameter.keyword_only:
                words[parameter.name] = odd
            elif parameter.kind == "rest":
                values.append(odd)
            else:
                values[index] = odd
            error = refusal(operator, values, words)
            assert error is None or error.fact, f"{operator!r}: {parameter.name} = {odd!r}"
            assert error is None or error.code.startswith(("RX01", "RX02"))


def refusal(operator: Operator, args: list[Any], kwargs: dict[str, Any]) -> OperandError | None:
    """The error of a call that is refused; None for one that is taken."""
    try:
        operator.infer(operator.build(args, kwargs), PlainContext())
    except OperandError as error:
        return error
    return None


def test_the_data_types_that_are_tried_are_known() -> None:
    assert all(DataType(name).in_relax for name in DTYPES)
    assert prove_equal(prim.as_prim(1), prim.as_prim(2)) is NO
