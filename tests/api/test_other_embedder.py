"""The relevance threshold with an embedder that gives unrelated texts a cosine of 0.7 or 0.9, over HTTP."""

import asyncio
from dataclasses import replace
from math import sqrt

import httpx
import numpy as np
import pytest
from tests.api.chatting import opened
from tests.api.ingesting import data_of, embedded_by, ingest
from tests.endpoint import Behaviour, Endpoint, answer
from tests.loopback import Reply, Request

from whence.providers.minilm import MiniLMEmbedder
from whence.settings import Settings

HERON = "The grey heron stands in the shallow water of the pond and eats frogs and small fish."
TRAIN = "The night train to Narvik leaves Stockholm every evening at ten past six from track ten."
SEVERITY = "SEV1 means that customers cannot work. It is reported within fifteen minutes."


def narrow(share: float) -> Behaviour:
    """The local model's vectors, with a part that all have in common."""
    model = MiniLMEmbedder()

    def reply(request: Request) -> Reply:
        vectors = asyncio.run(model.embed(request.inputs)).vectors
        common = np.full((len(vectors), 1), sqrt(share), np.float32)
        return answer(np.hstack([common, sqrt(1 - share) * vectors]).tolist(), tokens=None)

    return reply


@pytest.mark.parametrize("share", [0.7, 0.9])
async def test_the_floor_holds_with_any_embedder(settings: Settings, share: float) -> None:
    with Endpoint(narrow(share)) as endpoint:
        chosen = replace(embedded_by(endpoint, settings), embedding_dimensions=385)
        async with opened(chosen) as client:
            for name, text in (("heron.txt", HERON), ("train.txt", TRAIN), ("levels.txt", SEVERITY)):
                await ingest(client, text, name=name)
            found = {
                query: await contents(client, query)
                for query in (
                    "What do these birds feed on?",
                    "SEV1 incidents",
                    "How do I renew a passport of Chile?",
                    "Who painted the Mona Lisa?",
                )
            }
    birds, severity, passport, painter = found.values()
    assert birds[0] == HERON
    assert severity[0] == SEVERITY
    assert passport == painter == []


async def contents(client: httpx.AsyncClient, query: str) -> list[str]:
    items = data_of(await client.post("/api/v1/search", json={"query": query}))["items"]
    return [hit["chunk"]["content"] for hit in items]
