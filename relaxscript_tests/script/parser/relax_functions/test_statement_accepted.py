"""Accepted programs: the statements of Relax, and Python's that are decided while parsing."""

from __future__ import annotations

import inspect

import pytest

from relaxscript_tests.script.parser.round_trip import accepted

HEAD = (
    "@R.function(pure=False)\n"
    'def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", 4), "float32"), '
    'c: R.Tensor((), "bool"), b: R.Prim("bool"), o: R.Object, s: R.Shape(ndim=2)):\n'
)

BODIES = {
    "a return at the end of a dataflow block": """
        with R.dataflow():
            z = R.exp(x)
            return z
        """,
    "a value returned from a dataflow block": """
        with R.dataflow():
            return (R.exp(x), x)
        """,
    "a return behind the outputs of a dataflow block": """
        with R.dataflow():
            gv = R.exp(x)
            z = R.exp(gv)
            R.output(z)
            return (z, x)
        """,
    "a binding": "z = R.add(x, y)\nreturn z",
    "a name that is bound again": "x = R.add(x, y)\nx = R.exp(x)\nreturn x",
    "an annotation that says the same": """
        n = T.int64()
        z: R.Tensor((n, 4), "float32") = R.add(x, y)
        return z
        """,
    "an annotation that says less": """
        z: R.Tensor(dtype="float32") = R.add(x, y)
        w: R.Object = z
        return w
        """,
    "unpacking": "t = (x, (y, c))\na, (b2, d) = t\n(e, [f, g]) = t\nreturn (a, d, e, g)",
    "unpacking the rest": """
        t = (x, y, c)
        first, *rest = t
        *more, last = t
        return (first, rest, more, last)
        """,
    "exchanging names": "x, y = y, x\nreturn (x, y)",
    "several targets": "a = b2 = R.add(x, y)\nreturn (a, b2)",
    "an operator before the assignment": "x += y\nx *= x\nx @= R.ones((4, 2), 'float32')\nreturn x",
    "a shape variable": "n = T.int64()\nz = R.zeros((n, 4), 'int8')\nreturn z",
    "several shape variables": """
        n, m = T.int64(), T.int64()
        z = R.match_cast(o, R.Tensor((n, m), "int8"))
        w = R.zeros((m, n), "int8")
        return w
        """,
    "numbers as values": "i = 1\nf = 1.5\nt = True\nreturn (i, f, t, (1, 2.5, 'text', False))",
    "a cast": """
        n, k = T.int64(), T.int64()
        z = R.match_cast(o, R.Tensor((n, k), "float32"))
        w: R.Tensor((n, k), "float32") = R.match_cast(z, R.Tensor((n, k), "float32"))
        return w
        """,
    "a cast of a shape": """
        k, m = T.int64(), T.int64()
        _ = R.match_cast(s, R.Shape([k, m]))
        return R.zeros((m, k), 'int8')
        """,
    "a cast for its effect": """
        k = T.int64()
        R.match_cast(o, R.Tensor((k,), 'int8'))
        return R.zeros((k,), 'int8')
        """,
    "a cast to other things": """
        t = R.match_cast(o, R.Tuple(R.Tensor((2,), "int8"), R.Shape([3])))
        p = R.match_cast(o, R.Prim("int64"))
        f = R.match_cast(o, R.Callable((R.Tensor,), R.Tensor, purity=False))
        return (t[0], p, f(x))
        """,
    "an effect": """
        R.print(x, y, format='{} {}')
        R.assert_op(c, x, format='{}')
        _ = R.print(c)
        return x
        """,
    "nothing": "pass\n'a text that says something'\nreturn x",
    "unit": "R.print(x)\nreturn R.tuple()",
    "a choice": """
        if c:
            z = R.add(x, y)
        else:
            w = R.exp(x)
            z = R.multiply(w, y)
        return z
        """,
    "a choice by a scalar": "if b:\n    z = x\nelse:\n    z = y\nreturn z",
    "a choice by a comparison": """
        if R.less(R.sum(x), R.const(1.0)):
            z = x
        else:
            z = y
        return z
        """,
    "a choice of dimensions": """
        n = T.int64()
        if n > 3:
            z = x
        else:
            z = y
        return z
        """,
    "choices in a row": """
        if c:
            z = x
        elif b:
            z = y
        else:
            z = R.add(x, y)
        return z
        """,
    "a choice of effects": """
        if c:
            R.print(x)
        elif b:
            z = R.exp(x)
            R.print(z)
        else:
            R.print(y)
        return x
        """,
    "a choice that is written out": """
        if True:
            z = R.exp(x)
        else:
            z = x
        if False:
            z = undefined
        return z
        """,
    "choices in choices": """
        if c:
            if b:
                z = x
            else:
                z = y
        else:
            z = R.exp(x)
        return z
        """,
    "a choice with dataflow blocks": """
        if c:
            with R.dataflow():
                a = R.exp(x)
                z = R.add(a, y)
                R.output(z)
            r = z
        else:
            r = y
        return r
        """,
    "a dataflow block": """
        with R.dataflow():
            a = R.add(x, y)
            z = R.exp(a)
            w = R.cos(a)
            R.output(z, w)
        return (z, w)
        """,
    "a dataflow block without outputs": "with R.dataflow():\n    a = R.add(x, y)\nreturn x",
    "dataflow blocks in a row": """
        with R.dataflow():
            a = R.add(x, y)
            R.output(a)
        R.print(a)
        with R.dataflow():
            z = R.exp(a)
            R.outputs(z)
        return z
        """,
    "a local function": """
        @R.function
        def inner(v: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return R.exp(v)
        z = inner(R.ones((2,), "float32"))
        return z
        """,
    "a local function that captures": """
        n = T.int64()
        @R.function
        def inner(v: R.Tensor((n, 4), "float32")):
            w = R.add(v, x)
            return w
        return inner(y)
        """,
    "a local function that calls itself": """
        @R.function
        def loop(i: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
            more = R.less(i, R.const(10, "int64"))
            if more:
                r = loop(R.add(i, R.const(1, "int64")))
            else:
                r = i
            return r
        return loop(R.const(0, "int64"))
        """,
    "a local function in a local function": """
        @R.function
        def outer(v: R.Tensor((2,), "float32")):
            @R.function
            def inner(w: R.Tensor((2,), "float32")):
                return R.add(v, w)
            return inner(v)
        return outer(R.ones((2,), "float32"))
        """,
    "a local function in a dataflow block": """
        with R.dataflow():
            @R.function
            def inner(v: R.Tensor((2,), "float32")):
                return R.exp(v)
            z = inner(R.ones((2,), "float32"))
            R.output(z)
        return z
        """,
    "a loop that is written out": "z = x\nfor i in range(3):\n    z = R.add(z, y)\nreturn z",
    "a loop over names": """
        z = x
        for name, scale in [("float16", 2), ("float32", 3)]:
            z = R.multiply(R.astype(z, name), R.const(scale, name))
        return z
        """,
    "a choice by Python": "if 3 > 2:\n    z = x\nelse:\n    z = undefined\nreturn z",
    "a choice by Python without a way out": "z = x\nif len('ab') == 2:\n    z = R.exp(z)\nreturn z",
    "an expression chosen by Python": "z = R.exp(x) if x.ndim == 2 else R.cos(x)\nreturn z",
    "names that clash": "R_1 = R.add(x, y)\nT_1 = R_1\ncls = T_1\nI = cls\nprint = I\nreturn print",
}


def programs() -> list[str]:
    """Functions with these bodies."""
    return [
        HEAD + "".join(f"    {line}\n" for line in inspect.cleandoc(body).splitlines())
        for body in BODIES.values()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("text", programs(), ids=BODIES)
def test_statements_are_accepted_and_printed_back(text):
    accepted(text)
