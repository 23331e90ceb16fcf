"""Relax, the graph-level language of deep-learning compilers, embedded in Python."""
