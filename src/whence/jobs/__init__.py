"""Tasks and the worker."""

from whence.jobs.worker import working

__all__ = ["working"]
