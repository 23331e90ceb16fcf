"""ONNX models of the workloads, for those that read them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from relaxscript_tests.benchmarks.peers.workloads import Workload

onnx = import_module("onnx")
numpy_helper = import_module("onnx.numpy_helper")

OPSET = 23
ONE_TO_ONE = {
    "matmul": "MatMul", "add": "Add", "subtract": "Sub", "multiply": "Mul", "negative": "Neg",
    "exp": "Exp", "tanh": "Tanh", "relu": "Relu", "gelu": "Gelu",
}  # fmt: skip


class Operations:
    """The operations of workloads as nodes of a graph."""

    length = -1

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.initializers: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in ONE_TO_ONE:
            raise AttributeError(name)
        return lambda *operands: self.emit(ONE_TO_ONE[name], *operands)

    def emit(self, kind: str, *operands: Any, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        inputs = [o if isinstance(o, str) else self.constant(o) for o in operands]
        self.nodes.append(onnx.helper.make_node(kind, inputs, [name], **attributes))
        return name

    def constant(self, value: Any) -> str:
        array = np.asarray(value, "int64" if isinstance(value, tuple) else "float32")
        name = f"c{value}"
        self.initializers.setdefault(name, numpy_helper.from_array(array, name))
        return name

    def softmax(self, x: str) -> str:
        return self.emit("Softmax", x, axis=-1)

    def layer_norm(self, x: str, scale: str, shift: str) -> str:
        return self.emit("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-5)

    def rms_norm(self, x: str, scale: str) -> str:
        return self.emit("RMSNormalization", x, scale, axis=-1, epsilon=1e-5)

    def reshape(self, x: str, shape: tuple[int, ...]) -> str:
        return self.emit("Reshape", x, shape)

    def transpose(self, x: str, axes: tuple[int, ...]) -> str:
        return self.emit("Transpose", x, perm=axes)


def onnx_model(workload: Workload) -> bytes:
    """The model, as the bytes of a file."""
    graph = Operations()
    inputs, weights = workload.inputs(), workload.weights()
    for name, array in weights.items():
        graph.initializers[name] = numpy_helper.from_array(array, name)
    result = workload.program(graph, {n: n for n in inputs}, {n: n for n in weights})

    def described(name: str, shape: Any) -> Any:
        shape = [1, "n", *shape[2:]] if workload.dynamic and len(shape) > 2 else shape
        return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)

    made = onnx.helper.make_graph(
        graph.nodes,
        "workload",
        [described(name, array.shape) for name, array in inputs.items()],
        [onnx.helper.make_tensor_value_info(result, onnx.TensorProto.FLOAT, None)],
        list(graph.initializers.values()),
    )
    opset = [onnx.helper.make_opsetid("", OPSET)]
    model = onnx.helper.make_model(made, opset_imports=opset, ir_version=10)
    return bytes(model.SerializeToString())
