"""Decides whether a value comes from the primary chunk or only from its context: other chunks, and the known objects shown with it. Pure."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal

from whence.extract.context import KnownObject
from whence.extract.grounding import (
    MAX_QUOTE,
    FoundQuote,
    SearchableText,
    is_phrase,
    is_small_number,
    written_plainly,
)
from whence.extract.paraphrase import Sentences, names
from whence.extract.rejections import MODEL
from whence.extract.schema import Property
from whence.extract.values import is_choice, parts, same
from whence.text.content_words import words
from whence.text.names import fold, name_key
from whence.text.word_lists import SMALL, TENS

Where = Literal["primary", "context", "nowhere"]
"""The place of a mention: the primary chunk, only context chunks, or neither."""

_CHUNK = "a context chunk"
_OBJECT = "the known object {!r}"
_BETWEEN = "\n|\n"
"""Separates the values of an object, so that no phrase matches across two."""

_SENTENCE = 3
"""This many words do not match by chance."""
_NUMBERS = frozenset((*SMALL[1:13], "fifteen", *TENS, "hundred", "thousand", "million", "billion"))

_WORD = re.compile(r"[^\W_]+(?:\.\d+)*[+#]*")
_NUMBER = re.compile(r"v?\d[\d.x]*", re.ASCII)
_NO_NUMBER = r"(?!v?[0-9][0-9.x]* )"
_NUMBER_BEHIND = re.compile(r"\s(?:version )?\(?v?\d[\d.x]*\)?\Z", re.ASCII)
_SHORT = 3
"""Shorter words say little."""
_SMALL_WORDS = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to", "with"]
)


class ChunkEvidence:
    """`lenient`: a specific value that no text has is no leak; `is_grounded` tells it apart."""

    def __init__(
        self,
        primary: str,
        context: Sequence[str],
        shown: Sequence[KnownObject] = (),
        *,
        lenient: bool = False,
    ) -> None:
        self._primary = SearchableText(primary)
        self._primary_words = Words(primary)
        self._sentences = Sentences(primary)
        self.is_lenient = lenient
        self._context_texts = tuple(context)
        self._shown = tuple(shown)
        self._around: dict[str, str | None] = {}

    def find(self, value: Any, *, near: str | None = None) -> FoundQuote | None:
        """The span of the value in the primary chunk."""
        return self._primary.find(value, near=near)

    def place(self, value: Any, *, of: str) -> FoundQuote | None:
        """The span of the value, or of the sentence that a text paraphrases. `of` is the name of its object."""
        span = self.find(value, near=of)
        if span is not None or not isinstance(value, str):
            return span
        said = self._sentences.find(value, about=of)
        return self._primary.span(said.start_offset, said.end_offset) if said else None

    def naming(self, known: KnownObject, others: Sequence[KnownObject] = ()) -> FoundQuote | None:
        """The span of the object's name. A place inside a longer name, of one of the others, does not count.

        A single word must have its capitals: "target" does not name Target.
        """
        text = self._primary.text
        longer = [
            one.name for one in others if known.name_key in one.name_key and known.name_key != one.name_key
        ]
        for each in longer:
            text = re.sub(re.escape(each), lambda found: " " * len(found[0]), text, flags=re.IGNORECASE)
        span = (SearchableText(text) if longer else self._primary).find(known.name)
        is_named = span and (_is_distinctive(known.name) or known.name in (span.quote, fold(known.name)))
        return span if is_named else None

    def states(self, value: Any) -> bool:
        """Whether the primary chunk has every part of the value."""
        return all(self.find(part) for part, _ in parts(value))

    def confirming(self, value: Any, *, of: str, is_named: bool) -> FoundQuote | None:
        """The words of the chunk that confirm a known value which the reply does not mention. `is_named`: the primary chunk names its object.

        A specific value needs the object's name. Three content words need none; a common word is no evidence, and neither
        is a sentence that denies the value.
        """
        span = self.find(value, near=of)
        if span is None or not self.states(value) or self._sentences.deny(span.start, span.end):
            return None
        long = all(len(words(written_plainly(part))) >= _SENTENCE for part, _ in parts(value))
        specific = is_named and all(is_specific(part, span.quote) for part, _ in parts(value))
        return span if long or specific else None

    def between(self, one: str, other: str) -> FoundQuote | None:
        """The span from one name to the other in the primary chunk, if they are near each other."""
        first, second = self.find(one, near=other), self.find(other, near=one)
        if first is None or second is None:
            return None
        start, end = min(first.start, second.start), max(first.end, second.end)
        return self._primary.span(start, end) if end - start <= MAX_QUOTE else None

    def has_words(self, text: str) -> bool:
        """Whether the primary chunk has all content words of the text, in any order."""
        return set(words(text)) <= set(words(self._primary.text))

    def of_name(self, name: str) -> Where:
        """Where the name is mentioned, in full or in part. In the primary chunk, its words may be in any order."""
        if self.find(name) or self._primary_words.mentions(name):
            return "primary"
        is_around = self.is_around(name) or any(words.names(name) for words in self._context_words)
        return "context" if is_around else "nowhere"

    def is_around(self, value: Any, wanted: Property | None = None) -> bool:
        """Whether a context chunk has a part of the value that is not one of the schema's choices."""
        return any(self._beside(part) for part, of in parts(value, wanted) if not is_choice(part, of))

    def speaks(self, value: Any) -> bool:
        """Whether the primary chunk has a part of the value. A common word counts only if no context chunk has it."""
        return any(
            self.find(part) and (_is_distinctive(part) or self._beside(part) is None)
            for part, _ in parts(value)
        )

    def leak(
        self,
        value: Any,
        *,
        of: str = "",
        before: Any = None,
        own: KnownObject | None = None,
        wanted: Property | None = None,
    ) -> str | None:
        """The origin of a specific part (a number, a name, several words) that the primary chunk does not have; None without one.

        `of` is the name of the value's object. `before` is the earlier value; repeating it is no leak. `own` is the object, if known; one
        of its values may recur in another of its properties. A choice of the schema is never a leak.
        """
        for part in self._unstated(value, of, before, wanted):
            who = self._origin(part, own)
            if who is None and not self.is_lenient and self._is_invented(part):
                who = MODEL
            if who is not None:
                return who
        return None

    def is_grounded(self, value: Any, *, of: str, wanted: Property | None = None) -> bool:
        """Whether the primary chunk has every part that is too specific for an interpretation. A strict merge takes no other values."""
        return not self.is_lenient or not any(map(self._is_invented, self._unstated(value, of, None, wanted)))

    def _unstated(self, value: Any, of: str, before: Any, wanted: Property | None) -> Iterator[Any]:
        """The parts that the primary chunk does not have, but for choices of the schema and parts of the earlier value."""
        known = [] if before is None else [part for part, _ in parts(before)]
        for part, choices in parts(value, wanted):
            if (
                not is_choice(part, choices)
                and not any(same(part, each) for each in known)
                and not self.place(part, of=of)
            ):
                yield part

    def _origin(self, part: Any, own: KnownObject | None) -> str | None:
        """A context chunk or another known object that has the part, if the part is specific."""
        if not _is_distinctive(part):
            return None
        beside = self._beside(part)
        if beside is None:
            return self._holder(part, own)
        return _CHUNK if is_specific(part, beside) else None

    def _is_invented(self, part: Any) -> bool:
        """Whether a part that is not in the primary chunk has a digit, a name or three words, and refers to no known object."""
        text = written_plainly(part)
        is_checked = (
            len(text.split()) >= _SENTENCE or _has_digit(text) or is_phrase(text) or bool(names(text))
        )
        return not isinstance(part, bool) and is_checked and not self._refers(part)

    def _refers(self, part: Any) -> bool:
        """Whether the part is the name of a known object, and the primary chunk has a word of it."""
        return self._is_name(part) and self._primary_words.has_word_of(part)

    def leaked_name(self, name: str) -> str | None:
        """The known object that a new object's name was copied from: it has the name, or a value that contains it."""
        if not _is_distinctive(name) or self.of_name(name) != "nowhere":
            return None
        return _OBJECT.format(name) if self._is_name(name) else self._holder(name, None)

    def _beside(self, part: Any) -> str | None:
        """The words of a context chunk that state the part. Cached: parts missing from the primary chunk are looked up repeatedly."""
        key = repr(part)
        if key not in self._around:
            found = next(filter(None, (ground.find(part) for ground in self._context)), None)
            self._around[key] = found.quote if found else None
        return self._around[key]

    def _holder(self, part: Any, own: KnownObject | None) -> str | None:
        """Another known object with a value that contains the part, if the part is specific.

        None if `own` has it, too, or if the part is the name of a known object and the primary chunk has a word of it: then the chunk
        refers to that object.
        """
        if self._refers(part):
            return None
        found = (
            (each, ground.find(part)) for each, ground in self._objects if own is None or each.id != own.id
        )
        holder, span = next(((each, span) for each, span in found if span), (None, None))
        if holder is None or span is None or not is_specific(part, span.quote):
            return None
        is_own = own is not None and _ground_values(own).find(part) is not None
        return None if is_own else _OBJECT.format(holder.name)

    def _is_name(self, value: Any) -> bool:
        return isinstance(value, str) and name_key(value) in {each.name_key for each in self._shown}

    # Built on demand: often the primary chunk has every value.

    @cached_property
    def _context(self) -> list[SearchableText]:
        return [SearchableText(text) for text in self._context_texts]

    @cached_property
    def _context_words(self) -> list["Words"]:
        return [Words(text) for text in self._context_texts]

    @cached_property
    def _objects(self) -> list[tuple[KnownObject, SearchableText]]:
        return [(each, _ground_values(each)) for each in self._shown]


