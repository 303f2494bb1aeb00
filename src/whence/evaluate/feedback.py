"""Questions for an evaluation from the feedback on stored answers. Pure."""

from collections.abc import Iterable
from typing import Any

from whence.chat.citing import without_citations
from whence.store.answers import StoredAnswer


def questions_from(rated: Iterable[StoredAnswer]) -> list[dict[str, Any]]:
    """Lines of a file of questions. Expected are good answers and citations that were not marked as wrong.

    Left out: stale answers, answers without such a citation, and older answers to the same question.
    """
    lines: dict[str, dict[str, Any]] = {}
    for stored in rated:
        said, frozen = stored.feedback or {}, stored.answer
        names = {one["id"]: one["source"] for one in frozen["sources"]}
        wrong = set(said.get("wrongCitations", ()))
        is_good = said.get("rating") == "up"
        passages = [
            {"document": names[one["chunkId"]], "text": one["quote"]}
            for number, one in enumerate(frozen["citations"])
            if one["quote"] and one["supported"] and number not in wrong and (is_good or wrong)
        ]
        if not passages or stored.moved:
            continue
        line = {"question": stored.asked["message"], "expected": passages}
        if is_good:
            line["answer"] = without_citations(frozen["response"])
        lines.setdefault(line["question"], line)
    return list(lines.values())
