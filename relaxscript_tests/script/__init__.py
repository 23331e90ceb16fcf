"""Tests of the script language."""
