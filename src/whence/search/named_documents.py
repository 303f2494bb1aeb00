"""Documents that a question names: `What did Ulta repurchase?` is about `ulta_2023.pdf`, also where that document says "the company".

A document is named by words of its name that are rare among names. Names are read or checked with each question, so a renamed document
counts at once.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from math import log
from uuid import UUID

from whence.store import Store
from whence.text.content_words import light
from whence.text.lexer import Lexer

_WORD = re.compile(r"[^\W_]{2,}")
_MOST_WORDS = 64
_MOST_NAMES = 20
"""A word in more names than this names no document."""
_ENOUGH = 0.5
"""Least weight of a document's words: a rare word, or two everyday words as in `Best Buy`."""


@dataclass(frozen=True, slots=True)
class NamedDocuments:
    documents: frozenset[UUID] = frozenset()
    keys: frozenset[int] = frozenset()
    """Keys of the words that are in names."""


def weigh_words(text: str, lexer: Lexer) -> dict[str, float]:
    """The words of a text that may name a document, by weight. Stop words have no keys."""
    light_words = light(lexer.language)
    words = dict.fromkeys(_WORD.findall(text.lower()))
    found = ((word, lexer.keys(word)) for word in words)
    weighed = ((word, max(light_words.get(key, 1.0) for key in keys)) for word, keys in found if keys)
    return dict(islice(weighed, _MOST_WORDS))


async def find_named(
    store: Store, project_id: UUID, weights: Mapping[str, float], lexer: Lexer
) -> NamedDocuments:
    """The documents that words name."""
    if not weights:
        return NamedDocuments()
    rows = await store.hits.named(project_id, list(weights), most=_MOST_NAMES + 1)
    having: dict[str, set[UUID]] = defaultdict(set)
    for word, document_id in rows:
        having[word].add(document_id)
    keys = frozenset(key for word in having for key in lexer.keys(word))
    rare = {word: found for word, found in having.items() if len(found) <= _MOST_NAMES}
    return NamedDocuments(_strongest(weights, rare), keys)


def _strongest(weights: Mapping[str, float], having: Mapping[str, set[UUID]]) -> frozenset[UUID]:
    """For each word, those of its documents whose names have the most of the text's words by weight."""
    strengths: dict[UUID, float] = defaultdict(float)
    for word, documents in having.items():
        for document_id in documents:
            strengths[document_id] += (
                weights[word] * log((_MOST_NAMES + 1) / len(documents)) / log(_MOST_NAMES + 1)
            )
    chosen: set[UUID] = set()
    for documents in having.values():
        most = max(strengths[one] for one in documents)
        chosen |= {one for one in documents if strengths[one] == most >= _ENOUGH}
    return frozenset(chosen)
