"""Passes that make functions of others for what is known of their arguments, or of their calls."""
