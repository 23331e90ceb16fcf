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
    files: str = "by"  # what the names of the files of its sides begin with

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
TVM = Side("apache-tvm")
PYTHON = Side("python")
CACHED = Side("ours", "cache")
KEPT = "numba and openvino write into memory that is kept; all others return new arrays."
BACKEND = "What jax loads includes the start of its backend."
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
        BACKEND, "mlp",
    ),
    Measurement(
        "compile_encoder", "encoder, 2 layers", COMPILE, "cold",
        (OURS, JAX, CACHED, ORT, VINO, PLAIN), BACKEND, "encoder_2",
    ),
    Measurement(
        "compile_thousand", "1,000 elementwise operators", COMPILE, "cold",
        (OURS, JAX, CACHED, ORT, PLAIN, VINO), BACKEND, "thousand",
    ),
    Measurement(
        "lengths", "encoder of 1 layer, 32 lengths from 16 to 233 tokens", COMPILE, "cold",
        (OURS, ORT, VINO, TORCH, NUMPY, JAX, PLAIN),
    ),
)  # fmt: skip


def question(name: str, title: str, *sides: Side) -> Measurement:
    title = f"{title}, 1,000 bindings"
    return Measurement(name, title, COMPILER, "calls", sides or (OURS, TVM), files="compiler_by")


def growth(name: str, title: str, what: str, note: str) -> Measurement:
    sides = tuple(Side("ours", "", f"{what} {count}") for count in (10_000, 1_000))
    return Measurement(name, title, COMPILER, "calls", sides, note, files="compiler_by")


QUESTIONS: tuple[Measurement, ...] = (
    question("structural_hash", "structural_hash"),
    question("structural_equal", "structural_equal"),
    question("normalize", "the pass Normalize"),
    question("well_formed", "well_formed"),
    question("parse", "parse and derive the text of a user", OURS, PYTHON),
    question("build", "BlockBuilder"),
    question("print", "print"),
    question("parse_again", "parse what was printed"),
    Measurement(
        "import", "a process that imports and ends", COMPILER, "import",
        (OURS, ORT, NUMPY, JAX, VINO, TVM, TORCH, PYTHON), "python imports nothing.",
    ),
    growth("compile_growth", "`rx.jit` of a module", "compile", "From the IR, for this machine."),
    growth("pass_growth", "all passes of the default pipeline", "passes", "Without code."),
)  # fmt: skip
MEASUREMENTS += QUESTIONS


def compiled(name: str, text: str, must: float, aim: float, cached: str = "") -> Row:
    what = f"{text}, from the cache, new process" if cached else f"compile {text}, cold"
    return Row(
        f"{'cached' if cached else 'compile'}_{name}", what, f"compile_{name}", ("jax",), must, aim,
        ours=cached or "ours",
    )  # fmt: skip


COMPILED = {"mlp": "MLP", "encoder": "2-layer encoder", "thousand": "1,000 elementwise"}
BOUNDS = {"mlp": (0.7, 0.5), "encoder": (0.5, 0.3), "thousand": (0.5, 0.25)}
NORM_PEERS = ("onnxruntime", "openvino", "jax", "torch", "torch (compile)", "numba", "numpy")


def of_tvm(name: str, text: str, must: float, aim: float) -> Row:
    return Row(name, f"{text}, 1,000 bindings", name, ("apache-tvm",), must, aim)


def grown(name: str, text: str, what: str) -> Row:
    long, short = f"ours ({what} 10000)", f"ours ({what} 1000)"
    return Row(name, f"{text}, 1,000 → 10,000 bindings", name, (short,), 12, 10.5, ours=long)


QUESTION_ROWS: tuple[Row, ...] = (
    of_tvm("structural_hash", "structural_hash", 15, 7.5),
    of_tvm("structural_equal", "structural_equal", 6, 3),
    of_tvm("normalize", "Normalize", 6, 3),
    of_tvm("well_formed", "well_formed", 5, 2.5),
    Row("parse", "parse + derive, 1,000 bindings", "parse", ("python",), 2.5, 1.8),
    of_tvm("build", "BlockBuilder build", 2, 1.5),
    of_tvm("print", "print", 1.1, 0.8),
    of_tvm("parse_again", "re-parse", 0.05, 0.04),
    Row(
        "import", "import, process and all", "import", ("onnxruntime",), 1.5, 1.2,
    ),
    grown("compile_growth", "compile time", "compile"),
    grown("pass_growth", "pass time", "passes"),
)  # fmt: skip


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
    *QUESTION_ROWS,
)  # fmt: skip
