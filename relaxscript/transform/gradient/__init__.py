"""The pass that differentiates a function, and what it writes the gradients with."""
