"""The embedder and the chat model that the settings ask for."""

from typing import Any

import pytest

from whence.errors import SettingsError
from whence.providers import open_chat_model, open_embedder
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


def test_no_chat_model() -> None:
    assert open_chat_model(Settings()) is None
    assert open_chat_model(Settings(llm_api_key=Secret("sk"))) is None


def test_a_chat_model() -> None:
    model = open_chat_model(Settings(llm_base_url="http://localhost:11434/v1", llm_model="llama3.2"))
    assert model is not None
    assert (model.provider, model.model) == ("openai", "llama3.2")


@pytest.mark.parametrize(
    ("given", "setting"),
    [
        ({"llm_model": "m"}, "WHENCE_LLM_BASE_URL"),
        ({"llm_base_url": "http://localhost/v1"}, "WHENCE_LLM_MODEL"),
        (
            {
                "llm_base_url": "http://localhost/v1",
                "llm_model": "m",
                "llm_context": 4096,
                "llm_max_tokens": 2049,
            },
            "WHENCE_LLM_MAX_TOKENS",
        ),
    ],
)
def test_what_a_chat_model_needs(given: dict[str, Any], setting: str) -> None:
    with pytest.raises(SettingsError, match=f"^{setting} must be") as error:
        open_chat_model(Settings(**given))
    assert error.value.details["setting"] == setting
