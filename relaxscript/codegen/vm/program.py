"""The names, externals and kernels that all functions of a program share.

The function table has one name space. Packed functions keep their registered names, since they are
looked up by them; Relax functions keep theirs, since users call them; whatever else is in the
table (operators, kernels) gives way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from relaxscript.analysis import Context
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir import relax, tir
from relaxscript.ir.constant_array import in_c_order
from relaxscript.ir.module import IRModule
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo
from relaxscript.runtime import ExecBuilder, VMFuncKind
from relaxscript.runtime.builtins import BUILTINS, MAKE_CLOSURE
from relaxscript.semantics.make_closure import LOCAL_NAME, captured_count
from relaxscript.semantics.prim_funcs import symbol_of
from relaxscript.sinfo import ProvableArguments

from .escape import KernelArgs, Usage, usage_of
from .externals import (
    ArrangedKernel,
    CalledKernel,
    ClosureMaker,
    EntryKernel,
    External,
    FindPackedFunc,
    InPlaceResult,
    LateFunction,
    LocalClosureMaker,
    OperatorMeaning,
    PackedKernel,
    PrimFuncValue,
)

__all__ = ["Kernel", "Program"]

Kernel = Callable[..., Any]
_IN_PLACE = "relaxscript.in_place"
_MAKE_CLOSURE = "relaxscript.make_closure"
_PACKED_FUNC = "relaxscript.packed_func"


@dataclass
class Program:
    """The program that is being made. `kernels` has the callable of each PrimFunc by name."""

    module: IRModule
    kernels: Mapping[str, Kernel]
    builder: ExecBuilder = field(default_factory=ExecBuilder)
    externals: dict[str, External] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.context = Context(self.module)
        self.entries = _entries(self.module)
        named = self.module.relax_functions().items()
        local = {gv: (f.attrs or relax.Attrs()).get(LOCAL_NAME) for gv, f in named}
        self._functions = dict.fromkeys(
            [*(gv.name_hint for gv in local if not local[gv]), *self.entries]
        )
        functions = self.module.functions.values()
        self.kernel_args = KernelArgs(self.module)
        self._symbols: dict[str, str] = {}  # the PrimFuncs that packed calls find by their symbols
        for gv, function in self.module.functions.items():
            if isinstance(function, tir.PrimFunc) and (symbol := symbol_of(function)):
                self._symbols.setdefault(symbol, gv.name_hint)
        self._usages = {
            f: usage_of(f, self.kernel_args) for f in functions if isinstance(f, relax.Function)
        }
        self._taken = {*self._functions, *self._extern_symbols(), *BUILTINS}
        self._known: dict[Any, str] = {}
        self._constants: dict[int, Any] = {}
        self._local_closures = LocalClosureMaker()
        self._provable: dict[relax.Function, tuple[list[int], ProvableArguments]] = {}
        self._names = {
            gv.name_hint: self.unique(name) if name else gv.name_hint for gv, name in local.items()
        }
        for name in (*self._names.values(), *self.entries):
            self.builder.declare_function(name, VMFuncKind.VM_FUNC)

    def _extern_symbols(self) -> set[str]:
        named = {symbol for usage in self._usages.values() for symbol in usage.symbols}
        functions = self.module.functions.values()
        return named | {f.global_symbol for f in functions if isinstance(f, relax.ExternFunc)}

    def usage(self, function: relax.Function) -> Usage:
        """The uses of the values of a function."""
        return self._usages.get(function) or usage_of(function, self.kernel_args)

    def provable_arguments(self, function: relax.Function) -> tuple[list[int], ProvableArguments]:
        """The arguments that fit a function for sure, and the order in which it looks at them."""
        found = self._provable.get(function)
        if found is None:
            params = [param.struct_info or ObjectStructInfo() for param in function.params]
            own = len(params) - captured_count(function)
            # What is captured says first what variables are.
            order = [*range(own, len(params)), *range(own)]
            found = self._provable[function] = (
                order, ProvableArguments([params[i] for i in order]),
            )  # fmt: skip
        return found

    def unique(self, wanted: str) -> str:
        """`wanted`, with a number where something else has that name."""
        name, count = wanted, 1
        while name in self._taken:
            count += 1
            name = f"{wanted}#{count}"
        self._taken.add(name)
        return name

    def name_of(self, var: relax.GlobalVar) -> str:
        """The name of a function in the table: a local one has that of the source."""
        return self._names[var.name_hint]

    def constant(self, node: relax.Constant) -> Any:
        """A tensor of the program as an argument, one for each node."""
        if id(node) not in self._constants:
            self._constants[id(node)] = self.builder.convert_constant(in_c_order(node.data))
        return self._constants[id(node)]

    def external(self, key: Any, wanted: str, found: External) -> str:
        """The name of an external, which is one for each key."""
        if key not in self._known:
            name = self._known[key] = self.unique(wanted)
            self.externals[name] = found
        return self._known[key]

    # -- what calls name ---------------------------------------------------------------------------

    def operator(self, call: relax.Call, checked: bool) -> str:
        """The external that runs a call of an operator with its attributes."""
        op = call.op
        assert isinstance(op, relax.Op)
        attrs = tuple((call.attrs or {}).items())
        key: Any = (op.name, checked, len(call.args), attrs, call.sinfo_args)
        try:
            hash(key)
        except TypeError:
            key = (op.name, checked, id(call))
        return self.external(key, op.name, OperatorMeaning(call, checked))

    def function(self, var: relax.GlobalVar) -> Any:
        """The function that the module binds to a name, None for nothing."""
        return self.module[var] if var in self.module else None  # noqa: SIM401

    def prim_func(self, var: relax.GlobalVar) -> tir.PrimFunc:
        """The PrimFunc of a name; raises `DiagnosticError` (RX0101) when it is none."""
        found = self.function(var)
        if not isinstance(found, tir.PrimFunc):
            message = f"the module has no PrimFunc `{var.name_hint}`"
            raise DiagnosticError(Diagnostic("RX0101", message, var.span))
        return found

    def kernel(self, var: relax.GlobalVar) -> str:
        """The external that is the kernel of a PrimFunc."""
        name = symbol_of(self.prim_func(var)) or var.name_hint
        return self.external(("kernel", var.name_hint), name, CalledKernel(var.name_hint))

    def arranged_kernel(self, var: relax.GlobalVar) -> str:
        """The kernel of a PrimFunc for calls that give integers."""
        name = var.name_hint
        made = ArrangedKernel(name, self.prim_func(var))
        return self.external(("arranged", name), f"{name}.arranged", made)

    def prim_func_value(self, var: relax.GlobalVar) -> str:
        """A PrimFunc as a value, and as what a direct call of it calls."""
        name = var.name_hint
        made = PrimFuncValue(name, self.prim_func(var))
        return self.external(("value", name), f"{name}.function", made)

    def entry_kernel(self, var: relax.GlobalVar) -> str:
        """A PrimFunc as what a call from outside calls."""
        name = var.name_hint
        made = EntryKernel(name, self.prim_func(var))
        return self.external(("entry", name), f"{name}.function", made)

    def extern(self, symbol: str, args: Sequence[relax.Expr] = ()) -> str:
        """The name under which the packed function `symbol` is found when a call is evaluated."""
        prim_func = self._symbols.get(symbol)
        if prim_func is not None:
            return self._extern_kernel(symbol, PackedKernel(prim_func))
        if symbol == MAKE_CLOSURE:
            return self.make_closure(args)
        if symbol in self._functions:  # the table has a Relax function of that name
            return self.external(("extern", symbol), symbol, LateFunction(symbol))
        return symbol

    def _extern_kernel(self, symbol: str, kernel: PackedKernel) -> str:
        """The external that is a kernel as packed functions are called."""
        if symbol in self._functions:
            return self.external(("extern", symbol), symbol, kernel)
        self.externals[symbol] = kernel
        return symbol

    def resolved(self, symbol: str) -> str | None:
        """The external that looks a packed function up, where its name cannot stand for it."""
        if self.extern(symbol) == symbol or symbol not in self._functions:
            return None
        self.externals[_PACKED_FUNC] = FindPackedFunc()
        return _PACKED_FUNC

    def in_place(self) -> str:
        """The external that gives the value of an in-place call from what the function returned."""
        self.externals[_IN_PLACE] = InPlaceResult()
        return _IN_PLACE

    def make_closure(self, args: Sequence[relax.Expr]) -> str:
        """The external that gives a function its last arguments, and the type that it has then."""
        callee = args[0] if args else None
        function = self.function(callee) if isinstance(callee, relax.GlobalVar) else None
        match callee, function:
            case relax.GlobalVar(name), relax.Function(attrs=attrs) if LOCAL_NAME in (attrs or {}):
                types, shown = self._local_closures.types, self._names[name]
                if shown not in types:
                    info = self.context.struct_info(function)
                    assert isinstance(info, FuncStructInfo)
                    types[shown] = info, captured_count(function)
                self.externals[MAKE_CLOSURE] = self._local_closures
                return MAKE_CLOSURE
        self.externals[_MAKE_CLOSURE] = ClosureMaker()
        return _MAKE_CLOSURE


def _entries(module: IRModule) -> dict[str, relax.GlobalVar]:
    """The public PrimFuncs of a module without Relax functions: they are what can be called."""
    if module.relax_functions():
        return {}
    return {
        symbol: var
        for var, function in module.functions.items()
        if isinstance(function, tir.PrimFunc) and (symbol := symbol_of(function))
    }
