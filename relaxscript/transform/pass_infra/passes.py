"""Passes, which are named steps from module to module, and sequences of them.

    class Twice(FunctionPass):
        \"\"\"Replace `x + x` by `x * 2`.\"\"\"

        def transform_function(self, func, mod, ctx):
            ...

    @function_pass(opt_level=0, name="Twice")        # the same without a class
    def twice(func, mod, ctx): ...

    lowered = Sequential([Normalize(), twice])(mod)

A pass leaves its input as it is, gives the same object where nothing is to be done, and settles: a
second run changes nothing. Source: TVM `tvm.ir.transform` and `relax.transform` for names.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from functools import cached_property
from importlib import import_module
from inspect import signature
from typing import Any, ClassVar, Protocol, cast, overload

from relaxscript.errors import Diagnostic, DiagnosticError, Span, did_you_mean, nearest
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.not_built import PASSES
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import BaseFunc, DataflowBlock, Function, GlobalVar
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import rewrite
from relaxscript.runtime.collector import collector_paused
from relaxscript.runtime.progress import note_progress

from .checked_arguments import checks_arguments
from .context import PassContext, PassInfo
from .failures import naming, restoring

__all__ = [
    "DECLARATIONS",
    "DataflowBlockPass",
    "FunctionPass",
    "ModulePass",
    "Pass",
    "PrimFuncPass",
    "Sequential",
    "dataflowblock_pass",
    "find_pass",
    "function_pass",
    "module_pass",
    "prim_func_pass",
]  # fmt: skip

__tracebackhide__ = is_user_error

# The attributes by which a class of passes says what they do beyond the bodies of functions.
DECLARATIONS = (
    "changes_signatures", "adds_functions", "removes_functions", "tolerance", "fails_as",
    "changes_failures", "trusts_checks", "runs_once",
)  # fmt: skip

_PACKAGE = __name__.partition(".")[0] + "."
# The passes that the rows at hand have run, which need not run before those that require them.
_done: ContextVar[frozenset[str]] = ContextVar("relaxscript.passes_done", default=frozenset())


class Pass(ABC):
    """A step from module to module.

    A class says of its passes: their `name`, if it is another than that of the class; the
    `opt_level` that a context must have for them to run in a `Sequential`; and the names of passes
    that are `required` before them, which a call runs first.

    A class also declares what its passes do beyond the bodies of functions. What it does not
    declare its passes may not do: the laws by which passes are tested hold them to it.

    - `changes_signatures`: functions have other parameters, results or purity.
    - `adds_functions`: functions are new, or new to those who call from outside.
    - `removes_functions`: private functions may be gone, and those for code generators.
    - `tolerance`: numbers of the results may differ by that part of them, and by that near zero.
    - `fails_as`: pairs of codes; what fails with the first may fail with the second. So an operator
      (RX0606) fails as the PrimFunc that takes its place (RX0614).
    - `changes_failures`: in dataflow blocks, what fails fails in another way, or no longer.
    - `trusts_checks`: results are the same where no check fails, and anything elsewhere.
    - `runs_once`: a second run may change the program again.
    """

    name: ClassVar[str] = ""
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ()
    traceable: ClassVar[bool] = False

    changes_signatures: ClassVar[bool] = False
    adds_functions: ClassVar[bool] = False
    removes_functions: ClassVar[bool] = False
    tolerance: ClassVar[float] = 0.0
    fails_as: ClassVar[tuple[tuple[str, str], ...]] = ()
    changes_failures: ClassVar[bool] = False
    trusts_checks: ClassVar[bool] = False
    runs_once: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        made = cls.__dict__.get("__init__")
        is_ours = cls.__module__.startswith(_PACKAGE)
        if is_ours and made is not None and not hasattr(made, "__wrapped__"):
            type.__setattr__(cls, "__init__", checks_arguments()(made))

    @checks_arguments()
    def __init__(self) -> None:
        super().__init__()  # takes nothing, and says so

    @classmethod
    def declarations(cls) -> dict[str, Any]:
        """The declarations of the class; empty where its passes only change bodies."""
        declared = {name: getattr(cls, name) for name in DECLARATIONS}
        return {name: value for name, value in declared.items() if value != getattr(Pass, name)}

    def call_as_before(
        self, before: IRModule, call: Callable[..., Any], name: str, args: Sequence[Any]
    ) -> Any:
        """Call a function of the result as that of `before` is called, for what it gives.

        `call(name, *args)` runs a function of the result. A pass after which functions have other
        names, parameters or results overrides this: so it says how old calls become new ones.
        """
        return call(name, *args)

    @cached_property
    def info(self) -> PassInfo:
        """Level, name and required passes, as contexts and instruments see them."""
        name = self.name or type(self).__name__
        declares = _declared_names(self)
        return PassInfo(self.opt_level, name, self.required, self.traceable, declares=declares)

    @property
    def _is_ours(self) -> bool:
        """True for a pass of this package. One of a user's keeps the collector as it likes.

        Those that are made of users' functions or passes are defined here, in this file.
        """
        return type(self).__module__.startswith(_PACKAGE) and type(self).__module__ != __name__

    def __call__(self, mod: IRModule) -> IRModule:
        """The transformed module, under the instruments of the current `PassContext`.

        Raises `TypeError` for what is no module. Raises `DiagnosticError` (RX0703) for an unknown
        required pass, and where a pass gives something else than a module. What keeps `mod` from
        being well-formed is raised where the pass cannot do with it.
        """
        if not isinstance(mod, IRModule):
            hint = "; `IRModule.from_expr(function)` makes one" if isinstance(mod, BaseFunc) else ""
            raise TypeError(f"a pass takes an IRModule, not {type(mod).__name__}{hint}")
        ctx, info = PassContext.current(), self.info
        for earlier in info.required:
            if earlier not in _done.get():
                mod = find_pass(earlier)(mod)
        if not ctx.before(mod, info):
            return mod
        note_progress(f"pass {info.name}")
        pause = collector_paused() if self._is_ours else nullcontext()
        with restoring(mod), naming(self, info.name, mod), pause:
            result: Any = self.transform(mod, ctx)
        if not isinstance(result, IRModule):
            raise _gave(info.name, result, "an IRModule", "mod")
        ctx.after(result, info)
        return result

    @abstractmethod
    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        """Transform the module; called with the instruments around it."""

    def __repr__(self) -> str:
        return f"<pass {self.info.name}>"


def find_pass(name: str) -> Pass:
    """The pass of ours that has a name, also as TVM registers it: "relax.transform.Normalize".

    Those of PrimFuncs are "tir.Simplify" and so on, as they call themselves.

    Raises `DiagnosticError` (RX0703) where there is none, or none without arguments.
    """
    short = name.rpartition(".")[2]
    known = _passes_by_name()
    of_prim_funcs = known.get(f"tir.{short}")
    found = of_prim_funcs if name.startswith("tir.") else known.get(short, of_prim_funcs)
    if found is not None:
        _require_no_arguments(short, found)
        return found()
    if short in PASSES:
        message = f"the pass `{short}` is not built yet"
        raise DiagnosticError(Diagnostic("RX0703", message, None, help=PASSES[short]))
    whole = {each.rpartition(".")[2]: each for each in known}
    near = short if short in whole else nearest(short, list(whole))
    help = did_you_mean(near and whole[near], quote='"')
    raise DiagnosticError(Diagnostic("RX0703", f'there is no pass "{name}"', None, help=help))


def _passes_by_name() -> dict[str, type[Pass]]:
    """The classes of passes that are exported; "tir." is before the names of PrimFuncs'."""
    rooms = {"": "relaxscript.transform", "tir.": "relaxscript.transform.prim_func"}
    return {
        prefix + name: found
        for prefix, room in rooms.items()
        for name, found in vars(import_module(room)).items()
        if isinstance(found, type) and issubclass(found, Pass) and not found.__abstractmethods__
    }


