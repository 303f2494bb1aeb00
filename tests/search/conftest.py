"""A shelf on a real database."""

import pytest
from tests.search.shelf import Shelf

from whence.models import DEFAULT_PROJECT_ID
from whence.store import Store


@pytest.fixture
def shelf(store: Store) -> Shelf:
    return Shelf(store, DEFAULT_PROJECT_ID)
