"""Small programs of bytecode that several tests run."""

from __future__ import annotations

from relaxscript.errors import Source, Span
from relaxscript.runtime import (
    DimBind,
    DimConst,
    DimExpr,
    DimLoad,
    ExecBuilder,
    TensorCheck,
    VirtualMachine,
)

TEXT = "\n".join(f"line {i} of the program" for i in range(1, 40))
SOURCE = Source("program.py", TEXT)


def line(number):
    """The place of the first word of a line of the program."""
    return Span(SOURCE, number, 1, number, 5)


def machine(*functions, externals=None, **options):
    """A machine of functions, each a function of the builder that emits one."""
    ib = ExecBuilder()
    for function in functions:
        function(ib)
    return VirtualMachine(ib.get(externals), **options)


def calling(name, inputs=1, **options):
    """`main` that calls `name` with its arguments, on line 3 of the program."""

    def emit(ib):
        with ib.function("main", inputs, [f"x{i}" for i in range(inputs)], span=line(1)):
            args = [ib.r(i) for i in range(inputs)]
            ib.emit_call(name, args, ib.r(inputs), span=line(3), **options)
            ib.emit_ret(ib.r(inputs))

    return emit


def checked(ib):
    """main(x: (n, 4), w: (2 * n,)) -> (n,): gives `w` cut to what `test.result` says."""
    checks = [
        TensorCheck("float32", 2, (DimBind(0, "n"), DimConst(4))),
        TensorCheck("float32", 1, (DimExpr(lambda h: 2 * h[0], "2 * n"),)),
    ]
    result = TensorCheck("float32", 1, (DimLoad(0, "n"),))
    with ib.function(
        "main", 2, ["x", "w"], param_checks=checks, return_check=result, heap_size=1, span=line(2)
    ):
        ib.emit_call("test.result", [ib.r(1)], ib.r(2), span=line(3))
        ib.emit_ret(ib.r(2), span=line(4))


def adder(ib):  # adder(x, y) as a closure that captures y
    with ib.function("add", 2, ["x", "y"], public=False, info="add's info", span=line(9)):
        ib.emit_call("test.add", [ib.r(0), ib.r(1)], ib.r(2), span=line(10))
        ib.emit_ret(ib.r(2))
    with ib.function("make", 1, ["y"]):
        ib.emit_call("vm.builtin.make_closure", [ib.f("add"), ib.r(0)], ib.r(1))
        ib.emit_ret(ib.r(1))
    with ib.function("apply", 2, ["f", "x"]):
        args = [ib.vm_state(), ib.r(0), ib.r(1)]
        ib.emit_call("vm.builtin.invoke_closure", args, ib.r(2), span=line(12))
        ib.emit_ret(ib.r(2))
