"""Pages of RX02 and RX04: what operands and values are, and which calls are pure."""

from __future__ import annotations

PAGES: dict[str, str] = {
    "RX0201": """
RX0201: a value of another kind is needed here

A tensor, a shape, a tuple, a scalar, a function and an object are different kinds of value,
and the place takes only one of them.

Wrong:

    @R.function
    def f(x: R.Tensor((3, 2), "float32")):
        y = R.add(x, R.shape([2, 3]))
        return y

Right:

    @R.function
    def f(x: R.Tensor((3, 2), "float32")):
        y = R.reshape(x, R.shape([2, 3]))
        return y
""",
    "RX0202": """
RX0202: the dtypes of the operands disagree

Operators do not convert. Convert one operand with `R.astype`, or write the constant with the
dtype of the other: `R.const(1, "float16")`.

Wrong:

    @R.function
    def f(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float16")):
        z = R.add(x, y)
        return z

Right:

    @R.function
    def f(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float16")):
        z = R.add(x, R.astype(y, "float32"))
        return z
""",
    "RX0203": """
RX0203: the shapes or ranks of the operands disagree

For no value of the symbolic dimensions do these operands go together. The labels say what each is.

Wrong:

    @R.function
    def f(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((63, 10), "float32")):
        y = R.matmul(x, w)
        return y

Right:

    @R.function
    def f(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 10), "float32")):
        y = R.matmul(x, w)
        return y
""",
    "RX0204": """
RX0204: an attribute has a value that the operator cannot use

The axis is out of range or given twice, the permutation is none, the dtype is unknown, and so
on. A negative axis counts from the end.

Wrong:

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.sum(x, axis=2)
        return y

Right:

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.sum(x, axis=-1)
        return y
""",
    "RX0205": """
RX0205: the value does not fit its annotation

An annotation may say less than is known of a value, not something else. A `match_cast` may say
more, which is checked when it runs, but not what can never be true.

Wrong:

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y: R.Tensor((3, 3), "float32") = R.add(x, x)
        return y

Right:

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y: R.Tensor((2, 3), "float32") = R.add(x, x)
        return y
""",
    "RX0206": """
RX0206: the call does not fit the signature of the function

An argument does not fit its parameter, their number differs, or two arguments ask for two values
of one symbolic dimension.

Wrong:

    @I.ir_module
    class Module:
        @R.function
        def g(a: R.Tensor(("n",), "float32"), b: R.Tensor(("n",), "float32")):
            return a

        @R.function
        def main(x: R.Tensor((2,), "float32"), y: R.Tensor((3,), "float32")):
            cls = Module
            z = cls.g(x, y)
            return z

Right:

    @I.ir_module
    class Module:
        @R.function
        def g(a: R.Tensor(("n",), "float32"), b: R.Tensor(("m",), "float32")):
            return a

        @R.function
        def main(x: R.Tensor((2,), "float32"), y: R.Tensor((3,), "float32")):
            cls = Module
            z = cls.g(x, y)
            return z
""",
    "RX0207": """
RX0207: whether this fits is known only when it runs (warning)

For some values of the symbolic dimensions it fits, for others not. The compiler puts a check
before it. Say what you know by giving both the same name, or by a `match_cast`, which the help
writes out for an argument, an annotated value or a result. With `strict=True` this is an error.

Wrong:

    @R.function
    def f(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
        z = R.add(x, y)
        return z

Right:

    @R.function
    def f(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        z = R.add(x, y)
        return z
""",
    "RX0208": """
RX0208: the tuple has no such field

Fields are counted from 0, and the index is a literal number.

Wrong:

    @R.function
    def f(t: R.Tuple(R.Object, R.Object)):
        x = t[2]
        return x

Right:

    @R.function
    def f(t: R.Tuple(R.Object, R.Object)):
        x = t[1]
        return x
""",
    "RX0209": """
RX0209: a parameter has no annotation (warning)

It is taken to be `R.Object`, of which nothing is known. Write what it is, or `R.Object` if that is
meant. A parameter of a PrimFunc must have an annotation.

Wrong:

    @R.function
    def f(x):
        return x

Right:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        return x
""",
    "RX0210": """
RX0210: a tensor would be on two virtual devices

An operator or PrimFunc runs on one device, on which all its tensors are; arguments are where the
parameters of a function are, and results where they are declared to be. Where two of these
disagree, a tensor has to be copied to the other device.

Wrong:

    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function
        def main(
            x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32", "llvm:0")
        ) -> R.Tensor((4,), "float32", "llvm:1"):
            a = R.add(x, x)
            b = R.add(a, y)
            c = R.add(a, a)
            return c

    rx.build(Module)

Right:

    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function
        def main(
            x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32", "llvm:0")
        ) -> R.Tensor((4,), "float32", "llvm:1"):
            a = R.add(x, y)
            return R.to_vdevice(a, "llvm:1")

    rx.build(Module)
""",
    "RX0211": """
RX0211: it is not known on which virtual device an operator runs

In a module that lists virtual devices every operand of an operator or PrimFunc is on one of them.
It is enough to say it in one place, in an annotation or by `R.to_vdevice`: it is then known of all
tensors that are on the same device.

Wrong:

    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            y = R.add(x, x)
            return y

    rx.build(Module)

Right:

    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function
        def main(x: R.Tensor((4,), "float32", "llvm:1")):
            y = R.add(x, x)
            return y

    rx.build(Module)
""",
    "RX0401": """
RX0401: an impure call in a pure function

A function is pure unless it says otherwise, and a pure one may not print, change its arguments
or call a packed function. Declare the function impure, or call what has no effect by
`R.call_pure_packed`. Where nothing outside can see the effects, the attribute `relax.force_pure`
has the calls in a function disregarded.

Wrong:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        R.print(x)
        return x

Right:

    @R.function(pure=False)
    def f(x: R.Tensor((4,), "float32")):
        R.print(x)
        return x
""",
    "RX0402": """
RX0402: an impure call in a dataflow block

Everything in a dataflow block may be reordered or dropped, so nothing in it may have an effect.
Move the call out of the block, or call what has no effect by `R.call_pure_packed`.

Wrong:

    @R.function(pure=False)
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            R.print(y)
            R.output(y)
        return y

Right:

    @R.function(pure=False)
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        R.print(y)
        return y
""",
    "RX0403": """
RX0403: a tensor is used after a call wrote into it

`R.call_tir_inplace` and `R.call_inplace_packed` count as pure, because nobody looks at what they
have written into, under whatever name, from then on. What the call gives is the same tensor.

Wrong:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.exp(x)
        z = R.call_inplace_packed(
            "sort", y, inplace_indices=[0], sinfo_args=R.Tensor((4,), "float32")
        )
        return R.add(y, z)

Right:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.exp(x)
        z = R.call_inplace_packed(
            "sort", y, inplace_indices=[0], sinfo_args=R.Tensor((4,), "float32")
        )
        return R.add(z, z)
""",
}
