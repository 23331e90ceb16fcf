"""Where the fragments of pages stand: what is around those that are no whole programs.

A setting is Python with `...` in the place of the fragment. It runs with the names of `SCOPE`, and
what it leaves in `found` are codes beside those of errors that are raised.
"""

from __future__ import annotations

IN_A_FUNCTION = '''
found = codes_of("""
@R.function
def f(x: R.Tensor((2, 3), "float32")):
    ...
    return x
""")
'''

BLOCK = """
x, y, z = (relax.Var(name, TENSOR) for name in "xyz")
a, b = relax.op.add(x, x), relax.op.multiply(x, x)
...
body = relax.SeqExpr([block], x)
function = relax.Function([x], body, TENSOR, attrs={"global_symbol": "main"})
found = {d.code for d in relax.analysis.ill_formed(module_of(function))}
"""

MODEL = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"){parameters}):
        {body}
        return R.exp(x)

model = rx.jit(Model)
x, w = np.ones((2, 3), "float32"), np.ones((3, 4), "float32")
...
"""


def model(parameters: str = "", body: str = "pass") -> str:
    return MODEL.replace("{parameters}", parameters).replace("{body}", body)


# A value, and an annotation, of which a module is made by hand.
VALUE = BLOCK.replace("...", "n = relax.tir.Var('n', 'int64')\n...\nblock = bound_to(value)")
INFO = BLOCK.replace("...", "...\nblock = cast_to(info)")

SETTINGS = {
    **dict.fromkeys(("RX0102", "RX0103", "RX0201"), IN_A_FUNCTION),
    "RX0311": IN_A_FUNCTION.replace("(2, 3)", "(4,)"),
    **dict.fromkeys(("RX0301", "RX0302", "RX0303"), BLOCK),
    "RX0318": VALUE,
    "RX0322": INFO,
    "RX0601": model(),
    "RX0602": model(', w: R.Tensor((3, 4), "float32")'),
    "RX0607": model(),
    "RX0608": MODEL.replace('R.Tensor((2, 3), "float32"){parameters}', "R.Shape((2, 3))")
    .replace("{body}", "pass")
    .replace("R.exp(x)", "x"),
    "RX0610": "...",
    "RX0603": """
@I.ir_module
class Model:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")):
        return R.call_packed("my.scale", x, sinfo_args=R.Tensor((2, 3), "float32"))

model = rx.jit(Model)
x = np.ones((2, 3), "float32")
...
""",
    "RX0604": """
@I.ir_module
class Model:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")):
        return R.call_packed("my.rows", x, sinfo_args=R.Object)

...
rx.jit(Model).main(np.ones((2, 3), "float32"))
""",
    "RX0605": '''
Model = rx.script.from_source("""
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")):
        ...
        return y
""")
rx.jit(Model).main(np.ones(3, "float32"))
''',
    "RX0606": """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
        return R.add(x, y)

model = rx.jit(Model)
...
""",
    "RX0506": """
@T.prim_func
def total(x: T.Buffer((4, 8), "float32"), y: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 8):
        with T.block("total"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                y[vi] = T.float32(0)
            y[vi] = y[vi] + x[vi, vk]

sch = relaxscript.tir.Schedule(total)
...
""",
    "RX0611": '''
Model = rx.script.from_source("""
@I.ir_module
class Model:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        ...
        return x
""")
rx.jit(Model).main(np.ones(3, "float32"))
''',
    "RX0614": '''
Model = rx.script.from_source("""
@I.ir_module
class Model:
    @T.prim_func
    def shift(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        ...

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        return R.call_tir(Model.shift, (x,), out_sinfo=R.Tensor((n,), "float32"))
""")
rx.VirtualMachine(rx.build(Model, target="reference"), rx.cpu())["main"](np.ones(3, "float32"))
''',
    "RX0703": "module = rx.IRModule({})\n...",
}
