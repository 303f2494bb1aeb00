"""What a question asks for: the words that say of what, whether code is wanted, and what an answer looks like. Pure.

The rules are English. A question in another language has its words, and nothing else is known of it.
"""

import re
from dataclasses import dataclass

from whence.chat.words import words

_NUMBER = r"(?:\d[\d.,]*|half an?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+(?:teen|ty))"
_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_ONLY_ASKS = _pattern(
    r"\bhow (?:much|many|long|often|far|old|high|tall|heavy)\b|^\W*(?:may|must|shall|might|am)\b"
)
_ASKS_FOR_CODE = _pattern(
    r"\b(?:code|commands?|snippet|script|syntax|sql|quer(?:y|ies)|json|yaml|toml|xml|shell|terminal|curl|functions?"
    r"|methods?|install\w*|import|configure|run)\b|`|\w_\w|\w\(|(?:^|\s)--?\w"
)
_ASKS_HOW_LONG = _pattern(r"\bhow (?:long|old)\b")
_DURATION = _pattern(rf"\b{_NUMBER}[ -](?:second|minute|hour|day|week|month|year|centur)|\b(?:until|since)\b")
_ASKS_FOR_FIGURE = _pattern(
    r"\bhow (?:much|many|often|far|high|tall|heavy|large|big|fast|deep|wide)\b|^\W*when\b|\bwhat (?:time|year|date)\b"
)
_FIGURE = _pattern(rf"\d|\b(?:{_NUMBER}|{_DAYS}|{_MONTHS}|free)\b")


@dataclass(frozen=True, slots=True)
class Asking:
    words: frozenset[str]
    code: bool
    """It asks for a command, a query or other code."""
    _answer: re.Pattern[str] | None

    @classmethod
    def of(cls, question: str) -> "Asking":
        return cls(
            frozenset(words(_ONLY_ASKS.sub(" ", question)) or words(question)),
            bool(_ASKS_FOR_CODE.search(question)),
            _answer_to(question),
        )

    @property
    def is_particular(self) -> bool:
        """It wants a figure, a day or a length of time."""
        return self._answer is not None

    def may_be_answered_by(self, text: str) -> bool:
        """Whether the text has what is wanted; always, where nothing in particular is."""
        return self._answer is None or bool(self._answer.search(text))


def _answer_to(question: str) -> re.Pattern[str] | None:
    if _ASKS_HOW_LONG.search(question):
        return _DURATION
    return _FIGURE if _ASKS_FOR_FIGURE.search(question) else None
