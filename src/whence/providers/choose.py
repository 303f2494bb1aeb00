"""The embedder that the settings ask for."""

from typing import TYPE_CHECKING

from whence.errors import SettingsError
from whence.settings import Settings, env_name

if TYPE_CHECKING:
    from whence.providers.base import Embedder


def open_embedder(settings: Settings) -> "Embedder":
    """Ready to be used and not yet loaded or connected; raises SettingsError where a setting is missing."""
    # Each brings libraries along that the others do not need.
    if settings.embedder == "openai":
        return _openai(settings)
    if settings.embedder == "hash":
        from whence.providers.hashed import DIMENSIONS, HashEmbedder

        return HashEmbedder(dimensions=settings.embedding_dimensions or DIMENSIONS)
    return _minilm(settings)


def _minilm(settings: Settings) -> "Embedder":
    from whence.providers.minilm import DIMENSIONS, MiniLMEmbedder

    if settings.embedding_dimensions not in (None, DIMENSIONS):
        name = env_name("embedding_dimensions")
        raise SettingsError(
            f"{name} must be {DIMENSIONS} or not set: the embedder minilm has no other. "
            f"Did you mean WHENCE_EMBEDDER=openai?",
            details={"setting": name, "provided": settings.embedding_dimensions, "expected": str(DIMENSIONS)},
        )
    return MiniLMEmbedder(threads=settings.embedding_threads)


def _openai(settings: Settings) -> "Embedder":
    from whence.providers.openai import OpenAIEmbedder

    model, dimensions = settings.embedding_model, settings.embedding_dimensions
    if model is None:
        raise _missing("embedding_model", "the name of a model that the endpoint has")
    if dimensions is None:
        raise _missing("embedding_dimensions", "the number of dimensions of its vectors")
    return OpenAIEmbedder(
        base_url=settings.embedding_base_url,
        api_key=settings.embedding_api_key,
        model=model,
        dimensions=dimensions,
        batch=settings.embedding_batch,
        concurrency=settings.embedding_concurrency,
        timeout=settings.embedding_timeout,
        attempts=settings.embedding_attempts,
        max_bytes=settings.embedding_max_bytes,
    )


def _missing(attribute: str, expected: str) -> SettingsError:
    name = env_name(attribute)
    return SettingsError(
        f"{name} must be set for WHENCE_EMBEDDER=openai: {expected}.",
        details={"setting": name, "provided": None, "expected": expected},
    )
