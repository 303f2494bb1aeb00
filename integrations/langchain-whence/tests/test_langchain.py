"""LangChain's own tests of a retriever, against a real server whose address is in WHENCE_URL."""

from typing import Any

from langchain_tests.integration_tests import RetrieversIntegrationTests
from langchain_whence import WhenceRetriever
from readme import run_example

QUESTION = "How many days of leave does everyone have in a year?"


class TestWhenceRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[WhenceRetriever]:
        return WhenceRetriever

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


async def test_where_a_passage_is() -> None:
    retriever = WhenceRetriever(k=1)
    (found,) = retriever.invoke(QUESTION)
    assert [found] == await retriever.ainvoke(QUESTION)
    where: dict[str, Any] = found.metadata
    assert where["source"] == "leave.md"
    assert where["chunk_id"] == found.id
    assert where["quote"] in found.page_content
    assert where["quote"]
    assert "/d/" in where["url"]
    assert "page" in where


def test_example() -> None:
    assert "leave.md" in run_example("langchain-whence")
