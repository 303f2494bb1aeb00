"""Whence: a knowledge-base server that shows where every answer came from."""

__version__ = "0.1.0"
