"""Speed as ratios to a yardstick of the same run: `python -m relaxscript_tests.benchmarks`."""
