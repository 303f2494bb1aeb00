"""Questions from feedback: what a person called good is expected, what they called wrong is not."""

from typing import Any

from whence.evaluate.feedback import questions_from
from whence.models import new_id, now
from whence.store.answers import StoredAnswer

_QUOTES = ("Books are lent for four weeks.", "Films for one.")


def rated(question: str, rating: str, *wrong: int, moved: list[dict[str, Any]] | None = None) -> StoredAnswer:
    citations = [{"chunkId": "1", "quote": quote, "supported": True} for quote in _QUOTES]
    ident = new_id()
    return StoredAnswer(
        project_id=ident,
        id=ident,
        conversation_id=ident,
        turn_id=ident,
        asked={"message": question},
        answer={
            "response": "Four weeks.",
            "sources": [{"id": "1", "source": "a.md"}],
            "citations": citations,
        },
        feedback={"rating": rating, "wrongCitations": list(wrong)},
        refreshes=None,
        refreshed_by=None,
        created_at=now(),
        moved=moved,
    )


def test_what_is_expected() -> None:
    first, second = ({"document": "a.md", "text": quote} for quote in _QUOTES)
    assert questions_from([rated("How long?", "up")]) == [
        {"question": "How long?", "expected": [first, second], "answer": "Four weeks."}
    ]
    assert questions_from([rated("How long?", "down", 0)]) == [
        {"question": "How long?", "expected": [second]}
    ]


def test_what_is_left_out() -> None:
    moved = [{"number": 0}]
    assert questions_from([rated("a", "down"), rated("b", "up", 0, 1), rated("c", "up", moved=moved)]) == []
    assert len(questions_from([rated("a", "up"), rated("a", "down", 1)])) == 1
