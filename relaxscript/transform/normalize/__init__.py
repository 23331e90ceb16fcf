"""Passes that bring programs into the forms that others ask for."""
