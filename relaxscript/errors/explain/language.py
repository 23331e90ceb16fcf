"""Pages of RX01: syntax and names."""

from __future__ import annotations

PAGES: dict[str, str] = {
    "RX0101": """
RX0101: a name is not defined

The name is neither bound above in the function, nor a parameter, nor known where the function was
written. A name bound in one branch of an `if` only is not known behind it.

Wrong:

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.add(x, z)
        return y

Right:

    @R.function
    def f(x: R.Tensor((2, 3), "float32"), z: R.Tensor((2, 3), "float32")):
        y = R.add(x, z)
        return y
""",
    "RX0102": """
RX0102: there is no operator or attribute of this name

`R`, `T`, `I` or a value has nothing of this name. The nearest name is offered where there is one.

Wrong:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.nn.sofmax(x)
        return y

Right:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.nn.softmax(x)
        return y
""",
    "RX0103": """
RX0103: the call does not fit what is called

There are too many or too few arguments, or a keyword that the operator or annotation does not
have. `help(R.sum)` shows the parameters.

Wrong:

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.sum(x, axes=1)
        return y

Right:

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.sum(x, axis=1)
        return y
""",
    "RX0104": """
RX0104: this piece of Python is not part of the language

A function of Relax consists of bindings, `if` with `else`, dataflow blocks, local functions and
one `return`. Loops, `try`, `del`, `lambda` and the like have no meaning there. Repetition is
written as recursion, as an operator, or as a loop of a PrimFunc.

Wrong:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        while True:
            x = R.add(x, x)
        return x

Right:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.add(x, x)
        z = R.add(y, y)
        return z
""",
    "RX0105": """
RX0105: a return is missing or in the wrong place

A function returns once, in its last statement. A branch does not return: it binds a name, and the
function returns that.

Wrong:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.add(x, x)

Right:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.add(x, x)
        return y
""",
    "RX0106": """
RX0106: the branches of an `if` do not give one value

An `if` is a value: it needs an `else`, and the last statement of both branches binds the same
name, which is the only one known behind it.

Wrong:

    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            y = R.add(x, x)
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
    "RX0107": """
RX0107: a name is used outside its dataflow block

What is bound in a dataflow block is known only inside, except what `R.output` lists.

Wrong:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            z = R.multiply(y, y)
            R.output(z)
        return y

Right:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            z = R.multiply(y, y)
            R.output(y, z)
        return y
""",
    "RX0108": """
RX0108: the annotation is not understood

An annotation is one of `R.Tensor(shape, dtype)`, `R.Shape(dims)`, `R.Prim(dtype)`,
`R.Tuple(...)`, `R.Callable(params, ret)` and `R.Object`. A shape is a tuple, and a tuple of one
needs its comma.

Wrong:

    @R.function
    def f(x: R.Tensor((4), "float32")):
        return x

Right:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        return x
""",
    "RX0109": """
RX0109: a symbolic dimension is not defined

A dimension is known when it stands alone in the shape of a parameter or in a `match_cast`. In the
body it also needs a declaration, `n = T.int64()`.

Wrong:

    @R.function
    def f(x: R.Tensor(("n", 4), "float32")):
        y = R.reshape(x, R.shape([m, 4]))
        return y

Right:

    @R.function
    def f(x: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        y = R.reshape(x, R.shape([n, 4]))
        return y
""",
    "RX0110": """
RX0110: a function of the module is called by its bare name

Inside a method Python does not see the other methods of the class, and neither does the script.
Name the module: `cls = Module`, then `cls.g`.

Wrong:

    @I.ir_module
    class Module:
        @R.function
        def g(x: R.Tensor((4,), "float32")):
            return x

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            y = g(x)
            return y

Right:

    @I.ir_module
    class Module:
        @R.function
        def g(x: R.Tensor((4,), "float32")):
            return x

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Module
            y = cls.g(x)
            return y
""",
    "RX0111": """
RX0111: the source is not found

A decorator reads the file or notebook cell with the definition. There is none for code
given to `exec` or typed into a plain Python prompt, and a file that was changed after it was
imported does not show what runs. Give the source itself to `from_source`.

Wrong:

    program = '''
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        return x
    '''
    exec(program, {"R": R})

Right:

    program = '''
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        return x
    '''
    f = rx.from_source(program)
""",
    "RX0112": """
RX0112: Python that belongs to the program failed

Ordinary Python in the script, such as a constant of your own or a call that computes a number, is
evaluated while the script is parsed. It raised the exception that is shown.

Wrong:

    sizes = {"hidden": 64}

    @R.function
    def f(x: R.Tensor((4, sizes["hiden"]), "float32")):
        return x

Right:

    sizes = {"hidden": 64}

    @R.function
    def f(x: R.Tensor((4, sizes["hidden"]), "float32")):
        return x
""",
    "RX0113": """
RX0113: the source is not Python

A script is Python by form, so Python's own grammar comes first. The message is that of Python.

Wrong:

    @R.function
    def f(x: R.Tensor((4,), "float32"):
        return x

Right:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        return x
""",
}
