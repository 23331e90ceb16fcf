"""An example of each operator, for its page: operands, and a call of them that is run.

    "take": "x: n m; indices: k = [1, 0]; R.take(x, indices, axis=0)"

An operand has dimensions; then a dtype, unless it is float32; then its values, unless these are
0, 1 and so on. The letters of dimensions are those of scripts. Where all operands are tensors of n
times m, and nothing else is given, an operator needs no example. What has no value by itself is
shown in a script, whose `main` takes such operands.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EXAMPLES", "SCRIPTS"]

_UNIT = "x: n = [-0.5, 0.0, 0.5]"
_POSITIVE = "x: n = [0.25, 1.0, 4.0]"
_HALVES = "x: n = [-1.5, -0.5, 0.5, 1.5]"
_BOOLS = "x1: n bool = [False, False, True, True]; x2: n bool = [False, True, False, True]"
_BITS = "x1: n int32 = [12, 10, 6]; x2: n int32 = [10, 6, 3]"
_DIVISION = "x1: n int32 = [-7, -1, 7]; x2: int32 = 2"
_COMPARED = "x1: n = [1.0, 2.0, 3.0]; x2: n = [2.0, 2.0, 2.0]"
_SPECIAL = "x: n = [0.0, float('inf'), float('nan')]"
_SIGNS = "data: n = [-2.0, -1.0, 0.0, 1.0, 2.0]"
_IMAGE = "data: b 1 4 4; R.nn.{}(data, pool_size=(2, 2), strides=(2, 2))"

EXAMPLES: Mapping[str, str] = {
    # ---- values and shapes
    "null_value": "R.null_value()",
    "shape_of": "expr: n m; R.shape_of(expr)",
    "tensor_to_shape": "expr: 2 int64 = [3, 4]; R.tensor_to_shape(expr)",
    "shape_to_tensor": "R.shape_to_tensor(R.shape([3, 4]))",
    "size": "expr: n m; R.size(expr)",
    "inspect.tensor_dtype_code": "x: n m; R.inspect.tensor_dtype_code(x)",
    "inspect.tensor_dtype_bits": "x: n m; R.inspect.tensor_dtype_bits(x)",
    "inspect.tensor_dtype_lanes": "x: n m; R.inspect.tensor_dtype_lanes(x)",
    "inspect.tensor_ndim": "x: n m; R.inspect.tensor_ndim(x)",
    "inspect.tensor_shape_i": "x: n m; R.inspect.tensor_shape_i(x, 1)",
    "inspect.tensor_stride_i": "x: n m; R.inspect.tensor_stride_i(x, 0)",
    "inspect.tensor_byte_offset": "x: n m; R.inspect.tensor_byte_offset(x)",
    "inspect.tensor_elem_offset": "x: n m; R.inspect.tensor_elem_offset(x)",
    # ---- two operands
    "add": "x1: n m; x2: m; R.add(x1, x2)",
    "subtract": "x1: n m; x2: m; R.subtract(x1, x2)",
    "multiply": "x1: n m; x2: n 1; R.multiply(x1, x2)",
    "divide": "x1: n m; x2: m = [1.0, 2.0, 4.0]; R.divide(x1, x2)",
    "floor_divide": f"{_DIVISION}; R.floor_divide(x1, x2)",
    "mod": f"{_DIVISION}; R.mod(x1, x2)",
    "floor_mod": f"{_DIVISION}; R.floor_mod(x1, x2)",
    "power": "x1: n m; x2: = 2.0; R.power(x1, x2)",
    "atan2": "x1: n = [0.0, 1.0, -1.0]; x2: n = [-1.0, 0.0, 0.0]; R.atan2(x1, x2)",
    "logical_and": f"{_BOOLS}; R.logical_and(x1, x2)",
    "logical_or": f"{_BOOLS}; R.logical_or(x1, x2)",
    "logical_xor": f"{_BOOLS}; R.logical_xor(x1, x2)",
    "bitwise_and": f"{_BITS}; R.bitwise_and(x1, x2)",
    "bitwise_or": f"{_BITS}; R.bitwise_or(x1, x2)",
    "bitwise_xor": f"{_BITS}; R.bitwise_xor(x1, x2)",
    "left_shift": "x1: n int32 = [1, 3, -5]; x2: int32 = 2; R.left_shift(x1, x2)",
    "right_shift": "x1: n int32 = [4, 13, -5]; x2: int32 = 2; R.right_shift(x1, x2)",
    "maximum": f"{_COMPARED}; R.maximum(x1, x2)",
    "minimum": f"{_COMPARED}; R.minimum(x1, x2)",
    "equal": f"{_COMPARED}; R.equal(x1, x2)",
    "not_equal": f"{_COMPARED}; R.not_equal(x1, x2)",
    "less": f"{_COMPARED}; R.less(x1, x2)",
    "less_equal": f"{_COMPARED}; R.less_equal(x1, x2)",
    "greater": f"{_COMPARED}; R.greater(x1, x2)",
    "greater_equal": f"{_COMPARED}; R.greater_equal(x1, x2)",
    "ewise_fma": "x1: n m; x2: n m; x3: n m; R.ewise_fma(x1, x2, x3)",
    # ---- one operand
    "acos": f"{_UNIT}; R.acos(x)",
    "asin": f"{_UNIT}; R.asin(x)",
    "atanh": f"{_UNIT}; R.atanh(x)",
    "acosh": "x: n = [1.0, 2.0, 4.0]; R.acosh(x)",
    "log": f"{_POSITIVE}; R.log(x)",
    "sqrt": f"{_POSITIVE}; R.sqrt(x)",
    "rsqrt": f"{_POSITIVE}; R.rsqrt(x)",
    "ceil": f"{_HALVES}; R.ceil(x)",
    "floor": f"{_HALVES}; R.floor(x)",
    "round": f"{_HALVES}; R.round(x)",
    "trunc": f"{_HALVES}; R.trunc(x)",
    "abs": f"{_HALVES}; R.abs(x)",
    "sign": f"{_HALVES}; R.sign(x)",
    "sigmoid": f"{_HALVES}; R.sigmoid(x)",
    "erf": f"{_HALVES}; R.erf(x)",
    "exp": f"{_HALVES}; R.exp(x)",
    "bitwise_not": "x: n int32 = [0, 1, 2]; R.bitwise_not(x)",
    "logical_not": "x: n bool = [False, True]; R.logical_not(x)",
    "isfinite": f"{_SPECIAL}; R.isfinite(x)",
    "isinf": f"{_SPECIAL}; R.isinf(x)",
    "isnan": f"{_SPECIAL}; R.isnan(x)",
    "clip": f"{_HALVES}; R.clip(x, -1, 1)",
    "astype": f'{_HALVES}; R.astype(x, "int32")',
    # ---- creation
    "full": "fill_value: = 1.5; R.full((2, 3), fill_value)",
    "full_like": "x: n m; fill_value: = 1.5; R.full_like(x, fill_value)",
    "zeros": 'R.zeros((2, 3), "float32")',
    "ones": 'R.ones((2, 3), "float32")',
    "tril": "x: n n; R.tril(x)",
    "triu": "x: n n; R.triu(x, 1)",
    "arange": "R.arange(2, 10, 3)",
    "hamming_window": 'R.hamming_window(4, True, 0.54, 0.46, "float32")',
    "eye": "R.eye(2, 3)",
    "eye_like": "x: n m; R.eye_like(x, k=1)",
    "meshgrid": "x: n; y: m; R.meshgrid((x, y))",
    # ---- shapes and places
    "broadcast_to": "x: 1 m; R.broadcast_to(x, (2, 3))",
    "collapse_sum_to": "data: n m; R.collapse_sum_to(data, (1, 3))",
    "collapse_sum_like":
        "data: 2 m; collapse_target: m; R.collapse_sum_like(data, collapse_target)",
    "reshape": "x: 2 3; R.reshape(x, (3, -1))",
    "permute_dims": "x: n m; R.permute_dims(x, (1, 0))",
    "layout_transform": "x: 4 = [1, 2, 3, 4]; R.layout_transform(x, lambda i: (i % 2, i // 2))",
    "expand_dims": "x: n m; R.expand_dims(x, 1)",
    "squeeze": "x: n 1; R.squeeze(x, 1)",
    "concat": "x: n m; y: k m; R.concat((x, y), axis=0)",
    "stack": "x: n; y: n; R.stack((x, y), axis=1)",
    "split": "x: n 4; R.split(x, 2, axis=1)",
    "repeat": "data: n m; R.repeat(data, 2, axis=1)",
    "tile": "data: n m; R.tile(data, (2, 1))",
    "flip": "data: n m; R.flip(data, axis=1)",
    "strided_slice": "x: 2 6; R.strided_slice(x, axes=[1], begin=[1], end=[6], strides=[2])",
    "dynamic_strided_slice":
        "x: 6; begin: 1 int64 = [1]; end: 1 int64 = [6]; strides: 1 int64 = [2]; "
        "R.dynamic_strided_slice(x, begin, end, strides)",
    "slice_scatter":
        "input_tensor: 2 4; src: 2 2 = [[7, 7], [7, 7]]; "
        "R.slice_scatter(input_tensor, src, 1, 3, 1, axis=1)",
    "one_hot":
        'indices: n int64 = [2, 0]; '
        'R.one_hot(indices, R.prim_value(1), R.prim_value(0), depth=3)',
    "take": "x: n m; indices: k int64 = [2, 0]; R.take(x, indices, axis=1)",
    "gather_elements":
        "data: n m; indices: n 1 int64 = [[2], [0]]; R.gather_elements(data, indices, axis=1)",
    "gather_nd": "data: n m; indices: k 2 int64 = [[0, 2], [1, 0]]; R.gather_nd(data, indices)",
    "scatter_elements":
        "data: n m; indices: n 1 int64 = [[2], [0]]; updates: n 1 = [[7.0], [8.0]]; "
        "R.scatter_elements(data, indices, updates, axis=1)",
    "scatter_nd":
        "data: n m; indices: k 2 int64 = [[0, 2], [1, 0]]; updates: k = [7.0, 8.0]; "
        "R.scatter_nd(data, indices, updates)",
    "index_tensor":
        "data: n m; rows: k int64 = [0, 1]; columns: k int64 = [2, 0]; "
        "R.index_tensor(data, (rows, columns))",
    "index_put":
        "data: n m; rows: k int64 = [0, 1]; columns: k int64 = [2, 0]; values: k = [7.0, 8.0]; "
        "R.index_put(data, (rows, columns), values)",
    "where":
        "condition: n bool = [True, False, True]; x1: n = [1.0, 2.0, 3.0]; x2: = -1.0; "
        "R.where(condition, x1, x2)",
    "bucketize":
        "input_tensor: n = [0.5, 3.0, 9.0]; boundaries: m = [1.0, 3.0, 5.0]; "
        "R.bucketize(input_tensor, boundaries)",
    # ---- along axes
    "sum": "x: n m; R.sum(x, axis=1)",
    "prod": "x: n m; R.prod(x, axis=1)",
    "max": "x: n m; R.max(x, axis=1, keepdims=True)",
    "min": "x: n m; R.min(x, axis=1, keepdims=True)",
    "mean": "x: n m; R.mean(x, axis=1)",
    "variance": "x: n m; R.variance(x, axis=1)",
    "std": "x: n m; R.std(x, axis=1)",
    "median": "x: n m; R.median(x, axis=1)",
    "argmax": "x: n m; R.argmax(x, axis=1)",
    "argmin": "x: n m; R.argmin(x, axis=1)",
    "cumsum": "data: n m; R.cumsum(data, axis=1)",
    "cumprod": "data: n m; R.cumprod(data, axis=1)",
    "sort": "x: n = [3.0, 1.0, 2.0]; R.sort(x)",
    "argsort": "data: n = [3.0, 1.0, 2.0]; R.argsort(data)",
    "topk": "data: 4 = [3.0, 1.0, 4.0, 2.0]; R.topk(data, k=2)",
    "unique": "x: n int64 = [3, 1, 3, 2]; R.unique(x)",
    "nonzero": "x: n m = [[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]]; R.nonzero(x)",
    # ---- products
    "matmul": "x1: n k; x2: k m; R.matmul(x1, x2)",
    "einsum": 'x: n k; y: k m; R.einsum((x, y), "ik,kj->ij")',
    "outer": "x1: n; x2: m; R.outer(x1, x2)",
    # ---- quantization
    "quantize":
        "data: n = [-1.0, 0.0, 0.26]; scale: = 0.1; zero_point: int8 = 3; "
        "R.quantize(data, scale, zero_point)",
    "dequantize":
        "data: n int8 = [-7, 3, 6]; scale: = 0.1; zero_point: int8 = 3; "
        "R.dequantize(data, scale, zero_point)",
    # ---- neural networks
    **{
        f"nn.{name}": f"{_SIGNS}; R.nn.{name}(data)"
        for name in ("relu", "gelu", "gelu_tanh", "selu", "silu", "leakyrelu", "softplus")
    },
    "nn.prelu": "data: n 2; alpha: 2 = [0.1, 0.2]; R.nn.prelu(data, alpha, axis=1)",
    "nn.softmax": "data: n m; R.nn.softmax(data, axis=-1)",
    "nn.log_softmax": "data: n m; R.nn.log_softmax(data, axis=-1)",
    "nn.batch_norm":
        "data: n 2; gamma: 2 = [1, 1]; beta: 2; moving_mean: 2; moving_var: 2 = [1, 1]; "
        "R.nn.batch_norm(data, gamma, beta, moving_mean, moving_var, axis=1)",
    "nn.layer_norm":
        "data: n 3; gamma: 3 = [1, 1, 1]; beta: 3; R.nn.layer_norm(data, gamma, beta, axes=[-1])",
    "nn.rms_norm": "data: n 3; weight: 3 = [1, 1, 1]; R.nn.rms_norm(data, weight, axes=[-1])",
    "nn.group_norm":
        "data: n 4 2; gamma: 4 = [1, 1, 1, 1]; beta: 4; "
        "R.nn.group_norm(data, gamma, beta, num_groups=2, channel_axis=1, axes=[2])",
    "nn.instance_norm":
        "data: n 2 3; gamma: 2 = [1, 1]; beta: 2; "
        "R.nn.instance_norm(data, gamma, beta, channel_axis=1, axes=[2])",
    "nn.dropout": "data: n m; R.nn.dropout(data, rate=0.5)",
    "nn.cross_entropy_with_logits":
        "predictions: n m = [[2, 1, 0], [0, 1, 2]]; labels: n m = [[1, 0, 0], [0, 0, 1]]; "
        "R.nn.cross_entropy_with_logits(predictions, labels)",
    "nn.nll_loss":
        "predictions: n 3 = [[-0.1, -2, -3], [-2, -3, -0.5]]; targets: n int64 = [0, 2]; "
        "R.nn.nll_loss(predictions, targets)",
    "nn.batch_flatten": "data: n 2 3; R.nn.batch_flatten(data)",
    "nn.pixel_shuffle": "data: n 4 1 2; R.nn.pixel_shuffle(data, upscale_factor=2)",
    "nn.pad": "data: n m; R.nn.pad(data, (0, 0, 1, 1))",
    "nn.attention":
        "query: b n 1 2; key: b m 1 2; value: b m 1 2; R.nn.attention(query, key, value)",
    "nn.attention_var_len":
        "queries: 1 3 1 2; seqstart_q: 3 int32 = [0, 2, 3]; max_seqlen_q: int32 = 2; "
        "R.nn.attention_var_len(queries, queries, queries, seqstart_q, max_seqlen_q)",
    "nn.conv1d": "data: b 1 4; weight: 1 1 2 = [[[1, 1]]]; R.nn.conv1d(data, weight)",
    "nn.conv2d":
        "data: b 1 3 3; weight: 1 1 2 2 = [[[[1, 0], [0, 1]]]]; R.nn.conv2d(data, weight)",
    "nn.conv3d":
        "data: b 1 2 2 2; weight: 1 1 1 2 2 = [[[[[1, 0], [0, 1]]]]]; R.nn.conv3d(data, weight)",
    "nn.conv1d_transpose":
        "data: b 1 3; weight: 1 1 2 = [[[1, 2]]]; R.nn.conv1d_transpose(data, weight)",
    "nn.conv2d_transpose":
        "data: b 1 2 2; weight: 1 1 2 2 = [[[[1, 0], [0, 1]]]]; "
        "R.nn.conv2d_transpose(data, weight)",
    "nn.conv3d_transpose":
        "data: b 1 1 2 2; weight: 1 1 1 1 2 = [[[[[1, 2]]]]]; R.nn.conv3d_transpose(data, weight)",
    "nn.max_pool1d": "data: b 1 4; R.nn.max_pool1d(data, pool_size=2, strides=2)",
    "nn.avg_pool1d": "data: b 1 4; R.nn.avg_pool1d(data, pool_size=2, strides=2)",
    "nn.max_pool2d": _IMAGE.format("max_pool2d"),
    "nn.avg_pool2d": _IMAGE.format("avg_pool2d"),
    "nn.max_pool3d": "data: b 1 2 2 2; R.nn.max_pool3d(data, pool_size=(2, 2, 2))",
    "nn.avg_pool3d": "data: b 1 2 2 2; R.nn.avg_pool3d(data, pool_size=(2, 2, 2))",
    "nn.adaptive_avg_pool1d": "data: b 1 6; R.nn.adaptive_avg_pool1d(data, output_size=3)",
    "nn.adaptive_avg_pool2d": "data: b 1 4 4; R.nn.adaptive_avg_pool2d(data, output_size=(2, 2))",
    "nn.adaptive_avg_pool3d": "data: b 1 2 2 2; R.nn.adaptive_avg_pool3d(data, output_size=1)",
    # ---- gradients and devices
    "grad.no_grad": "input: n m; R.grad.no_grad(input)",
    "grad.start_checkpoint": "input: n m; R.grad.start_checkpoint(input)",
    "grad.end_checkpoint": "input: n m; R.grad.end_checkpoint(input)",
    "grad.nll_loss_backward":
        "output_grad: = 1.0; predictions: n m; targets: n int64 = [2, 0]; "
        "R.grad.nll_loss_backward(output_grad, predictions, targets)",
    "grad.max_pool2d_backward":
        "output_grad: 1 1 1 2 = [[[[1, 2]]]]; data: 1 1 2 4; "
        "R.grad.max_pool2d_backward(output_grad, data, (2, 2), (2, 2))",
    "grad.avg_pool2d_backward":
        "output_grad: 1 1 1 2 = [[[[4, 8]]]]; data: 1 1 2 4; "
        "R.grad.avg_pool2d_backward(output_grad, data, (2, 2), (2, 2))",
    "grad.take_backward":
        "output_grad: 3 2; x: 4 2; indices: 3 int64 = [1, 0, 1]; "
        "R.grad.take_backward(output_grad, x, indices, axis=0)",
    "builtin.stop_lift_params": "x: n m; R.builtin.stop_lift_params(x)",
    # ---- images and boxes
    "image.resize2d": "data: b 1 2 2; R.image.resize2d(data, (4, 4))",
    "image.resize3d": "data: b 1 1 2 2; R.image.resize3d(data, (2, 2, 2))",
    "image.affine_grid":
        "data: 1 2 3 = [[[1, 0, 0], [0, 1, 0]]]; R.image.affine_grid(data, (2, 2))",
    "image.grid_sample":
        "data: b 1 2 2; grid: b 2 1 2 = [[[[-1.0, 0.0]], [[-1.0, 0.0]]]]; "
        "R.image.grid_sample(data, grid, align_corners=True)",
    "vision.get_valid_counts":
        "data: 1 2 6 = [[[0, 0.9, 0, 0, 1, 1], [0, 0.1, 0, 0, 1, 1]]]; "
        "R.vision.get_valid_counts(data, score_threshold=0.5)",
    "vision.non_max_suppression":
        "data: 1 2 6 = [[[0, 0.9, 0, 0, 2, 2], [0, 0.8, 0, 0, 2, 1.9]]]; "
        "valid_count: 1 int32 = [2]; indices: 1 2 int32 = [[0, 1]]; "
        "R.vision.non_max_suppression(data, valid_count, indices)",
    "vision.all_class_non_max_suppression":
        "boxes: 1 2 4 = [[[0, 0, 2, 2], [0, 0, 2, 1.9]]]; scores: 1 1 2 = [[[0.9, 0.8]]]; "
        "most: 1 int64 = [2]; iou: 1 = [0.5]; score: 1 = [0.0]; "
        "R.vision.all_class_non_max_suppression(boxes, scores, most, iou, score)",
    "vision.multibox_transform_loc":
        "cls_pred: 1 2 1 = [[[0.2], [0.8]]]; loc_pred: 1 4 = [[0, 0, 0, 0]]; "
        "anchor: 1 1 4 = [[[0.1, 0.1, 0.5, 0.5]]]; "
        "R.vision.multibox_transform_loc(cls_pred, loc_pred, anchor)",
    "vision.roi_align":
        "data: b 1 4 4; rois: 1 5 = [[0, 0, 0, 3, 3]]; "
        "R.vision.roi_align(data, rois, (2, 2), spatial_scale=1.0)",
    "vision.roi_pool":
        "data: b 1 4 4; rois: 1 5 = [[0, 0, 0, 3, 3]]; "
        "R.vision.roi_pool(data, rois, (2, 2), spatial_scale=1.0)",
    # ---- random numbers
    "random.key": "seed: int64 = 7; R.random.key(seed)",
    "random.split": "key: 2 uint32 = [0, 7]; R.random.split(key)",
    "random.uniform": "key: 2 uint32 = [0, 7]; R.random.uniform(key, (3,))",
    "random.normal": "key: 2 uint32 = [0, 7]; R.random.normal(key, (3,))",
    "random.randint": "key: 2 uint32 = [0, 7]; R.random.randint(key, (3,), 0, 10)",
    "random.bernoulli": "key: 2 uint32 = [0, 7]; R.random.bernoulli(key, (3,))",
    "any": "x: n m bool = [[False, True, False], [False, False, False]]; R.any(x, axis=1)",
    "all": "x: n m bool = [[False, True, False], [True, True, True]]; R.all(x, axis=1)",
    "multinomial_from_uniform":
        "prob: 1 3 = [[0.25, 0.25, 0.5]]; uniform_sample: 2 1 = [[0.1], [0.6]]; "
        "sample_indices: 2 1 int64 = [[0], [0]]; "
        "R.multinomial_from_uniform(prob, uniform_sample, sample_indices)",
    "roll": "x: n m; R.roll(x, 1, axis=1)",
    "gather": "data: n m; indices: k int64 = [2, 0]; R.gather(data, indices, axis=1)",
    "searchsorted":
        "sorted_sequence: m = [1.0, 3.0, 5.0]; values: n = [0.5, 3.0, 9.0]; "
        "R.searchsorted(sorted_sequence, values)",
    "nn.embedding": "indices: n int64 = [2, 0]; weight: 3 k; R.nn.embedding(indices, weight)",
    # ---- workers
    "ccl.allreduce": 'x: n m; R.ccl.allreduce(x, "sum")',
    "ccl.allgather": "x: n m; R.ccl.allgather(x, num_workers=1)",
    "ccl.broadcast_from_worker0": "x: n m; R.ccl.broadcast_from_worker0(x)",
    "ccl.scatter_from_worker0": "x: 2 m; R.ccl.scatter_from_worker0(x, num_workers=1)",
    # ---- compositions
    "masked_fill":
        "x: n m; mask: m bool = [True, False, True]; value: = -1.0; R.masked_fill(x, mask, value)",
    "linear": "data: n k; weight: m k; bias: m; R.linear(data, weight, bias)",
    "nn.relu6": "data: n = [-1.0, 3.0, 9.0]; R.nn.relu6(data)",
    "nn.attention_bias":
        "query: b n 1 2; key: b m 1 2; value: b m 1 2; bias: b 1 n m; "
        "R.nn.attention_bias(query, key, value, bias)",
    "hint_on_device": "data: n m; R.hint_on_device(data, R.cpu())",
}  # fmt: skip

# A PrimFunc of the class `M`, which writes twice the elements of `a` into `b`.
_DOUBLE = """
    @T.prim_func
    def double(a: T.Buffer((3,), "float32"), b: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.block("b"):
                j = T.axis.spatial(3, i)
                b[j] = a[j] * T.float32(2)
"""
_CALL_TIR = f"""
@I.ir_module
class M:{_DOUBLE}
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        y = R.call_tir(M.double, (x,), R.Tensor((3,), "float32"))
        return y
"""
_CALL_TIR_INPLACE = """
@I.ir_module
class M:
    @T.prim_func
    def double(a: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.block("a"):
                j = T.axis.spatial(3, i)
                a[j] = a[j] * T.float32(2)

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        y = R.add(x, x)
        z = R.call_tir_inplace(M.double, (y,), [0], R.Tensor((3,), "float32"))
        return z
"""
_INVOKE_CLOSURE = """
@I.ir_module
class M:
    @R.function(private=True)
    def scaled(s: R.Tensor((), "float32"), x: R.Tensor((3,), "float32")):
        return R.multiply(x, s)

    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        f = R.make_closure(M.scaled, (x,))
        y = R.invoke_closure(f, (R.const(2.0),), R.Tensor((3,), "float32"))
        return y
"""
_INVOKE_PURE_CLOSURE = _INVOKE_CLOSURE.replace("(pure=False)", "").replace(
    "invoke_closure", "invoke_pure_closure"
)
_DISTRIBUTED = f"""
@I.ir_module
class M:
    I.module_global_infos({{"mesh": [R.device_mesh((1,), [0])]}})
{_DOUBLE}
    @R.function
    def main(x: R.DTensor((3,), "float32", "mesh[0]", "R")):
        y = R.dist.{{}}
        return y
"""
_MEMORY = """
@R.function(pure=False)
def main(x: R.Tensor((3,), "float32")):
    storage = R.memory.alloc_storage(R.shape([12]), 0, "global", "float32")
    y = R.memory.alloc_tensor(storage, 0, R.shape([3]), "float32")
    R.memory.kill_tensor(y)
    R.memory.kill_storage(storage)
    return x
"""
_VM = """
@R.function(pure=False)
def main(x: R.Tensor((3,), "float32")):
    storage = R.vm.alloc_storage(R.shape([12]), R.prim_value(0), "float32")
    y = R.vm.alloc_tensor(storage, R.prim_value(0), R.shape([3]), "float32")
    R.vm.kill_object(y)
    R.vm.kill_object(storage)
    return x
"""

# Operators that call functions, have effects or handle memory, in programs that run. Packed
# functions in them are "my.double", which gives 2 * x, and "my.double_into", which writes that
# into its second argument and gives it.
SCRIPTS: Mapping[str, str] = {
    "compute_prim_value": """
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    return R.prim_value(n * 2)
""",
    "print": """
@R.function(pure=False)
def main(x: R.Tensor((3,), "float32")):
    R.print(x, format="x is {}")
    return x
""",
    "assert_op": """
@R.function(pure=False)
def main(x: R.Tensor((3,), "float32")):
    R.assert_op(R.less(R.max(x), R.const(10.0)), x, format="{} is too large")
    return x
""",
    "make_closure": _INVOKE_CLOSURE,
    "invoke_closure": _INVOKE_CLOSURE,
    "invoke_pure_closure": _INVOKE_PURE_CLOSURE,
    "builtin.alloc_tensor": """
@R.function
def main(x: R.Tensor((3,), "float32")):
    y = R.builtin.alloc_tensor(R.shape([3]), "float32", R.prim_value(0))
    return R.shape_of(y)
""",
    "call_tir": _CALL_TIR,
    "call_tir_with_grad": f"""
@I.ir_module
class M:{_DOUBLE}
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        y = R.call_tir_with_grad(
            M.double, (x,), R.Tensor((3,), "float32"), te_grad_name="my.double_grad"
        )
        return y
""",
    "call_tir_inplace": _CALL_TIR_INPLACE,
    "call_packed": """
@R.function(pure=False)
def main(x: R.Tensor((3,), "float32")):
    return R.call_packed("my.double", x, sinfo_args=R.Tensor((3,), "float32"))
""",
    "call_dps_packed": """
@R.function
def main(x: R.Tensor((3,), "float32")):
    return R.call_dps_packed("my.double_into", (x,), R.Tensor((3,), "float32"))
""",
    "call_pure_packed": """
@R.function
def main(x: R.Tensor((3,), "float32")):
    return R.call_pure_packed("my.double", x, sinfo_args=R.Tensor((3,), "float32"))
""",
    "call_py_func": """
@R.function
def main(x: R.Tensor((3,), "float32")):
    return R.call_py_func("my.double", x, out_sinfo=R.Tensor((3,), "float32"))
""",
    "vm.call_tir_dyn": """
@I.ir_module
class M:
    @T.prim_func
    def add_n(x: T.Buffer((3,), "float32"), y: T.Buffer((3,), "float32"), n: T.int64):
        for i in range(3):
            y[i] = x[i] + T.Cast("float32", n)

    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        y = R.builtin.alloc_tensor((3,), "float32", 0)
        _ = R.vm.call_tir_dyn(M.add_n, (x, y, R.shape([5])))
        return y
""",
    "call_builtin_with_ctx": """
@R.function(pure=False)
def main(x: R.Tensor((3,), "float32")):
    storage = R.call_builtin_with_ctx(
        "vm.builtin.alloc_storage",
        (R.shape([12]), R.prim_value(0), R.dtype("float32"), R.str("global")),
        sinfo_args=R.Object,
    )
    return x
""",
    "call_inplace_packed": """
@R.function
def main(x: R.Tensor((3,), "float32")):
    y = R.add(x, x)
    return R.call_inplace_packed(
        "my.double_into", x, y, inplace_indices=[1], sinfo_args=R.Tensor((3,), "float32")
    )
""",
    "to_vdevice": """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm")]})

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        return R.to_vdevice(x, "llvm:0")
""",
    **{
        f"dist.{call.partition('(')[0]}": _DISTRIBUTED.replace("{}", call)
        for call in (
            'annotate_sharding(x, "mesh[0]", "S[0]")',
            'redistribute(x, "mesh[0]", "S[0]")',
            "redistribute_replica_to_shard(x, num_workers=1, axis=0)",
            'call_tir(M.double, (x,), R.DTensor((3,), "float32", "mesh[0]", "S[0]"))',
            'call_tir_local_view(M.double, (x,), R.DTensor((3,), "float32", "mesh[0]", "S[0]"))',
        )
    },
    "dist.const": _DISTRIBUTED.replace(
        "{}", 'const([1.0, 2.0, 3.0], R.DTensor((3,), "float32", "mesh[0]", "S[0]"))'
    ),
    "memory.alloc_storage": _MEMORY,
    "memory.alloc_tensor": _MEMORY,
    "memory.kill_storage": _MEMORY,
    "memory.kill_tensor": _MEMORY,
    "vm.alloc_storage": _VM,
    "vm.alloc_tensor": _VM,
    "vm.kill_object": _VM,
}
