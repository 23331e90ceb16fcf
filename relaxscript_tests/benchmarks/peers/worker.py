"""The process of one side and one workload: it answers each line of JSON with a line of JSON.

`python -m relaxscript_tests.benchmarks.peers.worker TASK`, run by the interpreter of the peer. The
first answer says that it is ready, and the versions of what it has imported. What libraries print
goes to standard error. An answer `{"failed": ...}` is the last one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any

Answer = dict[str, Any]


def pin(cpu: int | None) -> None:
    """Stay on one processor, where the system can do that."""
    if cpu is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {cpu})


def versions(names: list[str]) -> dict[str, str]:
    found = {"python": sys.version.split()[0]}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found | blas()


def blas() -> dict[str, str]:
    """The library that numpy multiplies matrices with, where numpy is imported and says it."""
    config = getattr(sys.modules.get("numpy"), "__config__", None)
    try:
        said = config.show(mode="dicts")["Build Dependencies"]["blas"]
        return {f"its {said['name']}": said["version"]}
    except (AttributeError, KeyError, TypeError):
        return {}


class Work:
    """What one worker can be asked for."""

    def __init__(self, task: dict[str, Any]) -> None:
        os.environ.update(task.get("environment", {}))
        pin(task.get("cpu"))
        module = import_module(task["module"])
        known = import_module(f"{__package__}.workloads").WORKLOADS
        name = task["workload"]
        self.clock = import_module(f"{__package__}.clock")
        self.clock.import_all(task.get("imports", ()))
        self.program = module.program(known.get(name, name), task.get("variant", ""))
        self.task = task

    def ready(self) -> Answer:
        return {"versions": versions(self.task.get("packages", []))}

    def prepare(self) -> Answer:
        """Make the calls ready that are sampled, and check a first one."""
        self.calls = self.clock.Calls(self.program)
        return {"error": self.calls.error, "once": self.calls.once}

    def sample(self, seconds: float) -> Answer:
        answer: Answer = self.calls.sample(seconds)
        return answer

    def once(self) -> Answer:
        """The program from its text to its first result."""
        answer: Answer = self.clock.once(self.program)
        return answer

    def rehearse(self) -> Answer:
        """The same, not to be timed: what it imports others import before."""
        answer: Answer = {}
        names = self.clock.imported_by(lambda: answer.update(self.once()))
        return {**answer, "imports": names}


def line_of(error: BaseException) -> str:
    """The failure in a line, without the paths of this machine."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    for path in (sys.prefix, os.getcwd(), os.path.expanduser("~")):
        text = text.replace(path, "...") if len(path) > 1 else text
    return text[:300]


def serve(ask: Callable[[], str], tell: Callable[[Answer], None], task: dict[str, Any]) -> None:
    """Answer until there is nothing more to be read, or something fails."""
    try:
        work = Work(task)
        tell(work.ready())
        while line := ask():
            request = json.loads(line)
            tell(getattr(work, request.pop("do"))(**request))
    except BaseException as error:
        tell({"failed": line_of(error)})
        raise SystemExit(1) from error


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libraries print

    def tell(answer: Answer) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    serve(sys.stdin.readline, tell, json.loads(sys.argv[1]))


if __name__ == "__main__":
    main()
