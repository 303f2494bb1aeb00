"""A rerank endpoint on loopback: scores are the number of words that a text shares with the question."""

import json
from collections.abc import Mapping
from typing import Any

from tests.loopback import Behaviour, Loopback, Reply, Request


def _scores(query: str, texts: list[str]) -> list[float]:
    asked = set(query.lower().split())
    return [float(len(asked & set(text.lower().split()))) for text in texts]


def _reply(body: Any) -> Reply:
    return Reply(body=json.dumps(body).encode())


def ok(request: Request) -> Reply:
    """As Jina, Cohere and vLLM answer: the best first."""
    if "documents" not in request.body:
        return Reply(status=422, body=b"documents: field required")
    scores = _scores(request.body["query"], request.body["documents"])
    rows = [{"index": index, "relevance_score": score} for index, score in enumerate(scores)]
    return _reply({"results": sorted(rows, key=lambda row: -row["relevance_score"])})


def tei(request: Request) -> Reply:
    """As TEI answers."""
    if "texts" not in request.body:
        return Reply(status=422, body=b"texts: field required")
    scores = _scores(request.body["query"], request.body["texts"])
    return _reply([{"index": index, "score": score} for index, score in enumerate(scores)])


def answering(body: Mapping[str, Any] | list[Any]) -> Behaviour:
    return lambda _: _reply(body)


class RerankEndpoint(Loopback):
    def __init__(self, default: Behaviour = ok) -> None:
        super().__init__("/v1/rerank", default)
