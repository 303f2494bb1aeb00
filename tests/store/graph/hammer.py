"""Random histories from eight sides at once, with both cores busy beside them: `make test-histories`.

Twenty seeds, each with a bounded number of steps. Its name keeps it out of `make test`, because it takes minutes. A seed that
fails here is kept in `test_schema_histories.py`.
"""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.graphs import picture, require_sound
from tests.samples import AddSample
from tests.store.graph.test_schema_histories import Changing, live_together

from whence.store import Store

SEEDS = 20
WRITERS = 8
STEPS = 25
SECONDS = 300
_BUSY = """
import os, time
os.nice(5)
until = time.monotonic() + {seconds}
while time.monotonic() < until and os.getppid() == {parent}:
    sum(range(100_000))
"""


@pytest.fixture(scope="module", autouse=True)
def load() -> Iterator[None]:
    """A busy loop for each core. It ends with this process, and after a time in any case."""
    code = _BUSY.format(seconds=SEEDS * SECONDS, parent=os.getpid())
    loops = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(os.cpu_count() or 1)]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_histories_from_many_sides(dsn: str, add_sample: AddSample, seed: int) -> None:
    async with Store.open(dsn, size=WRITERS) as one, Store.open(dsn, size=WRITERS) as two:
        await one.projects.ensure_default()
        histories = [Changing((one, two)[index % 2], 100 * seed + index) for index in range(WRITERS)]
        await live_together(histories, add_sample, steps=STEPS)
        require_sound(dsn)
        for history in histories:
            await history.delete_everything()
        assert not any(picture(dsn).values())
