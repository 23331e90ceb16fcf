"""A printed script in two parts: the program and its constants."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from relaxscript import relax
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, relax as R
from relaxscript.script.metadata_partition import metadata_partitioner


def module(weights):
    bb = relax.BlockBuilder()
    x = relax.Var("x", R.Tensor((2, 300), "float32"))
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(relax.op.add(x, relax.const(weights))))
    return bb.finalize()


def test_a_script_is_its_program_and_the_constants_that_this_refers_to():
    mod = module(np.arange(300, dtype="float32"))
    program, metadata = metadata_partitioner(mod.script(show_meta=True))
    assert program.startswith("# from relaxscript.script import ir as I")
    assert 'metadata["relax.expr.Constant"][0]' in program
    assert ast.literal_eval(metadata) == mod.metadata
    again = from_source(program, metadata=ast.literal_eval(metadata))
    assert_structural_equal(again, mod)


def test_a_script_without_metadata_has_no_two_parts():
    with pytest.raises(ValueError, match="the script has no metadata: large constants"):
        metadata_partitioner(module(np.float32(2)).script(show_meta=True))
