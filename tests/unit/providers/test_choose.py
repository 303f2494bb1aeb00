"""The embedder that the settings ask for."""

from typing import Any

import pytest

from whence.errors import SettingsError
from whence.providers import open_embedder
from whence.settings import Secret, Settings


def test_the_default() -> None:
    embedder = open_embedder(Settings())
    assert (embedder.provider, embedder.model, embedder.dimensions) == (
        "minilm",
        "all-MiniLM-L6-v2-int8",
        384,
    )


def test_an_endpoint() -> None:
    settings = Settings(
        embedder="openai",
        embedding_api_key=Secret("sk"),
        embedding_model="text-embedding-3-small",
        embedding_dimensions=512,
    )
    embedder = open_embedder(settings)
    assert (embedder.provider, embedder.model, embedder.dimensions) == (
        "openai",
        "text-embedding-3-small",
        512,
    )


def test_the_hash() -> None:
    assert open_embedder(Settings(embedder="hash")).dimensions == 256
    assert open_embedder(Settings(embedder="hash", embedding_dimensions=8)).dimensions == 8


@pytest.mark.parametrize(
    ("given", "setting"),
    [
        ({"embedder": "openai", "embedding_dimensions": 3}, "WHENCE_EMBEDDING_MODEL"),
        ({"embedder": "openai", "embedding_model": "m"}, "WHENCE_EMBEDDING_DIMENSIONS"),
        ({"embedder": "minilm", "embedding_dimensions": 768}, "WHENCE_EMBEDDING_DIMENSIONS"),
    ],
)
def test_what_is_missing_or_does_not_fit(given: dict[str, Any], setting: str) -> None:
    with pytest.raises(SettingsError, match=setting) as error:
        open_embedder(Settings(**given))
    assert error.value.details["setting"] == setting
