"""Whence as a retriever of LlamaIndex."""

from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from whence_client import AsyncClient, Client, metadata_of
from whence_client.types import FiltersRequest, HitModel

__all__ = ["WhenceRetriever"]


class WhenceRetriever(BaseRetriever):
    """Passages of a Whence server, the best first.

    The metadata of each has `chunk_id`, `document_id`, `source`, `page`, `url`, `quote`, `start`, `end` and `score`.
    `url` and `api_key` come from WHENCE_URL and WHENCE_API_KEY if they are not given.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        project: str | None = None,
        similarity_top_k: int = 4,
        filters: FiltersRequest | None = None,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self._server = (url, api_key)
        self._project = project
        self._asked: Any = {"limit": similarity_top_k, "filters": filters}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        with Client(*self._server, project=self._project) as client:
            found = client.search(query_bundle.query_str, **self._asked)
        return [node_of(hit) for hit in found["items"]]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        async with AsyncClient(*self._server, project=self._project) as client:
            found = await client.search(query_bundle.query_str, **self._asked)
        return [node_of(hit) for hit in found["items"]]


def node_of(hit: HitModel) -> NodeWithScore:
    chunk = hit["chunk"]
    node = TextNode(id_=chunk["id"], text=chunk["content"], metadata=metadata_of(hit))
    node.excluded_llm_metadata_keys = [name for name in node.metadata if name not in ("source", "page")]
    node.excluded_embed_metadata_keys = list(node.metadata)
    return NodeWithScore(node=node, score=hit["score"])
