"""What is searched for a question. Pure.

"And in 2021?" says little by itself. A message that is short, that goes on from the last one ("and …", "what about …")
or that has a word for something said before ("it", "they", "those") is searched together with the user's question before
it; where that leans on another in turn, with that one too. What stood in quotes there had to be found then, and need not now.
"""

import re
from collections.abc import Sequence

from whence.chat.words import words
from whence.providers import Message

_LONGEST_SMALL_TALK = 100
_SMALL_TALK = re.compile(
    r"\W*(?:\b(?:(?:hi|hello|hey|howdy|greetings|hallo|hola|bonjour|ciao)(?: there| all| everyone| again)?|good (?:morning|afternoon|evening|day|night)"
    r"|(?:many )?(?:thanks|thank you|thx|danke|merci|gracias|grazie)(?: you)?(?: very much| so much| a lot| again| for (?:your|the) help)?|cheers"
    r"|(?:good)?bye|see you(?: later)?|how are you(?: doing)?(?: today)?|nice to meet you|you(?:['’]re| are) welcome"
    r"|ok(?:ay)?|(?:great|perfect|cool|nice|awesome|wonderful)(?!\W*\?)|got it|i see|never ?mind|no problem|that(?:['’]s| is) (?:all|great|helpful))\b\W*)+",
    re.IGNORECASE,
)

_FEW = 2
"""Words that carry meaning; with so few a question is hardly whole."""
_GOES_ON = re.compile(r"\s*(?:and|but|or|so|then|also|what about|how about|why not)\b", re.IGNORECASE)
_STANDS_FOR = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|ones?|former|latter)\b",
    re.IGNORECASE,
)
_QUOTES = str.maketrans(dict.fromkeys('"“”'))
_MOST_TURNS = 3
_MOST_CHARACTERS = 1_000
"""Of an earlier question; more than that is no question to go on from."""


def is_small_talk(message: str) -> bool:
    """Whether it asks nothing of the documents: "Hello!", "Great, thanks." English, and a few words that everybody knows."""
    return len(message) <= _LONGEST_SMALL_TALK and _SMALL_TALK.fullmatch(message) is not None


def searched(message: str, history: Sequence[Message]) -> str:
    parts = [message]
    earlier = [turn.content for turn in history if turn.role == "user" and turn.content.strip()]
    for before in reversed(earlier[-_MOST_TURNS:]):
        if not _leans_on_another(parts[-1]):
            break
        parts.append(before[:_MOST_CHARACTERS].translate(_QUOTES))
    return " ".join(parts)


def _leans_on_another(message: str) -> bool:
    return bool(len(words(message)) <= _FEW or _GOES_ON.match(message) or _STANDS_FOR.search(message))
