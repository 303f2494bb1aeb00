"""Compares answers, and quotes with the current text. Pure."""

import re
from difflib import SequenceMatcher

from whence.api.conversations import AnswerChanges, AnswerModel, ChangedQuote, DiffPart
from whence.chat.citing import without_citations
from whence.chunk import sentences

_WORD = re.compile(r"\w+")
_ALIKE = 0.4
"""Minimum share of common words of two passages that count as rewordings of each other."""


def compare(before: AnswerModel, after: AnswerModel) -> AnswerChanges:
    old, new = _sentences(before), _sentences(after)
    diff: list[DiffPart] = []
    for op, start, end, new_start, new_end in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if op == "equal":
            diff += [DiffPart(op="same", text=text) for text in old[start:end]]
            continue
        diff += [DiffPart(op="removed", text=text) for text in old[start:end]]
        diff += [DiffPart(op="added", text=text) for text in new[new_start:new_end]]
    had, has = ({one.id for one in answer.sources if one.id} for answer in (before, after))
    was, now = _quotes(before), _quotes(after)
    return AnswerChanges.of(
        {
            "response_changed": any(part.op != "same" for part in diff),
            "diff": diff,
            "sources_added": sorted(has - had),
            "sources_removed": sorted(had - has),
            "quotes_added": [now[key] for key in now if key not in was],
            "quotes_removed": [was[key] for key in was if key not in now],
        }
    )


def most_similar(quote: str, text: str) -> str | None:
    """The passage with the same number of sentences as the quote and most of its words; None if none is similar."""
    wanted = _words(quote)
    spans = sentences(text)
    count = max(1, len(sentences(quote)))
    best, best_share = None, _ALIKE
    for first in range(max(1, len(spans) - count + 1)):
        some = spans[first : first + count]
        if not some:
            break
        passage = text[some[0].start_offset : some[-1].end_offset]
        words = _words(passage)
        share = 2 * len(wanted & words) / ((len(wanted) + len(words)) or 1)
        if share > best_share:
            best, best_share = passage, share
    return best


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _sentences(answer: AnswerModel) -> list[str]:
    return [one.text.strip() for one in sentences(without_citations(answer.response)) if one.text.strip()]


def _quotes(answer: AnswerModel) -> dict[tuple[str, str], ChangedQuote]:
    return {
        (str(one.document_id), one.quote): ChangedQuote(
            quote=one.quote, document_id=one.document_id, url=one.url
        )
        for one in answer.citations
        if one.quote
    }
