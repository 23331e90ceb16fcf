"""Loading a gigabyte of weights by name, beside a read of the same file by numpy.

Loading maps the file: time and memory are those of the names. What a model is made of them, by
either way, copies nothing; a run reads what it uses. Memory is what is resident and not of files.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import relaxscript as rx
from relaxscript.relax.frontend import nn

from .timing import in_turns

LAYERS, WIDTH = 64, 2048  # 64 matrices of 16 MiB
SPEC = {"forward": {"x": nn.spec.Tensor(("n", WIDTH), "float32")}}


def private_megabytes() -> float:
    """The memory of this process that is no page of a file; NaN where the system does not say."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    fields = dict(line.split(":", 1) for line in status.read_text("utf-8").splitlines())
    return int(fields["RssAnon"].split()[0]) / 1024


def model() -> nn.Module:
    return nn.ModuleList([nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)])


def report(what: str, before: float) -> None:
    print(f"{what:<34}{private_megabytes() - before:+8.1f} MB")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        # One row of memory stands for each matrix: what is written is a gigabyte all the same.
        row = np.linspace(-0.02, 0.02, WIDTH, dtype="float32")
        matrix = np.broadcast_to(row, (WIDTH, WIDTH))
        rx.save_weights({f"{i}.weight": matrix for i in range(LAYERS)}, path)
        size = path.stat().st_size
        times = in_turns(
            {"load": lambda: rx.load_weights(path), "read": lambda: np.fromfile(path, "uint8")},
            runs=3,
        )
        load, read = times["load"], times["read"]
        print(f"load {size / 1e9:.2f} GB          {load * 1e3:8.2f} ms = 1 / {read / load:,.0f}"
              f" of numpy's {read * 1e3:.0f} ms")  # fmt: skip
        figures(path)


def figures(path: Path) -> None:
    net = model()
    mod, _ = net.export_tvm(SPEC)
    machine = rx.jit(mod)
    x = np.ones((1, WIDTH), "float32")
    machine["forward"](x, *[row_of_zeros()] * LAYERS)
    before = private_megabytes()
    weights = rx.load_weights(path)
    report("memory of load_weights", before)
    net.load_state_dict(weights)
    report("  and load_state_dict", before)
    bound: Any = machine.bind_params(weights, "forward")
    report("  and bind_params", before)
    constants = rx.jit(mod, params=weights)
    report("  and build with constants", before)
    by_both = bound(x), constants["forward"](x)
    report("  and a run of each", before)
    print(f"their results are equal: {np.array_equal(*by_both)}")


def row_of_zeros() -> Any:
    return np.broadcast_to(np.float32(0), (WIDTH, WIDTH))


if __name__ == "__main__":
    main()
