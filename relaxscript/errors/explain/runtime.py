"""Pages of RX06: what fails when a program runs."""

from __future__ import annotations

PAGES: dict[str, str] = {
    "RX0601": """
RX0601: an argument does not match the signature

Kind, dtype, rank or shape of an argument is not what the function declares. Dimensions of
one name must be equal in all arguments; the message says where the name got its value. A function
that is passed must be of a type that fits: its parameters, its result and whether it is pure.

Wrong:

    @R.function
    def main(x: R.Tensor(("n", 3), "float32")):
        return R.nn.relu(x)

    model = rx.jit(main)
    model.main(np.ones((2, 3)))

Right:

    @R.function
    def main(x: R.Tensor(("n", 3), "float32")):
        return R.nn.relu(x)

    model = rx.jit(main)
    model.main(np.ones((2, 3), dtype="float32"))
""",
    "RX0602": """
RX0602: the function takes another number of arguments

Weights are arguments as well, unless they were bound to the module.

Wrong:

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")):
        return R.matmul(x, w)

    model = rx.jit(main)
    x, w = np.ones((2, 3), "float32"), np.ones((3, 4), "float32")
    model.main(x)

Right:

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")):
        return R.matmul(x, w)

    model = rx.jit(main)
    x, w = np.ones((2, 3), "float32"), np.ones((3, 4), "float32")
    model.main(x, w)
""",
    "RX0603": """
RX0603: there is no packed function of this name

A name given to `R.call_packed` or `R.call_dps_packed` is looked up when the call runs. Register the
function before that.

Wrong:

    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        y = R.call_packed("my.scale", x, sinfo_args=R.Tensor((3,), "float32"))
        return y

    rx.jit(main).main(np.ones(3, "float32"))

Right:

    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        y = R.call_packed("my.scale", x, sinfo_args=R.Tensor((3,), "float32"))
        return y

    @rx.register_func("my.scale")
    def scale(x):
        return 2 * x

    rx.jit(main).main(np.ones(3, "float32"))
""",
    "RX0604": """
RX0604: a packed function raised an exception

The exception is its own and is shown above as the cause; the line is the one of the Relax program
that called it. The virtual machine can be used again.

Wrong:

    @rx.register_func("my.row")
    def row(x):
        return x[10]

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_packed("my.row", x, sinfo_args=R.Tensor((), "float32"))
        return y

    rx.jit(main).main(np.ones(4, "float32"))

Right:

    @rx.register_func("my.row")
    def row(x):
        return x[min(10, len(x) - 1)]

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_packed("my.row", x, sinfo_args=R.Tensor((), "float32"))
        return y

    rx.jit(main).main(np.ones(4, "float32"))
""",
    "RX0605": """
RX0605: a value is not what the program says it is

A `match_cast` failed, or a returned value does not fit the return annotation. The message says
which part of the value it is, what it must be, and where the variables of that got their values.

Wrong:

    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")):
        y = R.match_cast(x, R.Tensor((4,), "float32"))
        return y

    rx.jit(main).main(np.ones(3, "float32"))

Right:

    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")):
        n = T.int64()
        y = R.match_cast(x, R.Tensor((n,), "float32"))
        return y

    rx.jit(main).main(np.ones(3, "float32"))
""",
    "RX0606": """
RX0606: an operator failed while it ran

The operands are of the right types, but the operator cannot work with these values: dimensions
that were not known before do not go together, or memory ran out. So it is with functions of the
machine, such as those of a cache of keys and values: the message names the sequence.

Wrong:

    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32"), y: R.Tensor(ndim=1, dtype="float32")):
        return R.add(x, y)

    model = rx.jit(main)
    model.main(np.ones(2, "float32"), np.ones(3, "float32"))

Right:

    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32"), y: R.Tensor(ndim=1, dtype="float32")):
        return R.add(x, y)

    model = rx.jit(main)
    model.main(np.ones(3, "float32"), np.ones(3, "float32"))
""",
    "RX0607": """
RX0607: the executable has no such function

Only public functions can be called from outside; a private one has no global symbol. A breakpoint
of a call that runs step by step names a variable or a line of the functions that there are.

Wrong:

    @R.function
    def main(x: R.Tensor(("n", 3), "float32")):
        return R.nn.relu(x)

    model = rx.jit(main)
    model["mian"]

Right:

    @R.function
    def main(x: R.Tensor(("n", 3), "float32")):
        return R.nn.relu(x)

    model = rx.jit(main)
    model["main"]
""",
    "RX0608": """
RX0608: a value of this kind cannot be given to the machine

Arguments are numpy arrays and tensors of other packages, numbers, strings, shapes, tuples of these,
closures and dtypes.

Wrong:

    @R.function
    def main(s: R.Shape(ndim=2)):
        return R.zeros(s, "float32")

    model = rx.jit(main)
    model.main(rx.runtime.Shape((2, 2.5)))

Right:

    @R.function
    def main(s: R.Shape(ndim=2)):
        return R.zeros(s, "float32")

    model = rx.jit(main)
    model.main(rx.runtime.Shape((2, 3)))
""",
    "RX0609": """
RX0609: calls are nested too deeply

Most often a recursion has no end. Depth is limited so that the process survives: to
`call_depth_limit` calls inside of a program, and, where a packed function calls the model again, to
what Python and the stack of the thread have room for.

Wrong:

    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
            cls = Module
            y = cls.f(x)
            return y

    rx.jit(Module).f(np.array(3))

Right:

    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
            cls = Module
            if R.greater(x, R.const(0, "int64")):
                y = cls.f(R.subtract(x, R.const(1, "int64")))
            else:
                y = x
            return y

    rx.jit(Module).f(np.array(3))
""",
    "RX0610": """
RX0610: this cannot be a packed function

A packed function is anything that Python can call, registered under a name that is free;
`override=True` replaces what has the name. A C function takes tensors, numbers, strings and null,
and a pointer that it declares takes tensors of such elements.

Wrong:

    rx.register_func("my.scale", 2.0)

Right:

    rx.register_func("my.scale", lambda x: 2.0 * x, override=True)
""",
    "RX0611": """
RX0611: an assertion of the program does not hold

The condition of `R.assert_op`, or of an `assert` in a PrimFunc, was false. The message is the
program's own.

Wrong:

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), is_full: R.Tensor((), "bool")):
        R.assert_op(is_full, [], "the input is empty")
        return x

    model = rx.jit(main)
    model.main(np.ones(0, "float32"), np.array(False))

Right:

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), is_full: R.Tensor((), "bool")):
        R.assert_op(is_full, [], "the input is empty")
        return x

    model = rx.jit(main)
    model.main(np.ones(2, "float32"), np.array(True))
""",
    "RX0612": """
RX0612: malformed bytecode

Registers, constants and functions that instructions name must exist, jumps must stay inside their
function, every function must end with a return, and a register must be written before it is read.
What `build` makes is well formed; this is about programs emitted by hand.

Wrong:

    builder = rx.ExecBuilder()
    with builder.function("main", num_inputs=1):
        builder.emit_ret(builder.r(1))
    rx.VirtualMachine(builder.get()).main(np.ones(2))

Right:

    builder = rx.ExecBuilder()
    with builder.function("main", num_inputs=1):
        builder.emit_ret(builder.r(0))
    rx.VirtualMachine(builder.get()).main(np.ones(2))
""",
    "RX0613": """
RX0613: a value that is no function was called

Closures and packed functions can be called. A value of type `R.Object` may turn out to be
something else when the program runs.

Wrong:

    @R.function(pure=False)
    def apply(f: R.Object, x: R.Tensor((2,), "float32")):
        y = R.invoke_closure(f, (x,), sinfo_args=R.Object)
        return y

    model = rx.jit(apply)
    x = np.ones(2, "float32")
    model.apply(x, x)

Right:

    @R.function(pure=False)
    def apply(f: R.Object, x: R.Tensor((2,), "float32")):
        y = R.invoke_closure(f, (x,), sinfo_args=R.Object)
        return y

    model = rx.jit(apply)
    x = np.ones(2, "float32")
    model.apply(rx.PackedFunc("twice", lambda x: 2 * x), x)
""",
    "RX0614": """
RX0614: a PrimFunc failed while it ran

An index lies outside of its buffer, an integer is divided by zero, or there is no memory for a
buffer. Each index is tested that is not proved to lie inside, unless the target is "llvm -check=0".

Wrong:

    @T.prim_func
    def shift(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            y[i] = x[i + 1]

    rx.jit(shift).shift(np.ones(4, "float32"), np.zeros(4, "float32"))

Right:

    @T.prim_func
    def shift(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n - 1):
            y[i] = x[i + 1]

    rx.jit(shift).shift(np.ones(4, "float32"), np.zeros(4, "float32"))
""",
}
