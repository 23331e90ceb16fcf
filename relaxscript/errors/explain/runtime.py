"""Pages of RX06 and RX07: what fails when a program runs, and around files and builds."""

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
    "RX0701": """
RX0701: the file cannot be read

It does not exist, is not readable, is not UTF-8 text, or is not what it should be: a damaged
executable is refused as a whole.

Wrong:

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return R.nn.relu(x)

    rx.save(rx.build(main), "model.rx")
    rx.load("modle.rx")

Right:

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return R.nn.relu(x)

    rx.save(rx.build(main), "model.rx")
    rx.load("model.rx")
""",
    "RX0702": """
RX0702: an optional package is not installed

Some features need a package that relaxscript does not install by itself. The message names the
extra.

Wrong:

    pip install relaxscript

Right:

    pip install "relaxscript[tutorials]"
""",
    "RX0703": """
RX0703: an unknown target, kind of device, option or code

The nearest name that exists is offered. Devices of the kind "cpu", which is also called "llvm", are
always there. Options of the target "llvm" are `-opt-level=` (0 to 3) and `-check=`: 0 leaves out
the checks of indices that are not proved, for what you build, never for what `load` reads.

`mod.graph(name)` draws functions of Relax. A PrimFunc has loops and a PackedFunc is not seen into:
neither has a dataflow to draw.

Bytecode is made of calls, `if` and results. What a `relax_pipeline` leaves of anything else is
named with the pass that lowers it; `get_pipeline("default").script()` shows all that are needed.
`LegalizeOps(require_all=True)` names the operators of which it can make no loops. It takes no
compute, and no legalisation of yours, that gives another tensor than the operator does.

Wrong:

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return R.nn.relu(x)

    rx.build(main, target="llmv")

Right:

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return R.nn.relu(x)

    rx.build(main, target="llvm")
""",
    "RX0704": """
RX0704: a program that cannot be saved

A file holds the module that was built, not machine code. An executable that was put together by
`ExecBuilder` was made of no module. Neither a file nor the text of `ir.save_json` holds what only
this process has: functions of Python, and what code generators made.

Wrong:

    builder = rx.ExecBuilder()
    with builder.function("main", num_inputs=1):
        builder.emit_ret(builder.r(0))
    rx.save(builder.get(), "model.rx")

Right:

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return R.nn.relu(x)

    rx.save(rx.build(main), "model.rx")
""",
    "RX0705": """
RX0705: a saved program calls what was not allowed

A file may come from a stranger. The PackedFuncs and C functions outside of it that it calls are
named, and it is loaded only when its reader allows them.

Wrong:

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_packed("my.log", x, sinfo_args=R.Tensor((4,), "float32"))
        return y

    rx.save(rx.build(main), "model.rx")
    rx.load("model.rx")

Right:

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_packed("my.log", x, sinfo_args=R.Tensor((4,), "float32"))
        return y

    rx.save(rx.build(main), "model.rx")
    rx.load("model.rx", allowed=["my.log"])
""",
    "RX0706": """
RX0706: a pass made a module that is not well-formed

`VerifyEach` names the first pass that breaks a law of passes, with the function and the binding,
and shows the scripts before and after there. `PassContext(instruments=[VerifyEach()])` has it
watch. `WellFormedInstrument` does what it does in TVM: it prints the module after each pass, reads
the script again and compares. Whatever makes IR goes through `BlockBuilder`, which types each
binding.

Wrong:

    from relaxscript.transform import PassContext, VerifyEach, function_pass

    @function_pass(opt_level=0)
    def without_parameters(func, mod, ctx):
        return func.replace(params=())

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return R.nn.relu(x)

    with PassContext(instruments=[VerifyEach()]):
        without_parameters(Module)

Right:

    from relaxscript.transform import PassContext, VerifyEach, function_pass

    @function_pass(opt_level=0)
    def unchanged(func, mod, ctx):
        return func

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return R.nn.relu(x)

    with PassContext(instruments=[VerifyEach()]):
        unchanged(Module)
""",
    "RX0707": """
RX0707: the file cannot be written

Its folder is not there, or it may not be written: the message says what the system says.
`relaxscript check --fix` leaves a file as it is when it may not be written, when somebody else has
changed it meanwhile, or when its encoding has no place for what is to be written. `--diff` shows
the changes without writing them.

Wrong:

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return R.nn.relu(x)

    main.graph().view("nowhere/main.html")

Right:

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return R.nn.relu(x)

    main.graph().view("main.html")
""",
    "RX0708": """
RX0708: an operator that cannot be defined

`relaxscript.opdef.op` makes an operator of a function on numpy arrays. Its name has a dot and
begins with no name of Relax, so that it can never mean another. Each of its parameters has an
annotation: `Tensor` and its like for operands, `int`, `float`, `str`, `bool` or `Axes` for
attributes.

Wrong:

    from relaxscript.opdef import Tensor, op

    @op("swish")
    def swish(x, beta=1.0):
        return x / (1 + np.exp(-beta * x))

Right:

    from relaxscript.opdef import Tensor, op

    @op("my.swish")
    def swish(x: Tensor, beta: float = 1.0) -> Tensor:
        return x / (1 + np.exp(-beta * x))
""",
    "RX0709": """
RX0709: a pattern that means nothing

A pattern of `relax.dpl` is looked at when it is made. It can match nothing where its constraints
contradict each other, where an operator has another number of operands, or where it asks of
something what this never has. Uses and shapes are said inside of a `PatternContext`.

Passes that ask code generators refuse what fits nothing in the same way: a pattern without loops,
or an answer that is none.

Wrong:

    from relaxscript.relax.dpl import wildcard

    wildcard().has_dtype("float32").has_dtype("int32")

Right:

    from relaxscript.relax.dpl import wildcard

    wildcard().has_dtype("float32") | wildcard().has_dtype("int32")
""",
    "RX0710": """
RX0710: a rewrite that cannot be made

A rewriter of `relax.dpl` gives an expression, whose StructInfo fits wherever that of the matched
one did. Side effects are not dropped, and rules come to an end. Where that is not so, the function
or module stays as it was.

Wrong:

    from relaxscript.relax.dpl import is_op, rewrite_call, wildcard

    @R.function
    def func(a: R.Tensor((4,), "float32")):
        b = R.exp(a)
        return b

    x = wildcard()
    rewrite_call(is_op("relax.exp")(x), lambda _, found: R.astype(found[x], "float16"), func)

Right:

    from relaxscript.relax.dpl import is_op, rewrite_call, wildcard

    @R.function
    def func(a: R.Tensor((4,), "float32")):
        b = R.exp(a)
        return b

    x = wildcard()
    rewrite_call(is_op("relax.exp")(x), lambda _, found: R.tanh(found[x]), func)
""",
    "RX0711": """
RX0711: a model that makes no functions

A method of an `nn.Module` becomes a function when it is called by `export_tvm` or `jit`. Its spec
says what each argument is, the model owns every parameter that is used, and what is returned is a
tensor, an object, or a tuple of these.

Wrong:

    from relaxscript.relax.frontend import nn

    class Model(nn.Module):
        def __init__(self):
            self.fc1 = nn.Linear(784, 10)

        def forward(self, x):
            return self.fc1(x)

    Model().export_tvm(spec={"forward": {}})

Right:

    from relaxscript.relax.frontend import nn

    class Model(nn.Module):
        def __init__(self):
            self.fc1 = nn.Linear(784, 10)

        def forward(self, x):
            return self.fc1(x)

    Model().export_tvm(spec={"forward": {"x": nn.spec.Tensor((1, 784), "float32")}})
""",
    "RX0712": """
RX0712: weights that are not those of the model

Arrays are given to parameters by name, all of them or none. The message lists each name that is
missing, each that no parameter has, with the nearest one that has, and each array that does not
fit its parameter. `rx.load_weights(path, names=...)` renames what a file has.

Wrong:

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), weight: R.Tensor((3, 4), "float32")):
        return R.matmul(x, weight)

    w = np.ones((3, 4), "float32")
    rx.build(main, params={"wieght": w})

Right:

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), weight: R.Tensor((3, 4), "float32")):
        return R.matmul(x, weight)

    w = np.ones((3, 4), "float32")
    rx.build(main, params={"weight": w})
""",
    "RX0713": """
RX0713: a function that cannot be differentiated

`Gradient` takes a function of one dataflow block, of which it differentiates a scalar of floats.
The gradient flows from that to parameters that hold floats. Each operator on the way has a rule, or
the message says why it has none. A checkpoint that begins is closed.

Wrong:

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            with R.dataflow():
                y = R.square(x)
                R.output(y)
            return y

    relax.transform.Gradient("main")(Module)

Right:

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            with R.dataflow():
                y = R.square(x)
                z = R.sum(y)
                R.output(z)
            return z

    relax.transform.Gradient("main")(Module)
""",
    "RX0714": """
RX0714: a model that cannot be trained

`SetupTrainer` takes a module with the function `backbone`, which says how many of its parameters
are trained and how many are states. A `Trainer` takes what it makes. Parameters and states have
known sizes, and each has a value before a batch comes: zeros, drawn or loaded ones.

Wrong:

    @I.ir_module
    class Model:
        @R.function
        def backbone(x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 3), "float32")):
            with R.dataflow():
                y = R.matmul(x, w)
                R.output(y)
            return y

    loss = relax.training.loss.MSELoss()
    targets = R.Tensor((2, 3), "float32")
    relax.training.SetupTrainer(loss, relax.training.optimizer.SGD(0.1), [targets, targets])(Model)

Right:

    @I.ir_module
    class Model:
        I.module_attrs({"param_num": 1, "state_num": 0})

        @R.function
        def backbone(x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 3), "float32")):
            with R.dataflow():
                y = R.matmul(x, w)
                R.output(y)
            return y

    loss = relax.training.loss.MSELoss()
    targets = R.Tensor((2, 3), "float32")
    relax.training.SetupTrainer(loss, relax.training.optimizer.SGD(0.1), [targets, targets])(Model)
""",
}
