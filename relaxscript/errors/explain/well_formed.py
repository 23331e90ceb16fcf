"""Pages of RX0301 to RX0313: names, dimensions and functions that are well-formed.

Code RX03nn is criterion nn of the specification's "Well-Formedness Criteria".

Many of these mistakes cannot be written in the script, where another code is raised first; they
come from nodes and bindings made by hand.
"""

from __future__ import annotations

PAGES: dict[str, str] = {
    "RX0301": """
RX0301: a DataflowVar is bound or used outside its dataflow block

A DataflowVar is bound only inside a dataflow block and is not known outside of it. What is used
outside is an ordinary Var, an output of the block.

Wrong:

    info = relax.TensorStructInfo((4,), "float32")
    x = relax.Var("x", info)
    y = relax.DataflowVar("y", info)
    block = relax.BindingBlock([relax.VarBinding(y, relax.op.add(x, x))])
    f = relax.Function([x], relax.SeqExpr([block], x), info)
    print(*relax.analysis.ill_formed(f))

Right:

    info = relax.TensorStructInfo((4,), "float32")
    x = relax.Var("x", info)
    y = relax.DataflowVar("y", info)
    block = relax.DataflowBlock([relax.VarBinding(y, relax.op.add(x, x))])
    f = relax.Function([x], relax.SeqExpr([block], x), info)
    print(*relax.analysis.ill_formed(f))
""",
    "RX0302": """
RX0302: a variable is bound twice, or by nothing

Every variable is a parameter or is on the left of exactly one binding. On the right of its own
binding it may be used only if that defines a function.

Wrong:

    info = relax.TensorStructInfo((4,), "float32")
    x = relax.Var("x", info)
    y = relax.Var("y", info)
    a, b = relax.op.exp(x), relax.op.sin(x)
    block = relax.BindingBlock([relax.VarBinding(y, a), relax.VarBinding(y, b)])
    f = relax.Function([x], relax.SeqExpr([block], y), info)
    print(*relax.analysis.ill_formed(f))

Right:

    info = relax.TensorStructInfo((4,), "float32")
    x = relax.Var("x", info)
    y = relax.Var("y", info)
    z = relax.Var("z", info)
    a, b = relax.op.exp(x), relax.op.sin(x)
    block = relax.BindingBlock([relax.VarBinding(y, a), relax.VarBinding(z, b)])
    f = relax.Function([x], relax.SeqExpr([block], z), info)
    print(*relax.analysis.ill_formed(f))
""",
    "RX0303": """
RX0303: a variable is used before it is bound

Bindings run in order, so a binding may use only what is bound before it.

Wrong:

    info = relax.TensorStructInfo((4,), "float32")
    x = relax.Var("x", info)
    y = relax.Var("y", info)
    z = relax.Var("z", info)
    first, second = relax.VarBinding(y, x), relax.VarBinding(z, relax.op.add(y, y))
    block = relax.BindingBlock([second, first])
    f = relax.Function([x], relax.SeqExpr([block], z), info)
    print(*relax.analysis.ill_formed(f))

Right:

    info = relax.TensorStructInfo((4,), "float32")
    x = relax.Var("x", info)
    y = relax.Var("y", info)
    z = relax.Var("z", info)
    first, second = relax.VarBinding(y, x), relax.VarBinding(z, relax.op.add(y, y))
    block = relax.BindingBlock([first, second])
    f = relax.Function([x], relax.SeqExpr([block], z), info)
    print(*relax.analysis.ill_formed(f))
""",
    "RX0304": """
RX0304: the result's annotation uses a dimension that is not in scope

Whoever calls a function must understand its result, so the result may use only dimensions of the
parameters and of the functions around it.

Wrong:

    @R.function
    def f(x: R.Tensor(("n",), "float32")) -> R.Tensor(("m",), "float32"):
        return x

Right:

    @R.function
    def f(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        return x
""",
    "RX0305": """
RX0305: a symbolic dimension is used before it is bound

A dimension is bound where it stands alone in the annotation of a parameter or in a `match_cast`; in
`2 * n` it is only used.

Wrong:

    @R.function
    def f(x: R.Tensor(ndim=1, dtype="float32")):
        n = T.int64()
        y = R.match_cast(x, R.Tensor((2 * n,), "float32"))
        return y

Right:

    @R.function
    def f(x: R.Tensor(ndim=1, dtype="float32")):
        n = T.int64()
        y = R.match_cast(x, R.Tensor((n,), "float32"))
        return y
""",
    "RX0306": """
RX0306: a dimension of the signature has no binding position

Each symbolic dimension of a signature stands alone in at least one parameter, in any order, so that
arguments say what it is.

Wrong:

    @R.function
    def f(x: R.Tensor(("n * m",), "float32"), y: R.Tensor(("n",), "float32")):
        return x

Right:

    @R.function
    def f(x: R.Tensor(("n * m",), "float32"), y: R.Tensor(("n", "m"), "float32")):
        return x
""",
    "RX0307": """
RX0307: recursion or control flow in a dataflow block

A dataflow block has no `if`, no call of the function itself and no call of a global function that
calls back. Write these outside of the block.

Wrong:

    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        with R.dataflow():
            if c:
                y = R.add(x, x)
            else:
                y = x
            R.output(y)
        return y

Right:

    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            y = R.add(x, x)
        else:
            y = x
        return y
""",
    "RX0308": """
RX0308: a recursive function needs the annotation of its result

The result cannot be derived from the body when the body needs to know it.

Wrong:

    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor((4,), "float32")):
            cls = Module
            y = cls.f(x)
            return y

Right:

    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            cls = Module
            y = cls.f(x)
            return y
""",
    "RX0309": """
RX0309: an operator is used as a value

An operator can only be called. To pass it on, write a function around it.

Wrong:

    @R.function
    def apply(
        x: R.Tensor((4,), "float32"),
        g: R.Callable((R.Tensor((4,), "float32"),), R.Tensor((4,), "float32")),
    ) -> R.Tensor((4,), "float32"):
        return g(x)

    x = relax.Var("x", relax.TensorStructInfo((4,), "float32"))
    call = relax.Call(relax.GlobalVar("apply"), [x, relax.op.exp(x).op])
    main = relax.Function([x], call, x.struct_info)
    rx.build(rx.IRModule({"apply": apply, "main": main}))

Right:

    @I.ir_module
    class Module:
        @R.function
        def apply(
            x: R.Tensor((4,), "float32"),
            g: R.Callable((R.Tensor((4,), "float32"),), R.Tensor((4,), "float32")),
        ) -> R.Tensor((4,), "float32"):
            return g(x)

        @R.function
        def exp(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return R.exp(x)

        @R.function
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            cls = Module
            return cls.apply(x, cls.exp)
""",
    "RX0310": """
RX0310: `ndim` is not the number of dimensions given

Where a shape is given, `ndim` need not be; if it is, it must agree.

Wrong:

    @R.function
    def f(x: R.Tensor((2, 3), "float32", ndim=3)):
        return x

Right:

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        return x
""",
    "RX0311": """
RX0311: a function inside a dataflow block captures one of its variables

A closure may outlive the block. Give the value as a parameter instead.

Wrong:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)

            @R.function
            def g(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                return R.add(a, y)

            z = g(x)
            R.output(z)
        return z

Right:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)

            @R.function
            def g(
                a: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")
            ) -> R.Tensor((4,), "float32"):
                return R.add(a, b)

            z = g(x, y)
            R.output(z)
        return z
""",
    "RX0312": """
RX0312: no function of the module can be called from outside

A module with functions of Relax needs one that is not private, to begin with. For a module
in the making pass `check_well_formed=False`.

Wrong:

    @I.ir_module
    class Module:
        @R.function(private=True)
        def main(x: R.Tensor((4,), "float32")):
            return x

Right:

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return x
""",
    "RX0313": """
RX0313: the global symbol is not the name of the function

A function of a module that can be called from outside has one name: `global_symbol` is that of its
GlobalVar. A function outside a module may have any.

Wrong:

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            R.func_attr({"global_symbol": "entry"})
            return x

Right:

    @I.ir_module
    class Module:
        @R.function
        def entry(x: R.Tensor((4,), "float32")):
            return x
""",
}
