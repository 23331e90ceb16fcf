"""apache-tvm: BlockBuilder, then `tvm.compile`; the variants are those that are simple to ask for.

"default" leaves passes out that fuse; "fuse" is TVM's own pipeline for processors; "dlight" adds
the schedules that it has for them. Nothing is tuned.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from relaxscript_tests.benchmarks.peers.workloads import Arrays, Workload

from .steps import Program

tvm = import_module("tvm")
relax = import_module("tvm.relax")
dlight = import_module("tvm.s_tir.dlight")
op = relax.op


class Operations:
    """The operations of workloads, as bindings of a builder."""

    def __init__(self, builder: Any, length: Any) -> None:
        self.builder = builder
        self.length = length

    def emit(self, call: Any) -> Any:
        return self.builder.emit(call)

    def __getattr__(self, name: str) -> Any:
        made = getattr(op, name)

        def emitted(*operands: Any) -> Any:
            given = [relax.const(o, "float32") if isinstance(o, float) else o for o in operands]
            return self.emit(made(*given))

        return emitted

    def relu(self, x: Any) -> Any:
        return self.emit(op.nn.relu(x))

    def gelu(self, x: Any) -> Any:
        return self.emit(op.nn.gelu(x))

    def softmax(self, x: Any) -> Any:
        return self.emit(op.nn.softmax(x, -1))

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return self.emit(op.nn.layer_norm(x, scale, shift, -1))

    def rms_norm(self, x: Any, scale: Any) -> Any:
        return self.emit(op.nn.rms_norm(x, scale, -1))

    def reshape(self, x: Any, shape: Any) -> Any:
        return self.emit(op.reshape(x, shape))

    def transpose(self, x: Any, axes: Any) -> Any:
        return self.emit(op.permute_dims(x, axes))


def module_of(workload: Workload, inputs: Arrays, given_weights: Arrays) -> Any:
    """The workload as an IRModule, its weights as constants."""
    length = tvm.tirx.Var("n", "int64") if workload.dynamic else None
    variables = {}
    for name, array in inputs.items():
        shape = (1, length, *array.shape[2:]) if workload.dynamic else array.shape
        variables[name] = relax.Var(name, relax.TensorType(shape, "float32"))
    weights = {name: relax.const(array) for name, array in given_weights.items()}
    builder = relax.BlockBuilder()
    with builder.function("main", list(variables.values())):
        with builder.dataflow():
            if length is None:
                first = next(iter(inputs.values())).shape
                length = first[1] if len(first) > 1 else 0
            result = workload.program(Operations(builder, length), variables, weights)
            result = builder.emit_output(result)
        builder.emit_func_output(result)
    return builder.get()


class ByTvm(Program):
    """A module, compiled for this machine and run by the virtual machine."""

    def load(self) -> None:
        self.module = module_of(self.workload, self.inputs, self.given_weights)

    def compile(self) -> Callable[..., Any]:
        target, module = tvm.target.Target(TARGET), self.module
        if self.variant != "default":
            fuse = tvm.transform.Sequential(
                [
                    relax.transform.DecomposeOpsForInference(),
                    relax.transform.LegalizeOps(),
                    relax.transform.AnnotateTIROpPattern(),
                    relax.transform.FoldConstant(),
                    relax.transform.FuseOps(),
                    relax.transform.FuseTIR(),
                ]
            )
            with target:
                module = fuse(module)
                if self.variant == "dlight":
                    rules = dlight.cpu.GEMV(), dlight.cpu.Reduction()
                    module = dlight.ApplyDefaultSchedule(*rules)(module)
        machine = relax.VirtualMachine(tvm.compile(module, target=target), tvm.cpu())
        return machine["main"]

    def arguments(self, inputs: Arrays) -> tuple[Any, ...]:
        return tuple(tvm.runtime.tensor(array) for array in inputs.values())

    def array(self, output: Any) -> Any:
        return output.numpy()

    def compilations(self) -> int:
        return 1


def processor() -> str:
    """The name that LLVM has for this processor, where TVM can say it."""
    try:
        return str(tvm.target.codegen.llvm_get_system_cpu())
    except (AttributeError, ValueError):
        return ""


TARGET = {"kind": "llvm", **({"mcpu": processor()} if processor() else {})}


def program(workload: Workload, variant: str) -> Program:
    return ByTvm(workload, variant)
