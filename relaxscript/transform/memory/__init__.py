"""Passes that say where tensors are in memory, and how long they live."""