def _ground_values(known: KnownObject) -> SearchableText:
    values = (part for value in known.properties.values() for part, _ in parts(value))
    return SearchableText(
        _BETWEEN.join(written_plainly(part) for part in values if not isinstance(part, bool))
    )


def is_specific(value: Any, said: str) -> bool:
    """Whether the value shows which text it came from: a number, a name, or three or more words.

    "45 minutes", "two weeks", "Jane Doe" and "valid for all users" are specific. "high", "7" and "identity provider" may occur in
    a text by chance. `said` is the wording in the text: two capitalised words there are a name.
    """
    text = str(value)
    return _is_distinctive(value) and (
        len(text.split()) >= _SENTENCE
        or _has_digit(text)
        or is_phrase(text)
        or not _NUMBERS.isdisjoint(fold(text).split())
        or _is_capitalised(said)
    )


def _is_distinctive(value: Any) -> bool:
    """Whether the value has several words or a digit, and is no small number. Anything less is never specific."""
    text = str(value)
    return not is_small_number(value) and (len(text.split()) > 1 or _has_digit(text) or is_phrase(text))


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def _is_capitalised(said: str) -> bool:
    words = [word for word in said.split() if word.lower() not in _SMALL_WORDS]
    firsts = [next(filter(str.isalpha, word), "") for word in words]
    return len(firsts) > 1 and all(first.isupper() for first in firsts)


