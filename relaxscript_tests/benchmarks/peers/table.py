"""The rows of the report, and what is measured for them.

A measurement has several sides in turns; a row is the ratio of two of them, or a count. Where a row
names several peers, the best of them counts.
"""

from __future__ import annotations

from typing import NamedTuple


class Side(NamedTuple):
    """One way to run a workload: `ours`, or a peer, perhaps in a variant."""

    peer: str
    variant: str = ""
    argument: str = ""  # another workload than that of the measurement

    @property
    def label(self) -> str:
        said = ", ".join(part for part in (self.variant, self.argument) if part)
        return f"{self.peer} ({said})" if said else self.peer


class Measurement(NamedTuple):
    """What is run in turns. "calls": many of each; "cold": all in a new process; "import"."""

    name: str
    title: str
    section: str
    kind: str
    sides: tuple[Side, ...]
    note: str = ""
    workload: str = ""  # where its name is another

    def workload_of(self, side: Side) -> str:
        return side.argument or self.workload or self.name


class Row(NamedTuple):
    """A ratio with its bounds: the time of `ours` by that of the best of `peers`."""

    name: str
    text: str
    measurement: str
    peers: tuple[str, ...]
    must: float
    aim: float
    ours: str = "ours"
    counts: bool = False  # not a time: the number of compilations


OURS, NUMPY, NUMBA = Side("ours"), Side("numpy"), Side("numba")
ORT, VINO, JAX, TORCH = Side("onnxruntime"), Side("openvino"), Side("jax"), Side("torch")
DLIGHT, FUSE, PLAIN = (Side("apache-tvm", v) for v in ("dlight", "fuse", "default"))
TORCH_COMPILE = Side("torch", "compile")
CACHED = Side("ours", "cache")
KEPT = "numba writes into an array that is kept; all others return a new one."
PLAIN_LOOPS = "apache-tvm runs three plain loops here, which would take seconds; it is left out."

CALLS = "Calls"
COMPILE = "Compilation"
COMPILER = "The compiler itself"

MEASUREMENTS: tuple[Measurement, ...] = (
    Measurement(
        "mlp", "MLP 64-64-10, batch 1", CALLS, "calls",
        (OURS, DLIGHT, ORT, NUMPY, JAX, VINO, TORCH, FUSE),
    ),
    Measurement(
        "chain", "100 kernels: 50 times a product of 8 by 8 and softmax", CALLS, "calls",
        (OURS, FUSE, ORT, JAX, NUMPY, VINO, TORCH),
    ),
    Measurement(
        "heavy", "tanh(1.5 x + 0.5) * 0.7 + exp(-x²), 16 M numbers", CALLS, "calls",
        (OURS, ORT, JAX, VINO, NUMPY, FUSE, NUMBA, TORCH), KEPT,
    ),
    Measurement(
        "light", "relu(1.5 x + 0.5), 16 M numbers", CALLS, "calls",
        (OURS, NUMBA, ORT, VINO, FUSE, NUMPY, JAX, TORCH), KEPT,
    ),
    Measurement(
        "softmax", "softmax (4096, 1024)", CALLS, "calls",
        (OURS, ORT, JAX, TORCH, TORCH_COMPILE, VINO, NUMPY, DLIGHT),
    ),
    Measurement(
        "layer_norm", "layer_norm (4096, 1024)", CALLS, "calls",
        (OURS, ORT, NUMBA, TORCH, TORCH_COMPILE, JAX, VINO, NUMPY, DLIGHT), KEPT,
    ),
    Measurement(
        "rms_norm", "rms_norm (4096, 1024)", CALLS, "calls",
        (OURS, ORT, NUMBA, JAX, TORCH, TORCH_COMPILE, VINO, NUMPY, DLIGHT), KEPT,
    ),
    Measurement(
        "gemm_256", "product (256, 256)", CALLS, "calls",
        (OURS, NUMPY, ORT, JAX, VINO, TORCH, FUSE),
    ),
    Measurement(
        "gemm_512", "product (512, 512)", CALLS, "calls",
        (OURS, NUMPY, ORT, JAX, VINO, TORCH, FUSE),
    ),
    *(
        Measurement(
            f"gemm_{size}", f"product ({size}, {size})", CALLS, "calls",
            (OURS, NUMPY, ORT, JAX, VINO, TORCH), PLAIN_LOOPS,
        )
        for size in (1024, 2048)
    ),
    Measurement(
        "encoder", "encoder, 6 layers, 128 tokens, 384 features", CALLS, "calls",
        (OURS, ORT, VINO, JAX, NUMPY, TORCH, FUSE),
    ),
    Measurement(
        "compile_mlp", "MLP 64-64-10", COMPILE, "cold", (OURS, JAX, CACHED, ORT, VINO, PLAIN),
        workload="mlp",
    ),
    Measurement(
        "compile_encoder", "encoder, 2 layers", COMPILE, "cold",
        (OURS, JAX, CACHED, ORT, VINO, PLAIN), workload="encoder_2",
    ),
    Measurement(
        "compile_thousand", "1,000 elementwise operators", COMPILE, "cold",
        (OURS, JAX, CACHED, ORT, PLAIN, VINO), workload="thousand",
    ),
    Measurement(
        "lengths", "encoder of 1 layer, 32 lengths of its input", COMPILE, "cold",
        (OURS, ORT, VINO, TORCH, NUMPY, JAX, PLAIN),
    ),
)  # fmt: skip


