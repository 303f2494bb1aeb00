"""Decides whether a value comes from the primary chunk or only from its context: other chunks, and the known objects shown with it. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Any, Literal

from whence.extract.claim_context import claims_value, passage_to, rest_from, sentence_of
from whence.extract.context import KnownClaim, KnownObject
from whence.extract.grounding import MAX_QUOTE, FoundQuote, SearchableText, written_plainly
from whence.extract.mentions import Mentions
from whence.extract.name_words import Words
from whence.extract.paraphrase import Sentences, names
from whence.extract.rejections import MODEL
from whence.extract.restating import Said, is_restated, label
from whence.extract.schema import Property
from whence.extract.specific import FEWEST_WORDS, has_figure, is_distinctive, is_specific
from whence.extract.subjects import Subjects
from whence.extract.values import is_choice, parts, same
from whence.matching import Reading, Verdict, match, read
from whence.text.aliases import TypedName
from whence.text.content_words import words
from whence.text.names import fold, name_key

Where = Literal["primary", "context", "nowhere"]
"""Where something is mentioned: in the primary chunk, only in context chunks, or nowhere."""

_CHUNK = "a context chunk"
_OBJECT = "the known object {!r}"
_BETWEEN = "\n|\n"
"""Separates the values of an object, so that no phrase matches across two."""

_ARTICLES = frozenset(["a", "an", "the"])


class ChunkEvidence:
    """The texts to compare values with; `claims` are those of other chunks.

    With `lenient`, a specific value in no text is no leak, and `is_grounded` is False for it.
    """

    def __init__(
        self,
        primary: str,
        context: Sequence[str],
        shown: Sequence[KnownObject] = (),
        claims: Sequence[KnownClaim] = (),
        *,
        lenient: bool = False,
    ) -> None:
        self._primary = SearchableText(primary)
        self._primary_words = Words(primary)
        self._sentences = Sentences(primary)
        self.is_lenient = lenient
        self._context_texts = tuple(context)
        self._shown = tuple(shown)
        self.claims = claims
        self._around: dict[str, str | None] = {}
        self._subjects: Subjects | None = None
        self._repeated: dict[str, Verdict | None] = {}
        self._passages: dict[str | None, list[tuple[int, int]]] = {}

    def tell_apart(self, objects: Iterable[TypedName], mentions: Mentions) -> None:
        """Makes later calls ignore words about one of these objects as evidence for another of its type."""
        self._subjects = Subjects(self._primary, self._sentences.all, objects, mentions)

    def find(self, value: Any, *, near: str | None = None) -> FoundQuote | None:
        """The span of the value in the primary chunk. `near` is the name of its object."""
        return self._primary.find(value, near=near, fits=lambda start, _: not self._is_another_s(start, near))

    def place(self, value: Any, *, of: str) -> FoundQuote | None:
        """The span of the value, or of the sentence that a text paraphrases. `of` is the name of its object."""
        span = self.find(value, near=of)
        if span is not None or not isinstance(value, str):
            return span
        said = self._sentences.find(value, about=of)
        if said is None or self._is_another_s(said.end_offset - 1, of):
            return None
        return self._primary.span(said.start_offset, said.end_offset)

    def _is_another_s(self, at: int, of: str | None) -> bool:
        return bool(of and self._subjects and self._subjects.is_about_another(at, of))

    def naming(self, known: KnownObject, others: Sequence[KnownObject] = ()) -> FoundQuote | None:
        """The span of the object's name. A single word must have its capitals: "target" does not name Target.

        A place inside a longer name does not count, unless another chunk names it in the same sentence.
        """
        text = self._primary.text
        longer = [
            one.name for one in others if known.name_key in one.name_key and known.name_key != one.name_key
        ]
        for each in longer:
            text = re.sub(re.escape(each), lambda found: " " * len(found[0]), text, flags=re.IGNORECASE)
        where = SearchableText(text) if longer else self._primary
        span = where.find(known.name, fits=where.is_whole_name)
        is_named = span and (is_distinctive(known.name) or known.name in (span.quote, fold(known.name)))
        if span and is_named:
            return span
        named = (
            each
            for each in self.claims
            if each.is_quoted and (each.object_id, each.property_name) == (known.id, "name")
        )
        return next(filter(None, (self._repeating(each, each.quote) for each in named)), None)

    def states(self, value: Any, *, of: str) -> bool:
        """Whether the primary chunk contains every part of the value. `of` is the name of its object."""
        return all(self.find(part, near=of) for part, _ in parts(value))

    def confirming(self, value: Any, known: KnownObject, name: str, *, is_named: bool) -> FoundQuote | None:
        """The words of the chunk that confirm a value of the property `name` which the reply does not mention.

        Any value is confirmed by the sentence that it was claimed from. Otherwise a specific value needs a sentence about the object
        that states it alike, and `is_named`, that the chunk names it. For three content words, the sentence only has to be
        possibly about the object. A common word is no evidence, and neither is a sentence that denies the value.
        """
        own = [each for each in self.claims if each.is_quoted and claims_value(each, known, name, value)]
        repeated = next(filter(None, (self._repeating(each, known.name) for each in own)), None)
        if repeated:
            return repeated
        others = (part for part, _ in parts(known.properties.get(name)) if not same(part, value))
        said = Said(
            "\n".join((*map(str, others), *dict.fromkeys(map(sentence_of, own)))),
            label(f"{name} {known.type}"),
        )
        found = [
            self._confirming(part, known.name, name, said, is_named=is_named) for part, _ in parts(value)
        ]
        spans = [span for span in found if span]
        if not spans or len(spans) < len(found):
            return None
        start, end = min(span.start for span in spans), max(span.end for span in spans)
        return self._primary.span(start, end) if end - start <= MAX_QUOTE else spans[0]

    def repeats_chunk(self, value: Any, known: KnownObject, name: str) -> bool:
        """Whether the chunk repeats all that another one says from the object's name on, and claims the value from without a quote."""
        unquoted = (
            each for each in self.claims if not each.is_quoted and claims_value(each, known, name, value)
        )
        return any(self._verbatim(rest_from(each.text, known.name)) for each in unquoted)

    def _repeating(self, claim: KnownClaim, of: str) -> FoundQuote | None:
        """The quote of the claim where the chunk repeats the words from the object's name to it, or the same sentence about the object."""
        within = self._verbatim(passage_to(claim, of)) or self._same_sentence(claim, of)
        places = self._primary.places(claim.quote) if within else ()
        return next(
            (
                self._primary.span(*each)
                for low, high in within
                for each in places
                if low <= each[0] and each[1] <= high
            ),
            None,
        )

    def _verbatim(self, passage: str | None) -> list[tuple[int, int]]:
        """The places where the passage occurs as whole sentences."""
        if passage not in self._passages:
            places = self._primary.places(passage) if passage else ()
            self._passages[passage] = [each for each in places if self._sentences.around(*each) == each]
        return self._passages[passage]

    def _same_sentence(self, claim: KnownClaim, of: str) -> list[tuple[int, int]]:
        sentence = sentence_of(claim)
        if sentence not in self._repeated:
            self._repeated[sentence] = match(sentence, [self._reading])[0]
        said = self._repeated[sentence]
        if said is None or self._subjects is None:
            return []
        low, high = self._sentences.around(said.start, said.end)
        return [(low, high)] if self._subjects.is_about(low, low, of, claim.property_name) else []

    def _confirming(self, part: Any, of: str, name: str, said: Said, *, is_named: bool) -> FoundQuote | None:
        is_long = len(words(written_plainly(part))) >= FEWEST_WORDS
        subjects = self._subjects

        def fits(start: int, end: int) -> bool:
            is_about = subjects.is_about(start, end, of, name) if subjects else None
            is_enough = (
                is_about is not False
                if is_long
                else is_named and is_about and is_specific(part, self._primary.text[start:end])
            )
            if not is_enough or self._sentences.deny(start, end):
                return False
            low, high = self._sentences.around(start, end)
            names = subjects.names_in(low, high, of) if subjects else []
            own = [(one - low, other - low) for one, other in names if not start <= one < end]
            return is_restated(
                self._primary.text[low:high], (start - low, end - low), own, said, is_long=is_long
            )

        return self._primary.find(part, near=of, fits=fits)

    def mention(self, name: str) -> FoundQuote | None:
        """The name in the primary chunk, or else the shortest passage that has its words in any order."""
        span = self.find(name)
        if span is None and self._primary_words.mentions(name):
            span = self._primary.span(*self._primary_words.passage(name))
        return span

    def between(self, one: FoundQuote, other: FoundQuote) -> FoundQuote:
        """The shortest passage with both mentions, if possible within one sentence. If it is too long, the sentence of the second
        mention.
        """
        pairs = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in product(self._all(one), self._all(other))]
        within = [
            (start, end)
            for start, end in pairs
            if any(each.start_offset <= start and end <= each.end_offset for each in self._sentences.all)
        ]
        start, end = min(within or pairs, key=lambda each: each[1] - each[0])
        if end - start > MAX_QUOTE:
            start, end = next(
                (max(each.start_offset, other.end - MAX_QUOTE), each.end_offset)
                for each in reversed(self._sentences.all)
                if each.start_offset <= other.start
            )
        return self._primary.span(start, min(end, start + MAX_QUOTE))

    def repeats(self, quote: str, one: FoundQuote, other: FoundQuote) -> FoundQuote | None:
        """The passage between two mentions that has the words of the quote, except articles, and that its sentence does not negate."""
        wanted = _without_articles(quote)
        for a, b in product(self._all(one), self._all(other)):
            start, end = min(a[0], b[0]), max(a[1], b[1])
            is_same = _without_articles(self._primary.text[start:end]) == wanted
            if is_same and not self._sentences.deny(start, end):
                return self._primary.span(start, end)
        return None

    def _all(self, mention: FoundQuote) -> list[tuple[int, int]]:
        """All places of the mention's words."""
        return [*self._primary.places(mention.quote), (mention.start, mention.end)]

    def has(self, quote: str) -> bool:
        return quote in self._primary.text

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
        """Whether a context chunk contains a part of the value, except choices of the schema."""
        return any(self._beside(part) for part, of in parts(value, wanted) if not is_choice(part, of))

    def speaks(self, value: Any) -> bool:
        """Whether the primary chunk contains a part of the value. A common word counts only if no context chunk contains it."""
        return any(
            self.find(part) and (is_distinctive(part) or self._beside(part) is None)
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
        """The parts that are not in the primary chunk, except choices of the schema and parts of the earlier value."""
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
        if not is_distinctive(part):
            return None
        beside = self._beside(part)
        if beside is None:
            return self._holder(part, own)
        return _CHUNK if is_specific(part, beside) else None

    def _is_invented(self, part: Any) -> bool:
        """Whether a part that is not in the primary chunk has a figure, a name or three words, and refers to no known object.

        In scripts without capitals, any word may be a name. There, a name may be part of a longer word, because prefixes are not
        separated.
        """
        text = written_plainly(part)
        if any(unicodedata.category(letter) == "Lo" for letter in text):
            return not self._primary.has(text) and not self._refers(part)
        is_checked = len(text.split()) >= FEWEST_WORDS or has_figure(text) or bool(names(text))
        return not isinstance(part, bool) and is_checked and not self._refers(part)

    def _refers(self, part: Any) -> bool:
        """Whether the part is the name of a known object, and the primary chunk has a word of it."""
        return self._is_name(part) and self._primary_words.has_word_of(part)

    def leaked_name(self, name: str) -> str | None:
        """The known object that a new object's name was copied from: it has the name, or a value that contains it."""
        if not is_distinctive(name) or self.of_name(name) != "nowhere":
            return None
        return _OBJECT.format(name) if self._is_name(name) else self._holder(name, None)

    def _beside(self, part: Any) -> str | None:
        """The passage of a context chunk that states the part. Cached: parts missing from the primary chunk are looked up
        repeatedly.
        """
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

    # Built on demand, because the primary chunk often contains every value.

    @cached_property
    def _reading(self) -> Reading:
        return read(self._primary.text)

    @cached_property
    def _context(self) -> list[SearchableText]:
        return [SearchableText(text) for text in self._context_texts]

    @cached_property
    def _context_words(self) -> list[Words]:
        return [Words(text) for text in self._context_texts]

    @cached_property
    def _objects(self) -> list[tuple[KnownObject, SearchableText]]:
        return [(each, _ground_values(each)) for each in self._shown]


def _ground_values(known: KnownObject) -> SearchableText:
    values = (part for value in known.properties.values() for part, _ in parts(value))
    return SearchableText(
        _BETWEEN.join(written_plainly(part) for part in values if not isinstance(part, bool))
    )


def _without_articles(text: str) -> list[str]:
    return [word for word in fold(text).split() if word not in _ARTICLES]
