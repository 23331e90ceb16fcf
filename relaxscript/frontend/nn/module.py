"""Modules: a model as a tree of Python objects, whose attributes are parameters and other modules.

The name of a parameter is the path of attributes that leads to it: `fc1.weight`.

Source: TVM `relax.frontend.nn.core`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from relaxscript.builder import BlockBuilder
from relaxscript.errors.exceptions import is_user_error
from relaxscript.ir.field_types import brief

from .default_dtype import as_dtype
from .effect import Effect
from .parameter import Parameter
from .state_dict import load_state
from .subroutine import SubroutineMixin
from .trace import Trace, model_error, run_module

__all__ = ["Module", "ModuleDict", "ModuleList", "named_members"]

__tracebackhide__ = is_user_error


class Module(SubroutineMixin):
    """A part of a model. Derive from it, make parameters and modules in `__init__`, and describe
    in `forward` what it computes.

    A class with `define_subroutine = True` becomes a private function, which each use calls.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result of `forward`. Raises `DiagnosticError` (RX0711) outside of an export."""
        kind = type(self).__name__
        forward = getattr(self, "forward", None)
        if forward is None:
            raise model_error(
                f"`{kind}` has no method `forward`",
                help="write `def forward(self, x: nn.Tensor) -> nn.Tensor:`",
            )
        trace = Trace.current()
        if trace is None and BlockBuilder.current() is None:
            raise model_error(
                f"`{kind}` is called outside of an export",
                help="make a function of it first: "
                '`run = model.jit(spec={"forward": {...}})`, then `run.forward(x)`',
            )
        if self.define_subroutine and trace is not None:
            return self.call_subroutine(trace, named_members(self), args, kwargs)
        return run_module(self, forward, args, kwargs)

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """The parameters with their names; one that has several names comes once, by the first.

        Raises `DiagnosticError` (RX0711) where two parameters have one name.
        """
        seen: set[int] = set()
        for name, parameter in _parameters(self, prefix):
            if id(parameter) not in seen:
                seen.add(id(parameter))
                yield name, parameter

    def parameters(self) -> Iterator[Parameter]:
        """The parameters, each once."""
        for _, parameter in self.named_parameters():
            yield parameter

    def state_dict(
        self, *, prefix: str = "", destination: dict[str, Parameter] | None = None
    ) -> dict[str, Parameter]:
        """The parameters by all of their names, in `destination` where that is given."""
        found: dict[str, Parameter] = {} if destination is None else destination
        found.update(_parameters(self, prefix))
        return found

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True
    ) -> tuple[list[str], list[str]]:
        """Give the parameters their data by name; gives the names missing and unexpected.

        Values are arrays, parameters, and what speaks DLPack, such as the tensors of a state_dict
        of PyTorch; none is copied. Raises `DiagnosticError` (RX0712) for data of another shape or
        dtype, and with `strict` for names that are missing or unexpected. Then nothing is loaded.
        """
        return load_state(self.state_dict(), state_dict, strict)

    def to(self, dtype: str | None = None) -> None:
        """Change the dtype of all parameters and states, and of what follows from it."""
        waiting: list[Module] = [self]
        seen = {id(self)}
        while waiting:
            module = waiting.pop()
            if module is not self and type(module).to is not Module.to:
                module.to(dtype)  # it knows better what follows
                continue
            for _, member in _members(module):
                if isinstance(member, Module) and id(member) not in seen:
                    seen.add(id(member))
                    waiting.append(member)
                elif isinstance(member, (Parameter, Effect)):
                    member.to(dtype)
            if dtype is not None and isinstance(getattr(module, "dtype", None), str):
                module.dtype = as_dtype(dtype)  # type: ignore[attr-defined]

    def export_tvm(self, spec: Any, debug: bool = False, allow_extern: bool = False) -> Any:
        """The module as an `IRModule`: a public function for each method of `spec`.

            spec = {"forward": {"x": nn.spec.Tensor((1, 784), "float32")}}
            mod, params = model.export_tvm(spec)

        `spec` says what the arguments of each method are, see `nn.spec`. The parameters follow the
        inputs of a function, whose number is its attribute `num_input`. Gives the module and the
        parameters with their names; with `allow_extern` the extern modules as well. `debug` lets
        methods print and call debug functions, by a state that is passed through.

        Raises `DiagnosticError`: RX0711 for a model or spec that makes no function. What operators
        say of their operands has the path of the module and the user's line.
        """
        from .exporter import Exporter
        from .spec import ModuleSpec

        exporter = Exporter(debug=debug)
        mod, params, externs = exporter.build(ModuleSpec.from_raw(spec, self))
        if allow_extern:
            return mod, params, externs
        if externs:
            raise model_error(
                "the model uses extern modules, and the export does not allow them",
                help="write `export_tvm(spec, allow_extern=True)`, which gives them as well",
            )
        return mod, params

    def jit(
        self,
        spec: Any,
        device: Any = "cpu",
        pipeline: Any = "default_build",
        out_format: str = "numpy",
        debug: bool = False,
    ) -> Any:
        """The module compiled, with its parameters: an object with the methods of `spec`.

            run = model.jit(spec={"forward": {"x": nn.spec.Tensor((1, 784), "float32")}})
            y = run.forward(x)

        Raises what `export_tvm` and `build` do, and `DiagnosticError` (RX0712) for parameters
        without data.
        """
        from .jit import jit

        return jit(self, spec, device, pipeline, out_format, debug)


class ModuleList(Module):
    """Modules in a row, by their numbers: `layers.0`, `layers.1`. Called, each takes what the one
    before gave.
    """

    def __init__(self, modules: Iterable[Module]) -> None:
        self.modules: list[Any] = []
        for module in modules if isinstance(modules, Iterable) else (modules,):
            self.append(module)

    def __iter__(self) -> Iterator[Module]:
        return iter(self.modules)

    def __getitem__(self, idx: Any) -> Any:
        return self.modules[idx]

    def __setitem__(self, idx: int, module: Module) -> None:
        _require_module(module, "nn.ModuleList")
        self.modules[idx] = module

    def __len__(self) -> int:
        return len(self.modules)

    def append(self, module: Module) -> None:
        """Add a module at the end. Raises `DiagnosticError` (RX0711) for what is none."""
        _require_module(module, "nn.ModuleList")
        self.modules.append(module)

    def forward(self, x: Any) -> Any:
        """The result of the last module."""
        for module in self.modules:
            x = module(x)
        return x


class ModuleDict(Module):
    """Modules by names of their own: `heads.left`, `heads.right`."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        self.modules: dict[str, Module] = {}
        self.update(modules or {})

    def __iter__(self) -> Iterator[str]:
        return iter(self.modules)

    def __getitem__(self, key: str) -> Module:
        return self.modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        _require_module(module, "nn.ModuleDict")
        self.modules[key] = module

    def __contains__(self, key: object) -> bool:
        return key in self.modules

    def __len__(self) -> int:
        return len(self.modules)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self.modules.keys()

    def values(self) -> Iterable[Module]:
        """The modules."""
        return self.modules.values()

    def items(self) -> Iterable[tuple[str, Module]]:
        """The names with the modules."""
        return self.modules.items()

    def get(self, key: str, default: Module | None = None) -> Module | None:
        """The module of a name, else `default`."""
        return self.modules.get(key, default)

    def pop(self, key: str) -> Module:
        """Take out the module of a name."""
        return self.modules.pop(key)

    def update(self, modules: Mapping[str, Module]) -> None:
        """Add modules by their names."""
        for key, module in modules.items():
            self[key] = module


