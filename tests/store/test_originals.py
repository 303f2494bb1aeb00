"""Where originals are kept: what only shows when a process ends."""

import subprocess
import sys
from pathlib import Path

ENDS_AT_ONCE = """
import asyncio, sys
from pathlib import Path
from whence.store.originals import Originals

async def work(originals):
    await asyncio.gather(*(originals.delete(f"p/{n}") for n in range(3)))

asyncio.run(work(Originals.open(None, Path(sys.argv[1]))))
"""


def test_a_process_that_ends_right_after_its_work_ends_well(tmp_path: Path) -> None:
    """On a busy machine a few of a hundred did not: the storage's threads came back to an interpreter that was gone."""
    for _ in range(4):
        ended = subprocess.run(
            [sys.executable, "-c", ENDS_AT_ONCE, str(tmp_path)], capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr
