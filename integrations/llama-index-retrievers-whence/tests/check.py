"""The retriever for LlamaIndex against a real server whose address is in WHENCE_URL. A program: its venv has no pytest."""

import asyncio

from llama_index.retrievers.whence import WhenceRetriever
from readme import run_example

QUESTION = "How many days of leave does everyone have in a year?"

retriever = WhenceRetriever(similarity_top_k=1)
(found,) = retriever.retrieve(QUESTION)
(later,) = asyncio.run(retriever.aretrieve(QUESTION))
assert later.node.id_ == found.node.id_ == found.node.metadata["chunk_id"]
assert found.node.metadata["source"] == "leave.md"
assert found.node.metadata["quote"]
assert found.node.metadata["quote"] in found.node.get_content()
assert "/d/" in found.node.metadata["url"]
assert "leave.md" in run_example("llama-index-retrievers-whence")
