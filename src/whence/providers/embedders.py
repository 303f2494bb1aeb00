"""Embedders by embedding space: the configured one, and those of projects with other spaces."""

from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self, get_args

from whence.errors import EmbeddingUnavailable
from whence.models import EmbeddingSpace
from whence.providers.factory import open_embedder
from whence.settings import EmbedderName, Settings

if TYPE_CHECKING:
    from whence.providers.base import Embedder

_PROVIDERS: tuple[EmbedderName, ...] = get_args(EmbedderName)
_Key = tuple[str, str, int]


class Embedders:
    """Opens each embedder at its first use, and closes all of them with the block."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: dict[_Key, Embedder] = {}
        self._configured: Embedder | None = None

    @property
    def configured(self) -> "Embedder":
        if self._configured is None:
            embedder = open_embedder(self._settings)
            self._configured = self._open.setdefault(_key(embedder), embedder)
        return self._configured

    def of(self, space: EmbeddingSpace) -> "Embedder":
        """The settings name the endpoint, the space names the model."""
        known = self._open.get((space.provider, space.model, space.dimensions))
        if known is not None:
            return known
        provider = next((name for name in _PROVIDERS if name == space.provider), None)
        if provider is None:
            raise EmbeddingUnavailable(
                f"The project's vectors are by {space.provider!r}, which this version of Whence does not know",
                details={"provider": space.provider, "model": space.model},
            )
        if self._settings.embedder == "openai" or provider != "openai":
            settings = replace(
                self._settings,
                embedder=provider,
                embedding_model=space.model,
                embedding_dimensions=space.dimensions,
            )
            return self._open.setdefault(
                (space.provider, space.model, space.dimensions), open_embedder(settings)
            )
        raise EmbeddingUnavailable(
            f"The project's vectors are of the model {space.model} at an endpoint, and WHENCE_EMBEDDER is "
            f"{self._settings.embedder}. Name the endpoint again, or move the project with `whence reembed`",
            details={"provider": space.provider, "model": space.model},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for embedder in self._open.values():
            await embedder.aclose()


def _key(embedder: "Embedder") -> _Key:
    return embedder.provider, embedder.model, embedder.dimensions
