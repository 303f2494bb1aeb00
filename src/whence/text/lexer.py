"""Splits text into terms, the units of the text index. Pure except for caches.

A word becomes one term: folded (case, accents, width of letters), and stemmed if the language has a stemmer. A compound
(`e-mail`, `v1.2`, `snake_case`, `CamelCase`) becomes the terms of its parts and one of the whole. Text in scripts without
spaces becomes pairs of adjacent characters.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from itertools import chain, compress
from operator import not_
from struct import Struct
from threading import Lock
from typing import NamedTuple

import Stemmer

from whence.errors import BadInput
from whence.text.cjk import UNSPACED, is_unspaced
from whence.text.word_lists import word_list

DEFAULT_LANGUAGE = "english"
SIMPLE = "simple"
"""No stemming: for languages without a stemmer and for texts in many languages."""

LANGUAGES: tuple[str, ...] = (SIMPLE, *(name for name in Stemmer.algorithms() if not name.endswith("porter")))

_INSIDE = "\u00ad\u200c\u200d" + "".join(
    re.escape(chr(code)) for code in range(0x300, 0x1B00) if unicodedata.category(chr(code))[0] == "M"
)
"""Characters inside words that are not letters: combining marks, joiners, soft hyphens."""

# Includes a final full stop: a look-ahead for the rest of the word would double the time.
WORD = re.compile(rf"[\w{UNSPACED}][\w{_INSIDE}.'’-]*")
_LETTER = re.compile(r"[^\W_]")
_AROUND = ".-'’"
# A space for each ASCII character that is not part of a word.
_SPACES = bytes(code if WORD.match(chr(code)) or chr(code) in _AROUND else ord(" ") for code in range(256))
_IN_RUNS = frozenset(chr(code) for code in range(128) if _SPACES[code] != ord(" "))
_BROKEN = re.compile(r"[.-]{2}")  # dots or dashes between words, not inside one
_SECTION = re.compile(rf"([{UNSPACED}]+)|[^{UNSPACED}]+")
_SEAM = re.compile(r"[-._]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_SEAM_OR_APOSTROPHE = re.compile(_SEAM.pattern + r"|['’]")
_GLUE = re.compile(r"[-_'’]+")
_APOSTROPHE = "\u2019"
_MARKS = re.compile("[\u00ad\u200c\u200d\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]+")

_KEY = Struct("<q").unpack

_REMEMBERED_WORDS = 100_000
_REMEMBERED_LENGTH = 40


class Piece(NamedTuple):
    """A part of a word or a pair of characters, with offsets from the start of the word."""

    start: int
    end: int
    place: str | None
    """The form for comparing phrases; None for the whole of a compound, which has no position of its own."""
    term: str | None
    """None for stop words."""


class Lexer:
    """Splits texts of one language into terms. Get one from `lexer(language)`, because it caches words."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._english = language == DEFAULT_LANGUAGE
        self._stop = frozenset(word_list("english", "stop") if self._english else ())
        self._stemmer = None if language == SIMPLE else Stemmer.Stemmer(language)
        self._lock = Lock()  # a stemmer serves one thread at a time
        self._known = _Known(self)

    def keys(self, text: str) -> list[int]:
        """The keys of the text's terms, with repetitions."""
        return list(chain.from_iterable(map(self._known.__getitem__, words_of(text))))

    def terms(self, text: str) -> list[str]:
        """The text's terms, with repetitions."""
        return [piece.term for _, piece in self.pieces_of(text) if piece.term is not None]

    def places(self, text: str) -> list[str]:
        """The words in the form for comparing phrases, in order, including stop words."""
        return [piece.place for _, piece in self.pieces_of(text) if piece.place is not None]

    def spans(self, text: str, keys: frozenset[int], count: int | None = None) -> list[tuple[int, int]]:
        """The spans of the text's terms with one of the keys, in order; spans that touch or overlap are merged.

        If the text has `count` such terms and the words seen before give as many, the text is not split into words.
        """
        if count is not None and text.isascii():
            found = self._locate(text, self._known.words_with(keys), keys)
            if len(found) == count:
                return merged(found)
        # Most words have none of the keys. This looks at each different word once, without a line of Python for it.
        words = list(set(words_of(text)))
        have = map(not_, map(keys.isdisjoint, map(self._known.__getitem__, words)))
        return merged(self._locate(text, set(compress(words, have)), keys))

    def _locate(self, text: str, words: set[str], keys: frozenset[int]) -> list[tuple[int, int]]:
        """The spans of the terms with one of the keys in these words, in order."""
        if text.isascii():
            places = [(at, word) for word in words for at in _places(text, word)]
        else:
            matches = WORD.finditer(text) if words else ()
            places = [(match.start(), match[0]) for match in matches if match[0] in words]
        inside = {word: self._spans(word, keys) for _, word in places}
        return sorted((at + start, at + end) for at, word in places for start, end in inside[word])

    def _spans(self, word: str, keys: frozenset[int]) -> list[tuple[int, int]]:
        """The spans of the terms with one of the keys in a word that has one."""
        tail = word.lstrip(_AROUND)
        at, bare = len(word) - len(tail), tail.rstrip(_AROUND)
        if _is_plain(bare):
            return [(at, at + len(bare))]
        pieces = (piece for piece in self.pieces(tail) if piece.term is not None and key(piece.term) in keys)
        return [(at + piece.start, at + piece.end) for piece in pieces]

    def alone(self, text: str) -> list[str]:
        """Single characters of scripts without spaces that are words by themselves; longer runs give pairs."""
        words = (word.rstrip(_AROUND) for word in WORD.findall(text)) if is_unspaced(text) else ()
        folded = (unicodedata.normalize("NFKC", word) for word in words if is_unspaced(word))
        return [word for word in folded if len(word) == 1]

    def pieces_of(self, text: str) -> Iterator[tuple[int, Piece]]:
        """The pieces of a text, each with the offset of its word."""
        for match in WORD.finditer(text):
            for piece in self.pieces(match[0]):
                yield match.start(), piece

    def pieces(self, word: str) -> list[Piece]:
        """The pieces of one match of `WORD`."""
        bare = word.rstrip(_AROUND)
        if _is_plain(bare):
            place = self._stem(bare)
            return [Piece(0, len(bare), place, None if bare.lower() in self._stop else place)]
        found: list[Piece] = []
        for section in _SECTION.finditer(bare):
            if section[1]:
                found += _pairs(section[0], section.start())
            else:
                found += self._parts(section[0], section.start())
        return found

    def _parts(self, word: str, offset: int) -> list[Piece]:
        seam = _SEAM if self._english else _SEAM_OR_APOSTROPHE
        found: list[Piece] = []
        start = 0
        for end, following in (*(match.span() for match in seam.finditer(word)), (len(word), len(word))):
            # Marks and apostrophes before the first letter or digit do not belong to the word.
            if (first := _LETTER.search(word, start, end)) is not None:
                part = word[first.start() : end].rstrip(_AROUND)
                if place := self._stem(part):
                    is_stop = fold(part) in self._stop
                    at = offset + first.start()
                    found.append(Piece(at, at + len(part), place, None if is_stop else place))
            start = following
        is_one = len(found) > 1 and not _BROKEN.search(word)
        if is_one and (whole := self._stem(_GLUE.sub("", word))):
            found.insert(0, Piece(offset, offset + len(word), None, whole))
        return found

    def _stem(self, word: str) -> str:
        """Removes accents before stemming in English, where they are optional; other stemmers need them."""
        if self._stemmer is None:
            return fold(word)
        with self._lock:
            if self._english:
                return str(self._stemmer.stemWord(fold(word)))
            return _without_marks(self._stemmer.stemWord(_casefolded(word)))


