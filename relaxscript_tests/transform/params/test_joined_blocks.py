"""Blocks are joined with their neighbours of the same kind."""

from __future__ import annotations

from relaxscript.ir.relax import BindingBlock, DataflowBlock, PrimValue, Var, VarBinding
from relaxscript.ir.struct_info import PrimStructInfo
from relaxscript.transform.params.joined_blocks import joined_blocks


def test_empty_blocks_are_gone_and_neighbours_of_one_kind_are_one():
    one, two, three = (
        VarBinding(Var(f"v{i}", PrimStructInfo("int64")), PrimValue(i)) for i in range(3)
    )
    alone = DataflowBlock([three])
    made = joined_blocks([BindingBlock([one]), DataflowBlock([]), BindingBlock([two]), alone])
    assert [type(block) for block in made] == [BindingBlock, DataflowBlock]
    assert made[0].bindings == (one, two)
    assert made[1] is alone
