"""The virtual machine as users see it: functions by name, instruments, calls in several steps.

What runs the bytecode is `dispatch.py`. The machine holds no state of any run but what `set_input`
and `save_function` store. Its functions, which it keeps, hold the dispatcher and not the machine:
no cycle keeps a program's tensors after its last use.

Source: TVM `relax.VirtualMachine`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from relaxscript.errors import Diagnostic, VMError, meant_notes, nearest, warn
from relaxscript.errors.exceptions import NoSuchNameError, is_user_error

from .builtins import BUILTINS, allocating
from .bytecode import VMFuncKind
from .coercion import call_packed
from .debug.benchmark import BenchmarkResult, evaluate_time
from .debug.instrument import VMInstrumentReturnKind
from .debug.stepper import Stepper
from .dispatch import Dispatcher, VMClosure
from .executable import Executable
from .packed_func import PackedFunc, get_global_func
from .pooled_allocator import Pool
from .values import Closure, Device, absent_device, closure_behind, cpu, device, kind_of

if TYPE_CHECKING:
    from .debug.explanation import Explanation
    from .debug.report import Report

__all__ = ["VMClosure", "VMInstrumentReturnKind", "VirtualMachine"]

__tracebackhide__ = is_user_error


class VirtualMachine:
    """Runs the functions of an executable: `vm["main"](x)` or `vm.main(x)`.

    Arguments are numpy arrays or what `to_tensor` takes, numbers for scalars, tuples, shapes;
    parameters may be given by name. `call_depth_limit` bounds how deep bytecode calls nest. A
    function that is named like a method (`profile`, `set_input`) is reached as an item only, which
    a warning says. A machine with one function is called itself: `vm(x)`. One machine may be used
    from many threads at once. Every machine profiles: `profile` is taken for TVM's sake.

    A function that is native code as a whole is a built-in function of Python: a call costs no more
    than one of numpy. Its `__self__` is its closure, with `info`, `bind` and the rest.
    Wherever programs and machines take functions, it stands for this closure. Its large results lie
    in memory that earlier ones had, which `vm.builtin.memory_manager.clear` lets go of.

    `device` is a device or several; the host is always among them. `memory_cfg` is the source of
    storages that a program allocates itself (`R.memory.alloc_storage` and its like). It is for all
    devices or by device: "naive" is new memory each time. "pooled", the default, reuses memory of
    storages that were killed and to which nothing refers any more. Results are the same.
    """

    NAIVE_ALLOCATOR = 1
    POOLED_ALLOCATOR = 2

    def __init__(
        self,
        rt_mod: Executable,
        device: Device | str | Sequence[Device | str] | None = None,
        memory_cfg: str | Mapping[Device, str] | None = None,
        profile: bool = False,
    ) -> None:
        if not isinstance(rt_mod, Executable):
            raise VMError(
                f"a virtual machine runs an Executable, got {kind_of(rt_mod)}", code="RX0608",
                notes=["write `VirtualMachine(build(...))`, or `jit(...)`, which does both"],
            )  # fmt: skip
        self.executable = rt_mod
        self._dispatcher = Dispatcher(rt_mod)
        self._functions: dict[str, Callable[..., Any]] = {}
        self.devices = _devices(device)
        self.memory_cfg = _memory(memory_cfg, self.devices)
        if _allocator(self.memory_cfg) == "pooled":
            pool = Pool()
            self._dispatcher._builtins = {
                **BUILTINS,
                "vm.builtin.alloc_storage": allocating(pool.storage),
                "vm.builtin.memory_manager.clear": pool.clear,
            }
        self._saved: dict[str, Closure] = {}
        self._inputs: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = {}
        self._outputs: dict[str, Any] = {}
        self._warn_of_hidden_functions()

    def _warn_of_hidden_functions(self) -> None:
        """Say which functions are no attributes, since the machine has others of their names."""
        for name in self.executable.public_functions:
            if name in self.__dict__ or hasattr(type(self), name):
                what = "a method" if callable(getattr(self, name)) else "an attribute"
                message = f"`vm.{name}` is {what} of the machine, not the function `{name}`"
                help = f'write `vm["{name}"]`'
                span = self.executable.functions[self.executable.function_index[name]].span
                hidden = Diagnostic("RX0607", message, span, help=help, severity="warning")
                warn(hidden)

    @property
    def call_depth_limit(self) -> int:
        """The limit of nested bytecode calls."""
        return self._dispatcher.call_depth_limit

    @call_depth_limit.setter
    def call_depth_limit(self, limit: int) -> None:
        self._dispatcher.call_depth_limit = limit

    # -- finding functions -------------------------------------------------------------------------

    def __getitem__(self, key: str) -> Callable[..., Any]:
        """The public function `key`; raises `VMError` when there is none."""
        if not isinstance(key, str):
            raise self._no_function(key)
        found = self._functions.get(key) or self._saved.get(key)
        return self._make_function(key) if found is None else found

    def _make_function(self, key: str) -> Callable[..., Any]:
        """The function `key`, which is made once: native code where there is some for all of it."""
        closure = self._find_function(key)
        entry = self.executable.entries.get(key)
        made = self._functions.setdefault(key, closure if entry is None else entry.bind(closure))
        self._watch(made)
        return made

    def _watch(self, function: Callable[..., Any]) -> None:
        """Have a function run as bytecode while somebody looks at what it calls."""
        native = getattr(closure_behind(function), "native", None)
        if native is not None:
            runs = self._dispatcher
            native.enable(runs._instrument is None and runs._profile is None)

    def _find_function(self, key: str) -> VMClosure:
        index = self.executable.function_index.get(key)
        function = self.executable.functions[index] if index is not None else None
        if index is None or function is None or function.kind is not VMFuncKind.VM_FUNC:
            raise self._no_function(key)
        if not function.public:
            raise VMError(
                f"`{key}` is private: only functions of its module can call it",
                code="RX0607",
                span=function.span,
            )
        return self._dispatcher._closure(index)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__") or "executable" not in self.__dict__:
            raise AttributeError(name)
        try:
            found = self[name]
        except VMError as error:
            told = "; ".join([error.diagnostic.message, *error.diagnostic.notes])
            raise NoSuchNameError(told) from None
        self.__dict__[name] = found  # Python asks here for what it does not find; now it does
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the one public function of the executable."""
        names = list(self.executable.public_functions)
        if len(names) == 1:
            return self[names[0]](*args, **kwargs)
        listed = ", ".join(f"`vm.{name}(...)`" for name in names)
        notes = [f"call one of them: {listed}"] if names else []
        message = f"a machine is called where it has one function, and this has {len(names)}"
        raise VMError(message, code="RX0607", notes=notes)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.executable.public_functions})

    def __repr__(self) -> str:
        return f"<VirtualMachine of {self.executable!r}>"

    def _repr_html_(self) -> str:
        from .debug.rich_machine import machine_html

        return machine_html(self)

    def _no_function(self, key: str) -> VMError:
        if not isinstance(key, str):
            return VMError(f"the name of a function is a string, got {kind_of(key)}", code="RX0607")
        names = [*self.executable.public_functions, *self._saved]
        near = nearest(key, names)
        notes = meant_notes(near)
        notes.append(f"public functions: {', '.join(names) or 'none'}")
        origin = self.executable.origin
        if origin is not None and key in origin[0]:
            written = f"{origin[0].__name__}.{key}"
            notes.append(f"`{key}` is called by other functions only; `{written}(...)` runs it")
        return VMError(f"there is no function `{key}`", code="RX0607", notes=notes)

    def invoke_closure(self, closure: Closure | PackedFunc, *args: Any) -> Any:
        """Call a function value, such as a closure that a call returned, as a program calls it."""
        closure = closure_behind(closure)
        if not isinstance(closure, (Closure, PackedFunc)):
            raise VMError(f"{kind_of(closure)} cannot be called", code="RX0613")
        if isinstance(closure, VMClosure):
            return closure(*args)
        return call_packed(closure.name, closure, args)

    # -- watching ----------------------------------------------------------------------------------

    def set_instrument(self, instrument: Callable[..., Any] | str | None) -> None:
        """Have `instrument(func, name, before_run, result, *args)` called around packed calls.

        It is called before (result None) and after; when it answers `SKIP_RUN` before, the function
        is not called and its result is None. A string names a registered function; None ends it.
        """
        found = get_global_func(instrument) if isinstance(instrument, str) else instrument
        if found is not None and not callable(found):
            raise VMError(f"{kind_of(found)} cannot be an instrument", code="RX0613")
        self._dispatcher.set_instrument(found)
        for function in list(self._functions.values()):
            self._watch(function)

    def time_evaluator(
        self,
        func_name: str,
        dev: Device | str | None = None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: float = 0,
        cooldown_interval_ms: float = 0,
        repeats_to_cooldown: int = 1,
        f_preproc: str = "",
    ) -> Callable[..., BenchmarkResult]:
        """A function that calls `func_name` with its arguments and says how long that takes.

        `repeat` means of `number` calls each; a repeat is lengthened to `min_repeat_ms`.
        `f_preproc` names a packed function that is called before each repeat. The name
        "invoke_stateful" is of the method, where the program has no function of that name.
        """
        stateful = func_name == "invoke_stateful" and func_name not in {
            *self.executable.function_index,
            *self._saved,
        }
        function = self.invoke_stateful if stateful else self[func_name]
        if dev is not None:
            device(dev)
        found = get_global_func(f_preproc) if f_preproc else None
        prepare = None if found is None else partial(call_packed, f_preproc, found.function, ())

        def evaluator(*args: Any) -> BenchmarkResult:
            return evaluate_time(
                lambda: function(*args), number, repeat, min_repeat_ms,
                cooldown_interval_ms, repeats_to_cooldown, prepare,
            )  # fmt: skip

        return evaluator

    def profile(self, func_name: str, *args: Any) -> Report:
        """Call `func_name` once and say how often each packed function ran and how long it took.

        `Report` has it as a table, CSV and JSON. It has a trace for `chrome://tracing`, and a
        picture of the source with a bar for each line. Where a kernel calls others, the program is
        built once more for it, with code that takes their times; the machine's own has none. That
        program runs the function once before, where nobody can tell.
        """
        from .debug.profiler import Recorder

        explainer = self.executable.explainer
        counted = None if explainer is None else explainer.counted()
        executable = counted or self.executable
        watched = VirtualMachine(executable, self.devices, self.memory_cfg)
        watched.call_depth_limit = self.call_depth_limit
        amounts = None if explainer is None else explainer.amounts(func_name, args)
        recorder = Recorder(amounts, executable.counters)
        watched._dispatcher._profile = recorder.wrap
        for index, function in enumerate(executable.functions):
            if function.kind is VMFuncKind.VM_FUNC:
                watched._dispatcher._code(index)  # decoded here, so that it is no part of the time
        for linked in executable.externals.values():
            prepare = getattr(linked, "prepare", None)
            if prepare is not None:
                prepare()
        call = watched[func_name]
        known = self.executable.unoptimised
        if counted is not None and known is not None and known.repeatable(func_name):
            call(*args)  # code that never ran is slower
        return recorder.run(func_name, lambda: call(*args))

    def explain(self, func_name: str | None = None, /, **dims: int) -> Explanation:
        """The kernels of the program and what they do; see `Executable.explain`."""
        return self.executable.explain(func_name, **dims)

    def step(self, func_name: str, *args: Any, **kwargs: Any) -> Stepper:
        """A call of `func_name` to run step by step, which has run no instruction yet.

        >>> stepper = vm.step("main", np.array([1.0, -2.0], "float32"))
        >>> stepper.break_at("h").run()  # up to where `h` has got its value
        <stepper: before `main` at model.py:7: y = relax.nn.relu(h)>
        >>> stepper.registers["h"], stepper.shapes["n"]
        (array([ 2., -4.], dtype=float32), 2)
        >>> stepper.step().location.text  # one instruction
        'return y'
        >>> stepper.run().result
        array([2., 0.], dtype=float32)

        Breakpoints are names of variables and lines of the source; `step` enters calls, `next` goes
        over them, `out` leaves them. Raises `VMError` (RX0607) when there is no such function, and
        for arguments that do not fit.
        """
        function = closure_behind(self[func_name])
        if not isinstance(function, VMClosure):
            raise VMError(
                f"`{func_name}` is a call that was saved; step the function that it calls",
                code="RX0607",
            )
        stepped = self._dispatcher.unoptimised_closure(function) or function
        return Stepper(stepped.vm, stepped, args, kwargs)

    # -- calls in several steps --------------------------------------------------------------------

    def bind_params(self, params: Mapping[str, Any], func_name: str = "main") -> Closure:
        """The function `func_name` with its weights bound by name: it takes its inputs only.

        The weights are the parameters after its `num_input`, or without that, those from the first
        that is given. Nothing is copied or compiled. Raises `DiagnosticError`: RX0712 for names
        that are missing or that no parameter has, RX0206 for arrays that do not fit.
        """
        from .bound_weights import bound_weights

        function = self._find_function(func_name)
        found = self.executable.functions[function.index]
        return function.bind(bound_weights(found, params))

    def save_function(
        self,
        func_name: str,
        saved_name: str,
        *args: Any,
        include_return: bool = True,
        **kwargs: Any,
    ) -> None:
        """Make `vm[saved_name]()` call `func_name` with these arguments."""
        function = self[func_name]
        if not isinstance(saved_name, str):
            raise self._no_function(saved_name)
        if saved_name in self._saved or saved_name in self.executable.function_index:
            raise VMError(f"there is a function `{saved_name}` already", code="RX0607")
        self._check_arguments(function, args, kwargs)

        def saved() -> Any:
            result = function(*args, **kwargs)
            return result if include_return else None

        self._saved[saved_name] = Closure(saved_name, saved)

    def set_input(self, func_name: str, *args: Any, **kwargs: Any) -> None:
        """Store the arguments with which `invoke_stateful(func_name)` will call.

        Inputs and outputs belong to the machine and the name, not to a thread: threads that call in
        steps have a machine each, which is cheap, or call `vm[name](...)`.
        """
        function = self[func_name]
        self._check_arguments(function, args, kwargs)
        self._inputs[func_name] = (function, args, kwargs)
        self._outputs.pop(func_name, None)

    def _check_arguments(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Raise now what a later call with these arguments would raise before it runs."""
        function = closure_behind(function)
        if isinstance(function, VMClosure):
            runs = self._dispatcher
            runs._start(runs._code(function.index), function, args, kwargs)

    def invoke_stateful(self, func_name: str) -> None:
        """Call `func_name` with what `set_input` stored; `get_outputs` has the result."""
        if func_name not in self._inputs:
            self[func_name]
            raise VMError(f"`{func_name}` has no inputs; call `set_input` first", code="RX0607")
        function, args, kwargs = self._inputs[func_name]
        self._outputs[func_name] = function(*args, **kwargs)

    def get_outputs(self, func_name: str) -> Any:
        """The result of the last `invoke_stateful(func_name)`."""
        if func_name not in self._outputs:
            self[func_name]
            raise VMError(
                f"`{func_name}` has no outputs; call `invoke_stateful` first", code="RX0607"
            )
        return self._outputs[func_name]


def _devices(given: Device | str | Sequence[Device | str] | None) -> tuple[Device, ...]:
    """The devices of a machine; the host is among them always."""
    if given is None:
        return (cpu(),)
    listed: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    devices = [device(one) for one in listed]
    for one in devices:
        if not one.exist:
            raise absent_device(one)
    return tuple(dict.fromkeys([*devices, cpu()]))


def _memory(
    given: str | Mapping[Device, str] | None, devices: Sequence[Device]
) -> str | Mapping[Device, str] | None:
    """The allocators asked for by their names, for devices that the machine has."""
    names = given.values() if isinstance(given, Mapping) else [given]
    for name in names:
        if name not in (None, "naive", "pooled"):
            raise VMError(
                f'memory_cfg is "naive", "pooled" or a dict from devices to these, got {name!r}',
                code="RX0608",
            )
    if not isinstance(given, Mapping):
        return given
    chosen = {device(one): kind for one, kind in given.items()}
    for one in chosen:
        if one not in devices:
            listed = ", ".join(map(str, devices))
            text = f"memory_cfg names {one}, and the machine has {listed}"
            raise VMError(text, code="RX0608")
    return chosen


def _allocator(memory_cfg: str | Mapping[Device, str] | None) -> str:
    """The allocator of the host, where all storages are."""
    found = memory_cfg.get(cpu()) if isinstance(memory_cfg, Mapping) else memory_cfg
    return found or "pooled"
