"""Passes that only GPUs and tuners give a meaning, and what they do on a processor."""
