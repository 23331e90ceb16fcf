"""`python -m relaxscript` is the command `relaxscript`."""

from __future__ import annotations

import sys

from relaxscript.cli import main

if __name__ == "__main__":
    sys.exit(main())