def compiled(name: str, text: str, must: float, aim: float, cached: str = "") -> Row:
    what = f"{text}, from the cache, new process" if cached else f"compile {text}, cold"
    return Row(
        f"{'cached' if cached else 'compile'}_{name}", what, f"compile_{name}", ("jax",), must, aim,
        ours=cached or "ours",
    )  # fmt: skip


COMPILED = {"mlp": "MLP", "encoder": "2-layer encoder", "thousand": "1,000 elementwise"}
BOUNDS = {"mlp": (0.7, 0.5), "encoder": (0.5, 0.3), "thousand": (0.5, 0.25)}
NORM_PEERS = ("onnxruntime", "openvino", "jax", "torch", "torch (compile)", "numba", "numpy")

ROWS: tuple[Row, ...] = (
    Row("mlp", "MLP 64-64-10, batch 1", "mlp", ("apache-tvm (dlight)",), 0.35, 0.2),
    Row("chain", "chain of 100 kernels", "chain", ("apache-tvm (fuse)",), 0.4, 0.25),
    Row("heavy", "elementwise heavy, 16 M", "heavy", ("onnxruntime",), 0.7, 0.5),
    Row("light", "elementwise light, 16 M", "light", ("numba",), 1.1, 0.8),
    Row("softmax", "softmax", "softmax", ("onnxruntime",), 1.6, 1.0),
    Row("layer_norm", "layer_norm", "layer_norm", NORM_PEERS, 1.4, 1.0),
    Row("rms_norm", "rms_norm", "rms_norm", NORM_PEERS, 1.4, 1.0),
    *(
        Row(f"gemm_{size}", f"GEMM {size}", f"gemm_{size}", ("numpy",), 1.1, 1.0)
        for size in (256, 512, 1024, 2048)
    ),
    *(compiled(name, COMPILED[name], *BOUNDS[name]) for name in COMPILED),
    *(compiled(name, COMPILED[name], 0.15, 0.05, CACHED.label) for name in COMPILED),
    Row("lengths", "32 sequence lengths from cold", "lengths", ("onnxruntime",), 1.3, 1.0),
    Row("compilations", "32 lengths: compilations", "lengths", (), 1, 1, counts=True),
    Row(
        "encoder", "encoder, 6 layers, seq 128", "encoder", ("openvino", "onnxruntime"), 1.3, 1.05
    ),
)  # fmt: skip