class Words:
    """The stems of a text, to find mentions of a name, also inexact ones.

    "OAuth" mentions "OAuth 2.0"; "payment gateways" and "gateway for every payment" mention "Payment Gateway". A different number
    is a different thing: "OAuth 1.0" does not mention "OAuth 2.0", nor does "REQ-7" mention "REQ-12".
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def names(self, name: str) -> bool:
        """Whether the text has the words of the name side by side. A number at the end may be missing, but not differ."""
        whole, base = fold(name), _NUMBER_BEHIND.sub("", fold(name))
        return self._has(_stems(whole)) or (base != whole and self._has(_stems(base), behind=_NO_NUMBER))

    def mentions(self, name: str) -> bool:
        """Like `names`; also if the text has all words of the name but small ones, in any order."""
        distinctive = set(_stems(_NUMBER_BEHIND.sub("", fold(name)))) - _SMALL_WORDS
        words = [each for each in distinctive if not _NUMBER.fullmatch(each)]
        return self.names(name) or (len(words) > 1 and distinctive <= self._all)

    def has_word_of(self, name: str) -> bool:
        """Whether the text has a meaningful word of the name: "Jane" of "Jane Doe"."""
        distinctive = {
            each for each in _stems(fold(name)) if len(each) >= _SHORT and not _NUMBER.fullmatch(each)
        }
        return not self._all.isdisjoint(distinctive - _SMALL_WORDS)

    def _has(self, stems: Sequence[str], *, behind: str = "") -> bool:
        return bool(stems) and re.search(rf" {re.escape(' '.join(stems))} {behind}", self._line) is not None

    @cached_property
    def _line(self) -> str:
        return f" {' '.join(_stems(fold(self._text)))} "

    @cached_property
    def _all(self) -> frozenset[str]:
        return frozenset(self._line.split())


def _stems(folded: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(folded)]


def _stem(word: str) -> str:
    """Removes the plural alone: by a full stemmer, "authors" would mention `Authority`."""
    if len(word) <= _SHORT:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word.removesuffix("e")
