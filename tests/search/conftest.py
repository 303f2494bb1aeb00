"""A shelf on a real database."""

import pytest
from tests.search.shelf import Shelf

from whence.store import Store
from whence.types import DEFAULT_PROJECT_ID


@pytest.fixture
def shelf(store: Store) -> Shelf:
    return Shelf(store, DEFAULT_PROJECT_ID)
