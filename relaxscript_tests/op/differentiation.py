"""Gradients of example calls: as modules of operators, and as differences of meanings."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import relaxscript as rx
from relaxscript.builder import BlockBuilder
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call, Expr, Tuple, Var
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.walk import substitute
from relaxscript.op import Operator
from relaxscript.opdef.gradient import gradients_of, has_gradient

from .sampling import Sample, fields_of_result, samples

STEP = 1e-5


def smooth_samples(operator: Operator, low: float, high: float, start: int = 0) -> Iterator[Sample]:
    """Samples whose floats are distinct, float64 and between two bounds."""
    for sample in samples(operator, ("float64",)):
        rng = np.random.default_rng(zlib.crc32(str(sample).encode()) + start)
        count = sum(x.size for x in sample.values.values() if is_float(x))
        drawn = iter(rng.permutation(np.linspace(low, high, max(count, 1))).tolist())
        values = {
            var: np.array([next(drawn) for _ in range(x.size)]).reshape(x.shape)
            if is_float(x)
            else x
            for var, x in sample.values.items()
        }
        yield replace(sample, values=values)


def is_float(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == np.float64


def cotangents_of(info: StructInfo) -> list[Var]:
    """A variable for the gradient of each tensor of a result."""
    return [Var(f"grad{k}", field) for k, field in enumerate(fields_of_result(info))]


def gradient_module(
    call: Call, params: Sequence[Var], cotangents: Sequence[Var]
) -> tuple[IRModule, list[Var]]:
    """A module whose `main` gives the gradients by the variables that have one, and these."""
    info = call_info(call)
    builder = BlockBuilder()
    with builder.function("main", [*params, *cotangents]):
        out = builder.emit(call)
        grad: Expr = Tuple(cotangents) if isinstance(info, TupleStructInfo) else cotangents[0]
        found = gradients_of(call, out, grad, builder.call_te)
        pairs = [
            pair for arg, made in zip(call.args, found, strict=True) for pair in leaves(arg, made)
        ]
        builder.emit_func_output(Tuple([made for _, made in pairs]))
    return builder.finalize(), [var for var, _ in pairs]


def call_info(call: Call) -> StructInfo:
    return call.struct_info


def leaves(arg: Expr, made: Expr | None) -> Iterator[tuple[Var, Expr]]:
    """The variables in an argument, with the gradient by each."""
    if made is None:
        return
    match arg:
        case Tuple(fields):
            assert isinstance(made, Tuple), made
            for field, part in zip(fields, made.fields, strict=True):
                yield from leaves(field, part)
        case Var():
            assert has_gradient(arg.struct_info)
            yield arg, made


def draw_cotangents(sample: Sample) -> list[Any]:
    """Random gradients of the results of a sample."""
    rng = np.random.default_rng(zlib.crc32(str(sample).encode()))
    results = flat(sample.evaluate())
    return [
        rng.uniform(-1, 1, x.shape) if x.dtype == np.float64 else np.zeros_like(x) for x in results
    ]


def flat(value: Any) -> tuple[Any, ...]:
    return value if type(value) is tuple else (value,)


def run(module: IRModule, values: Sequence[Any], target: str = "reference") -> tuple[Any, ...]:
    """What `main` gives."""
    machine = rx.VirtualMachine(rx.build(module, target))
    return flat(machine["main"](*values))


def by_differences(sample: Sample, var: Var, cotangents: Sequence[Any]) -> Any:
    """The gradient by a variable, from central differences of the meaning."""

    def loss(x: Any) -> float:
        found = flat(replace(sample, values={**sample.values, var: x}).evaluate())
        # A window of nothing but padding has no largest element, however its neighbours move.
        pairs = [(a[np.isfinite(a)], g[np.isfinite(a)]) for a, g in zip(found, cotangents)]
        return sum(float((a * g).sum()) for a, g in pairs if is_float(a))

    return differences(loss, sample.values[var])


def differences(loss: Callable[[Any], float], x: Any) -> Any:
    found = np.empty(x.size)
    for index in range(x.size):
        ends = []
        for step in (STEP, -STEP):
            moved = x.copy().reshape(-1)
            moved[index] += step
            ends.append(loss(moved.reshape(x.shape)))
        found[index] = (ends[0] - ends[1]) / (2 * STEP)
    return found.reshape(x.shape)


def symbolic(call: Call, params: Sequence[Var]) -> tuple[Call, list[Var]] | None:
    """The call with a shape variable for each size above 1; None where it needs numbers."""
    dims: dict[int, prim.Var] = {}
    renamed: dict[Var, Var] = {}
    for var in params:
        info = var.struct_info
        if isinstance(info, TensorStructInfo) and info.dims is not None:
            sizes = [int(dim) for dim in info.dims]  # type: ignore[call-overload]
            shape = [
                dims.setdefault(size, prim.Var(f"n{size}", "int64")) if size > 1 else size
                for size in sizes
            ]
            info = TensorStructInfo(shape, info.dtype)
        renamed[var] = Var(var.name_hint, info)
    if not dims:
        return None
    renewed = substitute(call, renamed)
    builder = BlockBuilder()
    with builder.function("main", list(renamed.values())), warnings.catch_warnings():
        warnings.simplefilter("error", RelaxWarning)  # what is undecided is no sample
        try:
            builder.emit_func_output(builder.emit(renewed))
        except (DiagnosticError, RelaxWarning):
            builder.emit_func_output(next(iter(renamed.values())))
            return None
    infos = fields_of_result(renewed.struct_info)
    known = all(not isinstance(f, TensorStructInfo) or f.dims is not None for f in infos)
    return (renewed, list(renamed.values())) if known else None


def unknown(call: Call, params: Sequence[Var]) -> tuple[Call, list[Var]]:
    """The call on tensors of which only the rank is known."""
    renamed: dict[Var, Var] = {}
    for var in params:
        info = var.struct_info
        if isinstance(info, TensorStructInfo):
            info = TensorStructInfo(None, info.dtype, ndim=info.ndim)
        renamed[var] = Var(var.name_hint, info)
    return substitute(call, renamed), list(renamed.values())
