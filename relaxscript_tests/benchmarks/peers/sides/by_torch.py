"""torch: eager, or under `torch.compile` as the variant "compile"."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from relaxscript_tests.benchmarks.peers.workloads import Arrays, Workload

from .steps import Program

torch = import_module("torch")
functional = torch.nn.functional
torch.set_num_threads(1)
torch.set_num_interop_threads(1)
torch.set_grad_enabled(False)


class Operations:
    """The operations of workloads."""

    length = -1
    matmul, add, subtract, multiply = torch.matmul, torch.add, torch.sub, torch.mul
    negative, exp, tanh, relu = torch.neg, torch.exp, torch.tanh, torch.relu
    reshape, transpose, gelu = torch.reshape, torch.permute, functional.gelu

    @staticmethod
    def softmax(x: Any) -> Any:
        return torch.softmax(x, -1)

    @staticmethod
    def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
        return functional.layer_norm(x, scale.shape, scale, shift, 1e-5)

    @staticmethod
    def rms_norm(x: Any, scale: Any) -> Any:
        return functional.rms_norm(x, scale.shape, scale, 1e-5)


class ByTorch(Program):
    """A function of tensors."""

    def load(self) -> None:
        self.weights = {n: torch.from_numpy(w) for n, w in self.given_weights.items()}

    def compile(self) -> Callable[..., Any]:
        names = tuple(self.inputs)
        side, written, weights = Operations, self.workload.program, self.weights

        def by_torch(*given: Any) -> Any:
            return written(side, dict(zip(names, given)), weights)

        return torch.compile(by_torch) if self.variant == "compile" else by_torch

    def arguments(self, inputs: Arrays) -> tuple[Any, ...]:
        return tuple(torch.from_numpy(array) for array in inputs.values())

    def array(self, output: Any) -> Any:
        return output.numpy()


def program(workload: Workload, variant: str) -> Program:
    return ByTorch(workload, variant)
