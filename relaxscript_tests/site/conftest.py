"""What renders pages is tested where Sphinx is installed, the extra `site`: `.ci/run site`."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("sphinx") else ["test_build.py", "test_names.py"]
