"""Rewrites a message into a search query, together with the earlier questions that it follows up on. Pure.

"And in 2021?" says little by itself. A message that is short, continues the last one ("and …", "what about …") or refers back
("it", "they", "those") is searched together with the user's previous question. If that is a follow-up too, the question before
it is added, and so on. The rules are English.
"""

import re
from collections.abc import Sequence

from whence.providers import Message
from whence.search import DEFAULT_LANGUAGE
from whence.text.lexer import lexer

_LONGEST_SMALL_TALK = 100
_SMALL_TALK = re.compile(
    r"\W*(?:\b(?:(?:hi|hello|hey|howdy|hallo|hola|bonjour|ciao)(?: there| all| everyone| again)?"
    r"|good (?:morning|afternoon|evening|day|night)|(?:good)?bye|see you(?: later)?|how are you(?: doing)?(?: today)?"
    r"|(?:many )?(?:thanks|thank you|thx|danke|merci|gracias|grazie)(?: you)?(?: very much| so much| a lot| again| for (?:your|the) help)?"
    r"|nice to meet you|you(?:['’]re| are) welcome|ok(?:ay)?|got it|i see|never ?mind|no problem|that(?:['’]s| is) (?:all|great|helpful)"
    r"|(?:great|perfect|cool|nice|awesome|wonderful|greetings|cheers)(?!\W*\?))\b\W*)+",
    re.IGNORECASE,
)

_SHORT = 2
"""A question of up to this many words, without stop words, is hardly complete."""
_CONTINUES = re.compile(r"\s*(?:and|but|or|so|then|also|what about|how about|why not)\b", re.IGNORECASE)
_REFERS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this(?! (?:year|month|week)\b)|these|those|(?:that|there)(?=\W*\Z)"
    r"|ones|one(?!\s+\w)|(?:which|the) one|former|latter)\b",
    re.IGNORECASE,
)
"""`that` and `there` seldom refer back inside a sentence: "Is there …?", "the bridge that fell"."""
_QUOTES = str.maketrans(dict.fromkeys('"“”'))
_MOST_TURNS = 3
_MOST_CHARACTERS = 1_000
"""Maximum length of an earlier question in the query."""


def is_small_talk(message: str) -> bool:
    """Whether the message asks nothing: "Hello!", "Great, thanks." English, and a few well-known words."""
    return len(message) <= _LONGEST_SMALL_TALK and _SMALL_TALK.fullmatch(message) is not None


def questions_followed_up(message: str, history: Sequence[Message]) -> str:
    """The user's earlier questions that the message follows up on, newest first.

    Quotation marks are removed, so that their phrases are not required again.
    """
    parts: list[str] = []
    earlier = [turn.content for turn in history if turn.role == "user" and turn.content.strip()]
    for before in reversed(earlier[-_MOST_TURNS:]):
        if not _follows_up(parts[-1] if parts else message):
            break
        parts.append(before[:_MOST_CHARACTERS].translate(_QUOTES))
    return " ".join(parts)


def _follows_up(message: str) -> bool:
    if len(set(lexer(DEFAULT_LANGUAGE).terms(message))) <= _SHORT or _CONTINUES.match(message):
        return True
    return _REFERS_BACK.search(message) is not None
