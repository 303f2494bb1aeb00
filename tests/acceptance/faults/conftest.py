"""Vectors come from an endpoint that can be told to fail."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.endpoint import Endpoint

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as opened:
        yield opened


@pytest.fixture
def hosted(hosted: "Installation", endpoint: Endpoint) -> "Installation":
    hosted.embed_by(endpoint.url)
    return hosted
