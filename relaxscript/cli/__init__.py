"""The command `relaxscript`: run, check, print, inspect, explain, doctor.

Start reading at `command.py`, which says what can be written after `relaxscript`; each command has
a file of its own. `definitions.py` finds the scripts in a Python file without running it.
"""

from __future__ import annotations

from .command import main

__all__ = ["main"]
