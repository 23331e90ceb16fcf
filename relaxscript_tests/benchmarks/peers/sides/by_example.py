"""A side for the tests of the harness: its workload says how it behaves."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript_tests.benchmarks.peers.workloads import Workload

from .steps import Program

EXAMPLE = Workload(lambda side, given, w: given["x"], lambda: {"x": np.arange(3, dtype="float32")})


class ByExample(Program):
    """It gives its argument back, or fails in one of several ways."""

    def __init__(self, behaviour: str) -> None:
        super().__init__(EXAMPLE)
        self.behaviour = behaviour

    def compile(self) -> Callable[..., Any]:
        if self.behaviour == "raises":
            raise LookupError(f"nothing under {os.getcwd()}/some file\nand more")
        if self.behaviour == "dies":
            os._exit(7)
        if self.behaviour == "wrong":
            return lambda x: x + 1
        if self.behaviour == "prints":
            print("a library talks")
        return lambda x: x


def program(workload: Any, variant: str) -> Program:
    return ByExample(workload)
