"""jax: a function of arguments and weights under `jax.jit`, awaited."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from relaxscript_tests.benchmarks.peers.workloads import Arrays, Workload

from .steps import Program

jax = import_module("jax")
jnp = import_module("jax.numpy")


class Operations:
    """The operations of workloads."""

    length = -1
    matmul, add, subtract, multiply = jnp.matmul, jnp.add, jnp.subtract, jnp.multiply
    negative, exp, tanh = jnp.negative, jnp.exp, jnp.tanh
    relu, softmax = jax.nn.relu, jax.nn.softmax
    reshape, transpose = jnp.reshape, jnp.transpose

    @staticmethod
    def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
        x = x - x.mean(-1, keepdims=True)
        x = x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5)
        return x * scale + shift

    @staticmethod
    def rms_norm(x: Any, scale: Any) -> Any:
        return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * scale

    @staticmethod
    def gelu(x: Any) -> Any:
        return jax.nn.gelu(x, approximate=False)


class ByJax(Program):
    """A function that jax traces and compiles for the shapes of each first call."""

    def load(self) -> None:
        self.weights = {name: jnp.asarray(w) for name, w in self.given_weights.items()}

    def compile(self) -> Callable[..., Any]:
        names = tuple(self.inputs)
        side, written = Operations, self.workload.program

        def by_jax(weights: Arrays, *given: Any) -> Any:
            return written(side, dict(zip(names, given)), weights)

        self.jitted = jitted = jax.jit(by_jax)
        weights = self.weights
        if not self.workload.dynamic:
            jitted.lower(weights, *self.arguments(self.inputs)).compile()
        return lambda *given: jitted(weights, *given).block_until_ready()

    def arguments(self, inputs: Arrays) -> tuple[Any, ...]:
        return tuple(jnp.asarray(array) for array in inputs.values())

    def compilations(self) -> int:
        return int(self.jitted._cache_size())


def program(workload: Workload, variant: str) -> Program:
    return ByJax(workload, variant)
