"""Ours beside its peers, in processes of their own: `python -m relaxscript_tests.benchmarks peers`.

`table.py` has the rows and what they are made of, `workloads.py` what is computed, `sides/` how
each peer is told to compute it. `worker.py` runs in the interpreter of a peer and knows nothing of
ours. `RESULTS.md` beside this folder is the last report.
"""
