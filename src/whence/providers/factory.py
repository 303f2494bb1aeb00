"""Opens the chat model, the reranker and the embedder of the settings, and the embedders of projects with other spaces."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Self, cast, get_args

from whence.errors import EmbeddingUnavailable, SettingsError
from whence.models import EmbeddingSpace
from whence.settings import PREFIX, EmbedderName, Settings

if TYPE_CHECKING:
    from whence.providers.base import ChatModel, Embedder, Reranker


def open_embedder(settings: Settings) -> "Embedder":
    """Not yet loaded or connected. Raises SettingsError when a setting is missing or invalid."""
    # Imported here: each needs libraries that the others do not.
    model, dimensions = settings.embedding_model, settings.embedding_dimensions
    if settings.embedder == "hash":
        from whence.providers import hashed

        return hashed.HashEmbedder(dimensions=dimensions or hashed.DIMENSIONS)
    if settings.embedder == "minilm":
        from whence.providers import minilm

        if dimensions not in (None, minilm.DIMENSIONS):
            expected = f"{minilm.DIMENSIONS} or not set with WHENCE_EMBEDDER=minilm"
            raise SettingsError.of("WHENCE_EMBEDDING_DIMENSIONS", provided=dimensions, expected=expected)
        return minilm.MiniLMEmbedder(threads=settings.embedding_threads)
    from whence.providers.openai import OpenAIEmbedder

    if model is None:
        raise _make_missing_error(
            "EMBEDDING_MODEL", "EMBEDDER=openai: the name of a model that the endpoint has"
        )
    if dimensions is None:
        raise _make_missing_error(
            "EMBEDDING_DIMENSIONS", "EMBEDDER=openai: the number of dimensions of its vectors"
        )
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


def open_chat_model(settings: Settings) -> "ChatModel | None":
    """None when no endpoint is configured. Not yet connected. Raises SettingsError when a setting is missing or invalid."""
    base_url, model = settings.llm_base_url, settings.llm_model
    if base_url is None and model is None:
        return None
    if base_url is None:
        raise _make_missing_error("LLM_BASE_URL", "LLM_MODEL: the address of the endpoint")
    if model is None:
        raise _make_missing_error("LLM_MODEL", "LLM_BASE_URL: the name of a model that the endpoint has")
    most = settings.llm_context // 2
    if settings.llm_max_tokens > most:
        expected = f"at most {most}, half of WHENCE_LLM_CONTEXT"
        raise SettingsError.of("WHENCE_LLM_MAX_TOKENS", provided=settings.llm_max_tokens, expected=expected)
    from whence.providers.openai_chat import OpenAIChatModel

    return OpenAIChatModel(
        base_url=base_url,
        api_key=settings.llm_api_key,
        model=model,
        timeout=settings.llm_timeout,
        attempts=settings.llm_attempts,
    )


def open_reranker(settings: Settings) -> "Reranker | None":
    """None when no endpoint is configured. Not yet connected. Raises SettingsError when a setting is missing."""
    if settings.rerank_base_url is None and settings.rerank_model is None:
        return None
    if settings.rerank_base_url is None:
        raise _make_missing_error("RERANK_BASE_URL", "RERANK_MODEL")
    if settings.rerank_model is None:
        raise _make_missing_error("RERANK_MODEL", "RERANK_BASE_URL")
    from whence.providers.rerank import EndpointReranker

    return EndpointReranker(
        base_url=settings.rerank_base_url,
        api_key=settings.rerank_api_key,
        model=settings.rerank_model,
        timeout=settings.rerank_timeout,
    )


def recipients(settings: Settings, *, lightrag: int = 0) -> list[str]:
    """A sentence for each endpoint: the data sent there, and how to switch that off.

    `lightrag` is the number of projects with a LightRAG server of their own.
    """
    lines = [*_list_models(settings), *_list_lightrag(settings, lightrag), *_list_remote_stores(settings)]
    return lines or ["No model endpoint is configured: no text leaves this machine"]


def _list_models(settings: Settings) -> Iterator[str]:
    if settings.embedder == "openai":
        where = _drop_query(settings.embedding_base_url)
        yield (
            f"All chunks of new documents, and all questions, are sent to {where} for embedding; switch off with "
            "WHENCE_EMBEDDER=minilm"
        )
    if settings.llm_base_url is not None:
        where = _drop_query(settings.llm_base_url)
        yield (
            f"Chunks of new documents are sent to {where} for extraction; switch off with "
            "`whence projects set PROJECT --extraction manual`"
        )
        if settings.answerer is None:
            yield (
                f"Questions, and the passages found for them, are sent to {where} for answers; switch off with "
                "WHENCE_ANSWERER=extractive"
            )
        if settings.verify == "on":
            yield (
                f"Answers, and the passages they cite, are sent to {where} for verification; switch off with "
                "WHENCE_VERIFY=off"
            )
    if settings.rerank_base_url is not None:
        where = _drop_query(settings.rerank_base_url)
        yield (
            f"Questions, and the best passages for them, are sent to {where} for reranking; switch off by unsetting "
            "WHENCE_RERANK_BASE_URL and WHENCE_RERANK_MODEL"
        )


def _list_lightrag(settings: Settings, projects: int) -> Iterator[str]:
    if settings.lightrag_url is not None:
        yield (
            f"Questions are sent to the LightRAG server {_drop_query(settings.lightrag_url)}; switch off by unsetting "
            "WHENCE_LIGHTRAG_URL"
        )
    if projects:
        yield (
            f"Questions to projects with a LightRAG server of their own ({projects}) are sent there; switch off with the "
            "project's `lightragUrl`"
        )


def _list_remote_stores(settings: Settings) -> Iterator[str]:
    if settings.storage_url is not None:
        yield "Original files are stored at WHENCE_STORAGE_URL; unset it to keep them in the data directory"
    if settings.database_url is not None:
        yield "All texts are stored at WHENCE_DATABASE_URL; unset it to use the embedded database"


def _drop_query(url: str) -> str:
    """The URL without its query, which may contain a key."""
    return url.partition("?")[0]


def _make_missing_error(setting: str, needed_for: str) -> SettingsError:
    expected = f"set for {PREFIX}{needed_for}"
    return SettingsError.of(PREFIX + setting, provided=None, expected=expected)


class Embedders:
    """Opens each embedder at its first use, and closes all of them with the block."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: dict[tuple[str, str, int], Embedder] = {}
        self._configured: Embedder | None = None

    @property
    def configured(self) -> "Embedder":
        if self._configured is None:
            embedder = open_embedder(self._settings)
            self._configured = self._open.setdefault(_key(embedder), embedder)
        return self._configured

    def of(self, space: EmbeddingSpace) -> "Embedder":
        """The settings name the endpoint, the space names the model."""
        if (known := self._open.get(_key(space))) is not None:
            return known
        provider = cast("EmbedderName", space.provider)
        if provider not in get_args(EmbedderName) or provider == "openai" != self._settings.embedder:
            raise EmbeddingUnavailable(
                f"The project's vectors are of {provider}'s model {space.model}, and WHENCE_EMBEDDER is "
                f"{self._settings.embedder}. Name the endpoint again, or move the project with `whence reembed`",
                details={"provider": space.provider, "model": space.model},
            )
        model, dimensions = space.model, space.dimensions
        settings = replace(
            self._settings, embedder=provider, embedding_model=model, embedding_dimensions=dimensions
        )
        return self._open.setdefault(_key(space), open_embedder(settings))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for embedder in self._open.values():
            await embedder.aclose()


def _key(one: "Embedder | EmbeddingSpace") -> tuple[str, str, int]:
    return one.provider, one.model, one.dimensions
