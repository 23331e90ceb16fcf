"""The same programs in our package and in apache-tvm, where that is installed.

Both have their names from one source, so one function writes a program for either.
"""

from __future__ import annotations

import importlib.util
from importlib import import_module
from types import ModuleType
from typing import Any

LAYER = 10  # bindings


def libraries() -> dict[str, ModuleType]:
    """Ours, and the peer's if there is one; it is said where there is none."""
    found = {"ours": import_module("relaxscript")}
    if importlib.util.find_spec("tvm") is None:
        print("apache-tvm is not installed: no figures beside ours")
        return found
    tvm = found["tvm"] = import_module("tvm")
    import_module("tvm.relax")
    print(f"beside apache-tvm {tvm.__version__}")
    return found


def main_of(library: ModuleType, count: int) -> Any:
    """A module whose `main` has that many bindings, in layers that every pass has work in.

    A layer has a product, its bias and its activation, a sum of constants, another name of a value,
    a value that nothing uses, and one that is computed twice.
    """
    relax, op = library.relax, library.relax.op
    # Later versions of the peer say Type and tirx.
    tensor = getattr(relax, "TensorStructInfo", None) or relax.TensorType
    n = (getattr(library, "tir", None) or library.tirx).Var("n", "int64")
    x, w, b = (
        relax.Var(name, tensor(shape, "float32"))
        for name, shape in (("x", (n, 64)), ("w", (64, 64)), ("b", (64,)))
    )
    builder = relax.BlockBuilder()
    with builder.function("main", [x, w, b]):
        with builder.dataflow():
            value = x
            for _ in range(count // LAYER):
                product = builder.emit(op.matmul(value, w))
                active = builder.emit(op.nn.relu(builder.emit(op.add(product, b))))
                two = builder.emit(op.add(relax.const(1.0, "float32"), relax.const(1.0, "float32")))
                alias = builder.emit(builder.emit(op.multiply(active, two)))
                builder.emit(op.exp(alias))
                once, again = builder.emit(op.tanh(alias)), builder.emit(op.tanh(alias))
                value = builder.emit(op.add(once, again))
            result = builder.emit_output(value)
        builder.emit_func_output(result)
    return builder.finalize()
