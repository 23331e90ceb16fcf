"""The export that is going on: where values are bound, and of which module the code is.

A method is exported by calling it. Each operator that it calls binds its result by the builder that
is current; the span is the user's line. A `Trace` knows what parameters stand
for meanwhile; outside of an export there is none, and the builder alone decides.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from relaxscript.arguments import ArgumentError, python_signature
from relaxscript.builder import BlockBuilder
from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    UnplacedError,
    did_you_mean,
    nearest,
    unplaced_error,
)
from relaxscript.errors.article import article
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.user_frame import CallerSpans, caller_span, innermost_span
from relaxscript.ir.relax import Expr, Var

__all__ = [
    "Trace",
    "at_users_line",
    "bind_value",
    "current_builder",
    "model_error",
    "nested_too_deeply",
    "run_module",
]

__tracebackhide__ = is_user_error

_current: ContextVar[Trace | None] = ContextVar("relaxscript.frontend.nn.trace", default=None)


class Trace:
    """The export of one function: names that are taken, values of parameters, modules that run."""

    def __init__(
        self, builder: BlockBuilder, paths: Callable[[], Mapping[Any, str]], spans: CallerSpans,
        exporter: Any,
    ) -> None:  # fmt: skip
        self.builder = builder
        self.spans = spans
        self.exporter = exporter
        # What each parameter of the model is in this function.
        self.values: dict[Any, Expr] = {}
        # The effects whose states go through this function, and those of them that are no module's.
        self.effects: list[Any] = []
        self.shared_effects: list[Any] = []
        self._paths = paths
        self._names: dict[str, int] = {}

    @staticmethod
    def current() -> Trace | None:
        """The innermost export of this thread and task; None outside of any."""
        return _current.get()

    def inner(self, effects: list[Any]) -> Trace:
        """The export of a function that this one calls, by the same builder."""
        made = Trace(self.builder, self._paths, self.spans, self.exporter)
        made.effects, made.shared_effects = effects, self.shared_effects
        return made

    @contextmanager
    def running(self) -> Iterator[None]:
        """Make this the current one inside of a `with`."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def unique_name(self, hint: str) -> str:
        """A hint, with a number where a variable of this function has that name."""
        name, count = hint, self._names.get(hint, 0)
        while name in self._names:
            count += 1
            name = f"{hint}{count}"
        self._names[hint] = count
        self._names.setdefault(name, 0)
        return name

    def path_of(self, module: Any) -> str | None:
        """The attributes that lead from the model to a module or parameter of it."""
        return self._paths().get(module)


def current_builder(name: str) -> BlockBuilder:
    """The builder of the function that is being written, for an operator of that name.

    Raises `DiagnosticError` (RX0711) where none is.
    """
    trace = _current.get()
    builder = BlockBuilder.current() if trace is None else trace.builder
    if builder is None:
        raise model_error(
            f"`{name}` is called outside of an export",
            help="call it in a method of an `nn.Module`, and export the module: "
            '`mod, params = Model().export_tvm(spec={"forward": {...}})`',
        )
    return builder


def bind_value(value: Expr, name: str, outlives: bool = False) -> Var:
    """Bind an expression in the function that is being written; `name` is that of the variable.

    Raises `DiagnosticError`: RX0711 where none is, and what the operator says of its operands.
    """
    trace, builder = _current.get(), current_builder(name)
    with builder.blame_caller():
        if trace is None:
            return builder.bind(value, builder.get_unique_name(name), caller_span(), None, outlives)
        span, name = trace.spans.here(), trace.unique_name(name)
        return builder.bind(value, name, span, None, outlives)


def run_module(module: Any, method: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The result of a method of a module; what goes wrong in it is said with the module's path."""
    try:
        return method(*args, **kwargs)
    except (DiagnosticError, UnplacedError) as error:
        trace = _current.get()
        if trace is None or getattr(error, "has_module", False):
            raise
        raise _placed(error, trace, module).with_traceback(None) from error.__cause__
    except AttributeError as error:
        trace = _current.get()
        if trace is None or error.obj is not module:
            raise
        raise _absent_attribute(error, trace, module) from None
    except TypeError as error:
        trace, step = _current.get(), error.__traceback__
        if trace is None or step is None or step.tb_next is not None:
            raise  # the method has begun
        misfit = _misfit(method, f"{type(module).__name__}.{method.__name__}", args, kwargs)
        if misfit is None:
            raise
        raise _placed(misfit, trace, module) from None


def at_users_line(
    error: DiagnosticError | UnplacedError, callee: str = "the function"
) -> tuple[Diagnostic, ...]:
    """Mistakes at the innermost line of the user's; `callee` where they name no function."""
    diagnostics = error.diagnostics if isinstance(error, DiagnosticError) else ()
    if diagnostics and diagnostics[0].span is not None:
        return diagnostics
    span, said = innermost_span(error) or caller_span(), unplaced_error(error)
    if said is None:
        return (replace(diagnostics[0], span=span), *diagnostics[1:])
    named = diagnostics[0].message if diagnostics else None
    placed = said.diagnostic(said.callee or callee, span, {})
    return (replace(placed, message=named or placed.message), *diagnostics[1:])


def _placed(error: DiagnosticError | UnplacedError, trace: Trace, module: Any) -> DiagnosticError:
    """A mistake with the user's line, and the innermost module in which it was made."""
    diagnostics = at_users_line(error)
    notes = (*diagnostics[0].notes, *_whereabouts(trace, module))
    made = DiagnosticError((replace(diagnostics[0], notes=notes), *diagnostics[1:]))
    made.has_module = True  # type: ignore[attr-defined]
    return made


def _absent_attribute(error: AttributeError, trace: Trace, module: Any) -> DiagnosticError:
    """The mistake of a module that uses a parameter or module which it has not made."""
    kind, meant = type(module).__name__, nearest(str(error.name), vars(module))
    help = did_you_mean(meant, f"make it in `__init__` of `{kind}`, after `super().__init__(...)`")
    span, notes = innermost_span(error) or caller_span(), _whereabouts(trace, module)
    message = f"`{kind}` has no attribute `{error.name}`"
    made = DiagnosticError(Diagnostic("RX0711", message, span, notes=notes, help=help))
    made.has_module = True  # type: ignore[attr-defined]
    return made


def _misfit(
    method: Callable[..., Any], name: str, args: Any, kwargs: Any
) -> ArgumentError | None:  # fmt: skip
    """The arguments that a method does not take, as a call of it would give them."""
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):
        return None
    return next(python_signature(name, signature).misfits(args, kwargs), None)


def _whereabouts(trace: Trace, module: Any) -> tuple[str, ...]:
    """A note that says where a module is in the model; none for the model itself."""
    path = trace.path_of(module)
    kind = type(module).__name__
    return (f"in `{path}`, {article(kind)} `{kind}`",) if path else ()


def nested_too_deeply(message: str) -> DiagnosticError:
    """The error of modules inside of each other that are more than calls of Python can be."""
    help = "have modules follow each other, as `nn.ModuleList` does, not hold each other"
    return DiagnosticError(Diagnostic("RX0104", message, caller_span(), help=help))


def model_error(message: str, help: str | None = None, *, notes: tuple[str, ...] = ()) -> Exception:
    """The error of a model that cannot be exported or run as it is, at the user's line."""
    return DiagnosticError(Diagnostic("RX0711", message, caller_span(), notes=notes, help=help))
