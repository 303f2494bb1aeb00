"""Finds the sentence that a description was paraphrased from. Pure.

The sentence has every figure and every name of the description, most of its other words, and the same polarity. The words of the
object's own name do not count: a description may repeat it where the text says "it".
"""

import re
from functools import cached_property

from whence.chunk.boundaries import Sentence, sentences
from whence.text.content_words import words

SHARED = 0.6
"""Minimum share of the description's content words that the sentence has. docs/benchmarks.md has the measurement."""
_FEWEST = 3
"""Words of a description. Fewer say too little to tell where they come from."""
_NOT = re.compile(r"\b(?:no|not|never|none|nor|neither|without|cannot)\b|n['\u2019]t\b", re.IGNORECASE)


class Sentences:
    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, description: str, *, about: str) -> Sentence | None:
        """The sentence that shares most words with the description. `about` is the name of its object."""
        content = frozenset(words(description)) - frozenset(words(about))
        enough = SHARED * len(content)
        if (
            len(description.split()) < _FEWEST
            or len(content) < _FEWEST - 1
            or len(content & self._words) < enough
        ):
            return None
        certain = {word for word in content if word[0].isdigit()} | content & frozenset(
            words(" ".join(names(description)))
        )
        is_negated = _NOT.search(description) is not None
        fitting = [
            (len(content & said), sentence)
            for sentence, said, denies in self._all
            if certain <= said and denies == is_negated and len(content & said) >= enough
        ]
        return max(fitting, key=lambda each: each[0])[1] if fitting else None

    def deny(self, start: int, end: int) -> bool:
        """Whether the sentence of these words has a negation outside them."""
        for sentence, _, _ in self._all:
            if sentence.start_offset <= start < sentence.end_offset:
                around = self._text[sentence.start_offset : start], self._text[end : sentence.end_offset]
                return any(_NOT.search(part) for part in around)
        return False

    @property
    def all(self) -> list[Sentence]:
        return [sentence for sentence, _, _ in self._all]

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(words(self._text))

    @cached_property
    def _all(self) -> list[tuple[Sentence, frozenset[str], bool]]:
        return [
            (each, frozenset(words(each.text)), _NOT.search(each.text) is not None)
            for each in sentences(self._text)
        ]


def names(text: str) -> list[str]:
    """Capitalised words. The first one only if it is alone, because any text may begin with a capital."""
    found = text.split()
    return [word for word in found[1:] or found if next(filter(str.isalpha, word), "").isupper()]
