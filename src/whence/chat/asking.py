"""What a question asks for: the words that say of what, how much each counts, and what an answer looks like. Pure.

The rules are English. A question in another language has its words, and nothing else is known of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from whence.chat.forms import (
    DURATION,
    FIGURE,
    GIVES_LEAVE,
    HOW_MUCH,
    WHEN_OR_HOW_MANY,
    answer_to,
    is_definition,
    pattern,
)
from whence.chat.words import words
from whence.search.light import FUNCTION_WORDS

_IS = "(?:is|are|was|were)"
_WHO_IS = rf"(?:what|who)(?: {_IS}|['’](?:s|re))"
_AUXILIARY = rf"(?:{_IS}|do|does|did|has|have|had|can|could|may|might|must|shall|should|will|would)"
_THE = r"(?:(?:the|an?|my|your|our|its|their) )?"
_I = "(?:I|we|you|one|people|members|visitors)"
_WHAT_TIME = r"\bwhat (?:time|year|date|days?)\b"

_ONLY_ASKS = pattern(rf"{HOW_MUCH}|{_WHAT_TIME}|^\W*(?:may|must|shall|might|am)\b")
_ASKS_FOR_CODE = pattern(
    r"\b(?:code|commands?|snippet|script|syntax|sql|quer(?:y|ies)|json|yaml|toml|xml|shell|terminal|curl|functions?"
    r"|methods?|install\w*|import|configure|run)\b|`|\w_\w|\w\(|(?:^|\s)--?\w"
)
_ASKS_LEAVE = pattern(
    rf"\b(?:can|may|must|could|should) {_I}\b|\b(?:allowed|permitted|forbidden|ha(?:ve|s) to)\b"
)
_ASKS_WHAT_IT_IS = pattern(rf"^\W*{_WHO_IS} {_THE}([^,;]+?)\W*$")
_WANTED = (
    pattern(rf"^\W*{_WHO_IS} {_THE}([\w -]+?) (?:of|for|in|on|at|from|to|per)\b"),
    pattern(rf"^\W*(?!{_WHAT_TIME})(?:what|which) (?!{_AUXILIARY}\b|about\b)([\w-]+)"),
    pattern(rf"^\W*who (?!{_AUXILIARY}\b)(\w+)"),
    pattern(r"\bhow many ([\w-]+)"),
    pattern(rf"\bhow much {_AUXILIARY} .*?\b(cost)\W*$"),
    pattern(rf"^\W*how (?:do|can|could|should) {_I} (\w+)"),
    pattern(rf"^\W*(?:when|where)(?: {_IS}|['’]s) .*?(\w+(?:ed|ilt|itten|own|orn))\W*$"),
)
"""What is wanted; of what or whom, the rest of the question says. The first that fits counts."""
_SEVERAL = pattern(r"\w, \w|\band\b")
_FIGURES = re.compile(r"\d[\d/-]*\d{2}|\d{3,}")
"""Long enough to be the number or the year of something."""
_NAME = re.compile(r"(?<=\w )[A-Z][a-z]{2,}(?<!day)s\b")
_ENGLISH = pattern(r"\b(?:what|which|who|whose|when|where|why|how|the|is|are|was|were|do|does|did|can|of)\b")
_FOREIGN = pattern(
    r"[^\W\x00-\x7f]|\b(?:der|die|das|den|ein|eine|und|ist|sind|wie|wer|wo|mit|von|le|la|les|une|et|est|sont|dans|pour"
    r"|que|qui|el|los|las|en|es|son|por|con|il|gli|di|che|per|een|het|van)\b"
)

_LIGHT = frozenset(
    words("""
        able allow allowed ask bring change come command configure deal describe explain find get give given go goes gone went got handle happen know let
        like list made make mean must need put say see set shall show summarize summarise support take tell try use used using want work
        actually big different ever exactly just large main much own permitted please possible primary really still too unique very
        aspect characteristic detail duration example fact feature function information kind method name number outcome
        people period person policy procedure process purpose reason result role rule script snippet syntax text thing
        type way
    """)
)
"""Words of questions that say little of what is asked: an answer has others for them, or none."""
_LIGHT_COUNTS = 0.3
_WANTED_COUNTS = 1.6
_FUNCTION = frozenset(words(" ".join(" ".join(its) for its in FUNCTION_WORDS.values())))
_FUNCTION_COUNTS = 0.1
"""Of words that only hold a sentence together, where the question is in such a language."""
_BEFORE_COUNTS = 0.3

LEAST = 0.15
"""The share of a question below which nothing has to do with it."""
_ENOUGH = 0.4
_FEW = 4  # words
_LESS = 0.12  # with each word more: no answer has all the words of a long question

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    counts: Mapping[str, float]
    """How much each word counts. One of an earlier question, that this one goes on from, counts less."""
    own: frozenset[str]
    """Of a question that goes on from an earlier one, the words that say what this one is about."""
    names: Mapping[str, str]
    """Names that look like a plural, as they are written: Windows are not windows."""
    wanted: frozenset[str]
    """Where it wants something of something, what,"""
    topic: frozenset[str]
    """and of what."""
    enough: float
    """The least share of it that an answer must have."""
    several: bool
    """It asks for several things."""
    code: bool
    """It asks for a command, a query or other code."""
    leave: bool
    """It asks what one may or must."""
    term: str
    """What it wants explained."""
    answer: re.Pattern[str] | None
    """What an answer should have,"""
    figures: re.Pattern[str] | None
    """Its own figures: the number of an invoice is not when it was paid."""
    needed: re.Pattern[str] | None
    """and what it must have: a password is not long for some time, but sixteen characters."""

    @classmethod
    def of(cls, question: str, before: str = "") -> "Asking":
        # "How often?" says of what only by what was asked before.
        found = _own_words(question) if before else _words(question)
        heavy = found - _LIGHT
        code = bool(_ASKS_FOR_CODE.search(question))
        # A long question says much that its answer does not say again.
        wanted = heavy & _wanted(question) if len(heavy) <= _FEW and not code else _NOTHING
        answer = answer_to(question)
        light = _FUNCTION if _is_foreign(question) else _NOTHING
        return cls(
            counts=dict.fromkeys(_words(before), _BEFORE_COUNTS)
            | {one: _counts(one, wanted, light) for one in found},
            own=heavy if before else _NOTHING,
            names={words(name)[0]: name for name in _NAME.findall(question)},
            wanted=wanted,
            topic=found - wanted if wanted and wanted != heavy else _NOTHING,
            enough=_enough(question, heavy),
            several=bool(_SEVERAL.search(question)),
            code=code,
            leave=bool(_ASKS_LEAVE.search(question)),
            term=_term(question),
            answer=answer or answer_to(before),
            figures=_figures(question),
            needed=WHEN_OR_HOW_MANY if answer in (DURATION, FIGURE) else answer,
        )

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.counts)

    @property
    def is_particular(self) -> bool:
        """It wants a figure, a day or a length of time."""
        return self.answer is not None

    def may_be_answered_by(self, text: str) -> bool:
        """Whether the text has what is wanted; always, where nothing in particular is."""
        return self.answer is None or bool(self.answer.search(self._without_figures(text)))

    def cannot_be_answered_by(self, text: str) -> bool:
        return self.needed is not None and not self.needed.search(self._without_figures(text))

    def _without_figures(self, text: str) -> str:
        return self.figures.sub(" ", text) if self.figures else text

    def is_met_by(self, text: str) -> bool:
        """Whether the text has the form of an answer: a definition, or what one may and must."""
        if self.leave:
            return bool(GIVES_LEAVE.search(text))
        return bool(self.term) and is_definition(text.casefold(), self.term)


def _words(question: str) -> frozenset[str]:
    return _own_words(question) or frozenset(words(question))


def _own_words(question: str) -> frozenset[str]:
    return frozenset(words(_ONLY_ASKS.sub(" ", question)))


def _counts(word: str, wanted: frozenset[str], light: frozenset[str]) -> float:
    if word in light:
        return _FUNCTION_COUNTS
    if word in _LIGHT:
        return _LIGHT_COUNTS
    return _WANTED_COUNTS if word in wanted else 1


def _enough(question: str, heavy: frozenset[str]) -> float:
    if _is_foreign(question):
        return LEAST  # which of its words say little, and what their endings are, is not known
    # Each of several things has a sentence of its own; what has hardly a word of so many is no answer all the same.
    enough, few = (_ENOUGH / 2, _FEW + 1) if _SEVERAL.search(question) else (_ENOUGH, _FEW)
    return max(enough - _LESS * max(len(heavy) - few, 0), LEAST)


def _is_foreign(question: str) -> bool:
    return not _ENGLISH.search(question) and bool(_FOREIGN.search(question))


def _figures(question: str) -> re.Pattern[str] | None:
    found = _FIGURES.findall(question)
    return (
        re.compile("|".join(rf"(?<![\d.,/-]){re.escape(one)}(?![/-]?\d)" for one in found)) if found else None
    )


def _wanted(question: str) -> frozenset[str]:
    found = next(filter(None, (one.search(question) for one in _WANTED)), None)
    return frozenset(words(found[1])) if found else _NOTHING


def _term(question: str) -> str:
    found = _ASKS_WHAT_IT_IS.match(question)
    return found[1].casefold() if found else ""
