"""Gradients of operators: they agree with differences of what the operators mean."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from relaxscript.analysis import well_formed
from relaxscript.errors import OperandError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function, Op, Var
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.structural_equality import assert_structural_equal, structural_equal
from relaxscript.ir.walk import walk
from relaxscript.op import REGISTRY, Operator
from relaxscript.script import from_source
from relaxscript.transform import LegalizeOps

from .differentiation import (
    by_differences,
    cotangents_of,
    draw_cotangents,
    flat,
    gradient_module,
    is_float,
    run,
    smooth_samples,
    symbolic,
    unknown,
)
from .sampling import Sample, fields_of_result, samples

# A module must list the devices of the one, and have the PrimFunc of the other.
OWN_TESTS = {"to_vdevice", "call_tir_with_grad"}
DIFFERENTIABLE = [
    o for o in REGISTRY.values() if "gradient" in o.rules and o.script_name not in OWN_TESTS
]

# Where the usual range is outside of the domain, or has not all branches.
DOMAINS = {
    "acosh": (1.2, 3.0), "abs": (-1.0, 1.0), "sign": (-1.0, 1.0), "clip": (0.4, 3.6),
    "image.grid_sample": (-1.7, 1.6),
    "nn.relu": (-1.0, 1.0), "nn.leakyrelu": (-1.0, 1.0), "nn.prelu": (-1.0, 1.0),
    "nn.gelu": (-2.0, 2.0), "nn.gelu_tanh": (-2.0, 2.0), "nn.selu": (-2.0, 2.0),
    "nn.silu": (-2.0, 2.0), "nn.softplus": (-2.0, 2.0),
}  # fmt: skip

# Their gradient needs to know the shape of the result.
BY_SHAPES = {"image.resize2d", "image.resize3d"}

# All laws of an operator run before those of the next: they share what is made of its samples.
every_differentiable = pytest.mark.parametrize("operator", DIFFERENTIABLE, ids=repr, scope="module")


@dataclass(frozen=True)
class Differentiated:
    """A sample with gradients of its results, and the module that gives those by its operands."""

    sample: Sample
    cotangents: list[Any]
    module: IRModule
    variables: list[Var]

    @property
    def values(self) -> list[Any]:
        """The arguments of the module."""
        return [*self.sample.values.values(), *self.cotangents]

    @functools.cached_property
    def gradients(self) -> tuple[Any, ...]:
        """What the module gives."""
        return run(self.module, self.values)


def differentiated(sample: Sample) -> Differentiated:
    grads = cotangents_of(sample.infer())
    made = gradient_module(sample.call, sample.params, grads)
    return Differentiated(sample, draw_cotangents(sample), *made)


@functools.lru_cache(maxsize=2)
def differentiable_samples(operator: Operator) -> list[Differentiated]:
    """Samples at which the operator has a value: without one there is no derivative."""
    low, high = DOMAINS.get(operator.script_name, (0.15, 0.85))
    return [
        differentiated(sample)
        for sample in smooth_samples(operator, low, high)
        if not any(is_float(x) and np.isnan(x).any() for x in flat(sample.evaluate()))
        and not asks_for_shape(sample)
    ]


def asks_for_shape(sample: Sample) -> bool:
    """True for a result of unknown shape where the gradient needs it, and says so."""
    return sample.operator.script_name in BY_SHAPES and not has_known_shape(sample.infer())


def has_known_shape(info: StructInfo) -> bool:
    fields = fields_of_result(info)
    return all(isinstance(f, TensorStructInfo) and f.dims is not None for f in fields)


@every_differentiable
def test_gradients_agree_with_finite_differences(operator: Operator) -> None:
    for made in differentiable_samples(operator):
        sample = made.sample
        for var, grad in zip(made.variables, made.gradients, strict=True):
            value = sample.values[var]
            assert (grad.shape, grad.dtype) == (value.shape, value.dtype), str(sample)
            if not is_float(value):
                continue  # a narrow float moves in steps that are too large
            expected = by_differences(sample, var, made.cotangents)
            assert np.allclose(grad, expected, rtol=1e-5, atol=1e-6), f"{sample} by {var}"


@every_differentiable
def test_a_gradient_is_well_formed_and_reads_back(operator: Operator) -> None:
    for made in differentiable_samples(operator):
        assert well_formed(made.module)
        assert_structural_equal(from_source(made.module.script(show_meta=True)), made.module)


@every_differentiable
def test_a_gradient_over_symbolic_shapes_is_the_one_over_numbers(operator: Operator) -> None:
    for made in differentiable_samples(operator):
        renewed = symbolic(made.sample.call, made.sample.params)
        if renewed is None:
            continue
        call, params = renewed
        module, variables = gradient_module(call, params, cotangents_of(call.struct_info))
        assert well_formed(module)
        assert_structural_equal(from_source(module.script(show_meta=True)), module)
        for one, other in zip(run(module, made.values), made.gradients, strict=True):
            assert one.shape == other.shape
            assert np.allclose(one, other)


@every_differentiable
def test_a_gradient_is_like_what_it_is_by(operator: Operator) -> None:
    for sample in samples(operator, ("float32", "float16", "bfloat16")):
        if asks_for_shape(sample):
            continue
        grads = cotangents_of(sample.infer())
        module, variables = gradient_module(sample.call, sample.params, grads)
        main = module["main"]
        assert isinstance(main, Function)
        assert isinstance(main.ret_struct_info, TupleStructInfo)
        for var, info in zip(variables, main.ret_struct_info.fields, strict=True):
            if has_known_shape(sample.infer()):
                assert structural_equal(info, var.struct_info), f"{sample} by {var}"
            else:
                found, wanted = tensor_info(info), tensor_info(var.struct_info)
                assert (found.dtype, found.ndim) == (wanted.dtype, wanted.ndim)


def tensor_info(info: StructInfo | None) -> TensorStructInfo:
    assert isinstance(info, TensorStructInfo)
    return info


@every_differentiable
@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_a_gradient_over_unknown_shapes_is_the_one_over_numbers_or_asks_for_them(
    operator: Operator,
) -> None:
    for made in differentiable_samples(operator):
        call, params = unknown(made.sample.call, made.sample.params)
        try:
            module, _ = gradient_module(call, params, cotangents_of(call.struct_info))
        except OperandError as error:
            assert error.fact in (  # noqa: PT017
                "has a shape that is not known", "has a rank that is not known",
            )  # fmt: skip
            continue
        for one, other in zip(run(module, made.values), made.gradients, strict=True):
            assert one.shape == other.shape
            assert np.allclose(one, other)


@every_differentiable
def test_a_legalised_gradient_is_native_code_that_gives_the_same(operator: Operator) -> None:
    for made in differentiable_samples(operator)[:1]:
        legal = LegalizeOps()(made.module)
        main = legal["main"]
        assert isinstance(main, Function)
        left = {e.name for e in walk(main.body) if isinstance(e, Op)}
        assert not [name for name in left if "compute" in REGISTRY[name].rules]
        for one, other in zip(run(legal, made.values, "llvm"), made.gradients, strict=True):
            assert one.shape == other.shape
            assert np.allclose(one, other, rtol=1e-9, atol=1e-9)


# Those that TVM differentiates.
OF_TVM = """
    abs add astype broadcast_to concat cos cumsum divide equal exp expand_dims full full_like
    greater greater_equal less less_equal log matmul maximum mean minimum multiply negative
    nn.avg_pool2d nn.conv2d nn.cross_entropy_with_logits nn.log_softmax nn.max_pool2d nn.nll_loss
    nn.relu nn.silu nn.softmax not_equal ones ones_like permute_dims power reshape sigmoid sin split
    sqrt subtract sum take tanh triu variance where zeros zeros_like
""".split()


@pytest.mark.parametrize("operator", REGISTRY.values(), ids=repr)
def test_an_operator_has_a_gradient_or_says_why_not(operator: Operator) -> None:
    assert ("gradient" in operator.rules) != ("gradient" in operator.reasons)


def test_what_tvm_differentiates_has_a_gradient() -> None:
    assert len(OF_TVM) == 52
    assert {f"relax.{name}" for name in OF_TVM} <= {o.name for o in DIFFERENTIABLE}
