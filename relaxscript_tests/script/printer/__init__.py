"""Tests of the printer: programs are built by hand, so that nothing but the printer is tested."""
