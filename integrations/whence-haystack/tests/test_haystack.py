"""The retriever for Haystack in a pipeline, against a real server whose address is in WHENCE_URL."""

from haystack import Pipeline
from haystack_integrations.components.retrievers.whence import WhenceRetriever
from readme import run_example

QUESTION = "How many days of leave does everyone have in a year?"


async def test_where_a_passage_is() -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", WhenceRetriever(top_k=1))
    again = Pipeline.loads(pipeline.dumps())
    (found,) = again.run({"retriever": {"query": QUESTION}})["retriever"]["documents"]
    later = await WhenceRetriever().run_async(QUESTION, top_k=1)
    assert later["documents"] == [found]
    assert found.meta["source"] == "leave.md"
    assert found.meta["chunk_id"] == found.id
    assert found.meta["quote"]
    assert found.meta["quote"] in (found.content or "")
    assert "/d/" in found.meta["url"]


def test_example() -> None:
    assert "leave.md" in run_example("whence-haystack")