def _require_no_arguments(name: str, found: type[Pass]) -> None:
    """Refuse a pass by its name alone where it is made with arguments."""
    needed = _needed_arguments(found)
    if needed:
        message = f"the pass `{name}` is made with arguments, which its name does not give"
        help = f"make it in Python: `{name}({', '.join(needed)})`"
        raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))


@functools.cache
def _needed_arguments(found: type[Pass]) -> tuple[str, ...]:
    """The parameters of a pass without defaults; to ask again would slow every required pass."""
    parameters = signature(found).parameters.values()
    return tuple([p.name for p in parameters if p.default is p.empty and p.kind < p.VAR_POSITIONAL])


def _gave(
    name: str,
    result: object,
    wanted: str,
    given: str,
    function: GlobalVar | None = None,
    at: Span | None = None,
) -> DiagnosticError:
    """The error where a pass gives another thing than it was given, such as nothing at all."""
    where = "" if function is None else f", for `{function.name_hint}`"
    message = f"the pass `{name}` gave {type(result).__name__}, not {wanted}{where}"
    help = f"return {wanted} on every path, `{given}` itself where nothing changes"
    return DiagnosticError(Diagnostic("RX0703", message, at, help=help))


class ModulePass(Pass):
    """A pass that sees the whole module: it may add functions and take some away."""

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return self.transform_module(mod, ctx)

    @abstractmethod
    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        """The module afterwards; `mod` itself is not changed."""


