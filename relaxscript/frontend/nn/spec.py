"""Descriptions of the arguments that a method has when it becomes a function: `nn.spec`.

    spec = {
        "forward": {"x": nn.spec.Tensor(("n", 784), "float32")},
        "decode": {"token": nn.spec.Tensor((1, 1), "int32"), "length": int,
                   "$": {"param_mode": "packed", "effect_mode": "packed"}},
    }

Strings are names of shape variables, one for each name in a method. Parameters and effects are
arguments of their own ("plain"), the fields of one tuple ("packed"), or left out ("none").

Source: TVM `relax.frontend.nn.spec`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from relaxscript.dtypes import DataType
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.suggest import did_you_mean, nearest
from relaxscript.ir.field_types import brief

from . import tensor as values
from .default_dtype import as_dtype
from .shapes import Dim, as_shape
from .trace import model_error

if TYPE_CHECKING:
    from .module import Module

__all__ = ["Int", "MethodSpec", "ModuleSpec", "Object", "Tensor", "Tuple"]

__tracebackhide__ = is_user_error

_MODES = ("plain", "packed", "none")


class Int:
    """An integer, which is a shape variable in the method: `length + 1`."""

    def __repr__(self) -> str:
        return "int"


class Tensor:
    """A tensor of this shape and dtype; strings in the shape are names of shape variables."""

    def __init__(self, shape: Sequence[Dim], dtype: str) -> None:
        self.shape = list(as_shape(shape, "`nn.spec.Tensor`"))
        self.dtype = as_dtype(dtype)

    def __repr__(self) -> str:
        return f"Tensor({self.shape!r}, {self.dtype!r})"


class Object:
    """A value that is no tensor, as an object of this class (`nn.Object`, or one derived)."""

    def __init__(self, object_type: type[values.Object]) -> None:
        if not isinstance(object_type, type):
            raise model_error(
                f"`nn.spec.Object` takes a class, not {brief(object_type)}",
                help="write for example `nn.spec.Object(nn.Object)`",
            )
        self.object_type = object_type

    def __repr__(self) -> str:
        return f"Object({self.object_type.__name__})"


class Tuple:
    """A tuple or list of arguments, which stays what it is."""

    def __init__(self, name: str, elements: list[Any] | tuple[Any, ...]) -> None:
        self.name = name
        self.elements = elements

    def __repr__(self) -> str:
        return f"Tuple({self.name!r}, {self.elements!r})"


class MethodSpec:
    """A method, what its arguments are, and how parameters and effects reach the function.

    Raises `DiagnosticError` (RX0711) for a mode that there is not.
    """

    def __init__(
        self, method: Callable[..., Any], arg_names: list[str], arg_specs: list[Any],
        param_mode: str, effect_mode: str,
    ) -> None:  # fmt: skip
        for name, mode in (("param_mode", param_mode), ("effect_mode", effect_mode)):
            if mode not in _MODES:
                shown = f'"{mode}"' if isinstance(mode, str) else brief(mode)
                help = did_you_mean(nearest(str(mode), _MODES), f"write {_quoted(_MODES)}", '"')
                message = f"`{name}` is {_quoted(_MODES)}, not {shown}"
                raise model_error(message, help=help)
        self.method = method
        self.arg_names = arg_names
        self.arg_specs = arg_specs
        self.param_mode = param_mode
        self.effect_mode = effect_mode

    def arguments(self, values: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Values for `arg_names` as the method takes them: by position, then by keyword."""
        given = dict(zip(self.arg_names, values))
        positional: list[Any] = []
        for name in inspect.signature(self.method).parameters:
            if name not in given:
                break
            positional.append(given.pop(name))
        return positional, given

    def __repr__(self) -> str:
        args = ", ".join(f"{n}: {s!r}" for n, s in zip(self.arg_names, self.arg_specs))
        return f"MethodSpec({_name(self.method)}({args}), {self.param_mode}, {self.effect_mode})"

    @staticmethod
    def from_raw(spec: Any, method: Callable[..., Any]) -> MethodSpec:
        """The spec of a mapping from the method's arguments to what they are.

        `int` or "int" is `Int()`, a tuple or list a `Tuple`; the item "$" has the modes, which are
        "plain" unless said. Raises `DiagnosticError` (RX0711) for an argument too many or missing.
        """
        if isinstance(spec, MethodSpec):
            return spec
        if not isinstance(spec, Mapping):
            raise model_error(
                f"the spec of `{_name(method)}` maps its arguments to what they are, "
                f"this is {brief(spec)}",
                help='write for example `{"x": nn.spec.Tensor((1, 784), "float32")}`',
            )
        modes = _modes(spec.get("$", {}))
        given = {name: value for name, value in spec.items() if name != "$"}
        parameters = inspect.signature(method).parameters
        _check_arguments(method, parameters, given)
        names = [name for name in parameters if name in given]
        specs = [_argument(name, given[name]) for name in names]
        return MethodSpec(method, names, specs, **modes)

    @staticmethod
    def from_torch(args: Sequence[Any], method: Callable[..., Any]) -> MethodSpec:
        """The spec of arguments by examples: tensors (of PyTorch or numpy), ints, tuples."""
        parameters = inspect.signature(method).parameters
        if len(args) > len(parameters):
            count = len(parameters)
            raise model_error(f"`{_name(method)}` takes {count} arguments, not {len(args)}")
        given = {name: _example(name, arg) for name, arg in zip(parameters, args)}
        return MethodSpec.from_raw(given, method)


