"""The other end of a worker: it is started, asked in lines of JSON, and ended."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
WORKER = "relaxscript_tests.benchmarks.peers.worker"

ONE_THREAD = {
    **dict.fromkeys(
        (
            "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS",
            "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS", "TVM_NUM_THREADS",
            "RELAXSCRIPT_NUM_THREADS",
        ),
        "1",
    ),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "RELAXSCRIPT_CACHE": "off",
}  # fmt: skip


class WorkerFailed(Exception):
    """A worker that could not do what it was asked for; the message is a line that says why."""


class Conversation:
    """One worker, from its start to its end."""

    def __init__(self, python: str, task: Mapping[str, Any], limit: float = 300.0) -> None:
        self.limit = limit
        self.process = subprocess.Popen(
            [python, "-m", WORKER, json.dumps(dict(task))],
            cwd=ROOT,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def ready(self) -> dict[str, Any]:
        """The first answer."""
        return self.answer()

    def ask(self, do: str, **details: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # then its last answer says why
            self.process.stdin.write(json.dumps({"do": do, **details}) + "\n")
            self.process.stdin.flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """The next answer; one that takes too long ends the worker."""
        assert self.process.stdout is not None
        watch = threading.Timer(self.limit, self.process.kill)
        watch.start()
        try:
            line = self.process.stdout.readline()
        finally:
            late = not watch.is_alive()
            watch.cancel()
        if not line:
            raise WorkerFailed(f"no answer in {self.limit:.0f} s" if late else self.last_words())
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            raise WorkerFailed(answer["failed"])
        return answer

    def last_words(self) -> str:
        self.process.wait(10)
        return f"it ended with the status {self.process.returncode}"

    def end(self) -> None:
        """Let it go, whatever it does."""
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
