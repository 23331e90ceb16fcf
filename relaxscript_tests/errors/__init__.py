"""Tests of `relaxscript.errors`."""