class ModuleSpec:
    """The methods of a module that become functions, each with its spec."""

    def __init__(
        self, module: Module, method_names: list[str], method_specs: list[MethodSpec]
    ) -> None:
        self.module = module
        self.method_names = method_names
        self.method_specs = method_specs

    def __iter__(self) -> Iterator[tuple[str, MethodSpec]]:
        return iter(zip(self.method_names, self.method_specs))

    def __repr__(self) -> str:
        return f"ModuleSpec({dict(self)!r})"

    @staticmethod
    def from_raw(spec: Any, module: Module) -> ModuleSpec:
        """The spec of a mapping from names of methods to their specs.

        Raises `DiagnosticError` (RX0711) for a method that there is not.
        """
        if isinstance(spec, ModuleSpec):
            return spec
        if not isinstance(spec, Mapping) or not spec:
            raise model_error(
                f"a spec maps the methods of a module to their arguments, this is {brief(spec)}",
                help='write for example `{"forward": {"x": nn.spec.Tensor((1, 784), "float32")}}`',
            )
        return ModuleSpec(
            module,
            list(spec),
            [MethodSpec.from_raw(raw, _method(module, name)) for name, raw in spec.items()],
        )


def _method(module: Module, name: Any) -> Callable[..., Any]:
    kind = type(module).__name__
    if not isinstance(name, str):
        raise model_error(
            f"a spec names the methods of `{kind}` by strings, not by {brief(name)}",
            help='write for example `{"forward": {...}}`',
        )
    found = getattr(module, name, None)
    if not callable(found):
        own = [n for n, f in inspect.getmembers(type(module), callable) if not n.startswith("_")]
        raise model_error(
            f"`{kind}` has no method `{name}`",
            help=did_you_mean(nearest(name, own), f"write `def {name}(self, ...)` in `{kind}`"),
        )
    method: Callable[..., Any] = found
    return method


def _modes(given: Any) -> dict[str, str]:
    modes = {"param_mode": "plain", "effect_mode": "plain"}
    if not isinstance(given, Mapping):
        meant = nearest(given, _MODES) if isinstance(given, str) else None
        mode = given if given in _MODES else meant or "packed"
        raise model_error(
            f'the item "$" of a spec maps `param_mode` and `effect_mode` to modes, '
            f"this is {brief(given)}",
            help=f'write `"$": {{"param_mode": "{mode}", "effect_mode": "{mode}"}}`',
        )
    for name, mode in given.items():
        if name not in modes:
            help = did_you_mean(nearest(str(name), modes), "write " + _listed(modes))
            shown = f"`{name}`" if isinstance(name, str) else brief(name)
            raise model_error(f'the item "$" of a spec has no {shown}', help=help)
        modes[name] = mode
    return modes


def _check_arguments(
    method: Callable[..., Any],
    parameters: Mapping[str, inspect.Parameter],
    given: Mapping[str, Any],
) -> None:
    """Every argument without a default has a spec, and every spec an argument."""
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    plain = {name: p for name, p in parameters.items() if p.kind not in variadic}
    missing = [n for n, p in plain.items() if p.default is p.empty and n not in given]
    unexpected = [name for name in given if name not in plain]
    if not missing and not unexpected:
        return
    notes = [f"`{name}` is missing in the spec" for name in missing]
    notes += [f"`{name}` is no argument of the method" for name in unexpected]
    near = nearest(str(unexpected[0]), missing or plain) if unexpected else None
    arguments = "it takes " + _listed(plain) if plain else "it takes no arguments"
    raise model_error(
        f"the spec of `{_name(method)}` does not fit its arguments",
        help=did_you_mean(near, arguments), notes=tuple(notes),
    )  # fmt: skip


def _argument(name: str, spec: Any) -> Any:
    """The spec of one argument, from what may be written for it."""
    if spec is int or (isinstance(spec, str) and spec == "int"):
        return Int()
    match spec:
        case Int() | Tensor() | Object():
            return spec
        case Tuple(elements=elements):
            return Tuple(spec.name, _elements(spec.name, elements))
        case list() | tuple():
            return Tuple(name, _elements(name, spec))
    raise model_error(
        f"{brief(spec)} does not say what the argument `{name}` is",
        help='write `nn.spec.Tensor(("n", 784), "float32")`, `int`, `nn.spec.Object(nn.Object)`, '
        "or a tuple of these",
    )


def _elements(name: str, elements: Any) -> Any:
    return type(elements)(_argument(f"{name}_{k}", part) for k, part in enumerate(elements))


def _example(name: str, example: Any) -> Any:
    match example:
        case bool() | str() | float():
            pass
        case int():
            return Int()
        case list() | tuple() if not hasattr(example, "dtype"):
            return Tuple(name, type(example)(_example(name, part) for part in example))
        case _ if hasattr(example, "shape") and hasattr(example, "dtype"):
            dtype = str(example.dtype).rpartition(".")[2]  # that of PyTorch is `torch.float32`
            return Tensor([int(size) for size in example.shape], DataType(dtype))
    raise model_error(
        f"{brief(example)} does not say what the argument `{name}` is",
        help="give a tensor, an int, or a tuple of them",
    )


def _name(method: Callable[..., Any]) -> str:
    return getattr(method, "__name__", repr(method))


def _quoted(modes: Sequence[str]) -> str:
    *others, last = [f'"{mode}"' for mode in modes]
    return f"{', '.join(others)} or {last}"


def _listed(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)
