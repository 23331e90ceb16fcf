"""The command `relaxscript`: run, check, print, graph, inspect, explain, ops, doctor.

Start reading at `command.py`, which says what can be written after `relaxscript`; each command has
a file of its own. `scripts_in_file.py` finds the scripts in a Python file without running it.
`autofix.py` applies the fixes of their mistakes and `files.py` puts the file back;
`json_report.py` and `sarif.py` say the mistakes to other programs.
"""

from __future__ import annotations

from .command import main

__all__ = ["main"]