class _Known(dict[str, tuple[int, ...]]):
    """Caches the term keys of words, so that indexing a text is one look-up per word."""

    def __init__(self, lexer: Lexer) -> None:
        self._lexer = lexer
        self._words: dict[int, list[str]] = {}
        """The cached words with each key."""

    def words_with(self, keys: Iterable[int]) -> set[str]:
        return {word for one in keys for word in self._words.get(one, ())}

    def __missing__(self, word: str) -> tuple[int, ...]:
        keys = tuple(key(piece.term) for piece in self._lexer.pieces(word) if piece.term is not None)
        if len(word) <= _REMEMBERED_LENGTH:
            if len(self) >= _REMEMBERED_WORDS:
                self.clear()
                self._words.clear()
            self[word] = keys
            for one in set(keys):
                self._words.setdefault(one, []).append(word)
        return keys


@cache
def lexer(language: str) -> Lexer:
    if language not in LANGUAGES:
        raise BadInput(
            f"There is no language {language!r}",
            details={"field": "language", "provided": language, "expected": " | ".join(LANGUAGES)},
        )
    return Lexer(language)


def key(term: str) -> int:
    """The term's key in the index: a 64-bit hash, so that collisions in a project are very rare."""
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int(_KEY(digest)[0])


def words_of(text: str) -> list[str]:
    """The words of a text, with punctuation at their ends."""
    # For ASCII this takes a third of the time.
    return text.encode().translate(_SPACES).decode().split() if text.isascii() else WORD.findall(text)


def _is_plain(bare: str) -> bool:
    """Whether a word has no seams, as most have."""
    return bare.isascii() and bare.isalpha() and (bare[1:].islower() or bare.isupper())


def _places(text: str, run: str) -> Iterator[int]:
    """The positions of the run in an ASCII text, except inside a longer run."""
    at = text.find(run)
    while at >= 0:
        end = at + len(run)
        if text[at - 1 : at] not in _IN_RUNS and text[end : end + 1] not in _IN_RUNS:
            yield at
        at = text.find(run, end)


def plain_word(word: str) -> str | None:
    """The folded word without punctuation, if it has letters of a script with spaces and nothing else."""
    bare = word.strip(_AROUND)
    return _casefolded(bare) if bare.isalpha() and not is_unspaced(bare) else None


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merges sorted spans that touch or overlap."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _pairs(run: str, offset: int) -> list[Piece]:
    folded = unicodedata.normalize("NFKC", run)
    if len(folded) == 1:
        return [Piece(offset, offset + len(run), folded, folded)]
    pairs: Sequence[str] = [folded[at : at + 2] for at in range(len(folded) - 1)]
    if len(folded) != len(run):  # normalisation changed the length: each pair gets the span of the whole run
        return [Piece(offset, offset + len(run), pair, pair) for pair in pairs]
    return [Piece(offset + at, offset + at + 2, pair, pair) for at, pair in enumerate(pairs)]


def fold(word: str) -> str:
    """The word without case, accents and width of letters."""
    return _without_marks(_casefolded(word))


def _casefolded(word: str) -> str:
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", word).casefold().replace(_APOSTROPHE, "'")


def _without_marks(word: str) -> str:
    if word.isascii():
        return word
    bare = _MARKS.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare)
