"""Tasks and the worker."""

from whence.jobs.tasks import Duties
from whence.jobs.worker import working

__all__ = ["Duties", "working"]
