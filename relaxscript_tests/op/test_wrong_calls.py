"""The law of wrong calls: whatever is wrong with one and whoever finds out, diagnostics tell."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import op
from relaxscript.builder import BlockBuilder
from relaxscript.errors import DiagnosticError, InternalError, UnplacedError
from relaxscript.ir import prim, relax
from relaxscript.ir.module import IRModule, VDevice
from relaxscript.ir.relax import Call, Expr, Var
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.op import REGISTRY, Operator
from relaxscript_tests import examples

from .sampling import Sample, samples

n = prim.Var("n", "int64")
x = Var("x", TensorStructInfo((2, 3), "float32"))

ODD: list[Any] = [
    None, "odd", -99, 10**30, (1, 2, 3, 4, 5, 6, 7), (), 1.5, float("nan"), True, n,
    prim.Var("f", "float32"), {"a": 1}, object(), [object()], [[1], [2, 3]], int, 1 + 2j, b"a",
    np.zeros((2, 0)), np.array("a"), np.zeros(3, "complex64"),
    relax.ShapeExpr((2, n)), relax.PrimValue(3), relax.StringImm("a"), relax.Tuple(()),
    relax.GlobalVar("nothing"), relax.ExternFunc("nothing"), relax.Op("relax.add"),
    relax.TupleGetItem(relax.Tuple(()), 3), Call(relax.Op("relax.add"), [x]),
    Var("u"), Var("s", ShapeStructInfo((2, 3))), Var("o", ObjectStructInfo()),
    Var("g", FuncStructInfo((), ObjectStructInfo())), Var("p", PrimStructInfo("float32")),
    Var("t", TensorStructInfo((2, 3, 4, 5, 6, 7), "int8")), TensorStructInfo((2,), "float32"),
]  # fmt: skip

every_operator = pytest.mark.parametrize("operator", REGISTRY.values(), ids=repr)


def told(action: Callable[[], object]) -> Any:
    """What an action gives; it may refuse by a diagnostic, and in no other way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rx.RelaxWarning)
        try:
            return action()
        except DiagnosticError:
            return None


def wrongly_called(operator: Operator, sample: Sample, rng: np.random.Generator) -> Expr | None:
    """A call of an operator with one argument that is something else."""
    given = dict(operator.arguments(sample.call))
    rest = [item for p, items in given.items() if p.kind == "rest" for item in items]
    words = {p.name: value for p, value in given.items() if p.kind != "rest"}
    if not words:
        return None
    words[str(rng.choice(list(words)))] = ODD[rng.integers(len(ODD))]
    if rest:
        order = [p.name for p in given if p.name in words and not p.keyword_only]
        rest = [words.pop(name) for name in order] + rest
    found = told(lambda: operator(*rest, **words))
    return found if isinstance(found, Expr) else None  # with an array it was computed


