"""What checkers and editors know of `R.`; written by `relaxscript_tests/script/stub.py`.

They read `R.Tensor[R.f32, n, 4]` as `Annotated[Any, n, 4]`: any expression may be a dimension.
"""

# ruff: noqa: E501, RUF022

from builtins import tuple as _tuple
from collections.abc import Callable as Callable
from typing import (
    Annotated as Annotated,
    Annotated as Tensor,
    Any as Any,
    TypeAlias as _TypeAlias,
    TypeVar as _TypeVar,
)

from typing_extensions import TypeVarTuple as _TypeVarTuple, Unpack as _Unpack

from .names.relax_devices import (
    cpu as cpu,
    cuda as cuda,
    device as device,
    ext_dev as ext_dev,
    gpu as gpu,
    hexagon as hexagon,
    metal as metal,
    opencl as opencl,
    rocm as rocm,
    vpi as vpi,
    vulkan as vulkan,
    webgpu as webgpu,
)
from .names.relax_distributed import device_mesh as device_mesh
from .names.relax_forms import (
    ExternFunc as ExternFunc,
    ShapeExpr as ShapeExpr,
    TupleGetItem as TupleGetItem,
    const as const,
    dataflow as dataflow,
    dtype as dtype,
    emit_te as emit_te,
    func_attr as func_attr,
    match_cast as match_cast,
    match_shape as match_shape,
    output as output,
    outputs as outputs,
    prim_value as prim_value,
    shape as shape,
    str as str,
    tuple as tuple,
)
from .names.relax_typed import dim as dim
from .parser.entry import function as function, relax_macro as _macro, rewriter as rewriter

__all__ = [
    "Annotated",
    "Any",
    "Callable",
    "Object",
    "Prim",
    "Shape",
    "Tensor",
    "Tuple",
    "dot",
    "func",
    "function",
    "macro",
    "rewriter",
    "cpu",
    "cuda",
    "device",
    "ext_dev",
    "gpu",
    "hexagon",
    "metal",
    "opencl",
    "rocm",
    "vpi",
    "vulkan",
    "webgpu",
    "DTensor",
    "device_mesh",
    "ExternFunc",
    "ShapeExpr",
    "TupleGetItem",
    "const",
    "dataflow",
    "dtype",
    "emit_te",
    "func_attr",
    "match_cast",
    "match_shape",
    "output",
    "outputs",
    "prim_value",
    "shape",
    "str",
    "tuple",
    "builtin",
    "ccl",
    "dist",
    "grad",
    "image",
    "inspect",
    "memory",
    "nn",
    "random",
    "vision",
    "vm",
    "assert_op",
    "compute_prim_value",
    "invoke_closure",
    "invoke_pure_closure",
    "make_closure",
    "null_value",
    "print",
    "shape_of",
    "shape_to_tensor",
    "tensor_to_shape",
    "add",
    "atan2",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "divide",
    "floor_divide",
    "floor_mod",
    "left_shift",
    "log_add_exp",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "power",
    "right_shift",
    "subtract",
    "call_builtin_with_ctx",
    "call_dps_packed",
    "call_packed",
    "call_pure_packed",
    "call_py_func",
    "call_tir",
    "call_tir_with_grad",
    "collapse_sum_like",
    "collapse_sum_to",
    "size",
    "equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "not_equal",
    "einsum",
    "outer",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
    "astype",
    "wrap_param",
    "hint_on_device",
    "to_vdevice",
    "gather",
    "gather_elements",
    "gather_nd",
    "scatter_elements",
    "scatter_nd",
    "bucketize",
    "index_put",
    "index_tensor",
    "searchsorted",
    "call_inplace_packed",
    "call_tir_inplace",
    "linear",
    "matmul",
    "all",
    "any",
    "expand_dims",
    "permute_dims",
    "squeeze",
    "concat",
    "split",
    "stack",
    "layout_transform",
    "meshgrid",
    "one_hot",
    "repeat",
    "tile",
    "roll",
    "broadcast_to",
    "flatten",
    "reshape",
    "masked_fill",
    "median",
    "dequantize",
    "quantize",
    "arange",
    "eye",
    "eye_like",
    "hamming_window",
    "multinomial_from_uniform",
    "cumprod",
    "cumsum",
    "argmax",
    "argmin",
    "take",
    "where",
    "nonzero",
    "unique",
    "dynamic_strided_slice",
    "flip",
    "slice_scatter",
    "strided_slice",
    "argsort",
    "sort",
    "topk",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "variance",
    "ewise_fma",
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_not",
    "ceil",
    "clip",
    "cos",
    "cosh",
    "erf",
    "exp",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "logical_not",
    "negative",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
    "dim",
    "bool",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f16",
    "f32",
    "f64",
    "bf16",
    "f8_e4m3fn",
    "f8_e5m2",
]

_T = _TypeVar("_T")
_Ts = _TypeVarTuple("_Ts")

DTensor: _TypeAlias = Any
"""A tensor on a mesh of devices: `R.DTensor((n, 4), "float32", "mesh[0]", "S[0], R")`.

Shape and dtype are those of the whole tensor. For each axis of the mesh, the placement says
which axis of the tensor is cut (`S[0]`), or that each device has all of it (`R`).
"""
Object: _TypeAlias = Any
"""Any value."""
Shape: _TypeAlias = Any
"""A shape: `R.Shape([n, 4])`, `R.Shape[n, 4]`, `R.Shape(ndim=2)`.

`R.Annotated[R.Shape, n, 4]` is the same in the form that type checkers read.
"""
Prim = Annotated[_T, "scalar"]
"""A scalar: `R.Prim("int64")`, `R.Prim(value=n)`."""
# Operators give `Any`, which a function whose result is declared may return in its place.
Tuple: _TypeAlias = _tuple[_Unpack[_Ts]] | Any
"""A tuple: `R.Tuple(R.Tensor((2,), "float32"), R.Shape)`.

Weights by name are one parameter, `params: R.Tuple(weights)`: the values of the mapping are
annotations, or arrays. `params["fc1.weight"]` is a field; the names are the attribute
`param_names` of the function.
"""
func = function
macro = _macro
bool: _TypeAlias = Any
"""The dtype bool."""
i8: _TypeAlias = Any
"""The dtype int8."""
i16: _TypeAlias = Any
"""The dtype int16."""
i32: _TypeAlias = Any
"""The dtype int32."""
i64: _TypeAlias = Any
"""The dtype int64."""
u8: _TypeAlias = Any
"""The dtype uint8."""
u16: _TypeAlias = Any
"""The dtype uint16."""
u32: _TypeAlias = Any
"""The dtype uint32."""
u64: _TypeAlias = Any
"""The dtype uint64."""
f16: _TypeAlias = Any
"""The dtype float16."""
f32: _TypeAlias = Any
"""The dtype float32."""
f64: _TypeAlias = Any
"""The dtype float64."""
bf16: _TypeAlias = Any
"""The dtype bfloat16."""
f8_e4m3fn: _TypeAlias = Any
"""The dtype float8_e4m3fn."""
f8_e5m2: _TypeAlias = Any
"""The dtype float8_e5m2."""

def abs(x: Any) -> Any:
    """The distance from 0; that of the smallest integer wraps around."""

def acos(x: Any) -> Any:
    """The arc cosine, in radians from 0 to pi."""

def acosh(x: Any) -> Any:
    """The inverse hyperbolic cosine."""

def add(x1: Any, x2: Any) -> Any:
    """The sum `x1 + x2`; integers wrap around."""

