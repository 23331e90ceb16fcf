"""The context in which passes run: their levels, what is disabled, options and instruments.

    with PassContext(opt_level=3, disabled_pass=["LambdaLift"], instruments=[PrintAfterAll()]):
        mod = Sequential([...])(mod)

Source: TVM `tvm.ir.transform.PassContext`, `PassInfo`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest, warn
from relaxscript.errors.exceptions import is_user_error
from relaxscript.ir import hooks
from relaxscript.ir.instrument import PassInstrument
from relaxscript.ir.module import IRModule

from .checked_arguments import checks_arguments

__all__ = ["PassContext", "PassInfo"]

__tracebackhide__ = is_user_error

Evaluate = Callable[[IRModule, str, Sequence[Any]], Any]


@dataclass(frozen=True, init=False)
class PassInfo:
    """The description of a pass; `traceable` is for tuning and of no effect here.

    `declares` are the names of what the pass declares that it does, such as "changes_signatures".
    """

    opt_level: int
    name: str
    required: tuple[str, ...]
    traceable: bool
    declares: tuple[str, ...]

    @checks_arguments()
    def __init__(
        self,
        opt_level: int,
        name: str,
        required: Sequence[str] | None = None,
        traceable: bool = False,
        *,
        declares: Sequence[str] = (),
    ) -> None:
        given = {
            "opt_level": opt_level, "name": name, "required": tuple(required or ()),
            "traceable": traceable, "declares": tuple(declares),
        }  # fmt: skip
        for field, value in given.items():
            object.__setattr__(self, field, value)


# Options that programs written for TVM give, and the type of each. Where no pass of ours reads one,
# it changes nothing.
_CONFIGS: dict[str, type] = {
    "relax.FoldConstant.max_bytes": int,
    "relax.FuseOps.max_depth": int,
    "relax.backend.use_cuda_graph": bool,
    "relax.fallback_device_type": int,
    "relax.lift_transform_params.consume_params": bool,
    "relax.transform.apply_legalize_ops": bool,
    "testing.immutable_module": bool,
}


class PassContext:
    """The settings of passes inside `with PassContext(...):`; the innermost context counts.

    `opt_level` is the highest level of passes that a `Sequential` runs; `required_pass` names those
    that run at any level, `disabled_pass` those that never run. `instruments` are told of contexts
    and passes (`relaxscript.ir.instrument`), but of nothing that one of them runs while it is told.
    So it may build the module. `config` maps options to values.

    A pass that runs code calls `evaluate(module, name, args)`, which runs a PrimFunc: it writes
    into the arrays among `args`. By default it runs as `build` would have it run.

    Raises `TypeError` for values of another kind, `DiagnosticError` (RX0703) for an unknown option.
    """

    @checks_arguments("required_pass", "disabled_pass", "instruments", "evaluate")
    def __init__(
        self,
        opt_level: int = 2,
        required_pass: Sequence[str] | None = None,
        disabled_pass: Sequence[str] | None = None,
        instruments: Sequence[PassInstrument] | None = None,
        config: Mapping[str, Any] | None = None,
        *,
        evaluate: Evaluate | None = None,
    ) -> None:
        if evaluate is not None and not callable(evaluate):
            raise TypeError(f"`evaluate` is a function, not {evaluate!r}")
        self.evaluate: Evaluate = hooks.evaluate if evaluate is None else evaluate
        self.opt_level = opt_level
        self.required_pass = _names("required_pass", required_pass)
        self.disabled_pass = _names("disabled_pass", disabled_pass)
        self.instruments = _check_instruments(instruments)
        self.config = dict(config or {})
        for key, value in self.config.items():
            _check_option(key, value)

    def __repr__(self) -> str:
        given = {"opt_level": self.opt_level, "required_pass": self.required_pass}
        given |= {"disabled_pass": self.disabled_pass, "config": self.config}
        said = {name: value for name, value in given.items() if value or name == "opt_level"}
        return f"PassContext({', '.join(f'{name}={value!r}' for name, value in said.items())})"

    @staticmethod
    def current() -> PassContext:
        """The innermost context that is entered in this thread, or one with the defaults."""
        stack = _entered.get()
        return stack[-1] if stack else PassContext()

    @staticmethod
    def list_configs() -> dict[str, dict[str, str]]:
        """The options that `config` may have, and their types."""
        return {key: {"type": kind.__name__} for key, kind in _CONFIGS.items()}

    def __enter__(self) -> PassContext:
        self._enter_instruments()
        _entered.set((*_entered.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _entered.set(_entered.get()[:-1])
        self._exit_instruments()

    def override_instruments(self, instruments: Sequence[PassInstrument] | None) -> None:
        """Use these instruments from now on; those up to now are told that the context ends."""
        self._exit_instruments()
        self.instruments = _check_instruments(instruments)
        self._enter_instruments()

    def _enter_instruments(self) -> None:
        with self._listening() as instruments:
            for instrument in instruments:
                instrument.enter_pass_ctx()

    def _exit_instruments(self) -> None:
        with self._listening() as instruments:
            for instrument in instruments:
                instrument.exit_pass_ctx()

    @contextmanager
    def _listening(self) -> Iterator[list[PassInstrument]]:
        """The instruments that are to be told something, and that hear of nothing else meanwhile.

        What an instrument runs while it is told, such as a build of the module, is its own.
        """
        busy = _busy.get()
        token = _busy.set((*busy, *self.instruments))
        try:
            yield [i for i in self.instruments if all(i is not other for other in busy)]
        finally:
            _busy.reset(token)

    def pass_enabled(self, info: PassInfo) -> bool:
        """True if a `Sequential` runs a pass here."""
        if _is_named(info, self.disabled_pass):
            return False
        return _is_named(info, self.required_pass) or info.opt_level <= self.opt_level

    def before(self, mod: IRModule, info: PassInfo) -> bool:
        """Tell the instruments that a pass is about to run; False when one of them prevents it."""
        with self._listening() as instruments:
            if not all(instrument.should_run(mod, info) for instrument in instruments):
                return False
            for instrument in instruments:
                instrument.run_before_pass(mod, info)
        return True

    def after(self, mod: IRModule, info: PassInfo) -> None:
        """Tell the instruments what a pass made."""
        with self._listening() as instruments:
            for instrument in instruments:
                instrument.run_after_pass(mod, info)


_entered: ContextVar[tuple[PassContext, ...]] = ContextVar("relaxscript.pass_contexts", default=())
# The instruments that are being told something.
_busy: ContextVar[tuple[PassInstrument, ...]] = ContextVar(
    "relaxscript.busy_instruments", default=()
)


def _names(what: str, given: Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise TypeError(f"`{what}` is a list of names of passes, not {given!r}")
    for name in given:
        _warn_of_misspelling(what, name)
    return tuple(given)


def _warn_of_misspelling(what: str, name: str) -> None:
    """Warn of a name that is nearly that of a pass of ours: others may be those of a user's."""
    ours = [n for n in import_module("relaxscript.transform").__all__ if n[0].isupper()]
    short = name.rpartition(".")[2]
    near = None if short in ours else nearest(short, ours)
    if near is not None:
        message = f'`{what}` names "{name}", and there is no such pass here'
        help = did_you_mean(near, quote='"')
        warn(Diagnostic("RX0703", message, None, help=help, severity="warning"))


def _check_instruments(instruments: Sequence[PassInstrument] | None) -> tuple[PassInstrument, ...]:
    given = tuple(instruments or ())
    for instrument in given:
        if not isinstance(instrument, PassInstrument):
            raise TypeError(f"an instrument is a PassInstrument, not {instrument!r}")
    return given


def _is_named(info: PassInfo, names: Sequence[str]) -> bool:
    """True if the pass is among the names, also as TVM registers it."""
    return bool(names) and info.name.rpartition(".")[2] in [n.rpartition(".")[2] for n in names]


def _check_option(key: str, value: Any) -> None:
    kind = _CONFIGS.get(key)
    if kind is None:
        near = nearest(key, list(_CONFIGS))
        help = did_you_mean(near, "see `PassContext.list_configs()`", '"')
        message = f'there is no option "{key}" of passes'
        raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))
    if not isinstance(value, kind):
        raise TypeError(f'the option "{key}" is of type {kind.__name__}, not {value!r}')
