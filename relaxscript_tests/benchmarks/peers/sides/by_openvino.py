"""openvino: a compiled ONNX model, one thread, float32, arrays shared with it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from relaxscript_tests.benchmarks.peers.workloads import Arrays, Workload

from .onnx_models import onnx_model
from .steps import Program

openvino = import_module("openvino")

OPTIONS = {
    "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_PRECISION_HINT": "f32", "ENABLE_CPU_PINNING": False,
}  # fmt: skip


class ByOpenvino(Program):
    """One request of a compiled model."""

    def __init__(self, workload: Workload, variant: str = "") -> None:
        super().__init__(workload, variant)
        self.bytes = onnx_model(workload)

    def load(self) -> None:
        self.core = openvino.Core()
        self.model = self.core.read_model(self.bytes, b"")

    def compile(self) -> Callable[..., Any]:
        infer = self.core.compile_model(self.model, "CPU", OPTIONS).create_infer_request().infer
        return lambda given: infer(given, share_inputs=True, share_outputs=True)

    def arguments(self, inputs: Arrays) -> tuple[Any, ...]:
        return (inputs,)

    def array(self, output: Any) -> Any:
        return output[0].copy()


def program(workload: Workload, variant: str) -> Program:
    return ByOpenvino(workload, variant)
