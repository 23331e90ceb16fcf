"""Models as modules in the manner of PyTorch: classes that own their parameters by name.

    class MLP(nn.Module):
        def __init__(self):
            self.fc1 = nn.Linear(784, 128)
            self.relu = nn.ReLU()
            self.fc2 = nn.Linear(128, 10)

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return self.fc2(self.relu(self.fc1(x)))

    mod, params = MLP().export_tvm(spec={"forward": {"x": nn.spec.Tensor(("n", 784), "float32")}})

Start reading at `module.py`: what a module is. `tensor.py` has what methods compute with, `op/` and
`modules/` what there is to compute, and `exporter.py` how methods become functions. `init.py` makes
the first values of parameters.

Source: TVM `relax.frontend.nn`.
"""

from __future__ import annotations

from . import init, modules, op, spec
from .call_mistakes import tell_constructors as _tell_constructors, tell_methods as _tell_methods
from .default_dtype import get_default_dtype, set_default_dtype
from .effect import Effect
from .exporter import Exporter
from .extern import ExternModule, ObjectModule, SourceModule, add_extern
from .module import Module, ModuleDict, ModuleList
from .modules import *  # noqa: F403
from .op import *  # noqa: F403
from .parameter import Parameter
from .subroutine import SubroutineMixin
from .tensor import Object, Tensor
from .visitor import Mutator

__all__ = [
    "Effect", "Exporter", "ExternModule", "Module", "ModuleDict", "ModuleList",
    "Mutator", "Object", "ObjectModule", "Parameter", "SourceModule", "SubroutineMixin", "Tensor",
    "add_extern", "get_default_dtype", "init", "modules", "op", "set_default_dtype", "spec",
    *modules.__all__, *op.__all__,
]  # fmt: skip

_tell_constructors([getattr(modules, name) for name in modules.__all__], "nn")
_tell_constructors([ModuleDict, ModuleList, ObjectModule, Parameter, SourceModule], "nn")
_tell_constructors([spec.Int, spec.Object, spec.Tensor, spec.Tuple], "nn.spec")
_tell_methods(
    Tensor, ("astype", "maximum", "minimum", "permute_dims", "repeat", "reshape"), "nn.Tensor"
)
_tell_methods(Module, ("export_tvm", "jit", "load_state_dict", "state_dict", "to"), "model")
