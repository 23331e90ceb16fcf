"""Passes: their base classes, the context in which they run, and a rewriter of bindings."""
