"""Passes over parameters: what is computed of weights alone, and when each is fetched."""
