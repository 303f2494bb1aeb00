"""The same desk as for ingest, without a model: rules extract, and vectors come from a hash."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.ingest.conftest import Desk

from whence.app import App
from whence.settings import Secret, Settings


@pytest.fixture
def settings(dsn: str, tmp_path: Path) -> Settings:
    return Settings(database_url=Secret(dsn), data_dir=tmp_path / "data", pool_size=6, embedder="hash")


@pytest.fixture
async def desk(settings: Settings) -> AsyncIterator[Desk]:
    async with App.open(settings) as app:
        yield Desk(app)
