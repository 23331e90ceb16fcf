"""Passes that write out what a call, a signature or a cast asks of the machine."""
