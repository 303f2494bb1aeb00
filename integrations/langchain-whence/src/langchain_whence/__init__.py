"""Whence as a retriever of LangChain."""

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, SecretStr

from whence_client import AsyncClient, Client, metadata_of
from whence_client.types import FiltersRequest, HitModel

__all__ = ["WhenceRetriever"]


class WhenceRetriever(BaseRetriever):
    """Passages of a Whence server, the best first.

    The metadata of each has `chunk_id`, `document_id`, `source`, `page`, `url`, `quote`, `start`, `end` and `score`.
    """

    url: str | None = Field(default=None, description="Default: WHENCE_URL.")
    api_key: SecretStr | None = Field(default=None, description="Default: WHENCE_API_KEY.")
    project: str | None = Field(default=None, description="Name or id.")
    k: int = Field(default=4, ge=1, le=100, description="Maximum number of passages.")
    filters: dict[str, Any] | None = Field(default=None, description="Those of a search.")

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        with Client(self.url, self._secret, project=self.project) as client:
            found = client.search(query, limit=k or self.k, filters=self._filters)
        return [document_of(hit) for hit in found["items"]]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        async with AsyncClient(self.url, self._secret, project=self.project) as client:
            found = await client.search(query, limit=k or self.k, filters=self._filters)
        return [document_of(hit) for hit in found["items"]]

    @property
    def _secret(self) -> str | None:
        return self.api_key and self.api_key.get_secret_value()

    @property
    def _filters(self) -> FiltersRequest | None:
        return self.filters  # type: ignore[return-value]  # the server checks them


def document_of(hit: HitModel) -> Document:
    chunk = hit["chunk"]
    return Document(id=chunk["id"], page_content=chunk["content"], metadata=metadata_of(hit))
