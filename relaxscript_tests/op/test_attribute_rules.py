"""Mistakes that need no operand to be seen are told when a call is made, and of calls by hand."""

from __future__ import annotations

import pytest

import relaxscript as rx
import relaxscript.op as R
from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim, relax
from relaxscript.ir.struct_info import TensorStructInfo

N = prim.Var("n", "int64")
X = relax.Var("x", TensorStructInfo((4, 6), "float32"))
IMAGE = relax.Var("image", TensorStructInfo((1, 4, 8, 9), "float32"))


@pytest.mark.parametrize(
    ("operand", "call"),
    [
        ("groups", lambda: R.nn.conv2d(IMAGE, IMAGE, groups=0)),
        ("strides", lambda: R.nn.conv1d(X, X, strides=(1, 2))),
        ("padding", lambda: R.nn.conv2d(X, X, padding=(1, 2, 3))),
        ("dilation", lambda: R.nn.conv3d(X, X, dilation=(1, 2))),
        ("strides", lambda: R.nn.conv1d_transpose(X, X, strides=(1, 2))),
        ("dilation", lambda: R.nn.conv2d_transpose(X, X, dilation=0)),
        ("output_padding", lambda: R.nn.conv2d_transpose(X, X, output_padding=1)),
        ("groups", lambda: R.nn.conv3d_transpose(X, X, groups=-1)),
        ("kernel_layout", lambda: R.nn.conv2d(IMAGE, IMAGE, kernel_layout="OIH")),
        ("pool_size", lambda: R.nn.max_pool2d(X, pool_size=(1, 2, 3))),
        ("strides", lambda: R.nn.avg_pool2d(X, strides=(1, 2, 3))),
        ("padding", lambda: R.nn.avg_pool1d(X, padding=(1, 2, 3))),
        ("output_size", lambda: R.nn.adaptive_avg_pool2d(IMAGE, (1, 2, 3))),
        ("layout", lambda: R.nn.adaptive_avg_pool1d(X, layout="NCHW")),
        ("indices_or_sections", lambda: R.split(X, 0)),
        ("begin", lambda: R.strided_slice(X, axes=[1], begin=[], end=[9])),
        ("strides", lambda: R.strided_slice(X, [1], [0], [9], strides=[1, 1])),
        ("shape", lambda: R.reshape(X, N)),
        ("shape", lambda: R.ones(N, "float32")),
        ("shape", lambda: R.full(N, X)),
        ("pad_mode", lambda: R.nn.pad(X, (0, 0, 1, 1), pad_mode="mirrored")),
        ("rate", lambda: R.nn.dropout(X, 2)),
        ("reduction", lambda: R.nn.nll_loss(X, X, reduction="all")),
        ("subscripts", lambda: R.einsum((X, X), "ij->ijk")),
        ("num_groups", lambda: R.nn.group_norm(IMAGE, X, X, 0, 1, [2])),
        ("causal_mask", lambda: R.nn.attention(X, X, X, causal_mask="Left")),
        ("mode", lambda: R.take(X, X, 0, mode="slow")),
        ("ret_type", lambda: R.topk(X, ret_type="all")),
        ("repeats", lambda: R.tile(X, (1, -1))),
        ("axis", lambda: R.sum(X, axis=10**30)),
        ("input", lambda: R.grad.start_checkpoint(R.exp(X))),
        ("input", lambda: R.grad.end_checkpoint(relax.Tuple([X]))),
        ("input", lambda: R.grad.end_checkpoint(rx.const(1.0))),
    ],
)
def test_what_no_operand_could_mend_is_refused_when_the_call_is_made(operand, call) -> None:
    with pytest.raises(DiagnosticError) as caught:
        call()
    assert caught.value.diagnostics[0].notes[0].startswith(f"`{operand}` ")


def test_attributes_of_a_call_made_by_hand_are_refused_when_it_is_typed() -> None:
    call = R.nn.conv2d(IMAGE, IMAGE)
    wrong = call.replace(attrs={**call.attrs, "groups": 0})
    with pytest.raises(DiagnosticError, match="there is at least one group"):
        _ = wrong.struct_info
