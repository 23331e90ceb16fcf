"""Passes that make programs smaller or plainer, and keep what they mean."""
