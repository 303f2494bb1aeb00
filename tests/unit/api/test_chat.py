"""How the sources of an answer are told."""

from whence.api.chat import ChatSource
from whence.chat import Source


def test_a_source_without_a_chunk_index_keeps_its_document() -> None:
    """Seed 002, edge cases: a text that was never cut into chunks."""
    whole = Source(
        id=None,
        document_id="0190a1b2-7c3d-7e4f-8a5b-000000000001",
        chunk_index=None,
        text="The ferry sails at nine.",
        name="ferry.txt",
        distance=0.25,
    )
    told = ChatSource.of(whole).as_json()
    assert told == {
        "id": None,
        "documentId": "0190a1b2-7c3d-7e4f-8a5b-000000000001",
        "chunkIndex": None,
        "chunkText": "The ferry sails at nine.",
        "source": "ferry.txt",
        "distance": 0.25,
        "page": None,
        "startOffset": None,
        "endOffset": None,
        "documentVersion": None,
        "url": None,
    }
