"""Opens the embedder and the chat model of the settings."""

from typing import TYPE_CHECKING

from whence.errors import SettingsError
from whence.settings import Settings, env_name

if TYPE_CHECKING:
    from whence.providers.base import Embedder
    from whence.providers.chat import ChatModel

_A_MODEL = "the name of a model that the endpoint has"


def open_embedder(settings: Settings) -> "Embedder":
    """Not yet loaded or connected. Raises SettingsError when a setting is missing."""
    # Imported here: each needs libraries that the others do not.
    if settings.embedder == "openai":
        return _openai(settings)
    if settings.embedder == "hash":
        from whence.providers.hashed import DIMENSIONS, HashEmbedder

        return HashEmbedder(dimensions=settings.embedding_dimensions or DIMENSIONS)
    return _minilm(settings)


def open_chat_model(settings: Settings) -> "ChatModel | None":
    """None when no endpoint is configured. Not yet connected. Raises SettingsError when a setting is missing or invalid."""
    base_url, model = settings.llm_base_url, settings.llm_model
    if base_url is None and model is None:
        return None
    if base_url is None:
        raise _missing("llm_base_url", "the address of the endpoint", because="WHENCE_LLM_MODEL")
    if model is None:
        raise _missing("llm_model", _A_MODEL, because="WHENCE_LLM_BASE_URL")
    most = settings.llm_context // 2
    if settings.llm_max_tokens > most:
        name = env_name("llm_max_tokens")
        raise SettingsError(
            f"{name} must be at most {most}, half of WHENCE_LLM_CONTEXT: the other half is for the question and its passages.",
            details={"setting": name, "provided": settings.llm_max_tokens, "expected": f"at most {most}"},
        )
    from whence.providers.openai_chat import OpenAIChatModel

    return OpenAIChatModel(
        base_url=base_url,
        api_key=settings.llm_api_key,
        model=model,
        timeout=settings.llm_timeout,
        attempts=settings.llm_attempts,
    )


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
        raise _missing("embedding_model", _A_MODEL, because="WHENCE_EMBEDDER=openai")
    if dimensions is None:
        expected = "the number of dimensions of its vectors"
        raise _missing("embedding_dimensions", expected, because="WHENCE_EMBEDDER=openai")
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


def _missing(attribute: str, expected: str, *, because: str) -> SettingsError:
    name = env_name(attribute)
    return SettingsError(
        f"{name} must be set for {because}: {expected}.",
        details={"setting": name, "provided": None, "expected": expected},
    )
