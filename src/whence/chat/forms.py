"""What answers look like: figures, days, lengths of time, what may be done, definitions. Pure, and English."""

import re


def pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_COUNT = r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+(?:teen|ty))"
_NUMBER = rf"(?:{_COUNT}|half an?|an?)"
_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"

HOW_MUCH = r"\bhow (?:much|many|long|often|far|old|high|tall|heavy|large|big|fast|deep|wide)\b"
_ASKS_HOW_LONG = pattern(r"\bhow long\b|\b(?:period|duration)\b")
DURATION = pattern(rf"\b{_NUMBER}[ -](?:second|minute|hour|day|week|month|year|centur)|\b(?:until|since)\b")
_ASKS_FOR_FIGURE = pattern(rf"{HOW_MUCH}|^\W*when\b|\bwhat (?:time|year|date|days?)\b")
FIGURE = pattern(rf"\d|\b(?:{_NUMBER}|{_DAYS}|{_MONTHS}|free)\b")
WHEN_OR_HOW_MANY = pattern(
    rf"{FIGURE.pattern}|\b(?:(?:last|next|this|every|each) \w+|(?:dai|week|month|year|annual)ly|once|twice|always|never|now|to(?:day|night|morrow)"
    r"|yesterday|spring|summer|autumn|winter|noon|midnight|after|before|when|while|until|none|nobody|no|all|both|several|most"
    r"|hundreds|thousands|millions|billions)\b"
)
_MEASURES = (
    (
        pattern(r"\bhow (?:tall|deep|wide)\b"),
        pattern(rf"{_COUNT}[ -]?(?:[ckm]?m|inch(?:es)?|f(?:oo|ee)?t|yards?|miles?|\w*met(?:re|er)s?)\b"),
    ),
    (
        pattern(r"\bhow heavy\b"),
        pattern(rf"{_COUNT}[ -]?(?:k?g|\w*grams?|tonn?e?s?|pounds?|lbs?|ounces?)\b"),
    ),
    (
        pattern(r"\bhow fast\b"),
        pattern(
            rf"{_COUNT}[ -]?(?:knots?|times|%|percent|mph|kph|\w+/\w|\w*bits?\b|\w*bytes?\b|\w+ (?:per|an?) \w"
            r"|\w*seconds?|minutes?|hours?|days?|weeks?|m?s)\b"
        ),
    ),
    (
        pattern(r"\bhow old\b"),
        pattern(
            rf"{_COUNT}[ -](?:day|week|month|year|centur)\w*[ -]old\b|\b(?:aged?|born|built|founded|since|turn(?:s|ed))\b"
        ),
    ),
    (pattern(r"\bphone number\b"), pattern(r"\d[\d ()/+.-]{3,}\d")),
    (pattern(r"\be-?mail address\b"), pattern("@")),
)
"""What is asked for by these words, and how it is known."""

SUM = pattern(
    r"[$€£¥]\s?\d|\d\s?(?:[$€£¥]|(?:euros?|dollars?|pounds?|cents?|pence|francs?|crowns?|eur|usd|gbp|chf)\b)"
)
"""Of money: what something costs."""

GIVES_LEAVE = pattern(
    r"\b(?:may|can|cannot|must|allowed|permitted|welcome|forbidden|prohibited|needs?|needed|required|ha(?:ve|s) to|up to)\b"
)
_OPENS = re.compile(r"[*_`\"“(]*(?:(?:the|an?) )?[*_`\"“(]*")
_DEFINES = re.compile(r"s?[*_`\"”)]*(?: ?[·:—–]| \(| (?:is|are|was|were|means?|refers?|stands?)\b)")


def answer_to(question: str) -> re.Pattern[str] | None:
    """What an answer should have; None where that may be anything."""
    if _ASKS_HOW_LONG.search(question):
        return DURATION
    for asks, answer in _MEASURES:
        if asks.search(question):
            return answer
    return FIGURE if _ASKS_FOR_FIGURE.search(question) else None


def is_definition(text: str, term: str) -> bool:
    """Whether a text begins by saying what the term is. Both without capitals."""
    begins = _OPENS.match(text)
    at = begins.end() if begins else 0
    return text.startswith(term, at) and _DEFINES.match(text, at + len(term)) is not None