class FunctionPass(Pass):
    """A pass that looks at one Relax function of the module at a time."""

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        changed = {}
        for var, function in mod.relax_functions().items():
            with naming(self, self.info.name, mod, var):
                result: Any = self.transform_function(function, mod, ctx)
            if not isinstance(result, Function):
                raise _gave(self.info.name, result, "a Function", "func", var, function.span)
            if result is not function:
                changed[var] = result
        if not changed:
            return mod
        made = mod.clone()
        for var, function in changed.items():
            made[var] = function
        return made

    @abstractmethod
    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        """The function afterwards; `mod` is the module before the pass."""


class PrimFuncPass(Pass):
    """A pass that looks at one PrimFunc of the module at a time."""

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        changed: dict[Any, PrimFunc | None] = {}
        for var, function in mod.functions.items():
            if not isinstance(function, PrimFunc):
                continue
            with naming(self, self.info.name, mod, var):
                result: Any = self.transform_function(function, mod, ctx)
            if result is not None and not isinstance(result, PrimFunc):
                raise _gave(self.info.name, result, "a PrimFunc", "func", var, function.span)
            if result is not function:
                changed[var] = result
        if not changed:
            return mod
        made = mod.clone()
        for var, new in changed.items():
            if new is None:
                del made[var]
            else:
                made[var] = new
        return made

    @abstractmethod
    def transform_function(
        self, func: PrimFunc, mod: IRModule, ctx: PassContext
    ) -> PrimFunc | None:
        """The function afterwards, None to remove it; `mod` is the module before the pass."""


class DataflowBlockPass(FunctionPass):
    """A pass that looks at one dataflow block at a time, those of local functions included."""

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        def step(node: Any) -> Any:
            if not isinstance(node, DataflowBlock):
                return None
            result: Any = self.transform_dataflowblock(node, mod, ctx)
            if not isinstance(result, DataflowBlock):
                raise _gave(self.info.name, result, "a DataflowBlock", "block", None, func.span)
            return result

        return rewrite(func, step)

    @abstractmethod
    def transform_dataflowblock(
        self, block: DataflowBlock, mod: IRModule, ctx: PassContext
    ) -> DataflowBlock:
        """The block afterwards: it defines the same variables for what comes behind it."""


class Sequential(Pass):
    """Passes one after the other, as far as the current context has them enabled.

    A pass runs when its level is at most the context's and the context does not disable it by name.
    One that the context requires by name runs at any level. What a pass requires is not run again
    where it comes before it in the sequence. What one of them declares, the sequence does.
    """

    @checks_arguments("passes")
    def __init__(
        self,
        passes: Sequence[Pass] | None = None,
        opt_level: int = 0,
        name: str = "sequential",
        required: Sequence[str] | None = None,
        traceable: bool = False,
    ) -> None:
        self.passes = tuple(passes or ())
        for step in self.passes:
            if not isinstance(step, Pass):
                raise TypeError(f"a Sequential is made of passes, not of {_shown(step)}")
        # In the place of what the class would say.
        self.__dict__.update(_declared_by(self.passes))
        declares = _declared_names(self)
        self.info = PassInfo(opt_level, name, required, traceable, declares=declares)

    def __repr__(self) -> str:
        names = ", ".join(step.info.name for step in self.passes) or "no passes"
        return f"<pipeline {self.info.name}: {names}>"

    def script(self) -> str:
        """The passes in their order, each with what it does; `passes` has them one by one."""
        rows = [(f"    {step.info.name}(),", _summary(step)) for step in self.passes]
        width = max((len(row) for row, _ in rows), default=0)
        lines = [f"{row:<{width}}  # {does}".rstrip(" #") for row, does in rows]
        return "\n".join(["Sequential([", *lines, f'], name="{self.info.name}")'])

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        outer = _done.get()
        try:
            for step in self.passes:
                if ctx.pass_enabled(step.info):
                    mod = step(mod)
                    _done.set(_done.get() | {step.info.name})
        finally:
            _done.set(outer)
        return mod


def _shown(step: object) -> str:
    """Something that is no pass in words, with the pass that is meant by it."""
    if isinstance(step, str):
        known = {each.rpartition(".")[2] for each in _passes_by_name()}
        name = step.rpartition(".")[2]
        if name not in known:
            name = nearest(name, sorted(known)) or name
        return f"names: write `{name}()` for {step!r}"
    if isinstance(step, type) and issubclass(step, Pass):
        return f"classes: write `{step.__name__}()`"
    return repr(step)


def _declared_names(step: Pass) -> tuple[str, ...]:
    """The names of what a pass declares, or passes that it runs."""
    return tuple(name for name in DECLARATIONS if getattr(step, name) != getattr(Pass, name))


