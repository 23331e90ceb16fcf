"""Scripts as modules whose PrimFuncs have patterns, and what a function of them calls."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Binding, Call, Function, GlobalVar
from relaxscript.ir.walk import compounds
from relaxscript.script import from_source
from relaxscript.transform import AnnotateTIROpPattern, LegalizeOps

__all__ = [
    "CHAINED_TWICE", "MAIN", "TWICE", "callees", "chain", "legal_module", "long_function", "module",
]  # fmt: skip

# Parts of modules `M`. A PrimFunc that takes its elements one by one:
TWICE = """
    @T.prim_func(private=True)
    def twice(a: T.Buffer(("n",), "float32"), b: T.Buffer(("n",), "float32")):
        T.func_attr({"op_pattern": 0})
        n = T.int64()
        for i in range(n):
            with T.block("b"):
                vi = T.axis.spatial(n, i)
                b[vi] = a[vi] * T.float32(2)
"""
# What calls a function that `chain` makes.
MAIN = """
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        y = cls.fused(x)
        return y
"""


def module(*parts: str) -> IRModule:
    """The module `M` of parts."""
    made = from_source("@I.ir_module\nclass M:" + "".join(parts))
    assert isinstance(made, IRModule)
    return made


def chain(*prim_funcs: str, size: int | str = 4, name: str = "fused") -> str:
    """A function as FuseOps makes it: each PrimFunc takes what the one before it gives."""
    values = ["x", *(f"v{i}" for i in range(1, len(prim_funcs))), "gv"]
    calls = "\n".join(
        f"            {made} = R.call_tir(cls.{prim_func}, ({given},), "
        f'out_sinfo=R.Tensor(({size},), "float32"))'
        for prim_func, given, made in zip(prim_funcs, values, values[1:])
    )
    dim = f'"{size}"' if isinstance(size, str) else size
    tensor = f'R.Tensor(({dim},), "float32")'
    declared = f"\n        {size} = T.int64()" if isinstance(size, str) else ""
    return f"""
    @R.function(private=True)
    def {name}(x: {tensor}) -> {tensor}:
        R.func_attr({{"Primitive": True}}){declared}
        cls = M
        with R.dataflow():
{calls}
            R.output(gv)
        return gv
"""


# Two calls as one function, which FuseOps makes and FuseTIR takes.
CHAINED_TWICE = (
    TWICE
    + chain("twice", "twice", size="n", name="fused_twice_twice")
    + """
    @R.function
    def main(x: R.Tensor(("k",), "float32")):
        k = T.int64()
        cls = M
        with R.dataflow():
            y: R.Tensor((k,), "float32") = cls.fused_twice_twice(x)
            R.output(y)
        return y
"""
)


def legal_module(script: str) -> IRModule:
    """The module of a script without header, with operators as PrimFuncs that have patterns."""
    return AnnotateTIROpPattern()(LegalizeOps()(from_source(script)))


def long_function(values: list[str]) -> IRModule:
    """A function of one block, in which `v1`, `v2`, ... are bound to values."""
    lines = "\n".join(f"            v{i} = {value}" for i, value in enumerate(values, 1))
    return legal_module(
        "@I.ir_module\nclass M:\n    @R.function\n    def main(v0: R.Tensor((2, 3), 'float32')):\n"
        f"        with R.dataflow():\n{lines}\n            R.output(v{len(values)})\n"
        f"        return v{len(values)}\n"
    )


def callees(mod: IRModule, name: str = "main") -> list[str]:
    """The functions that a function calls, directly or by `call_tir`, in the order of its text."""
    function = mod[name]
    assert isinstance(function, Function)
    found = []
    for node in compounds(function):
        if isinstance(node, Binding) and isinstance(node.value, Call):
            call = node.value
            callee = call.op if isinstance(call.op, GlobalVar) else (*call.args, None)[0]
            if isinstance(callee, GlobalVar):
                found.append(callee.name_hint)
    return found
