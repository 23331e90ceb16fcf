"""Trainer: parameters and states of a model, which each batch of a training moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest, quantity
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import Constant, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.runtime.arrays import array, as_given
from relaxscript.runtime.debug.report import Report
from relaxscript.runtime.machine import VirtualMachine
from relaxscript.runtime.values import Device, DeviceTensor, device as device_named
from relaxscript.transform.pass_infra.checked_arguments import checks_arguments

from .setup_trainer import (
    ADJOINT_FUNC,
    BACKBONE_FUNC,
    BACKBONE_LOSS_FUNC,
    INPUT_NUM,
    OPTIM_STATE,
    OPTIMIZER_FUNC,
    PARAM_NUM,
    STATE_NUM,
)

__all__ = ["Trainer"]

Array = npt.NDArray[Any]
Given: TypeAlias = "Array | DeviceTensor"
Loaded: TypeAlias = "Sequence[Given] | Mapping[str, Given]"


class Trainer:
    """A model in training: its parameters, its states, and those of the optimizer.

    `train_mod` is what `SetupTrainer` made, `vm` a machine that runs it after a build, and `device`
    where arrays are. Parameters and states are zeros at first; with `zero_init_param_state=False`
    they have no value, and are loaded or drawn before anything is computed.

        module = SetupTrainer(MSELoss(), SGD(0.1), [predictions, targets])(Model)
        trainer = Trainer(module, VirtualMachine(build(module)), cpu())
        trainer.xavier_uniform_init_params()
        loss = trainer.update(x, y)

    Parameters have known sizes. Raises `DiagnosticError` (RX0714) for a module of another kind.
    Source: TVM `relax.training.Trainer`.
    """

    BACKBONE_FUNC = BACKBONE_FUNC
    BACKBONE_LOSS_FUNC = BACKBONE_LOSS_FUNC
    ADJOINT_FUNC = ADJOINT_FUNC
    OPTIMIZER_FUNC = OPTIMIZER_FUNC

    @checks_arguments()
    def __init__(
        self, train_mod: IRModule, vm: VirtualMachine, device: Device | str,
        zero_init_param_state: bool = True,
    ) -> None:  # fmt: skip
        known = _attributes(train_mod)
        self.mod = train_mod
        self.vm = vm
        self.device = device_named(device)
        inputs, params, states = (known[key] for key in (INPUT_NUM, PARAM_NUM, STATE_NUM))
        variables = train_mod[BACKBONE_FUNC].params
        self._input_num = inputs
        self._params = _Values("parameter", variables[inputs : inputs + params], self.device)
        self._states = _Values("state", variables[inputs + params :], self.device)
        self._optim_states = tuple(
            _placed(state.data, self.device)
            for state in known[OPTIM_STATE]
            if isinstance(state, Constant)
        )
        assert len(self._states.variables) == states, "the module counts its states"
        self._run = {name: vm[name] for name in (BACKBONE_FUNC, ADJOINT_FUNC, OPTIMIZER_FUNC)}
        if zero_init_param_state:
            self.zero_init_params()
            self.zero_init_states()

    def __repr__(self) -> str:
        params, states = len(self._params.variables), len(self._states.variables)
        counts = [quantity(params, "parameter"), *([quantity(states, "state")] if states else [])]
        return f"<Trainer of {' and '.join(counts)} on {self.device}>"

    # -- values ------------------------------------------------------------------------------------

    def xavier_uniform_init_params(self, *, seed: int | None = None) -> None:
        """Draw all parameters evenly around 0, as wide as the sizes of their axes ask for.

        The bound is `sqrt(6 / (fan_in + fan_out))`; axes behind the second one count for both.
        With a `seed` the numbers are the same each time. Source: Glorot and Bengio, "Understanding
        the difficulty of training deep feedforward neural networks".
        """
        random = np.random.default_rng(seed)
        self._params.fill(lambda shape: random.uniform(-1, 1, shape) * _bound(shape))

    def xaiver_uniform_init_params(self, *, seed: int | None = None) -> None:
        """The spelling of TVM for `xavier_uniform_init_params`."""
        self.xavier_uniform_init_params(seed=seed)

    def zero_init_params(self) -> None:
        """Make all parameters zeros."""
        self._params.fill(np.zeros)

    def zero_init_states(self) -> None:
        """Make all states zeros."""
        self._states.fill(np.zeros)

    def load_params(self, params: Loaded) -> None:
        """Take over parameters: all of them in order, or some by name.

        Arrays are copied, and have the dtype and shape of the parameter. Raises `DiagnosticError`:
        RX0206 for one that does not fit, RX0101 for a name, RX0203 for a number that is another.
        """
        self._params.load(params)

    def load_states(self, states: Loaded) -> None:
        """Take over states, as `load_params` does parameters."""
        self._states.load(states)

    def export_params(self) -> dict[str, Any]:
        """A copy of the parameters by their names, None for one without a value."""
        return self._params.export()

    def export_states(self) -> dict[str, Any]:
        """A copy of the states by their names, None for one without a value."""
        return self._states.export()

    # -- runs --------------------------------------------------------------------------------------

    def predict(self, *input_instances: Given) -> Any:
        """The results of `backbone` for inputs: with states, a tuple that ends with them.

        States stay as they are. Raises `DiagnosticError` (RX0714) where a parameter has no value,
        and RX0203 for another number of inputs.
        """
        inputs = self._inputs(input_instances)
        made = self._run[BACKBONE_FUNC](*inputs, *self._params.all(), *self._states.all())
        return as_given(input_instances, made)

    def update(self, input_instances: Any, targets: Any) -> Any:
        """Train by one batch; gives its loss, a scalar, before the step.

        Inputs and targets are an array each, or a list or tuple of arrays. Parameters, states, and
        the states of the optimizer are new afterwards. Raises as `predict` does.
        """
        loss, gradients = self._run[ADJOINT_FUNC](*self._batch(input_instances, targets))
        moved = None
        if isinstance(loss, tuple):
            loss, moved = loss[0], loss[len(loss) - len(self._states.variables) :]
        params, self._optim_states = self._run[OPTIMIZER_FUNC](
            tuple(self._params.all()), gradients, self._optim_states
        )
        self._params.values = list(params)
        if moved is not None:
            self._states.values = list(moved)
        return as_given((*_several(input_instances), *_several(targets)), loss)

    def profile_adjoint(self, input_instances: Any, targets: Any) -> Report:
        """The report of one run of loss and gradients by a batch; nothing moves."""
        return self.vm.profile(ADJOINT_FUNC, *self._batch(input_instances, targets))

    def _batch(self, input_instances: Any, targets: Any) -> list[Any]:
        """The arguments of loss and gradients for a batch."""
        inputs = self._inputs(_several(input_instances))
        given = [_placed(target, self.device) for target in _several(targets)]
        wanted = len(self.mod[BACKBONE_LOSS_FUNC].params) - len(self.mod[BACKBONE_FUNC].params)
        if len(given) != wanted:
            raise _refusal("RX0203", f"the loss takes {wanted} targets, not {len(given)}")
        return [*inputs, *self._params.all(), *self._states.all(), *given]

    def _inputs(self, given: Sequence[Any]) -> list[Any]:
        if len(given) != self._input_num:
            message = f"`{BACKBONE_FUNC}` takes {self._input_num} inputs, not {len(given)}"
            raise _refusal("RX0203", message)
        return [_placed(each, self.device) for each in given]


class _Values:
    """The parameters of a model, or its states: variables with an array for each, or None."""

    def __init__(self, noun: str, variables: Sequence[Var], device: Device) -> None:
        self.noun = noun
        self.variables = {var.name_hint: var for var in variables}
        self.infos = [self._info(var) for var in variables]
        self.values: list[Any] = [None] * len(variables)
        self.device = device

    def _info(self, var: Var) -> tuple[tuple[int, ...], npt.DTypeLike]:
        """The shape and dtype of a variable, which are known."""
        info = var.struct_info
        if isinstance(info, TensorStructInfo) and info.dims is not None:
            sizes = [dim.value for dim in info.dims if isinstance(dim, IntImm)]
            if len(sizes) == len(info.dims) and not info.dtype.is_void:
                return tuple(sizes), info.dtype.numpy
        message = f"a trainer keeps an array of each {self.noun}, and `{var.name_hint}` is `{info}`"
        raise _refusal("RX0714", message, "give it sizes that are known")

    def fill(self, make: Any) -> None:
        """Give each a value of its shape."""
        self.values = [
            _placed(np.asarray(make(shape), dtype), self.device) for shape, dtype in self.infos
        ]

    def load(self, given: Loaded) -> None:
        names = list(self.variables)
        if isinstance(given, Mapping):
            for name in given:
                if name not in self.variables:
                    help = did_you_mean(nearest(str(name), names))
                    raise _refusal("RX0101", f"the model has no {self.noun} `{name}`", help)
            pairs = [(names.index(name), each) for name, each in given.items()]
        else:
            if len(given) != len(names):
                message = f"the model has {len(names)} {self.noun}s, and {len(given)} are given"
                raise _refusal("RX0203", message, f"they are {', '.join(names) or 'none'}")
            pairs = list(enumerate(given))
        fitting = [(place, self._fitting(place, names[place], each)) for place, each in pairs]
        for place, value in fitting:
            self.values[place] = value

    def _fitting(self, place: int, name: str, given: Any) -> Any:
        """A copy of an array as the value of a variable, whose shape it has."""
        shape, dtype = self.infos[place]
        found = _on_host(given)
        if found.shape != shape:
            message = f"the {self.noun} `{name}` has shape {shape}, and the array has "
            raise _refusal("RX0206", f"{message}{found.shape}")
        if not np.can_cast(found.dtype, dtype, "same_kind"):
            message = f"the {self.noun} `{name}` has dtype {np.dtype(dtype)}, and the array has "
            raise _refusal("RX0206", f"{message}{found.dtype}", f"write `.astype('{dtype}')`")
        return _placed(found.astype(dtype), self.device)

    def all(self) -> list[Any]:
        """The values; refuses to go on without one."""
        for name, value in zip(self.variables, self.values):
            if value is None:
                message = f"the {self.noun} `{name}` has no value yet"
                help = f"load {self.noun}s, or make the trainer with zeros"
                raise _refusal("RX0714", message, help)
        return self.values

    def export(self) -> dict[str, Any]:
        return {
            name: None if value is None else array(_on_host(value), self.device)
            for name, value in zip(self.variables, self.values)
        }


def _attributes(mod: IRModule) -> Mapping[str, Any]:
    """The attributes by SetupTrainer; refuses a module that it has not made."""
    known: Mapping[str, Any] = mod.attrs or {}
    missing = [key for key in (INPUT_NUM, PARAM_NUM, STATE_NUM, OPTIM_STATE) if key not in known]
    missing += [name for name in (BACKBONE_FUNC, ADJOINT_FUNC, OPTIMIZER_FUNC) if name not in mod]
    if missing:
        message = f"a trainer takes a module that is set up for it; this one lacks `{missing[0]}`"
        raise _refusal("RX0714", message, "run `SetupTrainer(loss, optimizer, loss_args)` on it")
    return known


def _refusal(code: str, message: str, help: str | None = None) -> DiagnosticError:
    return DiagnosticError(Diagnostic(code, message, caller_span(), help=help))


def _on_host(value: Any) -> Array:
    return value.numpy() if isinstance(value, DeviceTensor) else np.asarray(value)


def _several(given: Any) -> Sequence[Any]:
    return given if isinstance(given, (list, tuple)) else [given]


def _placed(value: Any, device: Device) -> Any:
    """An array on a device; on the host a plain one, which calls of native code take as it is."""
    if device == Device("cpu", 0):
        return _on_host(value)
    return value if isinstance(value, DeviceTensor) else array(value, device)


def _bound(shape: Sequence[int]) -> float:
    """The bound of evenly drawn parameters of a shape."""
    beyond = prod(shape[2:])
    fans = sum(shape[:2]) * beyond if shape else 1
    return float(np.sqrt(6 / max(fans, 1)))