def _declared_by(passes: Sequence[Pass]) -> dict[str, Any]:
    """The declarations of passes in a row: whatever one of them does, the row does."""
    declared: dict[str, Any] = {
        name: any(getattr(step, name) for step in passes)
        for name in DECLARATIONS
        if isinstance(getattr(Pass, name), bool)
    }
    declared["tolerance"] = sum(step.tolerance for step in passes)
    declared["fails_as"] = tuple(pair for step in passes for pair in step.fails_as)
    return declared


def _summary(step: Pass) -> str:
    """The first sentence of what a pass says of itself."""
    return " ".join((type(step).__doc__ or "").split("\n\n", 1)[0].split())


# -- passes from functions -------------------------------------------------------------------------


class _PassDecorator(Protocol):
    """The type of the decorators below, which checkers would take for untyped ones otherwise."""

    @overload
    def __call__(
        self,
        pass_func: None = None,
        opt_level: int | None = None,
        name: str | None = None,
        required: Sequence[str] | None = None,
        traceable: bool = False,
    ) -> Callable[[Callable[..., Any]], Any]: ...
    @overload
    def __call__(
        self,
        pass_func: Callable[..., Any],
        opt_level: int | None = None,
        name: str | None = None,
        required: Sequence[str] | None = None,
        traceable: bool = False,
    ) -> Any: ...


def _pass_decorator(function: Callable[..., Any]) -> _PassDecorator:
    return cast(_PassDecorator, checks_arguments("pass_func")(function))


@_pass_decorator
def module_pass(
    pass_func: Callable[..., Any] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    traceable: bool = False,
) -> Any:
    """A ModulePass from `f(mod, ctx)`, or from a class that has `transform_module(mod, ctx)`.

    Used as a decorator, with or without arguments. A class stays one: calling it makes the pass.
    """
    info = _info(opt_level, name, required, traceable)
    return _decorate(ModulePass, "transform_module", pass_func, info)


@_pass_decorator
def function_pass(
    pass_func: Callable[..., Any] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    traceable: bool = False,
) -> Any:
    """A FunctionPass from `f(func, mod, ctx)`, or a class with `transform_function`."""
    info = _info(opt_level, name, required, traceable)
    return _decorate(FunctionPass, "transform_function", pass_func, info)


@_pass_decorator
def dataflowblock_pass(
    pass_func: Callable[..., Any] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    traceable: bool = False,
) -> Any:
    """A DataflowBlockPass from `f(block, mod, ctx)`, or a class with `transform_dataflowblock`."""
    info = _info(opt_level, name, required, traceable)
    return _decorate(DataflowBlockPass, "transform_dataflowblock", pass_func, info)


@_pass_decorator
def prim_func_pass(
    pass_func: Callable[..., Any] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    traceable: bool = False,
) -> Any:
    """A PrimFuncPass from `f(func, mod, ctx)`, or a class with `transform_function`."""
    info = _info(opt_level, name, required, traceable)
    return _decorate(PrimFuncPass, "transform_function", pass_func, info)


def _info(
    opt_level: int | None, name: str | None, required: Sequence[str] | None, traceable: bool
) -> PassInfo:
    return PassInfo(opt_level or 0, name or "", required, traceable)


_PARAMETERS = {
    "transform_module": ("mod", "ctx"),
    "transform_function": ("func", "mod", "ctx"),
    "transform_dataflowblock": ("block", "mod", "ctx"),
}


def _require_parameters(name: str, target: Callable[..., Any], names: tuple[str, ...]) -> None:
    """Refuse a function that no pass can call, before it runs."""
    try:
        found = signature(target)
    except ValueError:  # of a builtin that does not say
        return
    try:
        found.bind(*names)
    except TypeError:
        wanted = ", ".join(names)
        text = f"the function `{name}` of a pass takes ({wanted}), not {found}"
        raise TypeError(text) from None


def _decorate(base: Any, method: str, target: Callable[..., Any] | None, info: PassInfo) -> Any:
    """The pass, or for a class the class of passes; a decorator for these without a `target`."""
    if target is None:
        return lambda found: _decorate(base, method, found, info)
    if not callable(target):
        raise TypeError(f"a pass is made from a function or a class, not from {target!r}")
    given = getattr(target, "__name__", type(target).__name__)
    if not isinstance(target, type):
        _require_parameters(given, target, _PARAMETERS[method])
    says = {
        "name": info.name or given, "opt_level": info.opt_level, "required": info.required,
        "traceable": info.traceable, "__doc__": target.__doc__, "__module__": target.__module__,
    }  # fmt: skip
    if isinstance(target, type):
        if not callable(getattr(target, method, None)):
            raise TypeError(f"the class `{given}` of a pass has no method `{method}`")
        return type(given, (target, base), says)
    return type(given, (base,), {**says, method: staticmethod(target)})()
