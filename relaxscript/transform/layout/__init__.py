"""Tensors that lie in memory as the functions want it that read them."""
