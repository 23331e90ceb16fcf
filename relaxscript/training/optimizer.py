"""Optimizers: how parameters move, as Relax functions of parameters, gradients and states.

    adam = Adam(0.01).init([w, b])
    function = adam.get_function()  # (params, gradients, optim_states) -> (params, optim_states)
    states = adam.state             # those of the first step

Source: TVM `relax.training.optimizer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import count
from math import isfinite
from numbers import Real
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from relaxscript.builder import BlockBuilder
from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import Constant, Expr, Function, ShapeExpr, Tuple, TupleGetItem, Var
from relaxscript.ir.struct_info import TensorStructInfo, TupleStructInfo
from relaxscript.op.binary import add, divide, multiply, subtract
from relaxscript.op.unary import sqrt

__all__ = ["SGD", "Adam", "MomentumSGD", "Optimizer"]

Array = npt.NDArray[Any]
_Self = TypeVar("_Self", bound="Optimizer")

_OF_ANY = ("name", "param_list", "state", "dtype")  # what an optimizer has but its settings


class Optimizer:
    """A mover of parameters: it is made, given parameters by `init`, and asked.

    `get_function` gives the function of a step, whose name is `name`. It takes three tuples and
    gives two: the new parameters and states. `gradients` are those of the parameters, in their
    order, shapes and dtype. `state` are the arrays of the first step, None before `init`: the
    number of steps, int64 of shape (), comes first. `dtype` is that of all parameters.

    An optimizer of one's own derives from this class and defines `_move`, or `get_function`. With
    states besides the number of steps it defines `_initial_state`: first those that parameters
    share, which `_shared` names, then those of each parameter, sort by sort. `_sorts` are the names
    of the sorts. Source: TVM `relax.training.optimizer.Optimizer`.
    """

    _shared: ClassVar[tuple[str, ...]] = ()
    _sorts: ClassVar[tuple[str, ...]] = ()

    def __init__(self, name: str) -> None:
        self.name = name
        self.param_list: list[Var] | None = None
        self.state: tuple[Array, ...] | None = None
        self.dtype: DataType | None = None

    def __repr__(self) -> str:
        given = {name: value for name, value in vars(self).items() if name not in _OF_ANY}
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def init(self: _Self, params: Var | Sequence[Var]) -> _Self:
        """Take over the parameters, one variable or several; gives the optimizer itself.

        Each is a tensor of floats, of the same dtype as the others. Raises `DiagnosticError`.
        RX0201 is for what is no variable of a tensor, RX0202 for another dtype. RX0103 is for one
        that comes twice, RX0203 for one of unknown size where a state is kept of each.
        """
        if not isinstance(params, (Var, Sequence)):
            message = f"`init` of `{self.name}` takes variables, not {brief(params)}"
            _refuse("RX0201", message, "give it `function.params`, for example")
        given = [params] if isinstance(params, Var) else list(params)
        self.dtype = _common_dtype(self.name, given)
        self.param_list = given
        self.state = (np.zeros((), np.int64), *self._initial_state(given))
        return self

    def get_function(self) -> Function:
        """The function of one step; raises `DiagnosticError` (RX0105) before `init`."""
        if self.param_list is None or self.state is None:
            message = f"the optimizer `{self.name}` does not know its parameters yet"
            help = f"write `{self.name}(...).init(params).get_function()`"
            raise DiagnosticError(Diagnostic("RX0105", message, caller_span(), help=help))
        step = _Step(self.param_list, self.state)
        builder = step.builder
        with builder.function(self.name, [step.params, step.gradients, step.states]):
            with builder.dataflow():
                # All fields first: calls that follow each other may be one call of native code.
                steps = builder.emit(TupleGetItem(step.states, 0), "num_steps")
                moving = step.unpack(self.param_list, self._shared, self._sorts)
                one = Constant(np.array(1, np.int64))
                moved = [builder.emit(add(steps, one), "num_steps_new"), *self._begin(step)]
                params, states = [], []
                for place, (value, slope) in enumerate(moving):
                    new, kept = self._move(step, place, value, slope)
                    params.append(new)
                    states.append(kept)
                # All states of one sort are beside each other.
                ordered = [state for sort in zip(*states) for state in sort]
                result = builder.emit_output(Tuple(tuple(params)), "params_new")
                after = builder.emit_output(Tuple((*moved, *ordered)), "optim_states_new")
            builder.emit_func_output(Tuple((result, after)))
        made: Function = builder.get()[self.name]
        return made

    # -- what subclasses say -----------------------------------------------------------------------

    def _initial_state(self, params: Sequence[Var]) -> Sequence[Array]:
        """The states of the first step behind the number of steps."""
        return ()

    def _begin(self, step: _Step) -> Sequence[Var]:
        """Write what all parameters share: the new states before those of parameters."""
        return ()

    def _move(
        self, step: _Step, place: int, value: Var, slope: Var
    ) -> tuple[Var, Sequence[Var]]:  # fmt: skip
        """Write how one parameter moves: its new value, and its states, one of each sort."""
        message = f"the optimizer `{type(self).__name__}` does not say how parameters move"
        help = "define `_move`, or `get_function`"
        raise DiagnosticError(Diagnostic("RX0105", message, caller_span(), help=help))


class SGD(Optimizer):
    """Stochastic gradient descent: `p_new = p - lr * (g + weight_decay * p)`.

    Its only state is the number of steps. Source: TVM `relax.training.optimizer.SGD`.
    """

    def __init__(self, lr: float, weight_decay: float = 0) -> None:
        super().__init__("SGD")
        self.lr = _number(self.name, "lr", lr)
        self.weight_decay = _number(self.name, "weight_decay", weight_decay)

    def _move(
        self, step: _Step, place: int, value: Var, slope: Var
    ) -> tuple[Var, Sequence[Var]]:  # fmt: skip
        slope = step.decayed(value, slope, self.weight_decay)
        return step.descended(value, slope, self.lr), ()


class MomentumSGD(Optimizer):
    """Stochastic gradient descent with momentum.

        g = g + weight_decay * p
        v_new = momentum * v + (1 - dampening) * g
        p_new = p - lr * v_new
        p_new = p - lr * (g + momentum * v_new)     # with `nesterov` instead

    States are the number of steps, then `v` of each parameter, zeros at first. Parameters have
    known sizes. Source: TVM `relax.training.optimizer.MomentumSGD`; Sutskever et al., "On the
    importance of initialization and momentum in deep learning".
    """

    _sorts = ("v",)

    def __init__(
        self, lr: float, momentum: float, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__("MomentumSGD")
        self.lr = _number(self.name, "lr", lr)
        self.momentum = _number(self.name, "momentum", momentum)
        self.dampening = _number(self.name, "dampening", dampening)
        self.weight_decay = _number(self.name, "weight_decay", weight_decay)
        self.nesterov = nesterov

    def _initial_state(self, params: Sequence[Var]) -> Sequence[Array]:
        return _zeros(self.name, params)

    def _move(
        self, step: _Step, place: int, value: Var, slope: Var
    ) -> tuple[Var, Sequence[Var]]:  # fmt: skip
        name, emit = value.name_hint, step.builder.emit
        slope = step.decayed(value, slope, self.weight_decay)
        share = step.scaled(slope, _complement(self.dampening)) if self.dampening else slope
        speed = emit(add(step.scaled(step.kept["v"][place], self.momentum), share), f"{name}_v_new")
        along = speed
        if self.nesterov:
            ahead = step.scaled(speed, self.momentum)
            along = emit(add(slope, ahead), f"{name}_g_nest")
        return step.descended(value, along, self.lr), (speed,)


class Adam(Optimizer):
    """Adaptive moments: each element moves by the mean of its gradients over their size.

        g = g + weight_decay * p
        m_new = beta1 * m + (1 - beta1) * g
        v_new = beta2 * v + (1 - beta2) * g * g
        p_new = p - lr * (m_new / (1 - beta1**t)) / (sqrt(v_new / (1 - beta2**t)) + eps)

    `betas` are `beta1` and `beta2`, and `t` counts steps from 1. States are the number of steps
    and the powers of both, ones at first, of the dtype of the parameters. Then come `m` of each
    parameter and `v` of each, zeros at first. Parameters have known sizes. Source: TVM
    `relax.training.optimizer.Adam`; Kingma and Ba, "Adam: a method for stochastic optimization".
    """

    _shared = ("beta1_power", "beta2_power")
    _sorts = ("m", "v")

    def __init__(
        self, lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-08,
        weight_decay: float = 0,
    ) -> None:  # fmt: skip
        super().__init__("Adam")
        self.lr = _number(self.name, "lr", lr)
        self.beta1, self.beta2 = _pair(self.name, "betas", betas)
        self.eps = _number(self.name, "eps", eps)
        self.weight_decay = _number(self.name, "weight_decay", weight_decay)

    def _initial_state(self, params: Sequence[Var]) -> Sequence[Array]:
        assert self.dtype is not None, "the dtype is known before the states are"
        ones = [np.ones((), self.dtype.numpy) for _ in range(2)]
        return (*ones, *_zeros(self.name, params), *_zeros(self.name, params))

    def _begin(self, step: _Step) -> Sequence[Var]:
        made, emit = [], step.builder.emit
        for place, (name, beta) in enumerate((("beta1", self.beta1), ("beta2", self.beta2))):
            power = step.shared[place]
            made.append(emit(multiply(power, step.number(beta)), f"{name}_prod"))
        one = step.number(1.0)
        step.corrections = [emit(subtract(one, power)) for power in made]
        return made

    def _move(
        self, step: _Step, place: int, value: Var, slope: Var
    ) -> tuple[Var, Sequence[Var]]:  # fmt: skip
        name, emit = value.name_hint, step.builder.emit
        slope = step.decayed(value, slope, self.weight_decay)
        share = step.scaled(slope, _complement(self.beta1))
        mean = emit(add(step.scaled(step.kept["m"][place], self.beta1), share), f"{name}_m_new")
        square = step.scaled(emit(multiply(slope, slope)), _complement(self.beta2))
        size = emit(add(step.scaled(step.kept["v"][place], self.beta2), square), f"{name}_v_new")
        likely_mean = emit(divide(mean, step.corrections[0]), f"{name}_m_hat")
        likely_size = emit(divide(size, step.corrections[1]), f"{name}_v_hat")
        root = emit(add(emit(sqrt(likely_size)), step.number(self.eps)))
        return step.descended(value, emit(divide(likely_mean, root)), self.lr), (mean, size)


class _Step:
    """The function of a step while it is written: its parameters, and what its parts share."""

    def __init__(self, params: Sequence[Var], state: Sequence[Array]) -> None:
        self.builder = BlockBuilder()
        infos = tuple(_tensor_info(param) for param in params)
        self.dtype = infos[0].dtype if infos else DataType("float32")
        held = tuple(
            TensorStructInfo(ShapeExpr(array.shape), DataType(array.dtype)) for array in state
        )
        self.params = Var("params", TupleStructInfo(infos))
        self.gradients = Var("gradients", TupleStructInfo(infos))
        self.states = Var("optim_states", TupleStructInfo(held))
        self.shared: list[Var] = []
        self.kept: dict[str, list[Var]] = {}
        self.corrections: list[Var] = []

    def unpack(
        self, params: Sequence[Var], shared: Sequence[str], sorts: Sequence[str]
    ) -> list[tuple[Var, Var]]:
        """Bind the states, and give each parameter with its gradient."""
        emit, names = self.builder.emit, [param.name_hint for param in params]
        states = (TupleGetItem(self.states, place) for place in count(1))
        self.shared = [emit(next(states), name) for name in shared]
        self.kept = {
            sort: [emit(next(states), f"{name}_{sort}") for name in names] for sort in sorts
        }
        return [
            (
                emit(TupleGetItem(self.params, place), name),
                emit(TupleGetItem(self.gradients, place), f"{name}_grad"),
            )
            for place, name in enumerate(names)
        ]

    def number(self, value: float) -> Constant:
        """A scalar of the dtype of the parameters."""
        return Constant(np.array(value, self.dtype.numpy))

    def scaled(self, what: Expr, by: float) -> Var:
        return self.builder.emit(multiply(self.number(by), what))

    def decayed(self, value: Var, slope: Var, decay: float) -> Var:
        """The gradient of a parameter that is drawn to 0 besides."""
        if not decay:
            return slope
        name = f"{value.name_hint}_grad_new"
        return self.builder.emit(add(self.scaled(value, decay), slope), name)

    def descended(self, value: Var, along: Expr, rate: float) -> Var:
        """The parameter after a step."""
        moved = subtract(value, self.scaled(along, rate))
        return self.builder.emit(moved, f"{value.name_hint}_new")


# ---------------------------------------------------------------- what is given


def _refuse(code: str, message: str, help: str | None = None) -> NoReturn:
    raise DiagnosticError(Diagnostic(code, message, caller_span(), help=help))


def _common_dtype(optimizer: str, params: Sequence[Any]) -> DataType | None:
    """The dtype of all parameters; refuses what is no parameter of an optimizer."""
    known: DataType | None = None
    seen: set[Var] = set()
    for param in params:
        if not isinstance(param, Var):
            message = f"a parameter of `{optimizer}` is a variable, not {brief(param)}"
            _refuse("RX0201", message, "give it `function.params`, for example")
        name, info = param.name_hint, param.struct_info
        if not isinstance(info, TensorStructInfo):
            noun = "of unknown sort" if info is None else info.noun
            _refuse("RX0201", f"the parameter `{name}` of `{optimizer}` is {noun}, not a tensor")
        if not info.dtype.is_float:
            message = f"the parameter `{name}` of `{optimizer}` has dtype {info.dtype}, not a float"
            _refuse("RX0202", message, "leave it out: only floats can move along a gradient")
        if known is not None and info.dtype != known:
            message = f"the parameter `{name}` of `{optimizer}` has dtype {info.dtype}"
            _refuse("RX0202", message, f"all have one; those before it have {known}")
        if param in seen:
            _refuse("RX0103", f"`{optimizer}` is given the parameter `{name}` twice")
        known = info.dtype
        seen.add(param)
    return known


def _tensor_info(param: Var) -> TensorStructInfo:
    info = param.struct_info
    assert isinstance(info, TensorStructInfo), "parameters of optimizers are tensors"
    return info


def _zeros(optimizer: str, params: Sequence[Var]) -> list[Array]:
    """An array of zeros for each parameter."""
    made = []
    for param in params:
        info = _tensor_info(param)
        sizes = [dim.value for dim in info.dims or () if isinstance(dim, IntImm)]
        if info.dims is None or len(sizes) != len(info.dims):
            message = f"`{optimizer}` keeps a state of each parameter, and `{param.name_hint}` is "
            help = "give parameters sizes that are known, by `BindSymbolicVars` for example"
            _refuse("RX0203", f"{message}`{info}`", help)
        made.append(np.zeros(sizes, info.dtype.numpy))
    return made


def _number(optimizer: str, name: str, value: Any) -> float:
    """A finite number; refuses all else."""
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
        _refuse("RX0201", f"`{name}` of `{optimizer}` is a finite number, not {brief(value)}")
    return float(value)


def _pair(optimizer: str, name: str, values: Any) -> tuple[float, float]:
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        _refuse("RX0201", f"`{name}` of `{optimizer}` are two numbers, not {brief(values)}")
    first, second = (_number(optimizer, name, value) for value in values)
    return first, second


def _complement(value: float) -> float:
    """`1 - value` as one computes it by hand: 0.1 for 0.9, though floats give another number."""
    return float(1 - Decimal(repr(value)))
