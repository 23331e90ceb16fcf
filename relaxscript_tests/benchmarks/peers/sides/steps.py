"""What a side has to offer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript_tests.benchmarks.peers.workloads import Arrays, Workload


class Program:
    """A workload in the hands of one side: `load` it, `compile` it, call it.

    What is loaded are the program and its weights, from numpy arrays; what a call is given is
    converted by `arguments`, once for many calls.
    """

    def __init__(self, workload: Workload, variant: str = "") -> None:
        self.workload = workload
        self.variant = variant
        self.inputs = workload.inputs()
        self.given_weights = workload.weights()

    def load(self) -> None:
        """Make whatever the side compiles."""

    def compile(self) -> Callable[..., Any]:
        """The function to be called with `arguments`."""
        raise NotImplementedError

    def arguments(self, inputs: Arrays) -> tuple[Any, ...]:
        return tuple(inputs.values())

    def array(self, output: Any) -> Any:
        """The output as numpy has it."""
        return np.asarray(output)

    def compilations(self) -> int | None:
        """How many programs were compiled so far, where the side can say."""
        return None

    def after_first_call(self) -> None:
        """Called between the first call of a new process and the others."""

    def fresh(self) -> tuple[Any, ...] | None:
        """New arguments for each call, where a call would leave something behind in old ones."""
        return None

    def check(self) -> float | None:
        """The largest difference of what a call gives from the truth; None: compare arrays."""
        return None
