"""Tests of losses, optimizers, and what trains a model with them."""
