"""What the tests of LambdaLift share: programs before and after, and what both give."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from relaxscript.ir.instrument import WellFormedInstrument
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function
from relaxscript.ir.walk import post_order
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same, check_executors_agree, check_outcomes
from relaxscript.transform import LambdaLift, PassContext

X = np.array([1, 2, 3], "float32")
Y = np.array([3, 5, 7], "float32")
YES = np.array(True)


def module(text: str) -> IRModule:
    lines = "from relaxscript.script import ir as I, relax as R, tir as T\n@I.ir_module\nclass M:\n"
    mod = from_source(lines + text)
    assert isinstance(mod, IRModule)
    return mod


def lifted(mod: IRModule) -> IRModule:
    with PassContext(instruments=[WellFormedInstrument()]):
        made = LambdaLift()(mod)
    assert not any(
        isinstance(node, Function) and node is not function
        for function in made.relax_functions().values()
        for node in post_order(function)
    )
    return made


def same_meaning(before: IRModule, after: IRModule, *inputs: Any) -> Any:
    """What both programs give on all executors."""
    expected = check_executors_agree(before, copy.deepcopy(inputs))
    check_outcomes("after", check_executors_agree(after, copy.deepcopy(inputs)), "before", expected)
    return expected


def check(before: str, after: str, *inputs: Any) -> Any:
    """One text becomes the other, and both give what is returned."""
    mod = module(before)
    made = lifted(mod)
    assert_same(made, module(after))
    return same_meaning(mod, made, *inputs)
