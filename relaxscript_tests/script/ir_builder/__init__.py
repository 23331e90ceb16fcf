"""Tests of programs that are written as frames."""
