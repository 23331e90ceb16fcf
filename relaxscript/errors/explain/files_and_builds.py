"""Pages of RX07: files, builds, passes, and models that are made from outside."""

from __future__ import annotations

PAGES: dict[str, str] = {
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
