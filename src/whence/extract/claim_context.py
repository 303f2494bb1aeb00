"""The text of another chunk around one of its claims. Pure."""

from functools import lru_cache
from typing import Any

from whence.extract.context import KnownClaim, KnownObject
from whence.extract.grounding import SearchableText
from whence.extract.paraphrase import Sentences
from whence.extract.values import is_among, same


def claims_value(claim: KnownClaim, known: KnownObject, name: str, value: Any) -> bool:
    """Whether the claim gives the object's property this value, or a list with it."""
    is_same = same(claim.value, value) or is_among(value, claim.value)
    return is_same and (claim.object_id, claim.property_name) == (known.id, name)


def sentence_of(claim: KnownClaim) -> str:
    """The sentence that states the value."""
    return _sentence(claim.text, claim.start, claim.end)


def passage_to(claim: KnownClaim, of: str) -> str | None:
    """The sentences from the object's name to the claim."""
    return _sentences_from(claim.text, of, claim.start, claim.end)


@lru_cache(maxsize=1024)
def _sentences_from(text: str, name: str, start: int, end: int) -> str | None:
    sentences = Sentences(text)
    low, high = sentences.around(start, end)
    named = [at for at, _ in SearchableText(text).places(name) if at < high]
    return text[slice(*sentences.around(min(low, named[-1]), high))] if named else None


@lru_cache(maxsize=1024)
def rest_from(text: str, name: str) -> str:
    """The text from the sentence that first names the object."""
    named = SearchableText(text).places(name)
    return text[Sentences(text).around(*named[0])[0] :].strip() if named else text.strip()


@lru_cache(maxsize=1024)  # a list has many elements from one sentence
def _sentence(text: str, start: int, end: int) -> str:
    return text[slice(*Sentences(text).around(start, end))]
