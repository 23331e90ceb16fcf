"""The parts of random programs: functions that add one binding each to a `GeneratorContext`."""
