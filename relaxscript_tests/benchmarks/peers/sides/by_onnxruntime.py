"""onnxruntime: a session over an ONNX model, one thread."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from relaxscript_tests.benchmarks.peers.workloads import Arrays, Workload

from .onnx_models import onnx_model
from .steps import Program

ort = import_module("onnxruntime")


class ByOnnxruntime(Program):
    """A session; the model's bytes are there before the clock starts, as a file would be."""

    def __init__(self, workload: Workload, variant: str = "") -> None:
        super().__init__(workload, variant)
        self.model = onnx_model(workload)

    def compile(self) -> Callable[..., Any]:
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = ort.InferenceSession(self.model, options, providers=["CPUExecutionProvider"])
        run = session.run
        return lambda given: run(None, given)

    def arguments(self, inputs: Arrays) -> tuple[Any, ...]:
        return (inputs,)

    def array(self, output: Any) -> Any:
        return output[0]

    def compilations(self) -> int:
        return 1  # a session is made once and takes every length


def program(workload: Workload, variant: str) -> Program:
    return ByOnnxruntime(workload, variant)
