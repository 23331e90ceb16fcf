"""Executables: a program of the virtual machine with all that it refers to, and their builder.

`ExecBuilder` (TVM's names) is what code generation emits instructions through; bytecode.py says
what they mean. An `Executable` is immutable and holds no state of any run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from relaxscript.errors import Span, VMError

from .bytecode import (
    VM_STATE,
    VOID_ARG,
    Arg,
    ArgKind,
    Call,
    Goto,
    If,
    Instruction,
    Ret,
    SpecialReg,
    Variable,
    VMFuncKind,
    VMFunction,
    verify,
)
from .native_code import NativeCode, native_code
from .run_check import AnyCheck, Check, TupleCheck, describe
from .unoptimised import Unoptimised
from .values import kind_of

if TYPE_CHECKING:
    from .debug.explanation import Explanation
    from .debug.profiler import CallTimes, ExplainsKernels
    from .machine import VirtualMachine

__all__ = ["ExecBuilder", "Executable", "Module", "VMExecutable"]


class Executable:
    """A compiled module: functions, instructions, constants and what the compiler linked in.

    `externals` maps names of packed functions to the callables that this program means by them
    (operators, compiled kernels); other names are looked up when a call is evaluated. `origin` is
    what the compiler made it of, None for one that was written by hand. `made_of` describes the
    externals that code generation made. `kernels` are those that were compiled for it, by the
    names of their PrimFuncs. `explainer` tells of them. `counters` hold times that kernels take
    themselves, in programs that were built for that. `unoptimised` leads to the program before it
    was optimised, None where it is that.
    """

    made_of: Mapping[str, Any] = {}
    kernels: Mapping[str, Callable[..., Any]] = MappingProxyType({})
    counters: tuple[CallTimes, ...] = ()
    # What makes built-in functions of closures, by the names of their functions.
    entries: Mapping[str, Any] = MappingProxyType({})
    _origin: Any = None
    _explainer: ExplainsKernels | None = None
    # The same program as it is built, for one that was read: this one knows no module.
    built: Callable[[], Executable] | None = None
    _unoptimised: Unoptimised | None = None

    def __init__(
        self,
        functions: Sequence[VMFunction],
        instructions: Sequence[Instruction],
        constants: Sequence[Any] = (),
        externals: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        self.functions = tuple(functions)
        self.instructions = tuple(instructions)
        self.constants = tuple(map(_freeze, constants))
        self.externals = dict(externals or {})
        for name, linked in self.externals.items():
            if not callable(linked):
                raise VMError(
                    f"`{name}` is linked to {kind_of(linked)}, which cannot be called",
                    code="RX0612",
                )
        verify(self.functions, self.instructions, self.constants)

    @classmethod
    def trusted(
        cls, functions: Sequence[VMFunction], instructions: Sequence[Instruction],
        constants: Sequence[Any], externals: Mapping[str, Callable[..., Any]],
        made_of: Mapping[str, Any],
    ) -> Executable:  # fmt: skip
        """A program that was verified before, and was read again."""
        made = object.__new__(cls)
        made.functions, made.instructions = tuple(functions), tuple(instructions)
        made.constants, made.externals = tuple(map(_freeze, constants)), dict(externals)
        made.made_of = made_of
        return made

    @property
    def origin(self) -> Any:
        """The module and the target of which the compiler made this program."""
        if self._origin is None and self.built is not None:
            self._origin = self.built().origin
        return self._origin

    @origin.setter
    def origin(self, origin: Any) -> None:
        self._origin = origin

    @property
    def explainer(self) -> ExplainsKernels | None:
        """The compiler's knowledge of the kernels."""
        if self._explainer is None and self.built is not None:
            self._explainer = self.built().explainer
        return self._explainer

    @explainer.setter
    def explainer(self, explainer: ExplainsKernels | None) -> None:
        self._explainer = explainer

    @property
    def unoptimised(self) -> Unoptimised | None:
        """The way to the program before it was optimised."""
        if self._unoptimised is None and self.built is not None:
            self._unoptimised = self.built().unoptimised
        return self._unoptimised

    @unoptimised.setter
    def unoptimised(self, unoptimised: Unoptimised | None) -> None:
        self._unoptimised = unoptimised

    def link(self, externals: Mapping[str, Callable[..., Any]]) -> Executable:
        """The same program with more externals; these win over those it has."""
        linked = object.__new__(Executable)
        linked.functions, linked.instructions = self.functions, self.instructions
        linked.constants, linked.externals = self.constants, {**self.externals, **externals}
        linked._origin, linked._explainer, linked.built = self._origin, self._explainer, self.built
        linked.entries, linked.kernels = self.entries, self.kernels
        linked.counters = self.counters
        linked.made_of = {
            name: made for name, made in self.made_of.items() if name not in externals
        }
        linked._unoptimised = self._unoptimised
        return linked

    @cached_property
    def function_index(self) -> dict[str, int]:
        """The number of each function by its name."""
        return {function.name: i for i, function in enumerate(self.functions)}

    @property
    def public_functions(self) -> list[str]:
        """The names of the functions that can be called from outside, in order."""
        return [f.name for f in self.functions if f.kind is VMFuncKind.VM_FUNC and f.public]

    def has_function(self, name: str) -> bool:
        """True if `name` is a function that can be called from outside."""
        return name in self.public_functions

    def jit(
        self,
        *,
        fcompile: object = None,
        addons: object = None,
        force_recompile: bool = False,
        **kwargs: object,
    ) -> Executable:
        """The program itself: it is compiled and linked as soon as it is built.

        Here for programs that say `ex.jit()` before they load it; the options change nothing.
        """
        return self

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """The public function `name`, on a machine of the host that belongs to this program.

        Raises `VMError` (RX0607) when there is none.
        """
        return self._machine[name]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call `main`, or the only public function of a program without one, on the same machine.

        Raises as calling `self["main"]`.
        """
        public = self.public_functions
        name = public[0] if len(public) == 1 else "main"
        return self[name](*args, **kwargs)

    @cached_property
    def _machine(self) -> VirtualMachine:
        from .machine import VirtualMachine

        return VirtualMachine(self)

    def as_text(self) -> str:
        """A listing: each function's header, what it checks at entry, then its instructions.

        @main(x, w) private registers=4 heap=1
          check %0                    is: a tensor of shape (n,) and dtype float32
          call  relax.add             in: %0, c[0]          dst: %3
          call  double                in: %3                dst: %3  proved: %3
          ret   %3

        All checks are seen here: `is:` says what a value must be, `checks operands` that an
        operator looks at its operands before it runs. `proved:` lists the arguments that the called
        function does not check, since they are known to fit.
        """
        parts = ["\n".join(text for text, _ in lines) for lines in self.listing()]
        return "\n\n".join(parts) + "\n"

    def listing(self) -> Iterator[list[tuple[str, Span | None]]]:
        """The lines of `as_text` function by function, each with the place that it is from."""
        for function in self.functions:
            if function.kind is VMFuncKind.VM_FUNC:
                yield [(_header(function), None), *self._lines(function)]

    def _lines(self, function: VMFunction) -> Iterator[tuple[str, Span | None]]:
        instructions = self.instructions[function.start_instr : function.end_instr]
        called = (self.functions[at.func].name for at in instructions if isinstance(at, Call))
        width = max([28, *map(len, called)])
        for register, check in enumerate(function.param_checks):
            if not isinstance(check, AnyCheck):
                yield f"  check {f'%{register}':<{width}}{_format_result_check(check)}", None
        for at in instructions:
            match at:
                case Call():
                    text = self._call_text(at, width)
                case Ret(result=register):
                    text = f"  ret   %{register}{_format_result_check(function.return_check)}"
                case Goto(offset=offset):
                    text = f"  goto  {offset:+d}"
                case If(cond=cond, false_offset=offset):
                    text = f"  if    %{cond} else {offset:+d}"
            yield text, at.span

    def _call_text(self, call: Call, width: int) -> str:
        name = self.functions[call.func].name
        inputs = ", ".join(map(self._arg_text, call.args))
        target = "_" if call.dst == SpecialReg.VOID_ARG else f"%{call.dst}"
        checked = _format_result_check(call.result)
        line = f"  call  {name:<{width}} in: {inputs:<24} dst: {target}{checked}"
        if call.proved:
            line += f"  proved: {', '.join(self._arg_text(call.args[i]) for i in call.proved)}"
        if getattr(self.externals.get(name), "checks_operands", False):
            line += "  checks operands"
        constants = (self.constants[a.value] for a in call.args if a.kind is ArgKind.CONSTANT)
        return line + "".join(_format_result_check(c) for c in constants if isinstance(c, Check))

    def _arg_text(self, arg: Arg) -> str:
        if arg == VOID_ARG:
            return "void"
        if arg == VM_STATE:
            return "vm"
        match arg.kind:
            case ArgKind.REGISTER:
                return f"%{arg.value}"
            case ArgKind.IMMEDIATE:
                return f"i{arg.value}"
            case ArgKind.CONSTANT:
                return f"c[{arg.value}]"
        return f"f[{self.functions[arg.value].name}]"

    def as_python(self) -> str:
        """The program as Python that can be read and run: a function for each of its functions.

        scope = {"executable": executable}
        exec(executable.as_python(), scope)
        scope["main"](x)

        Constants, operators, kernels and checks are those of the executable; other names are looked
        up as the machine looks them up. Arguments are run-time values, nothing is converted;
        failures are those of the machine, without a place in the source; recursion is Python's.
        """
        from .debug.python_text import python_text

        return python_text(self)

    def explain(self, func_name: str | None = None, /, **dims: int) -> Explanation:
        """The kernels of the program, or of what a function calls: what they do, and their times.

        print(executable.explain(n=128))

        For each there are its operators and lines of source. There is the rule that arranged its
        loops, or why none did, and the bytes and operations. Where the sizes that decide about
        these are given, there is the least time that this computer takes, too.
        Its speed is measured once in a process, in half a second.

        The compiler's passes run once more to find out. A kernel is counted once for each place
        that calls it, however often that runs. Raises `VMError` (RX0607) where there is no such
        function. RX0608 is for sizes of other names, and for programs that no module was built to.
        """
        if self.explainer is None:
            message = "a program is explained where a module was built to it, and this was not"
            raise VMError(message, code="RX0608", notes=["explain what `rx.build(module)` gives"])
        if func_name is not None:
            self[func_name]
        return self.explainer(func_name, dims)

    @property
    def mod(self) -> Executable:
        """The program itself, for programs that ask TVM's for its module of the runtime."""
        return self

    @property
    def imported_modules(self) -> list[NativeCode]:
        """The modules of LLVM in which the kernels are; none for the target "reference"."""
        return native_code(self.kernels)

    def get_source(self, fmt: str = "") -> str:
        """The text of the kernels' native code, "ll" or "asm"; empty where there is none.

        Raises what `NativeCode.get_source` does.
        """
        return "\n".join(module.get_source(fmt) for module in self.imported_modules)

    def stats(self) -> str:
        """A summary of the program in a few lines."""
        bytecode = [f for f in self.functions if f.kind is VMFuncKind.VM_FUNC]
        packed = [f.name for f in self.functions if f.kind is VMFuncKind.PACKED_FUNC]
        size = sum(c.nbytes for c in self.constants if isinstance(c, np.ndarray))
        lines = [
            f"functions: {len(bytecode)} ({', '.join(f.name for f in bytecode)})",
            f"instructions: {len(self.instructions)}",
            f"constants: {len(self.constants)} ({size} bytes in tensors)",
            f"packed functions: {len(packed)} ({', '.join(packed)})",
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Executable of {', '.join(self.public_functions) or 'no public function'}>"

    def _repr_html_(self) -> str:
        from .debug.rich_listing import executable_html

        return executable_html(self)


def _require_int(value: Any, noun: str) -> int:
    if type(value) is not int:
        raise VMError(f"{noun} is an int, got {kind_of(value)}", code="RX0612")
    return value


def _require_list(value: Any, noun: str) -> tuple[Any, ...]:
    if value is not None and not isinstance(value, (list, tuple)):
        raise VMError(f"{noun} come as a list, got {kind_of(value)}", code="RX0612")
    return tuple(value or ())


VMExecutable = Executable  # TVM's name for it since 0.20
Module = Executable  # and that of what is in one


def _freeze(constant: Any) -> Any:
    """A constant as the program holds it: nobody can write into it by mistake."""
    if isinstance(constant, np.ndarray):
        constant = constant.view(np.ndarray)
        constant.flags.writeable = False
    if type(constant) is tuple:
        return tuple(map(_freeze, constant))
    return constant


def _format_result_check(check: Check | None) -> str:
    return "" if check is None else f"  is: {_format_check(check)}"


def _format_check(check: Check) -> str:
    """The demand of a check, down to the fields of tuples."""
    if isinstance(check, TupleCheck) and check.fields:
        return f"a tuple of ({', '.join(map(_format_check, check.fields))})"
    return describe(check)


def _header(function: VMFunction) -> str:
    names = function.param_names or tuple(f"arg{i}" for i in range(function.num_args))
    words = [f"@{function.name}({', '.join(names)})"]
    words += ["private"] if not function.public else []
    words += ["impure"] if not function.pure else []
    words += [f"registers={function.register_file_size}"]
    words += [f"heap={function.heap_size}"] if function.heap_size else []
    return " ".join(words)


@dataclass(slots=True)
class _FunctionScope:
    """The function that is being emitted."""

    function: VMFunction
    registers: int = 0
    variables: list[Variable] = field(default_factory=list)


@dataclass(slots=True)
class ExecBuilder:
    """Emits a program, instruction by instruction.

    ib = ExecBuilder()
    with ib.function("main", num_inputs=1, param_names=["x"]):
        ib.emit_call("my.double", args=[ib.r(0)], dst=ib.r(1))
        ib.emit_ret(ib.r(1))
    executable = ib.get()
    """

    functions: list[VMFunction] = field(default_factory=list, init=False)
    instructions: list[Instruction] = field(default_factory=list, init=False)
    constants: list[Any] = field(default_factory=list, init=False)
    _index: dict[str, int] = field(default_factory=dict, init=False)
    _scope: _FunctionScope | None = field(default=None, init=False)

    def r(self, idx: int) -> Arg:
        """Register number `idx` of the function being emitted."""
        return Arg(ArgKind.REGISTER, _require_int(idx, "the number of a register"))

    def imm(self, value: int) -> Arg:
        """An integer that is in the instruction itself (a scalar of int64)."""
        if not -(1 << 63) <= _require_int(value, "an immediate") < 1 << 63:
            raise VMError(f"an immediate has 64 bits, got {value}", code="RX0612")
        return Arg(ArgKind.IMMEDIATE, value)

    def c(self, idx: int) -> Arg:
        """Constant number `idx`."""
        return Arg(ArgKind.CONSTANT, _require_int(idx, "the number of a constant"))

    def f(self, name: str) -> Arg:
        """The function `name` as a value; a packed one is declared on the fly."""
        return Arg(ArgKind.FUNCTION, self._index_of(name))

    def void_arg(self) -> Arg:
        """Nothing: None as an argument; as a destination the result is dropped."""
        return VOID_ARG

    def vm_state(self) -> Arg:
        """The state of the running call, where builtins find the shape heap (`builtins.State`)."""
        return VM_STATE

    def declare_function(self, func_name: str, kind: VMFuncKind = VMFuncKind.PACKED_FUNC) -> None:
        """Give `func_name` a number before it is emitted; calls may then come first."""
        if not isinstance(func_name, str):
            raise VMError(
                f"the name of a function is a string, got {kind_of(func_name)}", code="RX0612"
            )
        if func_name not in self._index:
            self._index[func_name] = len(self.functions)
            self.functions.append(VMFunction(kind, func_name))

    @contextmanager
    def function(
        self,
        func_name: str,
        num_inputs: int = 0,
        param_names: Sequence[str] | None = None,
        *,
        param_checks: Sequence[Check] = (),
        return_check: Check | None = None,
        heap_size: int = 0,
        public: bool = True,
        pure: bool = True,
        info: object = None,
        span: Span | None = None,
        param_spans: Sequence[Span | None] = (),
        shape_vars: Sequence[str] = (),
        weights: Sequence[str | tuple[str, ...]] = (),
        inputs: int | None = None,
    ) -> Iterator[None]:
        """Emit a function inside the `with`; its first `num_inputs` registers are the arguments."""
        if self._scope is not None:
            raise VMError(
                f"`{func_name}` cannot be emitted inside `{self._scope.function.name}`",
                code="RX0612",
            )
        if _require_int(num_inputs, "the number of arguments") < 0:
            raise VMError(f"`{func_name}` cannot take {num_inputs} arguments", code="RX0612")
        names = _require_list(param_names, "names of parameters")
        self.declare_function(func_name, VMFuncKind.VM_FUNC)
        number = self._index[func_name]
        if self.functions[number].end_instr:
            raise VMError(f"the function `{func_name}` is emitted twice", code="RX0612")
        start = VMFunction(
            VMFuncKind.VM_FUNC, func_name, len(self.instructions), 0, num_inputs, 0,
            names, tuple(param_checks), return_check, heap_size,
            public, pure, info, span, tuple(param_spans), (), tuple(shape_vars), tuple(weights),
            inputs,
        )  # fmt: skip
        self._scope = _FunctionScope(start, num_inputs)
        try:
            yield
            end, scope = len(self.instructions), self._scope
            self.functions[number] = replace(
                start, end_instr=end, register_file_size=scope.registers,
                variables=tuple(scope.variables),
            )  # fmt: skip
        finally:
            self._scope = None

    def variable(self, name: str, arg: Arg, start: int, stop: int) -> None:
        """Say that `arg` holds what the source calls `name`, from position `start` up to `stop`."""
        if self._scope is None:
            raise VMError(f"the variable `{name}` is outside of every function", code="RX0612")
        self._scope.variables.append(Variable(name, self._used(arg), start, stop))

    def convert_constant(self, const: Any) -> Arg:
        """A value as an argument: an `Arg` as it is, None as nothing, others as a new constant."""
        if isinstance(const, Arg):
            return const
        if const is None:
            return VOID_ARG
        self.constants.append(const)
        return self.c(len(self.constants) - 1)

    def emit_call(
        self,
        name: str,
        args: Sequence[Any] | None = None,
        dst: Arg | None = None,
        *,
        result: Check | None = None,
        proved: Sequence[int] = (),
        operands: Sequence[str | None] = (),
        span: Span | None = None,
    ) -> None:
        """Call the function `name`; values among `args` that are no `Arg` become constants.

        `result` is what the value of the call must match; where it is the empty tuple, a packed
        function's None is the empty tuple. `proved` are the positions of arguments that a function
        of the program need not check. `operands` are the variables that stand for the arguments,
        which messages use where there is no `span`.
        """
        given = _require_list(args, "arguments of a call")
        converted = tuple(self._used(self.convert_constant(arg)) for arg in given)
        target = VOID_ARG if dst is None else dst
        if isinstance(target, Arg):
            target = self._used(target)
        if not isinstance(target, Arg) or target.kind is not ArgKind.REGISTER or target == VM_STATE:
            raise VMError(f"a call of `{name}` can only write into a register", code="RX0612")
        func, known = self._index_of(name), tuple(proved)
        self._emit(Call(target.value, func, converted, result, span, known, tuple(operands)))

    def emit_ret(self, result: Any, *, span: Span | None = None) -> None:
        """Leave the function with the value of a register."""
        self._emit(Ret(self._register(result, "return"), span))

    def emit_goto(self, pc_offset: int, *, span: Span | None = None) -> None:
        """Go on `pc_offset` instructions from this one."""
        self._emit(Goto(_require_int(pc_offset, "an offset"), span))

    def emit_if(self, cond: Any, false_offset: int, *, span: Span | None = None) -> None:
        """Go on `false_offset` instructions from this one unless the register holds true."""
        offset = _require_int(false_offset, "an offset")
        self._emit(If(self._register(cond, "test"), offset, span))

    @property
    def position(self) -> int:
        """The number of the next instruction: what offsets of jumps are computed from."""
        return len(self.instructions)

    def patch(self, position: int, offset: int) -> None:
        """Set the offset of the jump at `position`, emitted before its target was known."""
        if not 0 <= _require_int(position, "a position") < len(self.instructions):
            raise VMError(f"there is no instruction at position {position}", code="RX0612")
        match self.instructions[position]:
            case If() as at:
                self.instructions[position] = replace(at, false_offset=offset)
            case Goto() as at:
                self.instructions[position] = replace(at, offset=offset)
            case at:
                raise VMError(f"{type(at).__name__} is no jump", code="RX0612")

    def get(self, externals: Mapping[str, Callable[..., Any]] | None = None) -> Executable:
        """The finished program; raises `VMError` where it is malformed."""
        return Executable(self.functions, self.instructions, self.constants, externals)

    def _index_of(self, name: str) -> int:
        self.declare_function(name)
        return self._index[name]

    def _emit(self, instruction: Instruction) -> None:
        if self._scope is None:
            raise VMError("an instruction is outside of every function", code="RX0612")
        self.instructions.append(instruction)

    def _register(self, arg: Any, verb: str) -> int:
        used = self._used(arg) if isinstance(arg, Arg) else None
        if used is None or used.kind is not ArgKind.REGISTER or used in (VOID_ARG, VM_STATE):
            raise VMError(f"can only {verb} a register", code="RX0612")
        return used.value

    def _used(self, arg: Arg) -> Arg:
        """`arg`, counted among the registers of the function if it is one."""
        if self._scope is not None and arg.kind is ArgKind.REGISTER and arg.value < VOID_ARG.value:
            self._scope.registers = max(self._scope.registers, arg.value + 1)
        return arg
