"""Passes that say how long memory lives."""