def all(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """True where all elements along `axis` (all axes where None) are true; of none, too.

    A number is true unless it is 0, and so is NaN.
    """

def any(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """True where one of the elements along `axis` (all axes where None) is true; of none, False.

    A number is true unless it is 0, and so is NaN.
    """

def arange(start: Any, end: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """The numbers from `start` up to `end`, which is left out, in steps of `step`.

    With one number they go from 0 up to it. Without `dtype` they are int64 where all are integers,
    else float32.
    """

def argmax(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The index of the largest element along `axis`, counted from 0; int64.

    Without `axis` the elements are counted in row-major order. The first of several, the first NaN
    if there is one, -1 where there is none.
    """

def argmin(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The index of the smallest element along `axis`, counted from 0; int64.

    Without `axis` the elements are counted in row-major order. The first of several, the first NaN
    if there is one, -1 where there is none.
    """

def argsort(data: Any, axis: Any = -1, descending: Any = False, dtype: Any = "int32") -> Any:
    """The indices along `axis` that sort the elements, counted from 0."""

def asin(x: Any) -> Any:
    """The arc sine, in radians from -pi/2 to pi/2."""

def asinh(x: Any) -> Any:
    """The inverse hyperbolic sine."""

def assert_op(condition: Any, format_args: Any = None, format: Any = "") -> Any:
    """Stop with a message unless the condition, a bool of rank 0, holds.

    The message is `format`, filled with `format_args` as `R.print` does. Raises `VMError`.
    """

def astype(x: Any, dtype: Any) -> Any:
    """The elements of `x` as values of `dtype`.

    To a narrower float they are rounded to the nearest, and from floats to integers towards zero.
    As bool they are true unless 0. An integer that does not fit an integer type wraps around; what
    becomes of such a float is undefined.
    """

def atan(x: Any) -> Any:
    """The arc tangent, in radians from -pi/2 to pi/2."""

def atan2(x1: Any, x2: Any) -> Any:
    """The angle of the point `(x2, x1)`, in radians from -pi to pi."""

def atanh(x: Any) -> Any:
    """The inverse hyperbolic tangent."""

def bitwise_and(x1: Any, x2: Any) -> Any:
    """The bits that are set in both `x1` and `x2`."""

def bitwise_not(x: Any) -> Any:
    """Every bit inverted."""

def bitwise_or(x1: Any, x2: Any) -> Any:
    """The bits that are set in `x1` or `x2`."""

def bitwise_xor(x1: Any, x2: Any) -> Any:
    """The bits that are set in exactly one of `x1` and `x2`."""

def broadcast_to(x: Any, shape: Any) -> Any:
    """`x` repeated along axes of one element, and along new axes in front, to have `shape`."""

def bucketize(
    input_tensor: Any, boundaries: Any, out_int32: Any = False, right: Any = False
) -> Any:
    """For each element the number of `boundaries`, which are in order, that are below it.

    A boundary that equals the element counts with `right` only. The result holds int64, or int32
    with `out_int32`.
    """

class builtin:
    """A tensor that is allocated, and marks for passes. Source: TVM `relax.builtin`."""

    @staticmethod
    def alloc_tensor(
        shape: Any, dtype: Any, runtime_device_index: Any, storage_scope: Any = "global"
    ) -> Any:
        """A new tensor of zeros."""

    @staticmethod
    def stop_lift_params(x: Any) -> Any:
        """The tensor itself, which is not computed beforehand though its operands are known."""

def call_builtin_with_ctx(func: Any, args: Any, *, sinfo_args: Any = None) -> Any:
    """Call a builtin of the virtual machine that takes the state of the running call first.

    `sinfo_args` describes the result. Nothing is known of what such a function does, so the call is
    impure.
    """

def call_dps_packed(func: Any, args: Any, out_sinfo: Any) -> Any:
    """Call a packed function that writes its results into the tensors given last.

    `out_sinfo` describes the results, one tensor or a list; they are allocated before the call,
    which is taken to be pure.
    """

def call_inplace_packed(func: Any, *args: Any, inplace_indices: Any, sinfo_args: Any) -> Any:
    """Call a packed function that writes results into its arguments, and has no other effect.

    `inplace_indices` has for each result that `sinfo_args` describes the argument that becomes it;
    -1 is a new tensor. The value is what the function returns, or those arguments where it returns
    None. A tensor that is written to must not be used afterwards.
    """

def call_packed(func: Any, *args: Any, sinfo_args: Any = None) -> Any:
    """Call a packed function by its name; `sinfo_args` describes the result.

    The call is impure: `R.call_pure_packed` is for functions without side effects. Further keywords
    become attributes of the call.
    """

def call_pure_packed(func: Any, *args: Any, sinfo_args: Any) -> Any:
    """Call a packed function that has no side effects, so that it may be in a dataflow block.

    `sinfo_args` describes the result.
    """

def call_py_func(py_func_name: Any, *args: Any, out_sinfo: Any) -> Any:
    """Call a Python function that has no side effects, by the name it is registered under.

    `out_sinfo` describes the result, one or a list. It is `R.call_pure_packed` by another name;
    `relaxscript.register_func` registers functions.
    """

def call_tir(gvar: Any, args: Any, out_sinfo: Any, tir_vars: Any = None) -> Any:
    """Call a PrimFunc of the module on tensors, with new tensors for its results.

    `out_sinfo` describes the results, one tensor or a list; `tir_vars` are the integers for the
    scalar parameters of the PrimFunc.
    """

def call_tir_inplace(
    gvar: Any, args: Any, inplace_indices: Any, out_sinfo: Any, tir_vars: Any = None
) -> Any:
    """Call a PrimFunc of the module that writes results into its arguments.

    `inplace_indices` has for each result that `out_sinfo` describes the argument that becomes it.
    -1 is a new tensor, which the PrimFunc is given behind its arguments. A tensor that is written
    to must not be used afterwards.
    """

def call_tir_with_grad(
    gvar: Any,
    args: Any,
    out_sinfo: Any,
    te_grad_name: Any,
    te_grad_kwargs: Any = None,
    tir_vars: Any = None,
) -> Any:
    """As `R.call_tir`, for a PrimFunc whose gradient is registered as `te_grad_name`.

    `te_grad_kwargs` are keywords for that gradient. `relax.training.register_te_gradient` registers
    one.
    """

class ccl:
    """Operators by which workers that run the same program exchange tensors.

    Each worker has a tensor of its own. A program that is run here is one worker, number 0, of one: it
    reduces what is its own, and keeps what it would send to itself. Source: TVM `relax.op.ccl`.
    """

    @staticmethod
    def allgather(x: Any, num_workers: Any, in_group: Any = True) -> Any:
        """The tensors of all workers one behind the other along axis 0, which each of them gets.

        With `in_group` the workers of a group are meant, else all. What other workers have is not known
        to one that runs alone, so `num_workers` above 1 fails when it runs.
        """

    @staticmethod
    def allreduce(x: Any, op_type: Any = "sum", in_group: Any = True) -> Any:
        """The tensors of all workers reduced to one, which each of them gets.

        `op_type` is "sum", "prod", "min", "max" or "avg". With `in_group` the workers of a group are
        meant, else all. One worker reduces its own tensor only, which is the result.
        """

    @staticmethod
    def broadcast_from_worker0(x: Any) -> Any:
        """The tensor of worker 0, which each worker gets; `x` is read on that worker only."""

    @staticmethod
    def scatter_from_worker0(x: Any, num_workers: Any, axis: Any = 0) -> Any:
        """The part of a worker of the tensor of worker 0, cut evenly along `axis`.

        A worker that runs alone is number 0, and gets the first part.
        """

def ceil(x: Any) -> Any:
    """Rounded up to an integer."""

def clip(x: Any, min: Any, max: Any) -> Any:
    """`x` held between the scalars `min` and `max`, which are converted to its dtype.

    Where `min` is above `max` the result is `max`; NaN stays NaN.
    """

def collapse_sum_like(data: Any, collapse_target: Any) -> Any:
    """As `R.collapse_sum_to`, to the shape of `collapse_target`."""

def collapse_sum_to(data: Any, shape: Any) -> Any:
    """The sums over the axes along which a tensor of `shape` is repeated to be like `data`."""

def compute_prim_value(value: Any) -> Any:
    """The value of a scalar expression, given as the only dimension of a shape.

    In script it is `R.prim_value(n * 2)`. Unlike the dimension of a tensor it may be negative.
    """

def concat(tensors: Any, axis: Any = 0) -> Any:
    """The tensors one after the other along `axis`; their other dimensions are equal.

    `axis=None` joins tensors of rank 1.
    """

def cos(x: Any) -> Any:
    """The cosine of an angle in radians."""

def cosh(x: Any) -> Any:
    """The hyperbolic cosine."""

def cumprod(data: Any, axis: Any = None, dtype: Any = None, exclusive: Any = False) -> Any:
    """The products of all elements up to each along `axis`, or of all in row-major order.

    `exclusive` leaves the element itself out. The result has the dtype of `data` unless `dtype`
    names one. Floats are multiplied in a wider type.
    """

def cumsum(data: Any, axis: Any = None, dtype: Any = None, exclusive: Any = False) -> Any:
    """The sums of all elements up to each along `axis`, or of all elements in row-major order.

    `exclusive` leaves the element itself out. The result has the dtype of `data` unless `dtype`
    names one. Floats are added up in a wider type.
    """

def dequantize(
    data: Any, scale: Any, zero_point: Any, axis: Any = -1, out_dtype: Any = "float32"
) -> Any:
    """`(data - zero_point) * scale`, in `out_dtype`.

    `scale` and `zero_point` are of rank 0, or have one element for each along `axis`.
    """

class dist:
    """Operators on distributed tensors, which lie on meshes of devices (`R.DTensor`).

    A distributed tensor is one tensor, wherever its parts are: to place it otherwise changes no value.
    A program that is run here is one worker, which has all of each. Source: TVM
    `relax.op.distributed`.
    """

    @staticmethod
    def annotate_sharding(value: Any, device_mesh: Any, placement: Any) -> Any:
        """The tensor itself, which is wanted on a mesh of devices in some placement.

        It says nothing of the result: whoever propagates shardings through a program reads it.
        """

    @staticmethod
    def call_tir(func: Any, args: Any, out_sinfo: Any, tir_vars: Any = None) -> Any:
        """Call a PrimFunc of the module on whole distributed tensors: `R.call_tir` of such."""

    @staticmethod
    def call_tir_local_view(gvar: Any, args: Any, out_sinfo: Any, tir_vars: Any = None) -> Any:
        """Call a PrimFunc of the module on each device, on its parts of distributed tensors.

        `out_sinfo` describes whole results, of which the PrimFunc writes the part of its device. A
        worker that runs alone is one device: a mesh of more fails.
        """

    @staticmethod
    def const(value: Any, struct_info: Any) -> Any:
        """A constant as a distributed tensor, which `struct_info` places: an `R.dist.redistribute`."""

    @staticmethod
    def redistribute(value: Any, device_mesh: Any, placement: Any) -> Any:
        """The same distributed tensor in another placement, or on another mesh.

        A tensor that every worker has, such as a constant, is placed as well.
        """

    @staticmethod
    def redistribute_replica_to_shard(input: Any, num_workers: Any, axis: Any) -> Any:
        """The part of a worker of a tensor that each worker has, cut evenly along `axis`.

        Of a distributed tensor, which all devices of a mesh with one axis have, it is the same tensor,
        sharded: `R.dist.redistribute`. A worker that runs alone is number 0, and gets the first part.
        """

def divide(x1: Any, x2: Any) -> Any:
    """The quotient `x1 / x2`; that of integers is rounded towards zero, as in C."""

def dot(x1: Any, x2: Any, out_dtype: Any = None) -> Any:
    """The matrix product of the last two axes; the axes before them broadcast.

    An operand of rank 1 is a row on the left and a column on the right. That axis is absent in the
    result, as in `numpy.matmul`. With `out_dtype` the products are added up in that dtype.
    Without it, floats of 16 bits or fewer are added up in float32 and rounded once.
    """

def dynamic_strided_slice(x: Any, begin: Any, end: Any, strides: Any) -> Any:
    """`x[begin:end:strides]`, with one bound of each kind for each axis of `x`.

    `begin`, `end` and `strides` are tensors of rank 1 and dtype int64. Raises `ValueError` for
    a stride of 0.
    """

def einsum(operands: Any, subscripts: Any) -> Any:
    """The sums of products that `subscripts` describes, such as "ij,jk->ik".

    Each operand has a letter for each of its axes; "..." stands for any number of further axes,
    which are compared from the right. Axes of one letter have one size, or 1 and are repeated. The
    result has the axes behind "->"; without it, those of "..." and then, in alphabetical order,
    those whose letter is there once. The others are added up, floats in a wider type.
    """

def equal(x1: Any, x2: Any) -> Any:
    """True where `x1` equals `x2`."""

def erf(x: Any) -> Any:
    """The Gauss error function, within 2 units in the last place."""

def ewise_fma(x1: Any, x2: Any, x3: Any) -> Any:
    """`x1 * x2 + x3`; all three broadcast to each other."""

def exp(x: Any) -> Any:
    """e to the power of `x`."""

def expand_dims(x: Any, axis: Any) -> Any:
    """`x` with new axes of one element, which are the axes `axis` of the result."""

def eye(n: Any, m: Any = None, k: Any = 0, dtype: Any = "float32") -> Any:
    """The matrix of `n` rows and `m` columns (as many where None) with ones on its `k`-th diagonal.

    `k` is 0 for the main diagonal, positive above it.
    """

def eye_like(x: Any, k: Any = 0, dtype: Any = None) -> Any:
    """A matrix of the shape of `x` with ones on its `k`-th diagonal, 0 elsewhere.

    Its dtype is that of `x` unless `dtype` names one.
    """

def flatten(x: Any) -> Any:
    """All elements of `x` along one axis, in row-major order."""

def flip(data: Any, axis: Any) -> Any:
    """`data` with the elements along `axis` in reverse order."""

def floor(x: Any) -> Any:
    """Rounded down to an integer."""

def floor_divide(x1: Any, x2: Any) -> Any:
    """The quotient rounded down, Python's `x1 // x2`."""

def floor_mod(x1: Any, x2: Any) -> Any:
    """The remainder of the division rounded down, Python's `x1 % x2`; its sign is that of `x2`."""

def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """A tensor of `shape` whose elements are all `fill_value`, a tensor of rank 0.

    Its dtype is `dtype`, or that of the value. A Python number is float32 or int32 unless
    `dtype` says otherwise.
    """

def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Any:
    """A tensor of the shape of `x` whose elements are all `fill_value`, a tensor of rank 0.

    Its dtype is `dtype`, or that of `x`.
    """

def gather(data: Any, indices: Any, axis: Any = 0) -> Any:
    """The slices of `data` along `axis` at `indices`, whose axes come in place of that axis.

    This is ONNX `Gather`, and `numpy.take` with an axis; torch's function of the name is
    `R.gather_elements`. `R.take` has other modes for an index that is not there.
    """

def gather_elements(data: Any, indices: Any, axis: Any = 0) -> Any:
    """For each of `indices` the element of `data` at that index along `axis`."""

def gather_nd(data: Any, indices: Any, batch_dims: Any = 0) -> Any:
    """The parts of `data` at the places that the last axis of `indices` holds.

    Such a place has an index for each axis of `data` from `batch_dims` on, or for the first of
    them; the axes before are those of `indices`.
    """

class grad:
    """Marks for the differentiation of a program, of which the value is the operand's; gradients.

    Source: TVM `relax.grad`.
    """

    @staticmethod
    def avg_pool2d_backward(
        output_grad: Any,
        data: Any,
        pool_size: Any = ...,
        strides: Any = ...,
        padding: Any = ...,
        dilation: Any = ...,
        ceil_mode: Any = False,
        count_include_pad: Any = False,
        layout: Any = "NCHW",
        out_layout: Any = None,
    ) -> Any:
        """The gradient of `R.nn.avg_pool2d` by its data.

        That of a window is divided by the number of elements of the mean, and goes to each of them.
        """

    @staticmethod
    def end_checkpoint(input: Any) -> Any:
        """The tensor itself; up to here values are computed anew."""

    @staticmethod
    def max_pool2d_backward(
        output_grad: Any,
        data: Any,
        pool_size: Any = ...,
        strides: Any = ...,
        padding: Any = ...,
        dilation: Any = ...,
        ceil_mode: Any = False,
        count_include_pad: Any = False,
        layout: Any = "NCHW",
        out_layout: Any = None,
    ) -> Any:
        """The gradient of `R.nn.max_pool2d` by its data.

        That of a window goes to its largest element, of several to the first in row-major order. A NaN
        is the largest.
        """

    @staticmethod
    def nll_loss_backward(
        output_grad: Any,
        predictions: Any,
        targets: Any,
        weights: Any = None,
        reduction: Any = "mean",
        ignore_index: Any = -100,
    ) -> Any:
        """The gradient of `R.nn.nll_loss` by its predictions.

        At the target class of each sample it is minus the weight of that class times `output_grad`. For
        a "mean" it is divided by the sum of the weights. Elsewhere it is 0.
        """

    @staticmethod
    def no_grad(input: Any) -> Any:
        """The tensor itself; no gradient flows through it."""

    @staticmethod
    def start_checkpoint(input: Any) -> Any:
        """The tensor itself; what follows is computed anew."""

    @staticmethod
    def take_backward(output_grad: Any, x: Any, indices: Any, axis: Any = None) -> Any:
        """The gradient of `R.take` by the tensor that is taken from.

        Where an element was taken several times, it is the sum of the gradients. Indices count from 0;
        raises `IndexError` for one that is not there.
        """

def greater(x1: Any, x2: Any) -> Any:
    """True where `x1` is above `x2`."""

def greater_equal(x1: Any, x2: Any) -> Any:
    """True where `x1` is at least `x2`."""

def hamming_window(window_size: Any, periodic: Any, alpha: Any, beta: Any, dtype: Any) -> Any:
    """The Hamming window `alpha - beta * cos(2 * pi * i / n)` of `window_size` numbers.

    `n` is `window_size` where the window is `periodic`, else one less. A window of one number is 1.
    Computed in float64 and rounded once. Source: TVM `relax.hamming_window`, torch.
    """

def hint_on_device(data: Any, dst_vdevice: Any, memory_scope: Any = "global") -> Any:
    """The tensor itself, which is wanted on a device such as `R.device("cpu", 1)`.

    The device is none of the module's virtual ones. `RealizeVDevice` makes it a `R.to_vdevice`, or
    nothing where the tensor is there already; until then it is not known where the result is.
    """

class image:
    """Operators of images and volumes, `R.image.…`."""

    @staticmethod
    def affine_grid(data: Any, size: Any, *, align_corners: Any = True) -> Any:
        """The grid of the places to which an affine map takes the elements of an image.

        `data` are the matrices, of shape (N, 2, 3), and `size` is the height and width of the image;
        the grid has the shape (N, 2, H, W), x before y, for `R.image.grid_sample`. One number is both.
        Matrices of shape (N, 3, 4) and three numbers are for volumes.

        Coordinates go from -1 to 1, the centers of the first and last element along an axis. These are
        the outer edges without `align_corners`. The one element along an axis is at 0. All is computed
        in float64 and rounded once. Source: TVM `relax.image.affine_grid`, ONNX `AffineGrid`.
        """

    @staticmethod
    def grid_sample(
        data: Any,
        grid: Any,
        method: Any = "bilinear",
        layout: Any = "NCHW",
        padding_mode: Any = "zeros",
        align_corners: Any = False,
    ) -> Any:
        """`data` at the places of a grid, which has the shape (N, 2, H, W), x before y.

        -1 and 1 are the outer edges of the first and last element along an axis. With `align_corners`
        they are their centers. With a `layout` such as "NCDHW" the grid is (N, 3, D, H, W), of x, y, z.

        `method` is "nearest" (of two the even one), "bilinear" (in volumes trilinear), or "bicubic" for
        images only. Elements beyond `data` are 0, those of its border, or those of its reflection, as
        `padding_mode` says: "zeros", "border", "reflection". A place that is NaN is far outside.

        Places and sums are computed in float64 and rounded once. Source: TVM `relax.image.grid_sample`,
        ONNX `GridSample`.
        """

    @staticmethod
    def resize2d(
        data: Any,
        size: Any,
        roi: Any = None,
        layout: Any = "NCHW",
        method: Any = "linear",
        coordinate_transformation_mode: Any = "half_pixel",
        rounding_method: Any = "round",
        cubic_alpha: Any = -0.5,
        cubic_exclude: Any = 0,
        extrapolation_value: Any = 0.0,
        out_dtype: Any = None,
    ) -> Any:
        """Images of another height and width, `size`; one number is both.

        `method` is "nearest_neighbor", "linear" or "cubic", the convolution of Keys with `cubic_alpha`.
        Where `cubic_exclude` is not 0, only elements of the image have a share in it.

        `coordinate_transformation_mode` says where element `i` of `m` is among `n` elements.
        "half_pixel" is `(i + 0.5) * n / m - 0.5`, "asymmetric" `i * n / m`, "align_corners"
        `i * (n - 1) / (m - 1)`. "pytorch_half_pixel" is "half_pixel", but 0 where `m` is 1.
        "tf_half_pixel_for_nn" is `(i + 0.5) * n / m`. "tf_crop_and_resize" spreads the result over the
        part of the image that `roi` names, `[start_h, start_w, end_h, end_w]` as shares of `n - 1`.
        What is beyond the image is then `extrapolation_value`.

        `rounding_method` chooses the nearest element: "round" and "round_prefer_ceil" take the later of
        two, "round_prefer_floor" the earlier; "floor" and "ceil" are the others. "" is "round" where
        corners are aligned, else "floor". Sums are made in float64, along the height first, and
        rounded once to `out_dtype`, or the dtype of `data`. Source: TVM `relax.image.resize2d`.
        """

    @staticmethod
    def resize3d(
        data: Any,
        size: Any,
        roi: Any = None,
        layout: Any = "NCDHW",
        method: Any = "linear",
        coordinate_transformation_mode: Any = "half_pixel",
        rounding_method: Any = "",
        cubic_alpha: Any = -0.75,
        cubic_exclude: Any = 0,
        extrapolation_value: Any = 0.0,
        out_dtype: Any = None,
    ) -> Any:
        """Volumes of another depth, height and width, `size`; one number is all three.

        The attributes are those of `R.image.resize2d`; `roi` has six numbers, the three where the part
        begins before the three where it ends. Source: TVM `relax.image.resize3d`.
        """

def index_put(data: Any, indices: Any, values: Any, accumulate: Any = False) -> Any:
    """`data` with `values` at `indices`, which hold the places along its first axes.

    `values` broadcast to the parts that `R.index_tensor` gives. Where a place comes twice, the last
    value stays; with `accumulate` all are added to what is there. Raises `IndexError` for an index
    that is not there.
    """

def index_tensor(data: Any, indices: Any) -> Any:
    """The parts of `data` at `indices`, which hold the places along its first axes.

    The tensors of indices broadcast to each other; the result has their axes, then the other axes
    of `data`. Raises `IndexError` for an index that is not there.
    """

class inspect:
    """Properties of a tensor, read while the program runs: its dtype, shape and layout in memory.

    Scripts write these as attributes, `x.shape[0]` or `x.dtype.bits`. Tensors of Relax are compact and
    in row-major order, so strides follow from the shape and offsets are 0. Dtypes are described as
    DLPack does, but for bool, which is an unsigned integer of one bit. Source: TVM `relax.inspect`.
    """

    @staticmethod
    def tensor_byte_offset(x: Any) -> Any:
        """The offset of the tensor in its memory, in bytes, which is 0; uint64."""

    @staticmethod
    def tensor_dtype_bits(x: Any) -> Any:
        """The bits of an element, 1 for a bool; uint8."""

    @staticmethod
    def tensor_dtype_code(x: Any) -> Any:
        """The kind of the elements, as DLPack counts kinds: 0 int, 1 uint, 2 float, 4 bfloat; uint8."""

    @staticmethod
    def tensor_dtype_lanes(x: Any) -> Any:
        """The numbers in an element, which is 1 in every tensor of Relax; uint16."""

    @staticmethod
    def tensor_elem_offset(x: Any) -> Any:
        """The offset of the tensor in its memory, in elements, which is 0; int64."""

    @staticmethod
    def tensor_ndim(x: Any) -> Any:
        """The rank; int32."""

    @staticmethod
    def tensor_shape_i(x: Any, axis: Any) -> Any:
        """The number of elements along `axis`, a scalar; int64.

        Raises `IndexError` for an axis that there is not.
        """

    @staticmethod
    def tensor_stride_i(x: Any, axis: Any) -> Any:
        """The stride along `axis`, in elements, a scalar; int64.

        Raises `IndexError` for an axis that there is not.
        """

def invoke_closure(closure: Any, args: Any, sinfo_args: Any) -> Any:
    """The result of a closure, which `sinfo_args` describes."""

def invoke_pure_closure(closure: Any, args: Any, sinfo_args: Any) -> Any:
    """The result of a closure that has no side effects, which `sinfo_args` describes."""

def isfinite(x: Any) -> Any:
    """True where `x` is neither infinite nor NaN."""

def isinf(x: Any) -> Any:
    """True where `x` is infinite."""

def isnan(x: Any) -> Any:
    """True where `x` is NaN."""

def layout_transform(
    x: Any,
    index_map: Any,
    pad_value: Any = None,
    axis_separators: Any = None,
    input_axis_separators: Any = None,
) -> Any:
    """`x` with its elements elsewhere: `index_map` gives the new indices of each by its own.

    `lambda i, j: (i // 16, j, i % 16)` packs 16 rows. Where the result has an element that is none
    of `x`, it is `pad_value`, or 0. The separators, which say how axes are laid out in memory,
    change no element.
    """

def left_shift(x1: Any, x2: Any) -> Any:
    """`x1` with its bits moved up by `x2`; bits that leave are lost."""

def less(x1: Any, x2: Any) -> Any:
    """True where `x1` is below `x2`; False is below True."""

def less_equal(x1: Any, x2: Any) -> Any:
    """True where `x1` is at most `x2`."""

def linear(data: Any, weight: Any, bias: Any = None, out_dtype: Any = None) -> Any:
    """`data @ weight.T + bias`: a layer whose weight is stored as (features out, features in).

    Stands for `R.matmul`, `R.permute_dims` and `R.add`; a weight of rank 1 is not transposed.
    """

def log(x: Any) -> Any:
    """The natural logarithm; NaN of negative numbers."""

def log_add_exp(x1: Any, x2: Any) -> Any:
    """`log(exp(x1) + exp(x2))`, without overflow."""

def logical_and(x1: Any, x2: Any) -> Any:
    """True where both `x1` and `x2` are true; both are evaluated."""

def logical_not(x: Any) -> Any:
    """True where `x` is false."""

def logical_or(x1: Any, x2: Any) -> Any:
    """True where `x1` or `x2` is true; both are evaluated."""

def logical_xor(x1: Any, x2: Any) -> Any:
    """True where exactly one of `x1` and `x2` is true."""

def make_closure(func: Any, args: Any) -> Any:
    """A closure: `func` with its last arguments given."""

def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """`value` where `mask`, of bools, is true, and the elements of `x` elsewhere.

    Stands for `R.where` and `R.full_like`. Source: TVM `relax.op.masked_fill`.
    """

def matmul(x1: Any, x2: Any, out_dtype: Any = None) -> Any:
    """The matrix product of the last two axes; the axes before them broadcast.

    An operand of rank 1 is a row on the left and a column on the right. That axis is absent in the
    result, as in `numpy.matmul`. With `out_dtype` the products are added up in that dtype.
    Without it, floats of 16 bits or fewer are added up in float32 and rounded once.
    """

def max(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The largest along `axis` (all axes where None); NaN if there is one, the least value of the dtype of nothing."""

def maximum(x1: Any, x2: Any) -> Any:
    """The larger of `x1` and `x2`; NaN where either is."""

def mean(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The mean along `axis` (all axes where None), NaN of nothing."""

def median(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The element in the middle of the order of all elements; of two in the middle the lower one.

    With `axis`, a tuple: the elements in the middle along this axis, and their indices (int64). Of
    equal elements the order is that in which they are. NaN if there is one, and the index of the
    first. Of nothing it is NaN, 0 for integers, and the index -1.
    """

class memory:
    """Storage that a program takes and gives back itself, as lowered programs do.

    A storage is an object: an array of bytes, from which tensors are cut. Source: TVM `relax.memory`.
    """

    @staticmethod
    def alloc_storage(size: Any, virtual_device_index: Any, storage_scope: Any, dtype: Any) -> Any:
        """A new storage of `size` bytes, one number or a shape, for tensors of `dtype` or any other."""

    @staticmethod
    def alloc_tensor(storage: Any, offset: Any, shape: Any, dtype: Any) -> Any:
        """The tensor that begins `offset` bytes behind the start of a storage, in its memory.

        Raises `ValueError` for a tensor that the storage does not hold.
        """

    @staticmethod
    def ensure_zero_offset(data: Any) -> Any:
        """The tensor in a memory of its own, at whose first byte it begins.

        Tensors of programs are so already, but for views. Source: TVM `relax.memory`.
        """

    @staticmethod
    def kill_storage(storage: Any) -> Any:
        """Give a storage back; it must not be used afterwards."""

    @staticmethod
    def kill_tensor(tensor: Any) -> Any:
        """Give a tensor back; it must not be used afterwards."""

    @staticmethod
    def view(
        data: Any, shape: Any = None, dtype: Any = None, relative_byte_offset: Any = None
    ) -> Any:
        """The bytes of `data` from an offset on, as a tensor of another shape, another dtype, or both.

        What is not given is that of `data`. The tensor must not go beyond the end of `data`. Tensors do
        not change, so that the result is the same where it is a copy.
        """

def meshgrid(tensors: Any, indexing: Any = "ij") -> Any:
    """For each row of numbers a tensor over the grid of all of them, which varies along its axis.

    The axes are those of `tensors` in their order; with `indexing` "xy" the first two are
    exchanged. Source: numpy's function of the same name.
    """

def min(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The smallest along `axis` (all axes where None); NaN if there is one, the greatest value of the dtype of nothing."""

def minimum(x1: Any, x2: Any) -> Any:
    """The smaller of `x1` and `x2`; NaN where either is."""

def mod(x1: Any, x2: Any) -> Any:
    """The remainder of the division rounded towards zero; its sign is that of `x1`, as in C."""

def multinomial_from_uniform(
    prob: Any, uniform_sample: Any, sample_indices: Any, dtype: Any = "int64"
) -> Any:
    """For each sample an index, drawn by the probabilities in a row of `prob`.

    It is the first at which the sum of the probabilities up to it is above the sample. That is a
    number from 0 to below 1; where no sum is above it, the last index is taken. `uniform_sample`
    and `sample_indices`, the rows that are drawn from, have the shape (samples, 1). Sums are made
    in float64. Raises `IndexError` for a row that is not there. `R.random.uniform` gives such
    samples.
    """

def multiply(x1: Any, x2: Any) -> Any:
    """The product `x1 * x2`, element by element; integers wrap around."""

def negative(x: Any) -> Any:
    """`-x`; integers wrap around."""

class nn:
    """Operators of neural networks, `R.nn.…`."""

    @staticmethod
    def adaptive_avg_pool1d(
        data: Any, output_size: Any = None, layout: Any = "NCW", out_layout: Any = None
    ) -> Any:
        """The means of as many windows of about one size as `output_size` says, along one spatial axis.

        Means of integers are rounded toward zero.
        """

    @staticmethod
    def adaptive_avg_pool2d(
        data: Any, output_size: Any = None, layout: Any = "NCHW", out_layout: Any = None
    ) -> Any:
        """The means of as many windows of about one size as `output_size` says, along two spatial axes.

        Means of integers are rounded toward zero.
        """

    @staticmethod
    def adaptive_avg_pool3d(
        data: Any, output_size: Any = None, layout: Any = "NCDHW", out_layout: Any = None
    ) -> Any:
        """The means of as many windows of about one size as `output_size` says, along three spatial axes.

        Means of integers are rounded toward zero.
        """

    @staticmethod
    def attention(
        query: Any,
        key: Any,
        value: Any,
        bias: Any = None,
        scale: Any = None,
        causal_mask: Any = None,
        window_size: Any = None,
    ) -> Any:
        """`softmax(query @ key * scale + bias) @ value`, for each sample and head.

        The operands have the axes batch, sequence, heads, and features of a head; `bias` is spread to
        batch, heads, queries, keys. Without `scale` it is 1 divided by the square root of the number of
        features. A `causal_mask` hides keys that come after a query: "TopLeft" counts both from the
        start, "BottomRight" from the end. Of the others `window_size` leaves the last so many. Floats
        of 16 bits or fewer are computed in float32 and rounded once, others in their own dtype.
        """

    @staticmethod
    def attention_bias(
        query: Any,
        key: Any,
        value: Any,
        bias: Any,
        scale: Any = None,
        causal_mask: Any = None,
        window_size: Any = None,
    ) -> Any:
        """`R.nn.attention` with a bias."""

    @staticmethod
    def attention_var_len(
        queries: Any,
        keys: Any,
        values: Any,
        seqstart_q: Any,
        max_seqlen_q: Any,
        seqstart_k: Any = None,
        max_seqlen_k: Any = None,
        scale: Any = None,
        causal_mask: Any = None,
        window_size: Any = None,
    ) -> Any:
        """`R.nn.attention` for each of several sequences, which come one behind the other.

        `queries`, `keys` and `values` have the axes 1, tokens of all sequences, heads, and features of
        a head. `seqstart_q` says where the queries of each sequence begin, and where those of the last
        end; `seqstart_k` the same of keys and values, where it is not the same. `max_seqlen_q` and
        `max_seqlen_k` are the length of the longest sequence, which only implementations that prepare
        memory need. The result is 0 for tokens of no sequence.

        Raises `ValueError` for sequences that are not in order. The lengths are data, so that there is
        no compute.
        """

    @staticmethod
    def avg_pool1d(
        data: Any,
        pool_size: Any = ...,
        strides: Any = ...,
        padding: Any = ...,
        dilation: Any = ...,
        ceil_mode: Any = False,
        count_include_pad: Any = False,
        layout: Any = "NCW",
        out_layout: Any = None,
    ) -> Any:
        """The mean of each window along one spatial axis; padding counts where `count_include_pad` says so.

        Means of integers are rounded toward zero.
        """

    @staticmethod
    def avg_pool2d(
        data: Any,
        pool_size: Any = ...,
        strides: Any = ...,
        padding: Any = ...,
        dilation: Any = ...,
        ceil_mode: Any = False,
        count_include_pad: Any = False,
        layout: Any = "NCHW",
        out_layout: Any = None,
    ) -> Any:
        """The mean of each window along two spatial axes; padding counts where `count_include_pad` says so.

        Means of integers are rounded toward zero.
        """

    @staticmethod
    def avg_pool3d(
        data: Any,
        pool_size: Any = ...,
        strides: Any = ...,
        padding: Any = ...,
        dilation: Any = ...,
        ceil_mode: Any = False,
        count_include_pad: Any = False,
        layout: Any = "NCDHW",
        out_layout: Any = None,
    ) -> Any:
        """The mean of each window along three spatial axes; padding counts where `count_include_pad` says so.

        Means of integers are rounded toward zero.
        """

    @staticmethod
    def batch_flatten(data: Any) -> Any:
        """All elements of each sample along one axis: the first axis stays."""

    @staticmethod
    def batch_norm(
        data: Any,
        gamma: Any,
        beta: Any,
        moving_mean: Any,
        moving_var: Any,
        axis: Any,
        epsilon: Any = 1e-05,
        center: Any = True,
        scale: Any = True,
        momentum: Any = 0.1,
        training: Any = True,
    ) -> Any:
        """A tuple: `data` normalized along all axes but `axis`, and the moving statistics.

        While `training` it is normalized by its own mean and variance, and each moving statistic
        becomes `(1 - momentum) * moving + momentum * own`; else by the moving ones, which stay.
        `gamma`, `beta` and the statistics have one element for each along `axis`; `scale=False` leaves
        out `gamma`, `center=False` leaves out `beta`.
        """

    @staticmethod
    def conv1d(
        data: Any,
        weight: Any,
        strides: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: Any = 1,
        data_layout: Any = "NCW",
        kernel_layout: Any = "OIW",
        out_layout: Any = None,
        out_dtype: Any = None,
    ) -> Any:
        """The sums of `weight` times the windows of `data` along one spatial axis.

        `padding` is one number, or one before and one behind. Of the channels each of `groups` takes
        its share. Sums are computed in the dtype of the result, those of floats of 16 bits or
        fewer in float32.
        """

    @staticmethod
    def conv1d_transpose(
        data: Any,
        weight: Any,
        strides: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: Any = 1,
        data_layout: Any = "NCW",
        kernel_layout: Any = "IOW",
        out_layout: Any = None,
        out_dtype: Any = None,
    ) -> Any:
        """The elements of `data` times `weight`, spread over windows along one spatial axis.

        It undoes the shapes of a convolution with the same attributes: `padding` is taken away from the
        result, and `output_padding`, below `strides`, is added behind. Of the channels each of `groups`
        takes its share. Sums are computed in the dtype of the result, those of floats of 16 bits or
        fewer in float32.
        """

    @staticmethod
    def conv2d(
        data: Any,
        weight: Any,
        strides: Any = ...,
        padding: Any = ...,
        dilation: Any = ...,
        groups: Any = 1,
        data_layout: Any = "NCHW",
        kernel_layout: Any = "OIHW",
        out_layout: Any = None,
        out_dtype: Any = None,
    ) -> Any:
        """The sums of `weight` times the windows of `data` along two spatial axes.

        `padding` is one number, one for each axis, or those before and then those behind. Of the
        channels each of `groups` takes its share. Sums are computed in the dtype of the
        result, those of floats of 16 bits or fewer in float32.
        """

    @staticmethod
    def conv2d_transpose(
        data: Any,
        weight: Any,
        strides: Any = ...,
        padding: Any = ...,
        output_padding: Any = ...,
        dilation: Any = ...,
        groups: Any = 1,
        data_layout: Any = "NCHW",
        kernel_layout: Any = "IOHW",
        out_layout: Any = None,
        out_dtype: Any = None,
    ) -> Any:
        """The elements of `data` times `weight`, spread over windows along two spatial axes.

        It undoes the shapes of a convolution with the same attributes: `padding` is taken away from the
        result, and `output_padding`, below `strides`, is added behind. Of the channels each of `groups`
        takes its share. Sums are computed in the dtype of the result, those of floats of 16 bits or
        fewer in float32.
        """

    @staticmethod
    def conv3d(
        data: Any,
        weight: Any,
        strides: Any = ...,
        padding: Any = ...,
        dilation: Any = ...,
        groups: Any = 1,
        data_layout: Any = "NCDHW",
        kernel_layout: Any = "OIDHW",
        out_layout: Any = None,
        out_dtype: Any = None,
    ) -> Any:
        """The sums of `weight` times the windows of `data` along three spatial axes.

        `padding` is one number, one for each axis, or those before and then those behind. Of the
        channels each of `groups` takes its share. Sums are computed in the dtype of the
        result, those of floats of 16 bits or fewer in float32.
        """

    @staticmethod
    def conv3d_transpose(
        data: Any,
        weight: Any,
        strides: Any = ...,
        padding: Any = ...,
        output_padding: Any = ...,
        dilation: Any = ...,
        groups: Any = 1,
        data_layout: Any = "NCDHW",
        kernel_layout: Any = "IODHW",
        out_layout: Any = None,
        out_dtype: Any = None,
    ) -> Any:
        """The elements of `data` times `weight`, spread over windows along three spatial axes.

        It undoes the shapes of a convolution with the same attributes: `padding` is taken away from the
        result, and `output_padding`, below `strides`, is added behind. Of the channels each of `groups`
        takes its share. Sums are computed in the dtype of the result, those of floats of 16 bits or
        fewer in float32.
        """

    @staticmethod
    def cross_entropy_with_logits(predictions: Any, labels: Any) -> Any:
        """Minus the sum of `predictions * labels`, divided by the number of rows where there are rows.

        Both have one shape, of rank 1 or 2, and `predictions` are logarithms of probabilities.
        """

    @staticmethod
    def dropout(data: Any, rate: Any = 0.5) -> Any:
        """A tuple of `data` and a mask of ones: outside of training nothing is dropped.

        `rate` is the share of elements that training drops, from 0 to below 1.
        """

    @staticmethod
    def embedding(indices: Any, weight: Any) -> Any:
        """The rows of `weight` that `indices` name: `R.take(weight, indices, axis=0)`.

        Each index counts from 0 and must be there. The result has the axes of `indices`, then those of
        a row.
        """

    @staticmethod
    def gelu(data: Any) -> Any:
        """`x` times the standard normal distribution function, by the exact error function."""

    @staticmethod
    def gelu_tanh(data: Any) -> Any:
        """The approximation of gelu by a hyperbolic tangent."""

    @staticmethod
    def group_norm(
        data: Any,
        gamma: Any,
        beta: Any,
        num_groups: Any,
        channel_axis: Any,
        axes: Any,
        epsilon: Any = 1e-05,
        center: Any = True,
        scale: Any = True,
    ) -> Any:
        """`data` normalized over `axes` and the channels of one of `num_groups` groups together.

        `gamma` and `beta` have one element for each channel; `scale=False` leaves out `gamma`,
        `center=False` leaves out `beta`.
        """

    @staticmethod
    def instance_norm(
        data: Any,
        gamma: Any,
        beta: Any,
        channel_axis: Any,
        axes: Any,
        epsilon: Any = 1e-05,
        center: Any = True,
        scale: Any = True,
    ) -> Any:
        """`data` normalized over `axes`, each channel on its own.

        `gamma` and `beta` have one element for each channel; `scale=False` leaves out `gamma`,
        `center=False` leaves out `beta`.
        """

    @staticmethod
    def layer_norm(
        data: Any,
        gamma: Any,
        beta: Any,
        axes: Any,
        epsilon: Any = 1e-05,
        center: Any = True,
        scale: Any = True,
    ) -> Any:
        """`(x - mean) / sqrt(variance + epsilon) * gamma + beta`, statistics over `axes`.

        `gamma` and `beta` have the dimensions of `axes`, in the order in which `axes` names them;
        `scale=False` leaves out `gamma`, `center=False` leaves out `beta`. The variance is that of the
        population. All is computed in a wider type and rounded once.
        """

    @staticmethod
    def leakyrelu(data: Any, alpha: Any = 0.01) -> Any:
        """`x` where it is above 0, `alpha * x` elsewhere."""

    @staticmethod
    def log_softmax(data: Any, axis: Any = -1) -> Any:
        """The logarithm of the softmax along `axis`, without overflow or loss of small values."""

    @staticmethod
    def max_pool1d(
        data: Any,
        pool_size: Any = ...,
        strides: Any = ...,
        padding: Any = ...,
        dilation: Any = ...,
        ceil_mode: Any = False,
        count_include_pad: Any = False,
        layout: Any = "NCW",
        out_layout: Any = None,
    ) -> Any:
        """The largest element of each window along one spatial axis; what pads the tensor is below all."""

    @staticmethod
    def max_pool2d(
        data: Any,
        pool_size: Any = ...,
        strides: Any = ...,
        padding: Any = ...,
        dilation: Any = ...,
        ceil_mode: Any = False,
        count_include_pad: Any = False,
        layout: Any = "NCHW",
        out_layout: Any = None,
    ) -> Any:
        """The largest element of each window along two spatial axes; what pads the tensor is below all."""

    @staticmethod
    def max_pool3d(
        data: Any,
        pool_size: Any = ...,
        strides: Any = ...,
        padding: Any = ...,
        dilation: Any = ...,
        ceil_mode: Any = False,
        count_include_pad: Any = False,
        layout: Any = "NCDHW",
        out_layout: Any = None,
    ) -> Any:
        """The largest element of each window along three spatial axes; what pads the tensor is below all."""

    @staticmethod
    def nll_loss(
        predictions: Any,
        targets: Any,
        weights: Any = None,
        reduction: Any = "mean",
        ignore_index: Any = -100,
    ) -> Any:
        """Minus the prediction for the target class of each sample, times the weight of that class.

        `predictions` has the shape (N, C, d1, ...), `targets` (N, d1, ...), or (C,) and (). Targets
        that are `ignore_index` count nothing. `reduction` gives their "sum", their "mean" (divided by
        the weights), or "none". Raises `IndexError` for a class that there is not.
        """

    @staticmethod
    def pad(data: Any, pad_width: Any, pad_mode: Any = "constant", pad_value: Any = 0.0) -> Any:
        """`data` with more elements before and behind, two numbers in `pad_width` for each axis.

        They are `pad_value` ("constant") or the elements in reverse without the first ("reflect"). Or
        they are the nearest element ("replicate", "edge") or those of the other end ("circular").
        """

    @staticmethod
    def pixel_shuffle(data: Any, upscale_factor: Any) -> Any:
        """(N, C * r * r, H, W) as (N, C, H * r, W * r): channels become neighbours, `r` the factor."""

    @staticmethod
    def prelu(data: Any, alpha: Any, axis: Any = 1) -> Any:
        """`x` where it is above 0, else `x` times the `alpha` of its place along `axis`."""

    @staticmethod
    def relu(data: Any) -> Any:
        """`max(x, 0)`; NaN stays NaN."""

    @staticmethod
    def relu6(data: Any) -> Any:
        """`min(max(x, 0), 6)`, which is `R.clip(data, 0, 6)`."""

    @staticmethod
    def rms_norm(data: Any, weight: Any, axes: Any = -1, epsilon: Any = 1e-05) -> Any:
        """`x / sqrt(mean(x * x) + epsilon) * weight`, the mean over `axes`.

        `weight` has the dimensions of `axes`, in the order in which `axes` names them.
        """

    @staticmethod
    def selu(data: Any) -> Any:
        """The scaled exponential linear unit (ONNX `Selu` with its default constants)."""

    @staticmethod
    def silu(data: Any) -> Any:
        """`x` times its sigmoid."""

    @staticmethod
    def softmax(data: Any, axis: Any = -1) -> Any:
        """`exp(x)` divided by its sum along `axis`, without overflow."""

    @staticmethod
    def softplus(data: Any, beta: Any = 1.0, threshold: Any = 20.0) -> Any:
        """`log(1 + exp(beta * x)) / beta`, and `x` itself where `beta * x` is above `threshold`."""

def nonzero(x: Any) -> Any:
    """The indices of the elements that are not 0: a row for each axis, int64.

    There is a column for each element. The one element of a tensor of rank 0 counts as one along an
    axis.
    """

def not_equal(x1: Any, x2: Any) -> Any:
    """True where `x1` differs from `x2`."""

def null_value() -> Any:
    """The null object, which tells an operator that an operand is left out."""

def one_hot(indices: Any, on_value: Any, off_value: Any, depth: Any, axis: Any = -1) -> Any:
    """A new axis of `depth` elements: `on_value` at each of `indices`, `off_value` elsewhere.

    The scalars have one dtype, which is that of the result. The new axis is the axis `axis`
    of the result. An index that is not there gives `off_value` everywhere.
    """

def ones(shape: Any, dtype: Any) -> Any:
    """A tensor of ones (True, for bools)."""

def ones_like(x: Any, dtype: Any = None) -> Any:
    """A tensor of ones of the shape of `x`, and of its dtype unless `dtype` names one."""

def outer(x1: Any, x2: Any) -> Any:
    """Each element of `x1`, of rank 1, times each of `x2`."""

def permute_dims(x: Any, axes: Any = None) -> Any:
    """`x` with its axes in another order: axis `i` of the result is axis `axes[i]` of `x`.

    Without `axes` the order is reversed.
    """

def power(x1: Any, x2: Any) -> Any:
    """`x1` to the power of `x2`; a negative power of an integer is rounded towards zero."""

def print(*values: Any, format: Any = "") -> Any:
    """Print values on a line, one after the other or by a `format`: "n is {}, loss {:.3f}".

    Fields are those of `str.format` without attributes, items and conversions; a width or precision
    is at most 1000. Raises `VMError` (RX0606) where a value does not go with its field.
    """

def prod(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The product along `axis` (all axes where None), 1 of nothing."""

def quantize(
    data: Any, scale: Any, zero_point: Any, axis: Any = -1, out_dtype: Any = "int8"
) -> Any:
    """`data / scale + zero_point`, rounded to even and held in the range of `out_dtype`; NaN is 0.

    A float of 8 bits keeps NaN and rounds once, to the nearest that it has. `scale` and
    `zero_point` are of rank 0, or have one element for each along `axis`.
    """

class random:
    """Random numbers by explicit keys, `R.random.…`.

        key = R.random.key(42)
        keys = R.random.split(key, 2)
        x = R.random.normal(keys[0], (4, 64))
        mask = R.random.bernoulli(keys[1], (4, 64), 0.9)

    A key is a tensor of two uint32. A number is a function of its key and its place in row-major order.
    So the same program gives the same numbers on every machine and executor. One key gives one tensor:
    for more numbers, split it. Start reading at `threefry.py`.
    """

    @staticmethod
    def bernoulli(key: Any, shape: Any, p: Any = 0.5, dtype: Any = "bool") -> Any:
        """True with probability `p`, or 1 in another `dtype`; else False, or 0."""

    @staticmethod
    def key(seed: Any) -> Any:
        """The key of a seed, one integer: its 64 bits as two uint32, the high ones first.

        Every seed has a key of its own, and a negative one that of its two's complement.
        """

    @staticmethod
    def normal(
        key: Any, shape: Any, mean: Any = 0.0, std: Any = 1.0, dtype: Any = "float32"
    ) -> Any:
        """Floats of the normal distribution with this mean and standard deviation.

        Each is the quantile (Wichura's AS 241) of a number between 0 and 1 of 53 bits. It is computed
        in float64 by arithmetic and square roots only, which all machines round alike, and rounded
        once. None is further than 8.3 standard deviations from the mean.
        """

    @staticmethod
    def randint(key: Any, shape: Any, low: Any, high: Any, dtype: Any = "int64") -> Any:
        """Integers from `low` to below `high`, all as likely.

        They are the remainders of 64 bits. None is likelier than another by more than one part in
        `2**64 / (high - low)`.
        """

    @staticmethod
    def split(key: Any, num: Any = 2) -> Any:
        """`num` keys made of one, a row each: uint32 of shape (num, 2).

        They give numbers that have nothing to do with each other, nor with those of `key` itself. Row
        `i` is Threefry-2x32 of the counter (2**31, i).
        """

    @staticmethod
    def uniform(
        key: Any, shape: Any, low: Any = 0.0, high: Any = 1.0, dtype: Any = "float32"
    ) -> Any:
        """Floats between `low` and `high`, all as likely, which `low` may be and `high` is not.

        A number from 0 to below 1 has as many random bits as `dtype` has room for. It is stretched in
        float64 and rounded once, which may give `high` after all.
        """

def repeat(data: Any, repeats: Any, axis: Any = None) -> Any:
    """Each element along `axis` `repeats` times; of all elements in row-major order where None."""

def reshape(x: Any, shape: Any) -> Any:
    """The elements of `x`, in row-major order, in another shape of as many elements.

    One dimension may be given as -1: it is worked out when the call is built. A 0 is the dimension
    of `x` in its place, unless `x` has no elements.
    """

def right_shift(x1: Any, x2: Any) -> Any:
    """`x1` with its bits moved down by `x2`; the sign stays."""

def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """`x` with its elements moved on by `shift` places along `axis`.

    What leaves at the end comes in at the beginning; a negative shift moves backwards. There is one
    shift for each axis, or one for all. An axis that is named twice is moved twice. Without `axis`
    the elements are moved in row-major order.
    """

def round(x: Any) -> Any:
    """Rounded to the nearest integer, halves to the even one."""

def rsqrt(x: Any) -> Any:
    """1 divided by the square root."""

def scatter_elements(
    data: Any, indices: Any, updates: Any, axis: Any = 0, reduction: Any = "update"
) -> Any:
    """`data` with each of `updates` at its index along `axis`, an element of `indices`.

    `reduction` says what becomes of what is there: "update" replaces it, "add", "mul", "max" and
    "min" combine both. What is put in one place several times is put in row-major order.
    """

def scatter_nd(data: Any, indices: Any, updates: Any, reduction: Any = "update") -> Any:
    """`data` with the parts `updates` at the places that the last axis of `indices` holds.

    `reduction` is as in `R.scatter_elements`.
    """

def searchsorted(
    sorted_sequence: Any, values: Any, right: Any = False, dtype: Any = "int32"
) -> Any:
    """For each of `values` its place in a sequence in order: the number of elements below it.

    With `right` the elements that equal it count, too. The sequence is a row for all values, or the
    rows along its last axis are for those of `values`. Source: TVM `topi.searchsorted`, numpy.
    """

def shape_of(expr: Any) -> Any:
    """The shape of a tensor, as a shape value."""

def shape_to_tensor(expr: Any) -> Any:
    """The dimensions of a shape as a tensor of rank 1 and dtype int64."""

def sigmoid(x: Any) -> Any:
    """The logistic function 1 / (1 + exp(-x))."""

def sign(x: Any) -> Any:
    """-1, 0 or 1 as `x` is below, at or above 0; NaN of NaN."""

def sin(x: Any) -> Any:
    """The sine of an angle in radians."""

def sinh(x: Any) -> Any:
    """The hyperbolic sine."""

def size(expr: Any) -> Any:
    """The number of elements of a tensor, as a tensor of rank 0; int64."""

def slice_scatter(
    input_tensor: Any, src: Any, start: Any, end: Any, step: Any, axis: Any = 0
) -> Any:
    """`input_tensor` with `src` in place of its slice `start:end:step` along an axis.

    The bounds are scalars and stop at the ends of the tensor, as those of Python do; the step
    is positive. Raises `ValueError` where `src` is not as long as the slice.
    """

def sort(x: Any, axis: Any = -1, descending: Any = False) -> Any:
    """The elements along `axis` in ascending order, or in descending order."""

def split(x: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    """A tuple of consecutive sections of `x` along `axis`.

    A list of indices says where each section but the first begins. One below 0 counts from the end;
    a section that would end before it begins is empty. A number says how many sections there are.
    All have the same length, rounded up, so the last may be shorter. One section is no tuple: it is
    the tensor.
    """

def sqrt(x: Any) -> Any:
    """The square root; NaN of negative numbers."""

def square(x: Any) -> Any:
    """`x * x`; integers wrap around."""

def squeeze(x: Any, axis: Any = None) -> Any:
    """`x` without the axes `axis`, each of which has one element; all such axes where None."""

def stack(tensors: Any, axis: Any = 0) -> Any:
    """The tensors, all of one shape, one after the other along a new axis."""

def std(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The standard deviation of the population along `axis` (all axes where None)."""

def strided_slice(
    x: Any, axes: Any, begin: Any, end: Any, strides: Any = None, assume_inbound: Any = False
) -> Any:
    """`x[begin:end:strides]` along each of `axes`, whole along the others.

    `axes`, `begin`, `end` and `strides` (1 where left out) are scalars, as many of each. With
    `assume_inbound` the bounds must be there, so that the length needs no limits. Raises
    `IndexError` where they are not.
    """

def subtract(x1: Any, x2: Any) -> Any:
    """The difference `x1 - x2`; integers wrap around."""

def sum(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The sum along `axis` (all axes where None), 0 of nothing."""

def take(x: Any, indices: Any, axis: Any = None, mode: Any = "fast") -> Any:
    """The elements (or slices along `axis`) of `x` at `indices`, in place of that axis.

    Without `axis`, `x` must have rank 1. Indices count from 0. With `mode` "fast" each must be
    there. "clip" takes the nearest that is there, "wrap" counts on from the other end. Raises
    `IndexError` for an index that is not there. Source: TVM `relax.take`.
    """

def tan(x: Any) -> Any:
    """The tangent of an angle in radians."""

def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""

def tensor_to_shape(expr: Any) -> Any:
    """The shape whose dimensions are the elements of a tensor of rank 1 and dtype int64."""

def tile(data: Any, repeats: Any) -> Any:
    """`data` beside itself, as often along each axis as `repeats` says.

    Where `repeats` has fewer numbers than `data` has axes they are for its last ones; where it has
    more, `data` gets axes of one element in front.
    """

def to_vdevice(data: Any, dst_vdevice: Any) -> Any:
    """A tensor on a virtual device of the module; of a tuple each field, and theirs."""

def topk(
    data: Any,
    k: Any = 1,
    axis: Any = -1,
    ret_type: Any = "both",
    largest: Any = True,
    dtype: Any = "int32",
) -> Any:
    """The `k` largest elements along `axis` in order, or the smallest.

    They are all of them where `k` is below 1, or more than there are.

    `ret_type` says what of them: "values", "indices" (where they are found, counted from 0, in
    `dtype`), or "both", as a tuple.
    """

def tril(x: Any, k: Any = 0) -> Any:
    """The matrices in the last two axes of `x` with zeros above their `k`-th diagonal.

    `k` is a scalar, 0 for the main diagonal, negative below it.
    """

def triu(x: Any, k: Any = 0) -> Any:
    """The matrices in the last two axes of `x` with zeros below their `k`-th diagonal.

    `k` is a scalar, 0 for the main diagonal, negative below it.
    """

def trunc(x: Any) -> Any:
    """Rounded towards 0 to an integer."""

def unique(
    x: Any,
    sorted: Any = True,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
) -> Any:
    """The elements of `x` (or its slices along `axis`), each once, in ascending order.

    NaN is one element, the largest; -0 is 0. They come in the order in which they are met where
    `sorted` is False. With any of the `return_…` they are the first of a tuple. Behind them, as
    int64, are where each is met first, which one each element of `x` is, and their counts.
    """

def variance(x: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The variance of the population along `axis` (all axes where None)."""

class vision:
    """Operators of object detection, `R.vision.…`."""

    @staticmethod
    def all_class_non_max_suppression(
        boxes: Any,
        scores: Any,
        max_output_boxes_per_class: Any,
        iou_threshold: Any,
        score_threshold: Any,
        output_format: Any = "onnx",
    ) -> Any:
        """For each sample and class the boxes that are left when the best suppress what overlaps them.

        `boxes` has the shape (samples, boxes, 4), two opposite corners of each, and `scores` (samples,
        classes, boxes). Boxes with a score above `score_threshold` are taken, the highest score first.
        One that overlaps an earlier one by more than `iou_threshold` is dropped. At most
        `max_output_boxes_per_class` are left of a class; a negative number is no limit.

        The result is a tuple. With the `output_format` "onnx" it is rows of sample, class and box,
        (samples * classes * boxes, 3), and how many there are, (1,), int64. With "tensorflow" the rows
        are class and box, (samples, classes * boxes, 2). Their scores come next, (samples, classes *
        boxes), then how many are found of each sample. Behind these all is 0. Overlaps are computed in
        float64. Source: TVM `relax.vision.all_class_non_max_suppression`, ONNX `NonMaxSuppression`.
        """

    @staticmethod
    def get_valid_counts(
        data: Any, score_threshold: Any = 0, id_index: Any = 0, score_index: Any = 1
    ) -> Any:
        """The boxes with a score above `score_threshold`, moved to the front of each sample.

        `data` has the shape (samples, boxes, numbers of a box); `score_index` and `id_index` are the
        places of the score and of the class among the numbers. A class below 0 is none; where
        `id_index` is negative there are no classes.

        The result is a tuple: how many boxes are left of each sample, the boxes, and their indices in
        `data`, int32. What is behind them is -1. Source: TVM `relax.vision.get_valid_counts`.
        """

    @staticmethod
    def multibox_transform_loc(
        cls_pred: Any,
        loc_pred: Any,
        anchor: Any,
        clip: Any = False,
        threshold: Any = 0.0,
        variances: Any = ...,
        keep_background: Any = True,
    ) -> Any:
        """Boxes and the probabilities of their classes, from what is predicted of anchors.

        `cls_pred` holds logits, of shape (samples, classes, anchors), and `loc_pred` four numbers for
        each anchor, (samples, 4 * anchors): x, y, width and height. `anchor` has the shape
        (1, anchors, 4): left, top, right and bottom. The center of a box is that of the anchor, moved
        by the first two numbers, times the anchor's size. Its size is that of the anchor times `exp` of
        the others. All four are multiplied by their `variances` first.

        The result is a tuple of boxes and probabilities. The boxes are top, left, bottom and right, of
        shape (samples, anchors, 4), the probabilities the softmax over the classes. Boxes are
        held between 0 and 1 with `clip`. Probabilities below `threshold` are 0, and those of class 0
        too without `keep_background`. All is computed in float64 and rounded once.
        """

    @staticmethod
    def non_max_suppression(
        data: Any,
        valid_count: Any,
        indices: Any,
        max_output_size: Any = -1,
        iou_threshold: Any = 0.5,
        force_suppress: Any = False,
        top_k: Any = -1,
        coord_start: Any = 2,
        score_index: Any = 1,
        id_index: Any = 0,
        return_indices: Any = True,
        invalid_to_bottom: Any = False,
        soft_nms_sigma: Any = 0.0,
        score_threshold: Any = 0.0,
    ) -> Any:
        """The boxes that are left when each suppresses those with a lower score that overlap it.

        `data`, `valid_count` and `indices` are what `R.vision.get_valid_counts` gives; two opposite
        corners of a box are the four numbers from `coord_start` on. Of each sample the `top_k` boxes
        with the highest scores are taken, in that order. A box with a score of 0 or less is dropped.
        So is one that an earlier box of its class (any class with `force_suppress`, or where
        `id_index` is negative) overlaps by `iou_threshold` or more. At most `max_output_size` are left.
        Neither number limits anything where it is below 1. Overlaps are computed in float64.

        With a `soft_nms_sigma` above 0 the score of such a box is multiplied by
        `exp(-overlap ** 2 / soft_nms_sigma)` instead. It is dropped where it is no more than
        `score_threshold` when its turn comes.

        The result is a tuple: the indices of the boxes that are left, in the words of `indices`, and
        their counts, both int32; what is behind them is -1. Of a soft suppression the boxes come first.
        Without `return_indices` it is the boxes, in the order of their scores, with -1 for those that
        are dropped. `invalid_to_bottom` moves these to the end.
        Source: TVM `relax.vision.non_max_suppression`.
        """

    @staticmethod
    def roi_align(
        data: Any,
        rois: Any,
        pooled_size: Any,
        spatial_scale: Any,
        sample_ratio: Any = -1,
        aligned: Any = False,
        layout: Any = "NCHW",
        mode: Any = "avg",
    ) -> Any:
        """Each region of an image as an image of `pooled_size`, by linear interpolation.

        `rois` has the shape (regions, 5): the sample, and x and y of two corners, which are multiplied
        by `spatial_scale`. One number for `pooled_size` is height and width. A region is parted into so
        many parts. Each gives the mean of its samples ("avg" as `mode`) or the largest ("max"). There
        are `sample_ratio` of them along both axes, evenly spread. Without that they are as many as a
        part has elements, rounded up.

        A sample more than one element beyond the image is 0, one less far is that of the border. A
        region is at least one element high and wide, unless it is `aligned`; a part without samples
        is 0. Corners are not moved by half an element: for that, move `rois` by it beforehand.

        All is computed in float64 and rounded once. Raises `IndexError` for a sample that is not
        there, `ValueError` for a region that is not finite. Source: TVM `relax.vision.roi_align`, ONNX
        `RoiAlign`.
        """

    @staticmethod
    def roi_pool(
        data: Any, rois: Any, pooled_size: Any, spatial_scale: Any, layout: Any = "NCHW"
    ) -> Any:
        """Each region of an image as an image of `pooled_size`, of the largest elements.

        `rois` has the shape (regions, 5): the sample, and x and y of the first and of the last element.
        They are multiplied by `spatial_scale` and rounded, halves upwards. One number for `pooled_size`
        is height and width. A region is parted into so many parts, which overlap where they do not end
        between elements. A part with no element of the image is 0.

        Parts are computed in float64. Raises `IndexError` for a sample that is not there, `ValueError`
        for a region that is not finite. Source: TVM `relax.vision.roi_pool`, ONNX `MaxRoiPool`.
        """

class vm:
    """Storage in the words of the virtual machine. Source: TVM `relax.vm`; as `memory.py`."""

    @staticmethod
    def alloc_storage(
        shape: Any, runtime_device_index: Any, dtype: Any, storage_scope: Any = "global"
    ) -> Any:
        """A new storage for as many elements of `dtype` as a tensor of `shape` has."""

    @staticmethod
    def alloc_tensor(storage: Any, offset: Any, shape: Any, dtype: Any) -> Any:
        """The tensor that begins `offset` bytes behind the start of a storage, in its memory.

        Raises `ValueError` for a tensor that the storage does not hold.
        """

    @staticmethod
    def call_tir_dyn(func: Any, args: Any) -> Any:
        """Call a PrimFunc of the module on tensors that it writes into, and on integers.

        `args` are the tensors, and last the shape of the integers for its scalar parameters, as lowered
        programs have it. It is `func(*tensors, *integers)`, a call with side effects. Raises
        `OperandError` where `args` does not end with a shape whose integers are written there.
        """

    @staticmethod
    def kill_object(obj: Any) -> Any:
        """Give a value back; it must not be used afterwards."""

def where(condition: Any, x1: Any, x2: Any) -> Any:
    """`x1` where `condition` is true, else `x2`; all three broadcast to each other."""

def wrap_param(data: Any, dtype: Any = "float32") -> Any:
    """A parameter of a model as `dtype`, as `R.astype` gives it.

    Passes that convert models mark parameters so. Source: TVM `relax.wrap_param`.
    """

def zeros(shape: Any, dtype: Any) -> Any:
    """A tensor of zeros (False, for bools)."""

def zeros_like(x: Any, dtype: Any = None) -> Any:
    """A tensor of zeros of the shape of `x`, and of its dtype unless `dtype` names one."""
