"""A saved program that is damaged in any way is refused, and costs neither time nor memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

from relaxscript_tests import examples
from relaxscript_tests.architecture import ROOT

LIMIT = 900  # seconds for all files, many times what they take
FILES = 2_000

# Loads every file in a process that may take 512 MB more than the packages and one program take.
READER = """
import random, resource, sys, time
import numpy as np
import relaxscript as rx
from relaxscript.ir import structural_equal
from relaxscript_tests.damaged_files import WRONG, parts, archived, resigned
from relaxscript_tests.test_artifact import Model

count = int(sys.argv[1])
rx.save(rx.build(Model), "model.rx")
whole = open("model.rx", "rb").read()
program = rx.load("model.rx").origin[0]
memory = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (memory + (512 << 20), resource.RLIM_INFINITY))

def damaged():
    for length in range(0, len(whole), 64):
        yield f"the first {length} bytes", whole[:length]
    for name, (damage, _) in WRONG.items():
        yield name, damage(whole)
    for seed in range(count):
        random_ = random.Random(seed)
        content = bytearray(whole)
        if seed % 3:  # bits of the archive, or of one file in it with a manifest that fits
            content = bytearray(parts(whole)[("module.py", "weights.safetensors")[seed % 3 - 1]])
        for _ in range(random_.choice((1, 1, 2, 8))):
            content[random_.randrange(len(content))] ^= 1 << random_.randrange(8)
        content = bytes(content)
        if seed % 3:
            content = resigned(whole, **{("module", "weights")[seed % 3 - 1]: content})
        yield f"seed {seed}", content

for name, content in damaged():
    open("damaged.rx", "wb").write(content)
    start = time.perf_counter()
    try:
        found = rx.load("damaged.rx")
        if name.startswith("seed") and int(name[5:]) % 3 == 0:
            assert structural_equal(found.origin[0], program), name
    except rx.DiagnosticError as error:
        assert error.diagnostics, name
    seconds = time.perf_counter() - start
    print(f"{seconds:.3f} {name}")
print("done")
"""


@pytest.mark.slow
def test_no_damaged_file_does_more_than_to_be_refused(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READER, str(examples(FILES))], cwd=tmp_path,
        capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}, timeout=LIMIT, check=False,
    )  # fmt: skip
    assert done.stdout.endswith("done\n"), done.stdout[-300:] + done.stderr[-3000:]
