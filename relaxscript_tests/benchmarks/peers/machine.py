"""The machine, the commit and the versions, in words that name no host and no user."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

from .conversation import ROOT

VECTORS = (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("asimd", "NEON"))


def processor() -> str:
    """The model of the processor, its family and its widest vectors."""
    known = {}
    table = Path("/proc/cpuinfo")
    if table.exists():
        for line in table.read_text("utf-8").split("\n\n")[0].splitlines():
            key, _, value = line.partition(":")
            known[key.strip()] = value.strip()
    name = known.get("model name") or platform.processor() or platform.machine()
    family = ", ".join(f"{k} {known[k]}" for k in ("cpu family", "model") if k in known)
    flags = set((known.get("flags") or known.get("Features", "")).split())
    widest = next((text for flag, text in VECTORS if flag in flags), "")
    return ", ".join(part for part in (name, family, widest) if part)


def caches() -> str:
    """The sizes of the caches of a processor, where the system tells them."""
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((index / n).read_text().strip() for n in ("level", "type", "size"))
        if kind != "Instruction":
            found.append(f"L{level} {size}")
    return ", ".join(found)


def memory() -> str:
    """The whole memory in GiB, where the system tells it."""
    table = Path("/proc/meminfo")
    if not table.exists():
        return ""
    found = re.search(r"MemTotal:\s+(\d+) kB", table.read_text("utf-8"))
    return f"{int(found[1]) / 2**20:.0f} GiB" if found else ""


def machine() -> list[str]:
    """One line for each thing that is known."""
    said = [f"{processor()}; {os.cpu_count()} CPUs"]
    said += [text for text in (caches(), memory()) if text]
    return [*said, f"{platform.system()} on {platform.machine()}"]


def load() -> str:
    """How many processes wanted a processor in the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def commit() -> str:
    """The commit, and whether something is changed beside it."""
    name = git("rev-parse", "--short=10", "HEAD") or "unknown"
    changed = git("status", "--porcelain", "--untracked-files=no")
    return f"{name}, with changes" if changed else name


def date_of_commit() -> str:
    return git("log", "-1", "--format=%cs") or "unknown"
