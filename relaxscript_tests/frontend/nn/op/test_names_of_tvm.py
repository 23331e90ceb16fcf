"""Functions by the names, parameters and defaults of TVM 0.20, and those that are new in 0.27."""

from __future__ import annotations

import inspect

import pytest

from relaxscript.relax.frontend.nn import op

NAMES = """
unsqueeze(x, dim, name='unsqueeze')
concat(x, dim, name='concat')
add(a, b, name='add')
subtract(a, b, name='subtract')
multiply(a, b, name='mul')
divide(a, b, name='divide')
chunk(x, chunks, dim=0, name='chunk')
sum(x, axis=None, keepdims=False, name='sum')
max(x, axis=None, keepdims=False, name='max')
min(x, axis=None, keepdims=False, name='min')
matmul(a, b, out_dtype=None, name='matmul')
conv1d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, name='conv1d')
conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_layout='NCHW', name='conv2d')
conv3d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_layout='NCDHW', name='conv3d')
conv1d_transpose(x, weight, bias=None, stride=1, padding=0, output_padding=0, dilation=1, groups=1, name='conv1d_transpose')
maximum(x1, x2, name='maximum')
minimum(x1, x2, name='minimum')
broadcast_to(x, shape, name='broadcast_to')
permute_dims(x, axes=None, name=None)
reshape(x, shape, name='reshape')
repeat(x, repeats, axis=None, name='repeat')
squeeze(x, axis=-1, name='squeeze')
take(x, indices, axis=None, name='take')
astype(x, dtype, name='astype')
relu(x, name='relu')
silu(x, name='silu')
gelu(x, approximate=None, name='gelu')
sigmoid(x, name='sigmoid')
softmax(x, axis=-1, name='softmax')
softplus(x, beta=1.0, threshold=20.0, name='softplus')
tanh(x, name='tanh')
exp(x, name='exp')
permute(x, axes, name='permute')
negative(x, name='neg')
layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-05, name='layer_norm')
rms_norm(x, weight, axes, epsilon=1e-05, name='rms_norm')
group_norm(x, num_groups, weight, bias, eps=1e-05, channel_axis=1, axes=None, name='group_norm')
triu(x, diagonal=0, name='triu')
full(shape, fill_value, dtype='float32', name='full')
zeros(shape, dtype='float32', name='zeros')
ones(shape, dtype='float32', name='ones')
empty(shape, dtype='float32', name='empty')
split(ary, indices_or_sections, axis=0, name='split')
pad(x, pad, mode='constant', value=0.0, name='pad')
square(x, name='square')
sqrt(x, name='sqrt')
get_timestep_embedding(x, embedding_dim, flip_sin_to_cos=False, downscale_freq_shift=1, scale=1, max_period=10000, name='get_timestep_embedding')
scaled_dot_product_attention(query, key, value, attn_mask=None, is_causal=False, scale=None, name='scaled_dot_product_attention')
interpolate(x, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None, antialias=None, data_layout='NCHW', name='interpolate')
ccl_allreduce(x, op_type='sum', in_group=True, name='ccl_allreduce')
ccl_allgather(x, num_workers, name='ccl_allgather')
ccl_broadcast_from_worker0(x, name='broadcast_from_worker')
tensor_expr_op(tensor_expr_func, name_hint, args, *, attrs=None)
tensor_ir_op(func, name_hint, args, out)
tensor_ir_inplace_op(func, name_hint, args, inplace_indices, out)
extern(name, args, out)
debug_func(name, *args, _line_info=None)
print_(tensor)
less(a, b, name='less')
less_equal(a, b, name='less_equal')
greater(a, b, name='greater')
greater_equal(a, b, name='greater_equal')
equal(a, b, name='equal')
not_equal(a, b, name='not_equal')
where(condition, x1, x2, name='where')
cumsum(data, axis=None, dtype=None, exclusive=None, name='cumsum')
sort(x, axis=-1, descending=False, name='sort')
argsort(data, axis=-1, descending=False, dtype='int32', name='argsort')
topk(data, k=1, axis=-1, ret_type='both', largest=True, dtype='int32', name='topk')
multinomial_from_uniform(prob, uniform_sample, sample_indices=None, dtype='int64', name='multinomial_from_uniform')
sample_top_p_top_k_from_sorted_prob(sorted_prob, sorted_index, top_p, top_k, uniform_sample, sample_indices=None)
renormalize_top_p_top_k_prob(prob, sorted_prob, top_p, top_k)
arange(start, end=None, step=1, dtype='float32', name='arange')
floor(x, name='floor')
log(x, name='log')
prelu(x, alpha, name='prelu')
relu6(x, name='relu6')
"""  # noqa: E501
LINES = NAMES.strip().split("\n")


@pytest.mark.parametrize("line", LINES)
def test_a_function_of_tvm_has_its_parameters_and_defaults(line: str):
    name, _, rest = line.partition("(")
    signature = inspect.signature(getattr(op, name))
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    assert str(inspect.Signature(plain)) == f"({rest}"


def test_all_functions_are_those_of_tvm():
    assert len(LINES) == 77
    assert {*op.__all__} == {"wrap_nested", *(line.partition("(")[0] for line in LINES)}
