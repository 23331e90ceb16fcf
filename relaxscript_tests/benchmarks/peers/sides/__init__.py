"""One file for each side: how it is told to compute a workload, and what it answers with.

`program(workload, variant)` of a file gives a `Program`. Whatever a file imports counts as import.
"""
