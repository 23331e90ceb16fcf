"""Speed as ratios to a yardstick of the same run: `python -m relaxscript_tests.benchmarks`."""

import os

# What is measured as compiled is compiled, in processes that a benchmark starts as well.
os.environ["RELAXSCRIPT_CACHE"] = "off"
