"""Modules, tensors, specs and extern modules by the names, parameters and defaults of TVM 0.20."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from relaxscript.relax.frontend import nn

NAMES = """
Tensor(*, _expr)
Tensor.from_const(data)
Tensor.from_scalar(data, dtype)
Tensor.from_struct_info(struct_info, name='tensor')
Tensor.placeholder(shape, dtype, name='tensor')
Tensor.astype(self, dtype)
Tensor.maximum(self, other)
Tensor.minimum(self, other)
Tensor.reshape(self, *shape)
Tensor.permute_dims(self, *axes)
Tensor.repeat(self, repeats, axis=None)
Parameter(shape, dtype=None)
Parameter.to(self, dtype=None)
Object(*, _expr, _name)
Effect.emit_init(self, name_hint, builder)
Effect.create(self, name_hint)
Effect.set_state(self, state_vars)
Effect.finalize(self)
Effect.to(self, dtype=None)
IOEffect()
Module.named_parameters(self, prefix='')
Module.parameters(self)
Module.state_dict(self, *, prefix='', destination=None)
Module.load_state_dict(self, state_dict, strict=True)
Module.__call__(self, *args, **kwargs)
Module.to(self, dtype=None)
Module.export_tvm(self, spec, debug=False, allow_extern=False)
Module.jit(self, spec, device='cpu', pipeline='default_build', out_format='torch', debug=False)
ModuleList(modules)
ModuleList.__getitem__(self, idx)
ModuleList.append(self, module)
ModuleList.to(self, dtype=None)
ModuleList.forward(self, x)
get_default_dtype()
set_default_dtype(dtype)
wrap_nested(expr, name)
spec.Int()
spec.Tensor(shape, dtype)
spec.Object(object_type)
spec.Tuple(name, elements)
spec.MethodSpec(method, arg_names, arg_specs, param_mode, effect_mode)
spec.MethodSpec.from_raw(spec, method)
spec.MethodSpec.from_torch(args, method)
spec.ModuleSpec.from_raw(spec, module)
Exporter(debug=False)
Exporter.build(self, spec)
Exporter.add_external_module(self, module)
ExternModule(symbols)
ObjectModule(symbols, filepath)
SourceModule(symbols, source_code, source_format, compile_options=None, compiler=None, output_format='obj')
add_extern(mod)
Mutator.visit(self, name, node)
Mutator.visit_module(self, name, node)
Mutator.visit_effect(self, name, node)
Mutator.visit_param(self, name, node)
Mutator.visit_modulelist(self, name, node)
"""  # noqa: E501
PROPERTIES = ("Tensor.shape", "Tensor.ndim", "Tensor.dtype", "Parameter.data")

# What a call of TVM's means all the same, or why it does not.
DIFFERS = {
    "Module.jit": "results are arrays of numpy unless PyTorch is asked for, which is no dependency",
}


def member(name: str) -> Any:
    found: Any = nn
    for part in name.split("."):
        found = getattr(found, part)
    return found


def signature_of(found: Any) -> str:
    signature = inspect.signature(found)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(inspect.Signature(plain))


@pytest.mark.parametrize("line", NAMES.strip().split("\n"))
def test_a_name_of_tvm_has_its_parameters(line: str):
    name, _, rest = line.partition("(")
    same = signature_of(member(name)) == f"({rest}"
    assert same is (name not in DIFFERS)


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_of_tvm_is_one(name: str):
    assert isinstance(member(name), property)


def test_the_core_is_where_tvm_has_it():
    from relaxscript.relax.frontend.nn import core, exporter
    from relaxscript.relax.frontend.nn.core import Module
    from relaxscript.relax.frontend.nn.modules import Linear
    from relaxscript.relax.frontend.nn.op import relu
    from relaxscript.relax.frontend.nn.spec import MethodSpec

    assert (core.Tensor, Module, Linear) == (nn.Tensor, nn.Module, nn.Linear)
    assert (relu, MethodSpec) == (nn.op.relu, nn.spec.MethodSpec)
    assert exporter.Exporter is nn.Exporter
