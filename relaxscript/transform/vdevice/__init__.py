"""Passes that say on which virtual device each tensor is, and put it there."""