def _require_module(value: Any, owner: str) -> None:
    if not isinstance(value, Module):
        raise model_error(
            f"`{owner}` holds modules, not {brief(value)}",
            help="keep other values in attributes of their own",
        )


def _members(module: Module) -> Iterable[tuple[str, Any]]:
    """The attributes of a module, or the modules of a list or dict, with their names."""
    match module:
        case ModuleList():
            return ((str(index), item) for index, item in enumerate(module.modules))
        case ModuleDict():
            return ((str(key), item) for key, item in module.modules.items())
    return vars(module).items()


def named_members(module: Module, prefix: str = "") -> list[tuple[str, Any]]:
    """All parameters, effects and modules inside of a module, with their names.

    A module that holds one in which it is itself is not entered again.
    """
    found: list[tuple[str, Any]] = []
    inside = {id(module)}
    # Without recursion: modules may be nested deeper than calls of Python.
    path = f"{prefix}." if prefix and not prefix.endswith(".") else prefix
    open_ones = [(module, path, iter(_members(module)))]
    while open_ones:
        owner, path, members = open_ones[-1]
        for name, member in members:
            if isinstance(member, (Parameter, Effect)):
                found.append((path + name, member))
            elif isinstance(member, Module) and id(member) not in inside:
                found.append((path + name, member))
                inside.add(id(member))
                open_ones.append((member, f"{path}{name}.", iter(_members(member))))
                break
        else:
            open_ones.pop()
            inside.remove(id(owner))
    return found


def _parameters(module: Module, prefix: str) -> Iterator[tuple[str, Parameter]]:
    """The parameters by all of their names."""
    known: dict[str, Parameter] = {}
    for name, member in named_members(module, prefix):
        if isinstance(member, Parameter):
            if known.setdefault(name, member) is not member:
                raise model_error(
                    f"two parameters are called `{name}`",
                    help="call the module by a name without a dot",
                )
            yield name, member
