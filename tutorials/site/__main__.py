"""`python -m tutorials.site [OUT]`: build the documentation site."""

from __future__ import annotations

import sys

from .build import main

sys.exit(main(sys.argv[1:]))