def wrongly_made(sample: Sample, rng: np.random.Generator) -> Call | None:
    """A call made by hand, with one operand or attribute that is something else."""
    call, odd = sample.call, ODD[rng.integers(len(ODD))]
    args, attrs = list(call.args), dict(call.attrs or {})
    place = int(rng.integers(len(args) + len(attrs) + 2))
    try:
        if place <= len(args):
            args[place : place + 1] = [odd]
        elif place <= len(args) + len(attrs):
            attrs[list(attrs)[place - len(args) - 1]] = odd
        else:
            args = args[: len(args) // 2]
        return Call(call.op, args, attrs or None, call.sinfo_args)
    except (TypeError, ValueError):  # no node of the language
        return None


def found_out(call: Expr) -> None:
    """Have everybody who looks at a call say what is wrong with it."""
    told(lambda: call.struct_info)
    told(lambda: call.script())
    told(lambda: BlockBuilder().normalize(call))
    told(lambda: bound(call))
    told(lambda: relax.Function([], call).struct_info)
    if all(v.struct_info is not None for v in rx.analysis.free_vars(call)):
        module = IRModule({"main": relax.Function(rx.analysis.free_vars(call), call)})
        told(lambda: rx.analysis.well_formed(module))
        told(lambda: module.script())
        told(lambda: rx.transform.Normalize()(module))
        told(lambda: rx.build(module, "reference"))


def bound(call: Expr) -> None:
    bb = BlockBuilder()
    with bb.function("main", []):
        with bb.dataflow():
            bb.emit_output(call)
        bb.emit_func_output(bb.match_cast(call, ObjectStructInfo()))


@pytest.mark.slow
@every_operator
def test_only_diagnostics_tell_of_a_wrong_call(
    operator: Operator, rng: np.random.Generator, capsys: pytest.CaptureFixture[str]
) -> None:
    known = list(samples(operator))
    for _ in range(examples(60)):
        sample = known[rng.integers(len(known))]
        for call in (wrongly_called(operator, sample, rng), wrongly_made(sample, rng)):
            if call is not None:
                found_out(call)


@pytest.mark.slow
@every_operator
def test_only_diagnostics_tell_of_wrong_arguments(operator: Operator) -> None:
    told(lambda: operator())
    told(lambda: operator(*[x] * 20))
    told(lambda: operator(x, nothing=1))
    found_out(Call(operator.op, []))
    found_out(Call(operator.op, [x] * 20))


@every_operator
def test_a_rule_never_speaks_to_who_calls_with_arrays(
    operator: Operator, rng: np.random.Generator, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = next(samples(operator))
    given = operator.arguments(sample.call)
    for _ in range(examples(60)):
        words = {p.name: sample.values.get(v, v) if isinstance(v, Var) else v for p, v in given}
        words[str(rng.choice([*words, "x"]))] = ODD[rng.integers(len(ODD))]
        # What is refused is refused by a diagnostic; the computation itself fails as numpy does.
        assert not isinstance(failure(operator, words), (UnplacedError, InternalError))


def failure(operator: Operator, words: dict[str, Any]) -> Exception | None:
    try:
        operator(**words)
    except Exception as error:
        return error
    return None


# ---------------------------------------------------------------- what Python calls it


MIXED = Var("i", TensorStructInfo((2, 3), "int32"))
LONGER = Var("l", TensorStructInfo((2, 4), "float32"))
FAR = Var("far", TensorStructInfo((2, 3), "float32", VDevice("cuda")))
NEAR = Var("near", TensorStructInfo((2, 3), "float32", VDevice("llvm")))
FUNCTION = Var("f", FuncStructInfo([x.struct_info], ObjectStructInfo()))
IMAGE = Var("image", TensorStructInfo((1, 3, 8, 9), "float32"))


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        (TypeError, lambda: op.add(x, MIXED)),
        (TypeError, lambda: op.add(x, relax.ShapeExpr((2, 3)))),
        (TypeError, lambda: op.add(FUNCTION, x)),
        (TypeError, lambda: op.add(NEAR, FAR)),
        (TypeError, lambda: op.where(x, x, x)),
        (TypeError, lambda: op.nn.conv2d(IMAGE, relax.ShapeExpr((2, 3)))),
        (TypeError, lambda: op.nn.conv2d(IMAGE, Var("w", TensorStructInfo((4, 3, 3, 3), "int8")))),
        (TypeError, lambda: Call(x, [x])),
        (TypeError, lambda: Call(FUNCTION, [MIXED])),
        (TypeError, lambda: op.add(x)),
        (TypeError, lambda: op.sum(x, axis="rows")),
        (ValueError, lambda: op.add(x, LONGER)),
        (ValueError, lambda: op.sum(x, axis=2)),
        (ValueError, lambda: op.astype(x, "flaot32")),
        (ValueError, lambda: op.nn.conv2d(x, x)),
        (ValueError, lambda: Call(FUNCTION, [LONGER])),
    ],
)  # fmt: skip
def test_a_mistake_is_of_the_class_that_python_has_for_it(kind, make):
    other = {TypeError: ValueError, ValueError: TypeError}[kind]
    for ask in (lambda call: call.struct_info, BlockBuilder().normalize, bound):
        with pytest.raises(DiagnosticError) as caught:
            ask(make())
        assert isinstance(caught.value, kind)
        assert not isinstance(caught.value, other)


@pytest.mark.parametrize("declared", [((2, 4), "float32", ValueError), ((2, 3), "int8", TypeError)])
def test_a_value_that_does_not_fit_its_annotation_says_in_what(declared):
    shape, dtype, kind = declared
    text = (
        "@R.function\ndef f(x: R.Tensor((2, 3), 'float32')):\n"
        f"    y: R.Tensor({shape}, '{dtype}') = R.exp(x)\n    return y"
    )
    with pytest.raises(kind, match="the value does not fit the annotation") as caught:
        rx.from_source(text)
    assert isinstance(caught.value, DiagnosticError)


def test_fields_of_tuples_are_compared_one_by_one():
    wanted = TupleStructInfo([x.struct_info, MIXED.struct_info])
    callee = Var("f", FuncStructInfo([wanted], ObjectStructInfo()))
    with pytest.raises(ValueError, match="argument 1"):
        _ = Call(callee, [relax.Tuple([LONGER, MIXED])]).struct_info
    with pytest.raises(TypeError, match="argument 1"):
        _ = Call(callee, [relax.Tuple([x, x])]).struct_info
    with pytest.raises(TypeError, match="argument 1"):
        _ = Call(callee, [relax.Tuple([x])]).struct_info
