"""The server has numpy use one thread, which numpy decides when it is loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TASKS = Path("/proc/self/task")
CODE = """
import os, sys
from whence.cli import serve
assert "numpy" not in sys.modules
serve.limit_numpy()
import numpy
numpy.ones((500, 500)) @ numpy.ones((500, 500))
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not TASKS.exists(), reason="counts threads in /proc")
def test_numpy_starts_no_threads_in_the_server() -> None:
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    ran = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, check=True)
    assert ran.stdout.split() == [b"1"]
