"""Modules that run: compiled, with their parameters, one Python method for each of their own.

Source: TVM `relax.frontend.nn.Module.jit`, `relax.frontend.nn.torch.TorchModule`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from relaxscript.compiler import build
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.user_frame import caller_span
from relaxscript.runtime import VirtualMachine
from relaxscript.runtime.values import Shape
from relaxscript.transform import AttachExternModules

from .module import Module
from .parameter import Parameter, weights_error
from .spec import Int, MethodSpec, ModuleSpec, Tuple
from .trace import model_error

__all__ = ["CompiledModule", "jit"]

__tracebackhide__ = is_user_error

_FORMATS = ("numpy", "torch")


class CompiledModule:
    """A model that runs: `run.forward(x)` or `run["forward"](x)`, with the parameters that it had.

    States of effects stay inside, from call to call. `vm` is the virtual machine.
    """

    def __init__(
        self, vm: VirtualMachine, spec: ModuleSpec, data: list[Any], with_effects: bool,
        finish: Callable[[Any], Any],
    ) -> None:  # fmt: skip
        self.vm = vm
        self._data = data
        self._states: Any = vm["_initialize_effect"]() if with_effects else ()
        self._finish = finish
        self._methods = {name: partial(self._run, name, method) for name, method in spec}

    def __getitem__(self, method: str) -> Callable[..., Any]:
        """The method of this name. Raises `DiagnosticError` (RX0607) where there is none."""
        found = self._methods.get(method)
        if found is None:
            raise _no_method(method, list(self._methods))
        return found

    def __getattr__(self, method: str) -> Callable[..., Any]:
        methods = self.__dict__.get("_methods", {})
        if method not in methods:
            raise AttributeError(f"the compiled module has no method `{method}`")
        found: Callable[..., Any] = methods[method]
        return found

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._methods})

    def _run(self, name: str, spec: MethodSpec, *args: Any, **kwargs: Any) -> Any:
        values = _arranged(name, spec, args, kwargs)
        is_packed = spec.effect_mode == "packed"
        has_states = is_packed or (bool(self._states) and spec.effect_mode == "plain")
        if has_states:
            values += [self._states] if is_packed else self._states
        if spec.param_mode != "none":
            values += [tuple(self._data)] if spec.param_mode == "packed" else self._data
        result = self.vm[name](*values)
        if has_states:
            result, self._states = result
        return self._finish(result)


def jit(
    module: Module, spec: Any, device: Any, pipeline: Any, out_format: str, debug: bool
) -> CompiledModule:
    """Compile a module and give it its parameters, as `Module.jit` says."""
    if out_format not in _FORMATS:
        help = did_you_mean(nearest(str(out_format), _FORMATS), 'write "numpy" or "torch"')
        raise model_error(f"results have no format `{out_format}`", help=help)
    finish = _as_torch() if out_format == "torch" else _as_numpy
    methods = ModuleSpec.from_raw(spec, module)
    mod, params, externs = module.export_tvm(methods, debug, allow_extern=True)
    data = _data(params)
    if externs:
        mod = AttachExternModules(externs)(mod)
    vm = VirtualMachine(build(mod, relax_pipeline=pipeline), device)
    return CompiledModule(vm, methods, data, "_initialize_effect" in mod, finish)


def _data(params: list[tuple[str, Parameter]]) -> list[Any]:
    """The data of all parameters; raises `DiagnosticError` (RX0712) where some have none."""
    empty = [name for name, parameter in params if parameter.data is None]
    if empty:
        raise weights_error(
            "the model has parameters without data",
            help="give them by `model.load_state_dict(...)`, or one by `parameter.data = array`",
            notes=[f"`{name}` has no data" for name in empty],
        )
    # Plain arrays: a call with an `NDArray` gives these.
    held = [parameter.data for _, parameter in params]
    return [np.asarray(data) if isinstance(data, np.ndarray) else data for data in held]


def _arranged(name: str, spec: MethodSpec, args: tuple[Any, ...], named: Any) -> list[Any]:
    """Arguments in the order of a method's, integers as the function takes them."""
    names = spec.arg_names
    given = {**dict(zip(names, args)), **named}
    wanted = len(args) + len(named) == len(names)
    if not wanted or set(given) != set(names):
        text = ", ".join(names)
        raise DiagnosticError(
            Diagnostic(
                "RX0602", f"`{name}` does not take these arguments", caller_span(),
                help=f"it is called as `run.{name}({text})`",
            )
        )  # fmt: skip
    return [_as_argument(kind, given[key]) for key, kind in zip(names, spec.arg_specs)]


def _as_argument(spec: Any, value: Any) -> Any:
    match spec:
        case Int() if isinstance(value, int):
            return Shape((value,))
        case Tuple(elements=elements) if isinstance(value, (list, tuple)):
            if len(value) == len(elements):
                return tuple(map(_as_argument, elements, value))
    return value


def _as_numpy(result: Any) -> Any:
    return result


def _as_torch() -> Callable[[Any], Any]:
    """A function that gives arrays as tensors of PyTorch, which share their memory."""
    try:
        import torch  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise DiagnosticError(
            Diagnostic(
                "RX0702", 'results are tensors of PyTorch, and "torch" is not installed',
                caller_span(), help='install it, or write `out_format="numpy"`',
            )
        ) from None  # fmt: skip

    def convert(result: Any) -> Any:
        if isinstance(result, tuple) and not isinstance(result, Shape):
            return tuple(map(convert, result))
        return torch.from_dlpack(result) if isinstance(result, np.ndarray) else result

    return convert


def _no_method(method: str, known: list[str]) -> Exception:
    help = did_you_mean(nearest(method, known), "it has " + ", ".join(f"`{n}`" for n in known))
    message = f"the compiled module has no method `{method}`"
    return DiagnosticError(Diagnostic("RX0607", message, caller_span(), help=help))
