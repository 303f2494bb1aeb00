"""Whence: a knowledge-base server that can tell where everything it says came from."""

__version__ = "0.1.0"
