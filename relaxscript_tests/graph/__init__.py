"""Tests of `relaxscript/graph`."""
