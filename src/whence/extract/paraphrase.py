"""Finds the sentence that a description was paraphrased from. Pure.

The sentence contains every figure and every name of the description in the same order, most of its other words, and the same
number of negations and qualifiers. No word replaces another: "raises" is not "lowers". Words of the object's own name are
ignored, because a description may repeat it where the text says "it". docs/benchmarks.md has the measurement.
"""

import re
from collections import Counter
from collections.abc import Collection
from difflib import SequenceMatcher
from functools import cached_property

from whence.chunk.boundaries import Sentence, sentences
from whence.matching import read
from whence.text.content_words import words
from whence.text.numbers import numbers_in

SHARED = 0.6
"""Minimum share of the description's content words that the sentence has."""
_FEWEST = 3
"""Minimum number of words of a description. A shorter one does not identify its source."""
# Negations and qualifiers.
_NOT = re.compile(
    r"\b(?:no|not|never|none|nor|neither|nobody|nothing|without|cannot|hardly|almost|nearly|fail(?:s|ed)?|lack(?:s|ed)?|lost|"
    r"den(?:y|ies|ied)|refuse[sd]?|(?-i:may)|might|could|would|should|used to|former(?:ly)?|(?:less|more) than|"
    r"nicht|nie|kein\w*|ohne|pas|jamais|sans|nunca|jamás|sin|non|mai|senza|niet|nooit|geen|zonder|não)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\w[@.]\w*[^\W\d]")
_IF = re.compile(r"\b(?:if|unless)\b", re.IGNORECASE)
_BY = re.compile(r"\bby(?: the)?\Z", re.IGNORECASE)


class Sentences:
    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, description: str, *, about: str) -> Sentence | None:
        """The sentence that shares the most words with the description. `about` is the name of its object."""
        content = _content(description) - frozenset(words(about))
        enough = SHARED * len(content)
        if (
            len(description.split()) < _FEWEST
            or len(content) < _FEWEST - 1
            or len(content & self._words) < enough
        ):
            return None
        certain = content & {*numbers_in(description), *words(" ".join(names(description)))}
        fitting = [
            (len(content & said), sentence)
            for sentence, said in self._all
            if certain <= said
            and len(content & said) >= enough
            and _agree(description, sentence.text, frozenset(words(about)))
        ]
        return max(fitting, key=lambda each: each[0])[1] if fitting else None

    def around(self, start: int, end: int) -> tuple[int, int]:
        """The start and end of the sentences that contain this span."""
        inside = [each for each in self.all if each.start_offset < end and start < each.end_offset]
        return (inside[0].start_offset, inside[-1].end_offset) if inside else (start, end)

    def deny(self, start: int, end: int) -> bool:
        """Whether the sentence that contains this span has a negation or a condition outside it."""
        low, high = self.around(start, end)
        around = self._text[low:start], self._text[end:high]
        return any(_NOT.search(part) or _IF.search(part) for part in around)

    @property
    def all(self) -> list[Sentence]:
        return [sentence for sentence, _ in self._all]

    @cached_property
    def _words(self) -> frozenset[str]:
        return _content(self._text)

    @cached_property
    def _all(self) -> list[tuple[Sentence, frozenset[str]]]:
        return [(each, _content(each.text)) for each in sentences(self._text)]


def names(text: str) -> list[str]:
    """Words with a capital, and addresses: "York", "eBay", "ada@mora.example".

    Of the first word, its first letter counts only if it is alone: any text may begin with a capital.
    """
    found = text.split()
    capitals = [[letter.isupper() for letter in word if letter.isalpha()] for word in found]
    if len(found) > 1:
        capitals[0] = capitals[0][1:]
    return [word for word, some in zip(found, capitals, strict=True) if any(some) or _ADDRESS.search(word)]


def _agree(description: str, sentence: str, own: Collection[str]) -> bool:
    """Whether both have the same number of negations, names and figures in the same order, and no word replaced by another."""
    if len(_NOT.findall(description)) != len(_NOT.findall(sentence)):
        return False
    named = {*words(" ".join((*names(description), *names(sentence))))}
    said, given = _first_words(description, named), _first_words(sentence, named)
    if not _is_in_order(said, given):
        return False
    one, other = (
        [each.key for each in read(text).content if each.key not in own] for text in (description, sentence)
    )
    return _is_in_order(numbers_in(description), numbers_in(sentence)) and not _is_replaced(one, other)


def _first_words(text: str, named: Collection[str]) -> list[str]:
    """The first word of each name, once. One after "by" comes first, as it does without the passive."""
    found: list[str] = []
    tokens = text.split()
    is_inside = False
    for at, token in enumerate(tokens):
        key = next(iter(words(token)), "")
        if key in named and not is_inside and key not in found:
            found.insert(0 if _BY.search(" ".join(tokens[:at])) else len(found), key)
        is_inside = key in named and token[-1].isalnum()
    return found


def _is_in_order(some: list[str], all_of_them: list[str]) -> bool:
    """Whether the words that both have are in the same order."""
    rest = iter(all_of_them)
    return all(word in rest for word in some if word in all_of_them)


def _is_replaced(one: list[str], other: list[str]) -> bool:
    """Whether a single new word replaces others, two passages are exchanged, or most words are reordered."""
    compared = SequenceMatcher(None, one, other, autojunk=False)
    changes = compared.get_opcodes()
    pairs = [(one[a:b], other[c:d]) for change, a, b, c, d in changes if change == "replace"]
    added, left_out = Counter(one) - Counter(other), Counter(other) - Counter(one)
    in_order = sum(block.size for block in compared.get_matching_blocks())
    return 2 * in_order < sum(word in other for word in one) or any(
        min(sum(word in added for word in new), sum(word in left_out for word in old)) == 1
        or (old, new) in pairs
        for new, old in pairs
    )


def _content(text: str) -> frozenset[str]:
    """The content words and the numbers in one form."""
    return frozenset((*(word for word in words(text) if not word[0].isdigit()), *numbers_in(text)))
