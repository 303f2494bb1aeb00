"""Whence as a retriever of Haystack."""

from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.utils import Secret

from whence_client import AsyncClient, Client, metadata_of
from whence_client.types import FiltersRequest, HitModel

__all__ = ["WhenceRetriever"]


@component
class WhenceRetriever:
    """Passages of a Whence server, the best first. Without `api_key`, the key is in WHENCE_API_KEY.

    The meta of each has `chunk_id`, `document_id`, `source`, `page`, `url`, `quote`, `start`, `end` and `score`.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: Secret | None = None,
        *,
        project: str | None = None,
        top_k: int = 4,
        filters: FiltersRequest | None = None,
    ) -> None:
        self.url = url
        self.api_key = api_key or Secret.from_env_var("WHENCE_API_KEY", strict=False)
        self.project = project
        self.top_k = top_k
        self.filters = filters

    def to_dict(self) -> dict[str, Any]:
        more = {"project": self.project, "top_k": self.top_k, "filters": self.filters}
        return default_to_dict(self, url=self.url, api_key=self.api_key, **more)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "WhenceRetriever":
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        with Client(self.url, self.api_key.resolve_value(), project=self.project) as client:
            found = client.search(query, limit=top_k or self.top_k, filters=self.filters)
        return {"documents": [document_of(hit) for hit in found["items"]]}

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        async with AsyncClient(self.url, self.api_key.resolve_value(), project=self.project) as client:
            found = await client.search(query, limit=top_k or self.top_k, filters=self.filters)
        return {"documents": [document_of(hit) for hit in found["items"]]}


def document_of(hit: HitModel) -> Document:
    chunk = hit["chunk"]
    return Document(id=chunk["id"], content=chunk["content"], meta=metadata_of(hit), score=hit["score"])
